// One elector's seat, as its own process sees it: what to ask of the service, what to believe, and
// what to report. Pure: no I/O, no clock, no threads; `now` is an argument.
//
//   outside --campaign--> standing --elected--> leading --asked to stop--> stopping
//      ^                                           |                          | the work has ended
//      |                                           | lost                     v
//      +---------- the work has ended ----------- ending                   resigning --> outside
//
// A holder that stops because its lease ran out, but wants to keep leading, does not resign: as
// long as its lease is believed in, so the session is alive, it asks for the next term of its own
// seat.
//
//   stopping --the work has ended--> retaking --elected in the next term--> leading
//
// A seat of a set is first held, and leads when the whole set is held (Begin).
//
// Invariants:
// - It believes in a term only while the session's lease is believed in, and never again after it
//   stopped.
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
// Not all seats of the set are free; it keeps trying. Reported once until the set is won.
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
// The work has not ended in time, and another candidate may soon hold the seat.
struct Overrun {};
struct Lost {
  v1::Cause cause;
};
// A campaign was not answered, or was refused for now; it is repeated. Each of the two is reported
// once in a row, until a campaign is answered.
struct Troubled {
  grpc::Status status;
};
// The service refuses this campaign for good; the elector no longer stands.
struct Refused {
  grpc::Status status;
};
using SeatEvent = std::variant<Standing, SetBlocked, Elected, Suspended, Resumed, HandoverAsked,
                               StopWork, Overrun, Lost, Troubled, Refused>;

struct SeatOptions {
  std::string election;
  std::string value;
  int32_t priority = 0;
  // There is work, which must be asked to end, and reports when it has. Without it, anything begun
  // while leading ends within the grace.
  bool has_work = false;
  // How long the work may take to end, at most half of the lease. Nothing: a quarter of it.
  std::optional<Duration> stop_grace = std::nullopt;
  // It leads only once its session has confirmed all seats of its set.
  bool in_set = false;
  // It leads for one term, and then no longer stands.
  bool one_term = false;
};

class Seat {
 public:
  using Time = Lease::Time;
  // The next request to the service.
  enum class Need { kNothing, kCampaign, kResign };

  // Never believes in terms up to `closed_term`: an earlier seat of this process has ended them.
  explicit Seat(SeatOptions options, uint64_t closed_term = 0)
      : options_(std::move(options)), closed_term_(closed_term) {}

  // What this process wants and does.

  // The value to advertise from now on.
  void Proclaim(std::string value, Time now);
  // No longer stands: the work is asked to end, then the seat is given up.
  void Leave(Time now);
  // Like Leave, after the elector is gone: the work has ended and nobody is notified.
  void Abandon(Time now);
  void WorkEnded(Time now);
  // The whole set is held, so this seat leads from now on. REQUIRES: held().
  void Begin(Time now, const Lease& lease);
  // The rest of the set is not held, so this seat is useless: the work is asked to end, then the
  // seat is given up. The elector stands again.
  void StandDown(Time now);
  // A reader has seen the deadline pass, even if `now` is earlier.
  void BeliefEnded(Time now);

  // Progress of the need.

  // A campaign was sent. One at a time, and never beside a resignation.
  void Asked();
  // The request failed, or was refused for now. It is repeated at `retry_at`.
  void Unanswered(const grpc::Status& status, Time retry_at);

  // What the service says.

  // The last campaign was answered: this session is in the queue. It is repeated at `check_at`,
  // because nobody reports the loss of a place.
  void OnStanding(const v1::Standing& place, Time now, Time check_at);
  // Like OnStanding, for a set: it has no seat and no place. It is repeated at `retry_at`.
  void OnBlocked(const std::vector<std::string>& elections, Time now, Time retry_at);
  void OnElected(const v1::Leadership& leadership, Time now, const Lease& lease);
  // The last campaign was answered: this session leads in `term`.
  void OnCampaignElected(uint64_t term, Time now);
  void OnLost(uint64_t term, v1::Cause cause, Time now);
  void OnStepDownAsked(uint64_t term, const std::string& successor, Time now);
  // The session has ended, and with it all that it held.
  void OnSessionOver(v1::Cause cause, Time now);
  // The last campaign will never be granted.
  void OnRefused(const grpc::Status& status, Time now);
  // A resignation was answered, from `term` or, with 0, from the queue. With `waits`, the session
  // may still be in the queue. The elector stands again at `again_at` at the earliest.
  void OnResigned(uint64_t term, bool waits, Time again_at);

  // Time passes. Call it before any other input, and at NextWake.
  void Pass(Time now, const Lease& lease);
  [[nodiscard]] Time NextWake(const Lease& lease) const;

  [[nodiscard]] Need need() const;
  // Whether it waits for the rest of its set.
  [[nodiscard]] bool held() const { return phase_ == Phase::kHeld; }
  [[nodiscard]] bool leads() const { return phase_ == Phase::kLeading; }
  // The earliest time for the need.
  [[nodiscard]] Time need_at() const { return need_at_; }
  // The time until which this process may act as the leader; Time{} if it does not lead.
  [[nodiscard]] Time BelievedUntil(const Lease& lease) const;
  // The term that this session holds or may hold; 0 if none.
  [[nodiscard]] uint64_t term() const { return leadership_.term(); }
  // The term that the next campaign ends, so that this session leads in the following one; 0 if
  // none.
  [[nodiscard]] uint64_t after_term() const {
    return phase_ == Phase::kRetaking ? leadership_.term() : 0;
  }
  // Whether the last belief ended with the lease, or nearly: this process did not want to give up
  // the seat, and need not let others go first.
  [[nodiscard]] bool outlived_lease() const { return outlived_lease_; }
  // Nothing is left to do for this elector, now or later.
  [[nodiscard]] bool Gone() const { return !wanted_ && phase_ == Phase::kOutside && !working_; }
  // Another elector of this process has given up all terms up to this one.
  void CloseUpTo(uint64_t term) { closed_term_ = std::max(closed_term_, term); }
  // The closed terms were those of another service.
  void ReopenTerms() { closed_term_ = 0; }
  // The last term that has ended for this process, whatever the service reports about it.
  [[nodiscard]] uint64_t closed_term() const { return closed_term_; }
  [[nodiscard]] const SeatOptions& options() const { return options_; }
  // What has happened since the last call.
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
  // Nothing needs the term any more; this process never believes in it again.
  void Stopped(Time now);
  // Nothing needs the seat or the place any more, so it is given up.
  void GiveUp(Time now);
  // The service has ended the term: nothing is left to give up.
  void Over(v1::Cause cause, Time now);
  // The last campaign was sent in the current term, so its answer is not older than that.
  [[nodiscard]] bool HeldWhenAsked() const;
  [[nodiscard]] Time::duration Grace(const Lease& lease) const;
  [[nodiscard]] Time OverrunAt(const Lease& lease) const;

  SeatOptions options_;
  bool wanted_ = true;
  Phase phase_ = Phase::kOutside;
  v1::Leadership leadership_;      // of the term that this session holds or may hold
  uint64_t closed_term_ = 0;       // reports about terms up to this one no longer count
  uint64_t asked_in_term_ = 0;     // the term that was held when the last campaign was sent
  uint64_t asked_after_term_ = 0;  // the term that it was meant to follow
  bool maybe_placed_ = false;  // a campaign of this session is under way or may have been received
  bool proclaiming_ = false;   // the service may not know the value yet
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
