// One elector's stand in its election, as its own process sees it: what to ask of the service, what
// to believe, and what to report. Pure: no I/O, no clock, no threads; `now` is an argument.
//
//   outside --campaign--> standing --elected--> leading --asked to stop--> stopping
//      ^                                           |                          | the work has ended
//      |                                           | lost                     v
//      +---------- the work has ended ----------- ending                   resigning --> outside
//
// A holder that stops because its lease ran out, and wants to lead on, does not resign: while the
// lease is believed in, and so the session lives, it asks for the next term of its own seat.
//
//   stopping --the work has ended--> retaking --elected in the next term--> leading
//
// A seat of a set is first held, and leads when the whole set is held (Begin).
//
// What it keeps to:
// - It believes in a term only while the session's lease is believed in, and never again in a term
//   in which it has ceased to believe.
// - It gives up a seat only when the work that needs it has ended.
// - A resignation that may be on its way ends the belief for good.
// - It reports the beginning and the end of each term once, in this order.
#pragma once

#include <grpcpp/support/status.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/lease.h"
#include "tenure/v1/election.pb.h"

namespace tenure {

// What the process learns about its seat.
struct Standing {
  v1::Standing place;
};
// The seats of its set are not all free; it is tried again. Reported once until they are won.
struct SetBlocked {
  std::vector<std::string> elections;
};
struct Elected {
  v1::Leadership leadership;
};
// The lease is not renewed as it should be. The seat is still held.
struct Suspended {};
struct Resumed {};
// An operator wants another leader. The work is asked to end, then the seat is given up.
struct HandoverAsked {
  std::string successor;
};
// The work must end. Only if there is work.
struct StopWork {};
// The work has not ended in time, and the seat may soon be another's.
struct Overrun {};
struct Lost {
  v1::Cause cause;
};
// A campaign was not answered, or refused for a while; it is tried again. Each of the two is
// reported once in a row, until a campaign is answered.
struct Troubled {
  grpc::Status status;
};
// The service refuses this campaign for a reason that does not pass; the elector stands no more.
struct Refused {
  grpc::Status status;
};
using SeatEvent = std::variant<Standing, SetBlocked, Elected, Suspended, Resumed, HandoverAsked,
                               StopWork, Overrun, Lost, Troubled, Refused>;

struct SeatOptions {
  std::string election;
  std::string value;
  int32_t priority = 0;
  // There is work that has to be asked to end, and that says when it has ended. If not, whatever
  // was begun in belief ends within the grace.
  bool has_work = false;
  // How long the work may take to end, at most half of the lease. Nothing: a quarter of it.
  std::optional<Duration> stop_grace = std::nullopt;
  // It leads when its session has confirmed all seats of its set, and not before.
  bool in_set = false;
  // It stands no more once it leads: there is one term.
  bool one_term = false;
};

class Seat {
 public:
  using Time = Lease::Time;
  // What the service has to be asked next.
  enum class Need { kNothing, kCampaign, kResign };

  // Never believes in terms up to `closed_term`: an earlier seat of this process has ended them.
  explicit Seat(SeatOptions options, uint64_t closed_term = 0)
      : options_(std::move(options)), closed_term_(closed_term) {}

  // What this process wants and does.

  // The value to advertise from now on.
  void Proclaim(std::string value, Time now);
  // Stands no more: the work is asked to end, then the seat is given up.
  void Leave(Time now);
  // Like Leave, after the elector is gone: the work has ended and nobody is notified.
  void Abandon(Time now);
  void WorkEnded(Time now);
  // The whole set is held: this seat leads from now on. REQUIRES: held().
  void Begin(Time now, const Lease& lease);
  // The rest of the set is not held, so this seat is of no use: the work is asked to end, then the
  // seat is given up. It stands again.
  void StandDown(Time now);
  // The deadline has passed for somebody, if not at `now`.
  void BeliefEnded(Time now);

  // What becomes of the need.

  // A campaign is on its way. One at a time, and none beside a resignation.
  void Asked();
  // It was not answered, or it was refused for a while: to be asked again at `retry_at`.
  void Unanswered(const grpc::Status& status, Time retry_at);

  // What the service says.

