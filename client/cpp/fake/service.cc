#include "client/cpp/fake/service.h"

#include <chrono>
#include <stdexcept>
#include <utility>

#include "client/cpp/fake/streams.h"
#include "core/validation.h"
#include "proto/convert.h"
#include "proto/status.h"

namespace tenure {
namespace {

constexpr char kServiceId[] = "7e577e577e577e577e577e577e577e57";
const Author kOperator{"FakeTenure", ""};
// The database's time when the clients' clock is zero: the year 2000.
constexpr DbTime kEpoch{std::chrono::seconds(946'684'800)};

DbTime ToDbTime(Lease::Time time) {
  return kEpoch + std::chrono::duration_cast<Duration>(time.time_since_epoch());
}

grpc::Status Unreachable() {
  return {grpc::StatusCode::UNAVAILABLE, "FakeTenure: the service cannot be reached"};
}

SessionId MakeSessionId(uint64_t number) {
  SessionId id;
  for (size_t i = 0; i < 8; ++i) id.bytes[i] = static_cast<uint8_t>(number >> (8 * i));
  return id;
}

const std::string& NameOf(const v1::Selector& selector) {
  return selector.has_election() ? selector.election() : selector.prefix();
}

// The most specific one that selects the election; null: none does.
const v1::Selector* SelectorOf(const v1::ObserveRequest& request, const std::string& election) {
  const v1::Selector* found = nullptr;
  for (const v1::Selector& selector : request.selectors()) {
    if (selector.has_election() && selector.election() == election) return &selector;
    if (selector.has_election() || !election.starts_with(selector.prefix())) continue;
    if (found == nullptr || found->prefix().size() < selector.prefix().size()) found = &selector;
  }
  return found;
}

}  // namespace

FakeService::FakeService(std::shared_ptr<const TestClock> clock) : clock_(std::move(clock)) {
  Expire();
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) throw std::runtime_error("FakeTenure: cannot listen on 127.0.0.1");
}

FakeService::~FakeService() { server_->Shutdown(std::chrono::system_clock::now()); }

void FakeService::Expire() {
  const MutexLock lock(mutex_);
  elections_.PassTo(ToDbTime(clock_->Now()));
  Publish();
}

Lease::Time FakeService::NextDue() const {
  const MutexLock lock(mutex_);
  const DbTime due = elections_.NextDue();
  return due.since_epoch == Duration::max() ? Lease::Time::max() : Lease::Time(due - kEpoch);
}

void FakeService::Cut(const std::vector<std::string>& candidates) {
  const MutexLock lock(mutex_);
  cut_.insert(candidates.begin(), candidates.end());
  if (candidates.empty()) cut_.insert("");
  for (Stream* stream : streams_) {
    if (stream->session && IsCut(elections_.Find(*stream->session))) stream->End(Unreachable());
  }
  if (!cut_.contains("")) return;
  for (Watcher* watcher : watchers_) watcher->End(Unreachable());
}

void FakeService::Restore(const std::vector<std::string>& candidates) {
  const MutexLock lock(mutex_);
  if (candidates.empty()) cut_.clear();
  for (const std::string& candidate : candidates) cut_.erase(candidate);
}

bool FakeService::Depose(const std::string& election) {
  const MutexLock lock(mutex_);
  const ElectionState* state = elections_.Find(election);
  if (state == nullptr || !state->election.leader) return false;
  const bool done =
      elections_.Apply(tenure::Depose{{election}, state->election.term, {}, kOperator}).has_value();
  Publish();
  return done;
}

bool FakeService::Appoint(const std::string& election, const std::string& candidate) {
  const MutexLock lock(mutex_);
  const ElectionState* state = elections_.Find(election);
  if (state == nullptr) return false;
  const tenure::Appoint command{{election}, state->election.term, candidate,
                                false,      std::nullopt,         kOperator};
  const bool done = elections_.Apply(command).has_value();
  Publish();
  return done;
}

std::optional<v1::Leadership> FakeService::Leader(const std::string& election) const {
  const MutexLock lock(mutex_);
  const ElectionState* state = elections_.Find(election);
  if (state == nullptr || !state->election.leader) return std::nullopt;
  return ToProto(*LeadershipOf(state->election));
}

std::vector<std::string> FakeService::Queue(const std::string& election) const {
  const MutexLock lock(mutex_);
  std::vector<std::string> candidates;
  if (const ElectionState* state = elections_.Find(election)) {
    for (const Candidacy& place : state->queue) candidates.push_back(place.candidate);
  }
  return candidates;
}

size_t FakeService::activity() const {
  const MutexLock lock(mutex_);
  return activity_;
}

bool FakeService::WasHeard(const TestClock::Rest& rest) const {
  const auto session = SessionId::FromHex(rest.session_id);
  if (!session) return true;
  const MutexLock lock(mutex_);
  bool open = false;
  for (const Stream* stream : streams_) {
    if (stream->ended() || stream->session != session) continue;
    if (open || stream->sent() != rest.heard) return false;
    open = true;
  }
  return open == rest.streams;
}

