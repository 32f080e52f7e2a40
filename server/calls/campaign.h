// What an open Campaign call does: `WaitingCampaign` for one election, in whose queue it waits, and
// `CampaignSet` for several, whose seats it tries to take all at once.
//
// Waiting ends with whichever comes first: a grant, the session's end, the end of the caller's
// patience, a cancellation, or the shutdown of this replica. A caller that cancels gives up its
// place in the queue, but not a seat; one whose patience ends keeps its place.
//
// Neither is thread-safe.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "server/calls/machine.h"

namespace tenure::calls {

// Answers for one election: Leadership or Standing. For several: AllElected or Blocked.
struct Standing {
  uint64_t position;
  std::optional<Leadership> leader;
};
struct AllElected {
  std::vector<Leadership> leaderships;
};
struct Blocked {
  std::vector<ElectionName> elections;
};
using CampaignOutcome = std::variant<Leadership, Standing, AllElected, Blocked>;
struct CampaignReply {
  Session session;
  CampaignOutcome outcome;
};

struct CampaignPatience {
  std::optional<SteadyTime> answer_by;  // nothing: the caller has no deadline
  std::optional<Duration> wait;         // nothing: until the deadline
};

// The common part of both calls.
class OpenCampaign {
 public:
  using Event = std::variant<Begun, Answered, Renewed, PlaceRead, Changed, SessionOver,
                             HistoryReset, Drained, Cancelled, Due>;
  using Outward = std::variant<Reply<CampaignReply>, HangUp>;
  using Effect = std::variant<Submit, WithdrawPlace, Renew, ReadPlace, SetTimer, StopTimer,
                              CountWait, Outward>;

  [[nodiscard]] std::vector<Effect> Step(const Event& event, SteadyTime now);
  // The caller gets nothing more.
  [[nodiscard]] bool finished() const { return state_ == State::kFinished; }

 protected:
  // Submitted: a command is on its way. Reading: the place of the session is being read, to answer.
  enum class State { kSubmitted, kWaiting, kReading, kFinished };

  OpenCampaign(CampaignPatience patience, const char* when_draining)
      : when_draining_(when_draining), patience_(patience) {}
  OpenCampaign(const OpenCampaign&) = default;
  OpenCampaign(OpenCampaign&&) = default;
  OpenCampaign& operator=(const OpenCampaign&) = delete;
  OpenCampaign& operator=(OpenCampaign&&) = delete;
  ~OpenCampaign() = default;

  [[nodiscard]] virtual Command command() const = 0;
  // The command was applied. The state is kSubmitted.
  virtual void OnAnswer(Answer answer) = 0;
  // An event that only one of the two handles. REQUIRES: not finished.
  virtual void OnEvent(const Event& event) = 0;
  // Leaves the queue, if it has a place there.
  virtual void Withdraw() {}

  template <typename T>
  void Emit(T effect) {
    effects_.emplace_back(std::move(effect));
  }
  void SubmitCommand();
  // Limits the time for the store to answer.
  void LimitAnswerTime();
  // Starts to wait, unless something has already ended the wait. False if it is finished.
  [[nodiscard]] bool BeginToWait();
  [[nodiscard]] bool PatienceIsOver() const { return give_up_at_ && *give_up_at_ <= now_; }
  void FinishElected(CampaignOutcome outcome, bool waited);
  void FinishAnswered(CampaignOutcome outcome);
  void FinishWith(Error error);

  SteadyTime now_;
  State state_ = State::kSubmitted;
  std::optional<SteadyTime> give_up_at_;
  Session session_;

 private:
  void Begin();
  void OnAnswered(const Answered& answered);
  void OnCancelled();
  void StopWaiting(Error why);
  void Finish(Outward last);

  const char* const when_draining_;
  const CampaignPatience patience_;
  SteadyTime begun_at_;
  bool cancelled_ = false;             // while a command was on its way
  std::optional<Error> stop_waiting_;  // why it must not start to wait
  std::vector<Effect> effects_;
};

// Renews its session every third of the lease. Events are hints that make it fast: after some
// renewals it also reads its place, which alone would be enough.
class WaitingCampaign final : public OpenCampaign {
 public:
  WaitingCampaign(Campaign campaign, CampaignPatience patience)
      : OpenCampaign(patience, "this replica is shutting down; the place in the queue is kept"),
        campaign_(std::move(campaign)),
        place_{campaign_.election, campaign_.session} {}

  // What to watch for it.
  [[nodiscard]] std::vector<engine::Watch> Watches() const {
    return {engine::WatchSession{campaign_.session}};
  }

 private:
  [[nodiscard]] Command command() const override { return campaign_; }
  void OnAnswer(Answer answer) override;
  void OnEvent(const Event& event) override;
  void Withdraw() override;

  void On(const Changed& changed);
  void On(const Renewed& renewed);
  void On(const PlaceRead& read);
  void On(const HistoryReset&);
  void On(const Due& due);

  bool FinishIfElected();
  // Whether it no longer waits. If it was not elected, a renewal finds out why.
  bool HasLeft(const engine::Place& place);
  void AnswerStanding();
  // Renews, and then reads its place.
  void LookAtOnce();
  void EmitRenewal();
  void PlanRenewal();

  const Campaign campaign_;
  const PlaceKey place_;
  Term term_when_standing_;
  std::shared_ptr<const tenure::Event> latest_election_;
  bool lost_place_ = false;
  int renewals_until_look_ = 0;
};

// Tries again periodically, since nobody queues for a set. A vacancy brings the next try forward.
class CampaignSet final : public OpenCampaign {
 public:
  CampaignSet(CampaignForAll campaign, CampaignPatience patience)
      : OpenCampaign(patience, "this replica is shutting down; no seat was taken"),
        campaign_(std::move(campaign)) {}

  [[nodiscard]] std::vector<engine::Watch> Watches() const;

 private:
  [[nodiscard]] Command command() const override { return campaign_; }
  void OnAnswer(Answer answer) override;
  void OnEvent(const Event& event) override;

  void Try();
  void PlanTry(SteadyTime::duration pause);

  const CampaignForAll campaign_;
  bool first_try_ = true;
  bool vacated_ = false;  // since the try under way began
  std::optional<SteadyTime> next_try_at_;
};

}  // namespace tenure::calls
