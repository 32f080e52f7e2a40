#include "server/campaign_set_call.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "server/campaign_request.h"
#include "server/convert.h"
#include "server/refused.h"
#include "server/status.h"
#include "server/timer.h"
#include "server/trace.h"
#include "server/unary_call.h"

namespace tenure {
namespace {

// A try is made so many times in a lease, and no less often than that.
constexpr int kTriesPerLease = 3;
constexpr SteadyTime::duration kTryPauseMax = std::chrono::seconds(1);
// After a vacancy: those who wait in the queue go first, and have to be told nothing by us.
constexpr auto kTryPauseMin = std::chrono::milliseconds(5);
// How long before it has to be answered a call makes its last try.
constexpr SteadyTime::duration kLastTryMargin = std::chrono::milliseconds(200);

class CampaignSetCall final : public grpc::ServerUnaryReactor,
                              public Watcher,
                              public std::enable_shared_from_this<CampaignSetCall> {
 public:
  CampaignSetCall(Engine& engine, CampaignForAllRequest request, v1::CampaignResponse* response)
      : engine_(engine),
        campaign_(std::move(request.campaign)),
        wait_(request.wait),
        response_(response),
        no_answer_(engine.scheduler(), Work::kReads),
        next_try_(engine.scheduler(), Work::kReads) {}

  void Start(const grpc::ServerContextBase& context) {
    self_ = shared_from_this();
    trace_ = TraceIdOf(context);
    const SteadyTime now = arrived_at_ = engine_.scheduler().Now();
    answer_by_ = AnswerBy(context, engine_.scheduler());
    if (answer_by_) {
      give_up_at_ = *answer_by_ - std::min(kLastTryMargin, (*answer_by_ - now) / 4);
    }
    if (wait_) {
      const SteadyTime wait_over = now + std::chrono::duration_cast<SteadyTime::duration>(*wait_);
      give_up_at_ = std::min(give_up_at_.value_or(wait_over), wait_over);
    }
    if (campaign_.opening && wait_) {
      const auto admitted = engine_.AdmitCampaign();
      const std::lock_guard lock(mutex_);
      if (!admitted) return FinishWith(admitted.error());
    }
    auto joined = engine_.hub().Join(shared_from_this());
    if (!joined) {
      const std::lock_guard lock(mutex_);
      return FinishWith(joined.error());
    }
    membership_ = std::move(*joined);
    for (const ElectionName& name : campaign_.elections) membership_.Add(WatchElection{name});
    membership_.Add(WatchSession{campaign_.session});
    Try();
  }

  // Watcher

  void OnEvent(const std::shared_ptr<const Event>& event) override {
    if (event->type != EventType::kVacated) return;
    const std::lock_guard lock(mutex_);
    if (state_ == State::kTrying) try_again_ = true;
    if (state_ == State::kWaiting) PlanTry(kTryPauseMin);
  }

  void OnDrain() override {
    const std::lock_guard lock(mutex_);
    draining_ = true;
    if (state_ == State::kWaiting) FinishWith(Draining());
  }

  // Reactor

  void OnCancel() override {
    const std::lock_guard lock(mutex_);
    if (state_ == State::kFinished) return;
    cancelled_ = state_ == State::kTrying;  // what is granted now is taken back
    Finish(grpc::Status::CANCELLED);
  }

  void OnDone() override {
    membership_.Leave();
    self_.reset();
  }

 private:
  enum class State { kTrying, kWaiting, kFinished };

  static Error Draining() {
    return {Reason::kDraining, "this replica is shutting down; no seat was taken"};
  }

  void Set(Timer& timer, SteadyTime when, std::function<void(CampaignSetCall&)> task) {
    timer.Set(when, [weak = weak_from_this(), task = std::move(task)] {
      if (const auto call = weak.lock()) task(*call);
    });
  }

  void Try() {
    {
      const std::lock_guard lock(mutex_);
      if (state_ == State::kFinished) return;
      state_ = State::kTrying;
      try_again_ = false;
      next_try_at_.reset();
      const SteadyTime latest = engine_.scheduler().Now() + kAnswerPatience;
      Set(no_answer_, std::min(answer_by_.value_or(latest), latest),
          [number = ++tries_](CampaignSetCall& call) { call.OnNoAnswer(number); });
    }
    engine_.Submit(
        campaign_,
        [self = shared_from_this()](Result<Answer> answer) { self->OnAnswer(std::move(answer)); },
        [self = shared_from_this()] {
          const std::lock_guard lock(self->mutex_);
          return self->state_ != State::kFinished;
        },
        trace_);
  }

  void OnAnswer(Result<Answer> result) {
    const std::lock_guard lock(mutex_);
    if (state_ == State::kFinished) {
      if (result && cancelled_) TakeBack();
      return;
    }
    if (!result) return FinishWith(result.error());
    auto& answer = std::get<CampaignForAllAnswer>(*result);
    session_ = answer.session;
    if (!answer.leaderships.empty()) return FinishElected(answer.leaderships);
    if (draining_) return FinishWith(Draining());
    const SteadyTime now = engine_.scheduler().Now();
    if (give_up_at_ && *give_up_at_ <= now) return FinishBlocked(answer.blocked);
    state_ = State::kWaiting;
    const auto third =
        std::chrono::duration_cast<SteadyTime::duration>(session_.lease_ttl) / kTriesPerLease;
    PlanTry(try_again_ ? kTryPauseMin : std::min(kTryPauseMax, third));
  }

  // What became of the command is then not known; it is safe to repeat.
  void OnNoAnswer(uint64_t number) {
    const std::lock_guard lock(mutex_);
    if (state_ == State::kTrying && tries_ == number) FinishWith(AnswerTookTooLong());
  }

  // REQUIRES for all below: the lock.

  void PlanTry(SteadyTime::duration pause) {
    SteadyTime when = engine_.scheduler().Now() + pause;
    if (give_up_at_) when = std::min(when, *give_up_at_);
    if (next_try_at_ && *next_try_at_ <= when) return;  // one vacancy after the other puts off none
    next_try_at_ = when;
    Set(next_try_, when, [tries = tries_](CampaignSetCall& call) {
      {
        const std::lock_guard lock(call.mutex_);
        if (call.state_ != State::kWaiting || call.tries_ != tries) return;  // another was sooner
      }
      call.Try();
    });
  }

  void TakeBack() {
    for (const ElectionName& name : campaign_.elections) {
      engine_.Submit(Withdraw{name, campaign_.session, campaign_.attempt}, [](Result<Answer>) {});
    }
  }

  void FinishElected(const std::vector<Leadership>& leaderships) {
    if (tries_ > 1) {
      ObserveSeconds(engine_.metrics().campaign_wait_seconds,
                     engine_.scheduler().Now() - arrived_at_);
    }
    v1::AllElected& elected = *response_->mutable_all_elected();
    for (const Leadership& it : leaderships) *elected.add_leaderships() = ToProto(it);
    *response_->mutable_session() = ToProto(session_);
    Finish(grpc::Status::OK);
  }

  void FinishBlocked(const std::vector<ElectionName>& elections) {
    v1::Blocked& blocked = *response_->mutable_blocked();
    for (const ElectionName& name : elections) blocked.add_elections(name.bytes);
    *response_->mutable_session() = ToProto(session_);
    Finish(grpc::Status::OK);
  }

  void FinishWith(const Error& error) { Finish(ToStatus(error)); }

  void Finish(const grpc::Status& status) {
    state_ = State::kFinished;
    ServerUnaryReactor::Finish(status);
  }

  Engine& engine_;
  const CampaignForAll campaign_;
  const std::optional<Duration> wait_;
  v1::CampaignResponse* const response_;  // valid until finished
  SteadyTime arrived_at_;
  std::string trace_;
  std::optional<SteadyTime> answer_by_;
  std::optional<SteadyTime> give_up_at_;
  std::shared_ptr<CampaignSetCall> self_;  // until OnDone
  WatchHub::Membership membership_;        // used by Start and OnDone only

  std::mutex mutex_;
  // Guarded by mutex_:
  State state_ = State::kTrying;
  uint64_t tries_ = 0;
  bool try_again_ = false;
  bool cancelled_ = false;
  bool draining_ = false;
  Session session_;
  Timer no_answer_;
  Timer next_try_;
  std::optional<SteadyTime> next_try_at_;
};

}  // namespace

grpc::ServerUnaryReactor* StartCampaignForAll(Engine& engine, Claimant claimant,
                                              grpc::CallbackServerContext* context,
                                              const v1::CampaignRequest& request,
                                              v1::CampaignResponse* response) {
  auto parsed = ParseCampaignForAll(request, engine.limits());
  if (!parsed) return Refused(*context, parsed.error());
  parsed->campaign.claimant = std::move(claimant);
  const auto call = std::make_shared<CampaignSetCall>(engine, *std::move(parsed), response);
  call->Start(*context);
  return call.get();
}

}  // namespace tenure