  // The campaign that was asked last was answered: this session waits. To be asked again at
  // `check_at`, because the loss of a place is not reported.
  void OnStanding(const v1::Standing& place, Time now, Time check_at);
  // The same, of a set: it took no seat, and has no place. To be asked again at `retry_at`.
  void OnBlocked(const std::vector<std::string>& elections, Time now, Time retry_at);
  void OnElected(const v1::Leadership& leadership, Time now, const Lease& lease);
  // The campaign that was asked last was answered: this session leads in `term`.
  void OnCampaignElected(uint64_t term, Time now);
  void OnLost(uint64_t term, v1::Cause cause, Time now);
  void OnStepDownAsked(uint64_t term, const std::string& successor, Time now);
  // The session is over, and with it whatever it held.
  void OnSessionOver(v1::Cause cause, Time now);
  // The campaign that was asked last will not be granted, ever.
  void OnRefused(const grpc::Status& status, Time now);
  // A resignation from `term`, or, with 0, from the queue, was answered; the session may yet be in
  // the queue if it `waits`. To stand again not before `again_at`.
  void OnResigned(uint64_t term, bool waits, Time again_at);

  // What time does. Call it before any other input, and at NextWake.
  void Pass(Time now, const Lease& lease);
  [[nodiscard]] Time NextWake(const Lease& lease) const;

  [[nodiscard]] Need need() const;
  // It waits for the rest of its set.
  [[nodiscard]] bool held() const { return phase_ == Phase::kHeld; }
  [[nodiscard]] bool leads() const { return phase_ == Phase::kLeading; }
  // The earliest time for the need.
  [[nodiscard]] Time need_at() const { return need_at_; }
  // Until when this process may act as the leader; Time{} if it does not lead.
  [[nodiscard]] Time BelievedUntil(const Lease& lease) const;
  // The term that is held, or may be; 0 if none.
  [[nodiscard]] uint64_t term() const { return leadership_.term(); }
  // The term that a campaign is to end, so that this session leads in the next; 0 if none.
  [[nodiscard]] uint64_t after_term() const {
    return phase_ == Phase::kRetaking ? leadership_.term() : 0;
  }
  // Whether the lease has ended the last belief, or nearly: this process did not want to give up
  // the seat, and need not let others go first.
  [[nodiscard]] bool outlived_lease() const { return outlived_lease_; }
  // Nothing is left to do for this elector, now or later.
  [[nodiscard]] bool Gone() const { return !wanted_ && phase_ == Phase::kOutside && !working_; }
  // Another elector of this process has given up the terms up to this one.
  void CloseUpTo(uint64_t term) { closed_term_ = std::max(closed_term_, term); }
  // Those that were closed were the ones of another service.
  void ReopenTerms() { closed_term_ = 0; }
  // The last term that is over for this process, whatever the service reports about it.
  [[nodiscard]] uint64_t closed_term() const { return closed_term_; }
  [[nodiscard]] const SeatOptions& options() const { return options_; }
  // What has happened since it was last asked.
  [[nodiscard]] std::vector<SeatEvent> TakeEvents() { return std::exchange(events_, {}); }

 private:
  enum class Phase {
    kOutside,
    kStanding,
    kHeld,
    kLeading,
    kStopping,
    kEnding,
    kRetaking,
    kResigning
  };
  enum class Trouble { kNone, kUnanswered, kRefused };

  void StopBelieving(v1::Cause cause);
  void AskToStop(Time now);
  void AskToHandOver(Time now);
  // Nothing needs the term any more, in which this process never believes again.
  void Stopped(Time now);
  // The seat, or the place, is to be given up now that nothing needs it.
  void GiveUp(Time now);
  // For the service the term is over: nothing is left to give up.
  void Over(v1::Cause cause, Time now);
  // The last campaign was asked in the term that is held, so its answer is not older than that.
  [[nodiscard]] bool HeldWhenAsked() const;
  [[nodiscard]] Time::duration Grace(const Lease& lease) const;
  [[nodiscard]] Time OverrunAt(const Lease& lease) const;

  SeatOptions options_;
  bool wanted_ = true;
  Phase phase_ = Phase::kOutside;
  v1::Leadership leadership_;      // of the term that is held, or may be
  uint64_t closed_term_ = 0;       // reports about terms up to this one no longer count
  uint64_t asked_in_term_ = 0;     // the term that was held when the last campaign was asked
  uint64_t asked_after_term_ = 0;  // the one that it was to follow
  bool maybe_placed_ = false;      // a campaign of this session is under way or may have been heard
  bool proclaiming_ = false;       // the service may not know the value yet
  bool believes_ = false;
  bool working_ = false;
  bool suspended_ = false;
  bool overran_ = false;
  bool outlived_lease_ = false;
  bool blocked_ = false;
  Trouble trouble_ = Trouble::kNone;
  Duration lease_ttl_{0};  // when the term began
  Time stop_asked_at_{};
  Time need_at_{};
  std::vector<SeatEvent> events_;
};

}  // namespace tenure
