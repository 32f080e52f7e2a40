#include "server/campaign_call.h"

#include <openssl/evp.h>

#include <algorithm>
#include <mutex>
#include <random>
#include <utility>

#include "core/validation.h"
#include "server/convert.h"
#include "server/status.h"
#include "server/unary_call.h"

namespace tenure {
namespace {

// A waiting call's session is renewed so many times in a lease, and no less often than that.
constexpr int kRenewalsPerLease = 3;
constexpr SteadyTime::duration kTendPauseMax = std::chrono::seconds(5);
constexpr auto kTendPauseAfterFailure = std::chrono::milliseconds(500);

// How long before it has to be answered a call stops waiting: the time to read where it stands.
constexpr SteadyTime::duration kStandingMargin = std::chrono::milliseconds(200);
// No plan is made for later than this: it would outlive a call that is cancelled.
constexpr SteadyTime::duration kPlanAheadMax = std::chrono::seconds(10);

uint64_t RandomNumber() {
  thread_local std::random_device random;  // the kernel's generator
  return static_cast<uint64_t>(random()) << 32 | random();
}

SessionId RandomSessionId() {
  SessionId id;
  for (size_t i = 0; i < id.bytes.size(); i += 8) {
    const uint64_t number = RandomNumber();
    for (size_t j = 0; j < 8; ++j) id.bytes[i + j] = static_cast<uint8_t>(number >> (8 * j));
  }
  return id;
}

// The same request_id makes the same session, on whatever replica: SHA-256, cut to 128 bits.
SessionId SessionIdFor(std::string_view request_id) {
  std::string input = "tenure.v1 session ";
  input += request_id;
  std::array<uint8_t, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(input.data(), input.size(), digest.data(), &size, EVP_sha256(), nullptr);
  SessionId id;
  std::copy_n(digest.begin(), id.bytes.size(), id.bytes.begin());
  return id;
}

struct Parsed {
  Campaign campaign;
  std::optional<Duration> wait;  // nothing: until the deadline
};

Result<std::optional<Duration>> ParseWait(const v1::CampaignRequest& request) {
  if (!request.has_wait()) return std::nullopt;
  const auto wait = FromProto(request.wait());
  if (!wait) return Fail(Reason::kInvalidWait, "the wait is not a valid duration");
  if (*wait < Duration(0)) return Fail(Reason::kInvalidWait, "the wait is negative");
  return wait;
}

Result<Duration> ParseTtl(const v1::CampaignRequest& request, const Limits& limits) {
  if (!request.has_lease_ttl()) return ParseLeaseTtl(std::nullopt, limits);
  const auto ttl = FromProto(request.lease_ttl());
  if (!ttl) return Fail(Reason::kInvalidLeaseTtl, "the lease_ttl is not a valid duration");
  return ParseLeaseTtl(ttl, limits);
}

// Who stands: a session that the caller has, or one that is made for this call.
Result<void> ParseSession(const v1::CampaignRequest& request, const Limits& limits,
                          Campaign& campaign) {
  if (!request.session_id().empty()) {
    const auto session = ParseSessionId(request.session_id());
    if (!session) return tl::unexpected(session.error());
    campaign.session = *session;
    if (request.candidate().empty()) return {};
    const auto candidate = ParseCandidate(request.candidate());
    if (!candidate) return tl::unexpected(candidate.error());
    campaign.candidate = *candidate;
    return {};
  }
  const auto candidate = ParseCandidate(request.candidate());
  if (!candidate) return tl::unexpected(candidate.error());
  const auto ttl = ParseTtl(request, limits);
  if (!ttl) return tl::unexpected(ttl.error());
  const size_t size = request.request_id().size();
  if (size != 0 && (size < kRequestIdBytesMin || size > kRequestIdBytesMax)) {
    return Fail(Reason::kInvalidRequestId,
                "a request_id has 16 to 64 bytes, not " + std::to_string(size));
  }
  campaign.session = size == 0 ? RandomSessionId() : SessionIdFor(request.request_id());
  campaign.opening = Campaign::Opening{*candidate, *ttl};
  return {};
}

Result<Parsed> Parse(const v1::CampaignRequest& request, const Limits& limits) {
  Parsed parsed;
  const auto election = ParseElectionName(request.election());
  if (!election) return tl::unexpected(election.error());
  parsed.campaign.election = *election;
  const auto value = ParseValue(request.value());
  if (!value) return tl::unexpected(value.error());
  parsed.campaign.value = *value;
  const auto wait = ParseWait(request);
  if (!wait) return tl::unexpected(wait.error());
  parsed.wait = *wait;
  const auto session = ParseSession(request, limits, parsed.campaign);
  if (!session) return tl::unexpected(session.error());
  parsed.campaign.priority = request.priority();
  parsed.campaign.attempt = Attempt{std::max<uint64_t>(1, RandomNumber())};
  return parsed;
}

class CampaignCall final : public grpc::ServerUnaryReactor,
                           public Watcher,
                           public std::enable_shared_from_this<CampaignCall> {
 public:
  CampaignCall(Engine& engine, Parsed parsed, v1::CampaignResponse* response)
      : engine_(engine),
        campaign_(std::move(parsed.campaign)),
        place_{campaign_.election, campaign_.session},
        wait_(parsed.wait),
        response_(response) {}

  void Start(const grpc::ServerContextBase& context) {
    self_ = shared_from_this();
    const SteadyTime now = engine_.scheduler().Now();
    answer_by_ = AnswerBy(context, engine_.scheduler());
    if (answer_by_) {
      give_up_waiting_at_ = *answer_by_ - std::min(kStandingMargin, (*answer_by_ - now) / 4);
    }
    if (wait_) {
      const SteadyTime wait_over = now + std::chrono::duration_cast<SteadyTime::duration>(*wait_);
      give_up_waiting_at_ = std::min(give_up_waiting_at_.value_or(wait_over), wait_over);
    }
    auto joined = engine_.hub().Join(shared_from_this());
    if (!joined) return FinishWith(joined.error());
    membership_ = std::move(*joined);
    membership_.Add(WatchSession{campaign_.session});
    LimitAnswerTime();
    engine_.Submit(campaign_, [self = shared_from_this()](Result<Answer> answer) {
      self->OnAnswer(std::move(answer));
    });
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
    At(engine_.scheduler().Now(), [](CampaignCall& call) { call.Tend(); });
  }

  void OnDrain() override {
    StopWaiting(
        {Reason::kDraining, "this replica is shutting down; the place in the queue is kept"});
  }

  // Reactor

  void OnCancel() override {
    const std::lock_guard lock(mutex_);
    if (state_ == State::kFinished) return;
    // A command that is still on its way is withdrawn when it is answered. A caller whose deadline
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

  void At(SteadyTime when, std::function<void(CampaignCall&)> task) {
    engine_.scheduler().PostAt(Work::kReads, when,
                               [weak = weak_from_this(), task = std::move(task)] {
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
    if (answer.elected) return FinishElected(*LeadershipOf(answer.election));
    state_ = State::kWaiting;
    if (FinishIfElected()) return;
    if (stop_waiting_) return FinishWith(*stop_waiting_);
    const SteadyTime now = engine_.scheduler().Now();
    if (give_up_waiting_at_ && *give_up_waiting_at_ <= now) return AnswerStanding();
    PlanToGiveUp(now);
    PlanToTend();
  }

  // From now on the store has only so long to answer.
  void LimitAnswerTime() {
    const SteadyTime latest = engine_.scheduler().Now() + kAnswerPatience;
    At(std::min(answer_by_.value_or(latest), latest),
       [](CampaignCall& call) { call.OnNoAnswer(); });
  }

  // What became of a command is then not known; it is safe to repeat. A place is kept.
  void OnNoAnswer() {
    const std::lock_guard lock(mutex_);
    const bool expected = state_ == State::kSubmitted || state_ == State::kAnswering;
    if (expected) FinishWith(AnswerTookTooLong());
  }

  void PlanToGiveUp(SteadyTime now) {
    if (!give_up_waiting_at_) return;
    At(std::min(*give_up_waiting_at_, now + kPlanAheadMax),
       [](CampaignCall& call) { call.OnWaitOver(); });
  }

  void OnWaitOver() {
    const std::lock_guard lock(mutex_);
    if (state_ != State::kWaiting) return;
    const SteadyTime now = engine_.scheduler().Now();
    if (now < *give_up_waiting_at_) return PlanToGiveUp(now);
    AnswerStanding();
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
      if (view.leader_alive) {
        if (auto leader = LeadershipOf(view.election))
          *standing.mutable_leader() = std::move(*leader);
      }
      self->FinishAnswered();
    });
  }

  // Once per third of the lease, and every few seconds: renews the session, and reads where it
  // stands.
  void PlanToTend() {
    const auto third =
        std::chrono::duration_cast<SteadyTime::duration>(session_.lease_ttl) / kRenewalsPerLease;
    At(engine_.scheduler().Now() + std::min(kTendPauseMax, third),
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
      self->At(self->engine_.scheduler().Now() + kTendPauseAfterFailure,
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
      FinishElected(*LeadershipOf(place.election->election));
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
};

}  // namespace

grpc::ServerUnaryReactor* StartCampaign(Engine& engine, grpc::CallbackServerContext* context,
                                        const v1::CampaignRequest& request,
                                        v1::CampaignResponse* response) {
  auto parsed = Parse(request, engine.limits());
  if (!parsed) {
    auto* reactor = context->DefaultReactor();
    reactor->Finish(ToStatus(parsed.error()));
    return reactor;
  }
  // Not make_shared: plans that outlive the call shall not keep its memory.
  const std::shared_ptr<CampaignCall> call(new CampaignCall(engine, *std::move(parsed), response));
  call->Start(*context);
  return call.get();
}

}  // namespace tenure