grpc::ServerUnaryReactor* FakeService::Identify(grpc::CallbackServerContext* context,
                                                const v1::IdentifyRequest*,
                                                v1::IdentifyResponse* response) {
  const MutexLock lock(mutex_);
  response->set_service_id(kServiceId);
  auto* reactor = context->DefaultReactor();
  reactor->Finish(IsCut("") ? Unreachable() : grpc::Status::OK);
  return reactor;
}

grpc::ServerUnaryReactor* FakeService::Campaign(grpc::CallbackServerContext* context,
                                                const v1::CampaignRequest* request,
                                                v1::CampaignResponse* response) {
  const MutexLock lock(mutex_);
  ++activity_;
  auto* reactor = context->DefaultReactor();
  reactor->Finish(Answer(*request, *response));
  Publish();
  return reactor;
}

grpc::ServerUnaryReactor* FakeService::Resign(grpc::CallbackServerContext* context,
                                              const v1::ResignRequest* request,
                                              v1::ResignResponse* response) {
  const MutexLock lock(mutex_);
  ++activity_;
  auto* reactor = context->DefaultReactor();
  reactor->Finish(Answer(*request, *response));
  Publish();
  return reactor;
}

grpc::ServerBidiReactor<v1::KeepAliveRequest, v1::KeepAliveResponse>* FakeService::KeepAlive(
    grpc::CallbackServerContext*) {
  const MutexLock lock(mutex_);
  auto* stream = new Stream(*this);  // until OnDone
  streams_.insert(stream);
  return stream;
}

grpc::ServerWriteReactor<v1::ObserveResponse>* FakeService::Observe(
    grpc::CallbackServerContext*, const v1::ObserveRequest* request) {
  const MutexLock lock(mutex_);
  auto* watcher = new Watcher(*this, *request);  // until OnDone
  watchers_.insert(watcher);
  IsCut("") ? watcher->End(Unreachable()) : Begin(*watcher);
  return watcher;
}

grpc::Status FakeService::Answer(const v1::CampaignRequest& request,
                                 v1::CampaignResponse& response) {
  SessionId id;
  std::optional<tenure::Campaign::Opening> opening;
  std::optional<std::string> candidate;
  if (!request.candidate().empty()) candidate = request.candidate();
  if (request.session_id().empty()) {
    if (IsCut(request.candidate())) return Unreachable();
    opening = {request.candidate(), std::nullopt,
               SessionId::FromHex(request.previous_session_id())};
    if (request.has_lease_ttl()) {
      const auto ttl = ParseLeaseTtl(FromProto(request.lease_ttl()), kFakeLimits);
      if (!ttl) return ToStatus(ttl.error());
      opening->lease_ttl = *ttl;
    }
    const auto [place, first] = opened_.try_emplace(request.request_id());
    if (first) place->second = MakeSessionId(++last_session_);
    id = place->second;
  } else {
    const auto parsed = ParseSessionId(request.session_id());
    if (!parsed) return ToStatus(parsed.error());
    if (IsCut(elections_.Find(*parsed))) return Unreachable();
    id = *parsed;
  }

  const auto answered = request.elections().empty()
                            ? AnswerOne(request, {id, opening, candidate}, response)
                            : AnswerAll(request, {id, opening, candidate}, response);
  if (answered.ok()) response.mutable_session()->set_service_id(kServiceId);
  return answered;
}

grpc::Status FakeService::AnswerAll(const v1::CampaignRequest& request, const Caller& caller,
                                    v1::CampaignResponse& response) {
  CampaignForAll command{
      {}, caller.session, caller.opening, caller.candidate, request.value(), CallId{++last_call_}};
  for (const std::string& name : request.elections()) command.elections.push_back({name});
  const auto answer = elections_.Apply(command);
  if (!answer) return ToStatus(answer.error());
  const auto& it = std::get<CampaignForAllAnswer>(*answer);
  *response.mutable_session() = ToProto(it.session);
  for (const Leadership& seat : it.leaderships) {
    *response.mutable_all_elected()->add_leaderships() = ToProto(seat);
  }
  for (const ElectionName& name : it.blocked) {
    response.mutable_blocked()->add_elections(name.bytes);
  }
  return grpc::Status::OK;
}

grpc::Status FakeService::AnswerOne(const v1::CampaignRequest& request, const Caller& caller,
                                    v1::CampaignResponse& response) {
  std::optional<Term> after_term;
  if (request.has_after_term()) after_term = Term{request.after_term()};
  const auto answer = elections_.Apply(tenure::Campaign{{request.election()},
                                                        caller.session,
                                                        caller.opening,
                                                        caller.candidate,
                                                        request.value(),
                                                        request.priority(),
                                                        CallId{++last_call_},
                                                        request.supersede(),
                                                        after_term});
  if (!answer) return ToStatus(answer.error());
  const auto& it = std::get<CampaignAnswer>(*answer);
  *response.mutable_session() = ToProto(it.session);
  const auto leader = LeadershipOf(it.election);
  if (it.elected) {
    *response.mutable_elected() = ToProto(*leader);
    return grpc::Status::OK;
  }
  v1::Standing& standing = *response.mutable_standing();
  if (leader) *standing.mutable_leader() = ToProto(*leader);
  uint64_t position = 0;
  for (const Candidacy& place : elections_.Find(request.election())->queue) {
    ++position;
    if (place.session == caller.session) standing.set_position(position);
  }
  return grpc::Status::OK;
}

