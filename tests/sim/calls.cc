#include "tests/sim/calls.h"

#include <algorithm>
#include <utility>

namespace tenure::sim {

using namespace std::chrono_literals;

namespace {

constexpr int kRenewalsPerLease = 3;
constexpr auto kTendPauseAfterFailure = 500ms;
constexpr auto kAnswerPatience = 10s;
constexpr auto kAnswerMargin = 100ms;

}  // namespace

ParkedCampaign::ParkedCampaign(World& world, Engine& engine, CampaignRequest request,
                               Respond<Stood> respond)
    : world_(world),
      engine_(engine),
      campaign_(std::move(request.campaign)),
      place_{campaign_.election, campaign_.session},
      wait_(request.wait),
      timeout_(request.timeout),
      respond_(std::move(respond)) {
  campaign_.attempt = Attempt{world.random.Next() | 1};
}

void ParkedCampaign::Start() {
  const SteadyTime now = engine_.scheduler().Now();
  std::optional<SteadyTime> deadline;
  if (timeout_) deadline = now + *timeout_ - kAnswerMargin;
  if (wait_) {
    const SteadyTime wait_over = now + *wait_;
    give_up_waiting_at_ = deadline ? std::min(*deadline, wait_over) : wait_over;
  } else {
    give_up_waiting_at_ = deadline;
  }
  At(std::min(deadline.value_or(SteadyTime::max()), now + kAnswerPatience),
     [](ParkedCampaign& call) {
       if (call.state_ != State::kSubmitted) return;
       call.Finish(Fail(Reason::kStoreUnavailable, "no answer in time"));
     });
  engine_.Submit(
      campaign_,
      [self = shared_from_this()](Result<Answer> answer) { self->OnAnswer(std::move(answer)); },
      [self = shared_from_this()] { return self->state_ != State::kFinished; });
}

void ParkedCampaign::Cancel() {
  if (state_ == State::kFinished) return;
  if (state_ != State::kSubmitted) TakeBack();
  cancelled_ = true;
  state_ = State::kFinished;
  // Kept until its command is answered, and then taken back.
  finished = true;
}

void ParkedCampaign::HearEvent(const Event& event) {
  const bool mine = event.type == EventType::kElected && event.election == campaign_.election &&
                    event.leader.session == campaign_.session;
  if (!mine) return;
  latest_election_ = event;
  if (state_ == State::kWaiting) (void)FinishIfElected();
}

void ParkedCampaign::HearSessionEnded(const Session& session) {
  const Error why = SessionEndedError(session);
  if (state_ == State::kWaiting) return Finish(tl::unexpected(why));
  stop_waiting_ = why;
}

void ParkedCampaign::At(SteadyTime when, std::function<void(ParkedCampaign&)> task) {
  engine_.scheduler().PostAt(Work::kReads, when, [weak = weak_from_this(), task = std::move(task)] {
    if (const auto call = weak.lock()) task(*call);
  });
}

void ParkedCampaign::OnAnswer(Result<Answer> result) {
  if (state_ == State::kFinished) {
    if (result && cancelled_) TakeBack();
    return;
  }
  if (!result) return Finish(tl::unexpected(result.error()));
  const auto& answer = std::get<CampaignAnswer>(*result);
  session_ = answer.session;
  term_when_standing_ = answer.election.term;
  if (answer.elected) {
    return Finish(Stood{
        session_, Leadership{answer.election.name, answer.election.term, *answer.election.leader}});
  }
  state_ = State::kWaiting;
  if (FinishIfElected()) return;
  if (stop_waiting_) return Finish(tl::unexpected(*stop_waiting_));
  const SteadyTime now = engine_.scheduler().Now();
  if (give_up_waiting_at_ && *give_up_waiting_at_ <= now) return AnswerStanding();
  if (give_up_waiting_at_) {
    At(*give_up_waiting_at_, [](ParkedCampaign& call) {
      if (call.state_ == State::kWaiting) call.AnswerStanding();
    });
  }
  PlanToTend();
}

bool ParkedCampaign::FinishIfElected() {
  const bool elected = latest_election_ && latest_election_->term > term_when_standing_;
  if (elected) {
    Finish(Stood{session_,
                 Leadership{campaign_.election, latest_election_->term, latest_election_->leader}});
  }
  return elected;
}

void ParkedCampaign::AnswerStanding() {
  engine_.ReadPlace(place_, true, [self = shared_from_this()](Result<Place> place) {
    if (self->state_ != State::kWaiting) return;
    if (!place) return self->Finish(tl::unexpected(place.error()));
    if (self->FinishIfNotWaiting(*place)) return;
    self->Finish(Stood{self->session_, std::nullopt});
  });
}

void ParkedCampaign::PlanToTend() {
  At(engine_.scheduler().Now() + session_.lease_ttl / kRenewalsPerLease,
     [](ParkedCampaign& call) { call.Tend(); });
}

void ParkedCampaign::Tend() {
  if (state_ != State::kWaiting) return;
  engine_.Renew(campaign_.session, [self = shared_from_this()](Result<Session> renewed) {
    if (self->state_ != State::kWaiting) return;
    if (renewed) return self->Verify();
    const Reason reason = renewed.error().reason;
    const bool over = reason == Reason::kSessionEnded || reason == Reason::kSessionNotFound;
    if (over) return self->Finish(tl::unexpected(renewed.error()));
    self->At(self->engine_.scheduler().Now() + kTendPauseAfterFailure,
             [](ParkedCampaign& call) { call.Tend(); });
  });
}

void ParkedCampaign::Verify() {
  engine_.ReadPlace(place_, false, [self = shared_from_this()](Result<Place> place) {
    if (self->state_ != State::kWaiting) return;
    if (place && self->FinishIfNotWaiting(*place)) return;
    self->PlanToTend();
  });
}

bool ParkedCampaign::FinishIfNotWaiting(const Place& place) {
  const auto& leader = place.election ? place.election->election.leader : std::nullopt;
  if (leader && leader->session == campaign_.session) {
    Finish(Stood{session_, Leadership{campaign_.election, place.election->election.term, *leader}});
    return true;
  }
  if (place.waiting) return false;
  Finish(Fail(Reason::kCandidacyWithdrawn, "the session has left the election"));
  return true;
}

void ParkedCampaign::TakeBack() {
  world_.asked.withdrawn[place_].insert(campaign_.attempt.value);
  world_.last_withdrawn = campaign_.attempt.value;
  world_.Say("{} withdraws its call from {}", NameOf(campaign_.session), campaign_.election.bytes);
  engine_.Submit(Withdraw{campaign_.election, campaign_.session, campaign_.attempt},
                 [](Result<Answer>) {});
}

void ParkedCampaign::Finish(Result<Stood> result) {
  state_ = State::kFinished;
  finished = true;
  respond_(std::move(result));
}

void KeepAliveStream::OnRequest(uint64_t sequence) {
  if (finished) return;
  if (std::exchange(answering_, true)) return unread_.push_back(sequence);
  engine_.Renew(session_, [self = shared_from_this(), sequence](Result<Session> renewed) {
    self->OnRenewed(sequence, std::move(renewed));
  });
}

void KeepAliveStream::OnRenewed(uint64_t sequence, Result<Session> renewed) {
  StreamMessage message{sequence, renewed, {}, {}, {}};
  if (!renewed) {
    const Reason reason = renewed.error().reason;
    const bool over = reason == Reason::kSessionEnded || reason == Reason::kSessionNotFound;
    if (over) return Answer(std::move(message));
    finished = true;
    return broken_();
  }
  if (!std::exchange(first_, false)) return Answer(std::move(message));
  engine_.ReadSeats({session_}, [self = shared_from_this(), message](auto seats) mutable {
    if (!seats) {
      self->finished = true;
      return self->broken_();
    }
    message.seats = *seats;
    self->Answer(std::move(message));
  });
}

void KeepAliveStream::Answer(StreamMessage message) {
  if (finished) return;
  send_(std::move(message));
  answering_ = false;
  if (unread_.empty()) return;
  const uint64_t next = unread_.front();
  unread_.erase(unread_.begin());
  OnRequest(next);
}

void KeepAliveStream::HearEvent(const Event& event) {
  const bool told = event.type == EventType::kVacated || event.type == EventType::kHandoverAsked;
  if (finished || !told) return;
  StreamMessage message;
  message.notice = event;
  send_(std::move(message));
}

void KeepAliveStream::HearSessionEnded(const Session& session) {
  if (finished) return;
  StreamMessage message;
  message.ended = session;
  send_(std::move(message));
}

}  // namespace tenure::sim
