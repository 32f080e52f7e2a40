#include "server/campaign_call.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "server/campaign_request.h"
#include "server/campaign_set_call.h"
#include "server/convert.h"
#include "server/refused.h"
#include "server/status.h"
#include "server/timer.h"
#include "server/trace.h"
#include "server/unary_call.h"

namespace tenure {
namespace {

// A waiting call's session is renewed so many times in a lease, and no less often than that.
constexpr int kRenewalsPerLease = 3;
constexpr SteadyTime::duration kTendPauseMax = std::chrono::seconds(5);
constexpr auto kTendPauseAfterFailure = std::chrono::milliseconds(500);

// How long before it has to be answered a call stops waiting: the time to read where it stands.
constexpr SteadyTime::duration kStandingMargin = std::chrono::milliseconds(200);

class CampaignCall final : public grpc::ServerUnaryReactor,
                           public Watcher,
                           public std::enable_shared_from_this<CampaignCall> {
 public:
  CampaignCall(Engine& engine, CampaignRequest parsed, v1::CampaignResponse* response)
      : engine_(engine),
        campaign_(std::move(parsed.campaign)),
        place_{campaign_.election, campaign_.session},
        wait_(parsed.wait),
        response_(response),
        no_answer_(engine.scheduler(), Work::kReads),
        wait_over_(engine.scheduler(), Work::kReads),
        tend_(engine.scheduler(), Work::kReads) {}

  void Start(const grpc::ServerContextBase& context) {
    self_ = shared_from_this();
    const SteadyTime now = arrived_at_ = engine_.scheduler().Now();
    answer_by_ = AnswerBy(context, engine_.scheduler());
    if (answer_by_) {
      give_up_waiting_at_ = *answer_by_ - std::min(kStandingMargin, (*answer_by_ - now) / 4);
    }
    if (wait_) {
      const SteadyTime wait_over = now + std::chrono::duration_cast<SteadyTime::duration>(*wait_);
      give_up_waiting_at_ = std::min(give_up_waiting_at_.value_or(wait_over), wait_over);
    }
    if (campaign_.opening && wait_) {  // who waits without limit for a seat can wait for this, too
      const auto admitted = engine_.AdmitCampaign();
      if (!admitted) return FinishWith(admitted.error());
    }
    auto joined = engine_.hub().Join(shared_from_this());
    if (!joined) return FinishWith(joined.error());
    membership_ = std::move(*joined);
    membership_.Add(WatchSession{campaign_.session});
    {
      const std::lock_guard lock(mutex_);
      LimitAnswerTime();
    }
    // Not applied once the call is finished: it could come after a later call of the same session,
    // and take that one's place with it when it is withdrawn.
    engine_.Submit(
        campaign_,
        [self = shared_from_this()](Result<Answer> answer) { self->OnAnswer(std::move(answer)); },
        [self = shared_from_this()] {
          const std::lock_guard lock(self->mutex_);
          return self->state_ != State::kFinished;
        },
        TraceIdOf(context));
  }

  // Watcher

  void OnEvent(const std::shared_ptr<const Event>& event) override {
    const bool mine = event->type == EventType::kElected && event->election == campaign_.election &&
                      event->leader.session == campaign_.session;
    if (!mine) return;
    const std::lock_guard lock(mutex_);
    latest_election_ = event;
    if (state_ == State::kWaiting || state_ == State::kAnswering) FinishIfElected();
  }

  void OnSessionEnded(const Session& session) override { StopWaiting(SessionEndedError(session)); }

  void OnReset() override {
    const std::lock_guard lock(mutex_);
    Set(tend_, engine_.scheduler().Now(), [](CampaignCall& call) { call.Tend(); });
  }

  void OnDrain() override {
    StopWaiting(
        {Reason::kDraining, "this replica is shutting down; the place in the queue is kept"});
  }

  // Reactor

  void OnCancel() override {
    const std::lock_guard lock(mutex_);
    if (state_ == State::kFinished) return;
    // A command that is being applied is withdrawn when it is answered. A caller whose deadline
    // passes while its place is being read has not given it up.
    if (state_ == State::kWaiting) TakeBack();
    cancelled_ = state_ == State::kSubmitted;
    Finish(grpc::Status::CANCELLED);
  }

  void OnDone() override {
    membership_.Leave();
    self_.reset();
  }

 private:
  enum class State { kSubmitted, kWaiting, kAnswering, kFinished };

  void Set(Timer& timer, SteadyTime when, void (*task)(CampaignCall&)) {
    timer.Set(when, [weak = weak_from_this(), task] {
      if (const auto call = weak.lock()) task(*call);
    });
  }

  // Also for a call that has not begun to wait yet.
  void StopWaiting(Error why) {
    const std::lock_guard lock(mutex_);
    if (state_ == State::kWaiting || state_ == State::kAnswering) return FinishWith(why);
    stop_waiting_ = std::move(why);
  }

  void OnAnswer(Result<Answer> result) {
    const std::lock_guard lock(mutex_);
    if (state_ == State::kFinished) {
      if (result && cancelled_) TakeBack();
      return;
    }
    if (!result) return FinishWith(result.error());
    const auto& answer = std::get<CampaignAnswer>(*result);
    session_ = answer.session;
    term_when_standing_ = answer.election.term;
    if (answer.elected) return FinishElected(ToProto(*LeadershipOf(answer.election)));
    state_ = State::kWaiting;
    no_answer_.Forget();
    if (FinishIfElected()) return;
    if (stop_waiting_) return FinishWith(*stop_waiting_);
    const SteadyTime now = engine_.scheduler().Now();
    if (give_up_waiting_at_ && *give_up_waiting_at_ <= now) return AnswerStanding();
    if (give_up_waiting_at_) {
      Set(wait_over_, *give_up_waiting_at_, [](CampaignCall& call) { call.OnWaitOver(); });
    }
    PlanToTend();
  }

  // From now on the store has only so long to answer.
  void LimitAnswerTime() {
    const SteadyTime latest = engine_.scheduler().Now() + kAnswerPatience;
    Set(no_answer_, std::min(answer_by_.value_or(latest), latest),
        [](CampaignCall& call) { call.OnNoAnswer(); });
  }

  // What became of a command is then not known; it is safe to repeat. A place is kept.
  void OnNoAnswer() {
    const std::lock_guard lock(mutex_);
    const bool expected = state_ == State::kSubmitted || state_ == State::kAnswering;
    if (expected) FinishWith(AnswerTookTooLong());
  }

  void OnWaitOver() {
    const std::lock_guard lock(mutex_);
    if (state_ == State::kWaiting) AnswerStanding();
  }

  // REQUIRES for all below: the lock.

  bool FinishIfElected() {
    // An election from before the candidacy is an old one, told late.
    const bool elected = latest_election_ && latest_election_->term > term_when_standing_;
    if (elected) {
      FinishElected(ToProto(
          Leadership{campaign_.election, latest_election_->term, latest_election_->leader}));
    }
    return elected;
  }

  void AnswerStanding() {
    state_ = State::kAnswering;
    LimitAnswerTime();
    engine_.ReadPlace(place_, true, [self = shared_from_this()](Result<Place> place) {
      const std::lock_guard lock(self->mutex_);
      if (self->state_ != State::kAnswering) return;
      if (!place) return self->FinishWith(place.error());
      if (self->FinishIfNotWaiting(*place)) return;
      v1::Standing& standing = *self->response_->mutable_standing();
      standing.set_position(place->position);
      const ElectionView& view = *place->election;
      const auto leader = LeadershipOf(view.election);
      if (leader && view.LeaderAlive()) *standing.mutable_leader() = ToProto(*leader);
      self->FinishAnswered();
    });
  }

  // Once per third of the lease, and every few seconds: renews the session, and reads where it
  // stands.
  void PlanToTend() {
    const auto third =
        std::chrono::duration_cast<SteadyTime::duration>(session_.lease_ttl) / kRenewalsPerLease;
    Set(tend_, engine_.scheduler().Now() + std::min(kTendPauseMax, third),
        [](CampaignCall& call) { call.Tend(); });
  }

  void Tend() {
    {
      const std::lock_guard lock(mutex_);
      if (state_ != State::kWaiting) return;
    }
    engine_.Renew(campaign_.session, [self = shared_from_this()](Result<Session> renewed) {
      const std::lock_guard lock(self->mutex_);
      if (self->state_ != State::kWaiting) return;
      if (renewed) return self->Verify();
      const Reason reason = renewed.error().reason;
      const bool over = reason == Reason::kSessionEnded || reason == Reason::kSessionNotFound;
      if (over) return self->FinishWith(renewed.error());
      self->Set(self->tend_, self->engine_.scheduler().Now() + kTendPauseAfterFailure,
                [](CampaignCall& call) { call.Tend(); });
    });
  }

  void Verify() {
    engine_.ReadPlace(place_, false, [self = shared_from_this()](Result<Place> place) {
      const std::lock_guard lock(self->mutex_);
      if (self->state_ != State::kWaiting) return;
      if (place && self->FinishIfNotWaiting(*place)) return;
      self->PlanToTend();
    });
  }

  bool FinishIfNotWaiting(const Place& place) {
    const auto& leader = place.election ? place.election->election.leader : std::nullopt;
    if (leader && leader->session == campaign_.session) {
      FinishElected(ToProto(*LeadershipOf(place.election->election)));
      return true;
    }
    if (place.waiting) return false;
    FinishWith({Reason::kCandidacyWithdrawn,
                "the session has left election '" + campaign_.election.bytes + "'"});
    return true;
  }

  void TakeBack() {
    engine_.Submit(Withdraw{campaign_.election, campaign_.session, campaign_.attempt},
                   [](Result<Answer>) {});
  }

  void FinishElected(v1::Leadership leadership) {
    if (state_ != State::kSubmitted) {
      ObserveSeconds(engine_.metrics().campaign_wait_seconds,
                     engine_.scheduler().Now() - arrived_at_);
    }
    *response_->mutable_elected() = std::move(leadership);
    FinishAnswered();
  }

  void FinishAnswered() {
    *response_->mutable_session() = ToProto(session_);
    Finish(grpc::Status::OK);
  }

  void FinishWith(const Error& error) { Finish(ToStatus(error)); }

  void Finish(const grpc::Status& status) {
    state_ = State::kFinished;
    ServerUnaryReactor::Finish(status);
  }

  Engine& engine_;
  const Campaign campaign_;
  const PlaceKey place_;
  const std::optional<Duration> wait_;
  v1::CampaignResponse* const response_;  // valid until finished
  SteadyTime arrived_at_;
  std::optional<SteadyTime> answer_by_;
  std::optional<SteadyTime> give_up_waiting_at_;
  std::shared_ptr<CampaignCall> self_;  // until OnDone
  WatchHub::Membership membership_;     // used by Start and OnDone only

  std::mutex mutex_;
  // Guarded by mutex_:
  State state_ = State::kSubmitted;
  bool cancelled_ = false;
  std::optional<Error> stop_waiting_;
  Session session_;
  Term term_when_standing_;
  std::shared_ptr<const Event> latest_election_;
  Timer no_answer_;
  Timer wait_over_;
  Timer tend_;
};

}  // namespace

grpc::ServerUnaryReactor* StartCampaign(Engine& engine, Claimant claimant,
                                        grpc::CallbackServerContext* context,
                                        const v1::CampaignRequest& request,
                                        v1::CampaignResponse* response) {
  if (!request.elections().empty())
    return StartCampaignForAll(engine, std::move(claimant), context, request, response);
  auto parsed = ParseCampaign(request, engine.limits());
  if (!parsed) return Refused(*context, parsed.error());
  parsed->campaign.claimant = std::move(claimant);
  const auto call = std::make_shared<CampaignCall>(engine, *std::move(parsed), response);
  call->Start(*context);
  return call.get();
}

}  // namespace tenure