grpc::Status FakeService::Answer(const v1::ResignRequest& request, v1::ResignResponse& response) {
  const auto id = ParseSessionId(request.session_id());
  if (!id) return ToStatus(id.error());
  if (IsCut(elections_.Find(*id))) return Unreachable();
  if (request.election().empty()) {
    const auto closed = elections_.Close(*id);
    if (!closed) return ToStatus(closed.error());
    response.set_outcome(v1::ResignResponse::OUTCOME_SESSION_ENDED);
    return grpc::Status::OK;
  }
  tenure::Resign command{{request.election()}, *id, std::nullopt};
  if (request.has_term()) command.term = Term{request.term()};
  const auto answer = elections_.Apply(command);
  if (!answer) return ToStatus(answer.error());
  const auto& it = std::get<ResignAnswer>(*answer);
  response.set_outcome(ToProto(it.outcome));
  response.set_term(it.term.value);
  return grpc::Status::OK;
}

void FakeService::Answer(const v1::KeepAliveRequest& request, Stream& stream) {
  v1::KeepAliveResponse response;
  response.set_service_id(kServiceId);
  response.mutable_renewal()->set_sequence(request.sequence());
  for (const std::string& hex : request.session_ids()) {
    const auto id = ParseSessionId(hex);
    if (!id) return stream.End(ToStatus(id.error()));
    const Session* session = elections_.Find(*id);
    if (IsCut(session)) return stream.End(Unreachable());
    stream.session = *id;
    v1::SessionRenewal& renewal = *response.mutable_renewal()->add_sessions();
    renewal.set_session_id(hex);
    if (const auto renewed = elections_.Renew(*id)) {
      *renewal.mutable_lease_ttl() = ToProto(renewed->lease_ttl);
      for (const Leadership& seat : elections_.SeatsOf(*id)) *renewal.add_seats() = ToProto(seat);
    } else if (session == nullptr) {
      renewal.set_not_found(true);
    } else {
      renewal.set_ended(ToProto(session->ended));
    }
  }
  stream.Send(std::move(response));
}

void FakeService::Begin(Watcher& watcher) {
  std::set<std::string> names;
  for (const v1::Selector& selector : watcher.request.selectors()) {
    if (selector.has_election()) names.insert(NameOf(selector));
  }
  for (const auto& [name, state] : elections_.all()) {
    if (state.exists && SelectorOf(watcher.request, name.bytes)) names.insert(name.bytes);
  }
  for (const std::string& name : names) {
    const v1::Selector& selector = *SelectorOf(watcher.request, name);
    if (selector.has_from_revision()) {
      for (const Event& event : elections_.HistoryOf({name})) {
        if (event.revision.value >= selector.from_revision()) watcher.Report(ToProto(event));
      }
      continue;
    }
    const ElectionState* state = elections_.Find(name);
    v1::ObserveResponse response;
    *response.mutable_snapshot() =
        ToSnapshot({name}, state == nullptr ? std::nullopt : std::optional(state->election),
                   v1::Snapshot::REASON_INITIAL);
    watcher.Send(std::move(response));
  }
  watcher.Progress(ToDbTime(clock_->Now()));
}

void FakeService::Publish() {
  for (const Event& event : elections_.TakeEvents()) Publish(event);
  for (const Session& session : elections_.TakeEnded()) {
    v1::KeepAliveResponse response;
    response.mutable_session_ended()->set_session_id(session.id.Hex());
    response.mutable_session_ended()->set_cause(ToProto(session.ended));
    for (Stream* stream : streams_) {
      if (stream->session == session.id) stream->Send(response);
    }
  }
}

void FakeService::Publish(const Event& event) {
  const v1::Event message = ToProto(event);
  for (Watcher* watcher : watchers_) {
    if (SelectorOf(watcher->request, message.election()) == nullptr) continue;
    watcher->Report(message);
    watcher->Progress(event.at);
  }
  v1::KeepAliveResponse response;
  v1::SeatNotice& notice = *response.mutable_notice();
  notice.set_session_id(event.leader.session.Hex());
  notice.set_election(message.election());
  switch (event.type) {
    case EventType::kElected: *notice.mutable_elected() = message.leadership(); break;
    case EventType::kVacated:
      notice.mutable_lost()->set_term(event.term.value);
      notice.mutable_lost()->set_cause(message.cause());
      break;
    case EventType::kHandoverAsked:
      notice.mutable_step_down()->set_term(event.term.value);
      notice.mutable_step_down()->set_successor(event.successor);
      break;
    case EventType::kProclaimed: return;
  }
  for (Stream* stream : streams_) {
    if (stream->session == event.leader.session) stream->Send(response);
  }
}

}  // namespace tenure
