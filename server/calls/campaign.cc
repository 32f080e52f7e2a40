#include "server/calls/campaign.h"

#include <algorithm>
#include <utility>

namespace tenure::calls {
namespace {

// How long before its deadline a call stops waiting, to have time for finding out what to answer.
constexpr SteadyTime::duration kGiveUpMargin = std::chrono::milliseconds(200);

// Renewals of a waiting call's session per lease, and the longest pause between two of them.
constexpr int kRenewalsPerLease = 3;
constexpr SteadyTime::duration kRenewalPauseMax = std::chrono::seconds(5);
// Renewals for each read of a waiting call's place: reads need the database, and renewals do not.
constexpr int kRenewalsPerLook = 9;
constexpr auto kRenewalPauseAfterFailure = std::chrono::milliseconds(500);

// Attempts at a set per lease, and the longest pause between two of them.
constexpr int kTriesPerLease = 3;
constexpr SteadyTime::duration kTryPauseMax = std::chrono::seconds(1);
// Pause after a vacancy: candidates in the queue go first, and do not need this call to wake them.
constexpr auto kTryPauseMin = std::chrono::milliseconds(5);

// A time between half of `pause` and `pause` from now, which all calls with this pause share:
// however many wait, they need few transactions.
SteadyTime CommonTick(SteadyTime now, SteadyTime::duration pause) {
  const auto tick = pause / 2;
  return SteadyTime((now + pause).time_since_epoch() / tick * tick);
}

SteadyTime::duration Steady(Duration duration) {
  return std::chrono::duration_cast<SteadyTime::duration>(duration);
}

}  // namespace

std::vector<OpenCampaign::Effect> OpenCampaign::Step(const Event& event, SteadyTime now) {
  now_ = now;
  if (std::holds_alternative<Begun>(event)) {
    Begin();
  } else if (const auto* answered = std::get_if<Answered>(&event)) {
    OnAnswered(*answered);
  } else if (finished()) {
    // Too late.
  } else if (std::holds_alternative<Cancelled>(event)) {
    OnCancelled();
  } else if (std::holds_alternative<Drained>(event)) {
    StopWaiting({Reason::kDraining, when_draining_});
  } else if (const auto* over = std::get_if<SessionOver>(&event)) {
    StopWaiting(SessionEndedError(over->session));
  } else if (const auto* due = std::get_if<Due>(&event);
             due != nullptr && due->timer == TimerId::kNoAnswer) {
    // The outcome of the command is unknown; it is safe to repeat. A place in the queue is kept.
    FinishWith(AnswerTookTooLong());
  } else {
    OnEvent(event);
  }
  return std::exchange(effects_, {});
}

void OpenCampaign::Begin() {
  begun_at_ = now_;
  if (const auto& answer_by = patience_.answer_by) {
    give_up_at_ = *answer_by - std::min(kGiveUpMargin, (*answer_by - now_) / 4);
  }
  if (patience_.wait) {
    const SteadyTime wait_over = now_ + Steady(*patience_.wait);
    give_up_at_ = std::min(give_up_at_.value_or(wait_over), wait_over);
  }
  SubmitCommand();
}

void OpenCampaign::SubmitCommand() {
  state_ = State::kSubmitted;
  LimitAnswerTime();
  Emit(Submit{command()});
}

void OpenCampaign::LimitAnswerTime() {
  const SteadyTime latest = now_ + kAnswerPatience;
  Emit(SetTimer{TimerId::kNoAnswer, std::min(patience_.answer_by.value_or(latest), latest)});
}

void OpenCampaign::OnAnswered(const Answered& answered) {
  if (finished()) {
    if (answered.answer && cancelled_) Withdraw();
    return;
  }
  if (!answered.answer) return FinishWith(answered.answer.error());
  Emit(StopTimer{TimerId::kNoAnswer});
  OnAnswer(*answered.answer);
}

bool OpenCampaign::BeginToWait() {
  state_ = State::kWaiting;
  if (stop_waiting_) FinishWith(*stop_waiting_);
  return !finished();
}

void OpenCampaign::OnCancelled() {
  // A command on its way is withdrawn when it is answered. A caller whose deadline passes while its
  // place is being read keeps the place.
  cancelled_ = state_ == State::kSubmitted;
  if (state_ == State::kWaiting) Withdraw();
  Finish(HangUp{});
}

void OpenCampaign::StopWaiting(Error why) {
  if (state_ != State::kSubmitted) return FinishWith(std::move(why));
  stop_waiting_ = std::move(why);
}

void OpenCampaign::FinishElected(CampaignOutcome outcome, bool waited) {
  if (waited) Emit(CountWait{now_ - begun_at_});
  FinishAnswered(std::move(outcome));
}

void OpenCampaign::FinishAnswered(CampaignOutcome outcome) {
  Finish(Reply<CampaignReply>{CampaignReply{session_, std::move(outcome)}});
}

void OpenCampaign::FinishWith(Error error) {
  Finish(Reply<CampaignReply>{tl::unexpected(std::move(error))});
}

void OpenCampaign::Finish(Outward last) {
  state_ = State::kFinished;
  Emit(std::move(last));
}

// --- One election ---

void WaitingCampaign::OnAnswer(Answer answer) {
  auto& campaign = std::get<CampaignAnswer>(answer);
  session_ = std::move(campaign.session);
  term_when_standing_ = campaign.election.term;
  if (campaign.elected) return FinishElected(*LeadershipOf(campaign.election), false);
  if (FinishIfElected() || !BeginToWait()) return;
  if (PatienceIsOver()) return AnswerStanding();
  if (give_up_at_) Emit(SetTimer{TimerId::kWaitOver, *give_up_at_});
  renewals_until_look_ = kRenewalsPerLook;
  PlanRenewal();
}

void WaitingCampaign::OnEvent(const Event& event) {
  std::visit(
      [this]<typename T>(const T& it) {
        if constexpr (requires { On(it); }) On(it);
      },
      event);
}

void WaitingCampaign::On(const Changed& changed) {
  const tenure::Event& event = *changed.event;
  const bool mine = event.type == EventType::kElected && event.election == campaign_.election &&
                    event.leader.session == campaign_.session;
  if (!mine) return;
  latest_election_ = changed.event;
  if (state_ != State::kSubmitted) FinishIfElected();
}

void WaitingCampaign::On(const HistoryReset&) {
  if (state_ == State::kWaiting) LookAtOnce();
}

void WaitingCampaign::On(const Due& due) {
  if (state_ != State::kWaiting) return;
  if (due.timer == TimerId::kWaitOver) AnswerStanding();
  if (due.timer == TimerId::kRenewal) EmitRenewal();
}

void WaitingCampaign::On(const Renewed& renewed) {
  if (state_ != State::kWaiting && !lost_place_) return;
  if (renewed.session && !lost_place_) {
    session_ = *renewed.session;
    if (--renewals_until_look_ > 0) return PlanRenewal();
    renewals_until_look_ = kRenewalsPerLook;
    return Emit(ReadPlace{place_, false});
  }
  if (renewed.session) {
    return FinishWith({Reason::kCandidacyWithdrawn,
                       "the session has left election '" + campaign_.election.bytes + "'"});
  }
  const Reason reason = renewed.session.error().reason;
  const bool over = reason == Reason::kSessionEnded || reason == Reason::kSessionNotFound;
  if (over || lost_place_) return FinishWith(renewed.session.error());
  renewals_until_look_ = 0;
  Emit(SetTimer{TimerId::kRenewal, now_ + kRenewalPauseAfterFailure});
}

void WaitingCampaign::On(const PlaceRead& read) {
  if (!read.with_position) {
    if (state_ != State::kWaiting) return;
    if (!read.place) renewals_until_look_ = 0;
    if (!read.place || !HasLeft(*read.place)) PlanRenewal();
    return;
  }
  if (!read.place) return FinishWith(read.place.error());
  if (HasLeft(*read.place)) return;
  Standing standing{read.place->position, {}};
  const ElectionView& view = *read.place->election;
  if (view.LeaderAlive()) standing.leader = LeadershipOf(view.election);
  FinishAnswered(std::move(standing));
}

bool WaitingCampaign::FinishIfElected() {
  // An election from before the candidacy is an old event that arrived late.
  const bool elected = latest_election_ && latest_election_->term > term_when_standing_;
  if (elected) {
    FinishElected(Leadership{campaign_.election, latest_election_->term, latest_election_->leader},
                  true);
  }
  return elected;
}

bool WaitingCampaign::HasLeft(const engine::Place& place) {
  if (place.waiting) return false;
  if (place.LedBy(campaign_.session)) {
    FinishElected(*LeadershipOf(place.election->election), true);
  } else {
    lost_place_ = true;
    EmitRenewal();
  }
  return true;
}

void WaitingCampaign::AnswerStanding() {
  state_ = State::kReading;
  LimitAnswerTime();
  Emit(ReadPlace{place_, true});
}

void WaitingCampaign::LookAtOnce() {
  renewals_until_look_ = 0;
  EmitRenewal();
}

void WaitingCampaign::EmitRenewal() { Emit(Renew{campaign_.session, campaign_.principal, 0}); }

void WaitingCampaign::PlanRenewal() {
  const auto pause = std::min(kRenewalPauseMax, Steady(session_.lease_ttl) / kRenewalsPerLease);
  Emit(SetTimer{TimerId::kRenewal, CommonTick(now_, pause)});
}

void WaitingCampaign::Withdraw() {
  Emit(WithdrawPlace{{campaign_.election, campaign_.session, campaign_.call_id}});
}

// --- Several elections ---

std::vector<engine::Watch> CampaignSet::Watches() const {
  std::vector<engine::Watch> watches = {engine::WatchSession{campaign_.session}};
  for (const ElectionName& name : campaign_.elections)
    watches.push_back(engine::WatchElection{name});
  return watches;
}

void CampaignSet::OnAnswer(Answer answer) {
  auto& campaign = std::get<CampaignForAllAnswer>(answer);
  session_ = std::move(campaign.session);
  if (!campaign.leaderships.empty()) {
    return FinishElected(AllElected{std::move(campaign.leaderships)}, !first_try_);
  }
  if (!BeginToWait()) return;
  if (PatienceIsOver()) return FinishAnswered(Blocked{std::move(campaign.blocked)});
  PlanTry(vacated_ ? kTryPauseMin
                   : std::min(kTryPauseMax, Steady(session_.lease_ttl) / kTriesPerLease));
}

void CampaignSet::OnEvent(const Event& event) {
  if (const auto* changed = std::get_if<Changed>(&event)) {
    if (changed->event->type != EventType::kVacated) return;
    vacated_ = true;
    if (state_ == State::kWaiting) PlanTry(kTryPauseMin);
  } else if (std::holds_alternative<Due>(event) && state_ == State::kWaiting) {
    Try();
  }
}

void CampaignSet::Try() {
  first_try_ = vacated_ = false;
  next_try_at_.reset();
  SubmitCommand();
}

void CampaignSet::PlanTry(SteadyTime::duration pause) {
  SteadyTime when = now_ + pause;
  if (give_up_at_) when = std::min(when, *give_up_at_);
  if (next_try_at_ && *next_try_at_ <= when) return;  // a series of vacancies must not delay a try
  next_try_at_ = when;
  Emit(SetTimer{TimerId::kRetry, when});
}

}  // namespace tenure::calls
