#include "tests/storm/client.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tenure::testing::storm {
namespace {

constexpr size_t kSessionsMax = 3;  // of one client
constexpr uint32_t kCandidates = 16;

// Reasons that a client may get because it does not know what others do meanwhile.
const std::set<std::string> kExpectedReasons = {
    "SESSION_NOT_FOUND", "SESSION_ENDED",       "ELECTION_NOT_FOUND",  "NOT_LEADER",
    "STALE_TERM",        "CANDIDACY_WITHDRAWN", "QUEUE_FULL",          "CANDIDATE_NOT_STANDING",
    "ELECTION_PAUSED",   "INVALID_LEASE_TTL",   "TOO_MANY_COOL_DOWNS",
};

}  // namespace

void Testimony::Add(const Testimony& other) {
  seats.insert(other.seats.begin(), other.seats.end());
  changes.insert(other.changes.begin(), other.changes.end());
  for (const auto& [outcome, count] : other.outcomes) outcomes[outcome] += count;
  unexpected.insert(unexpected.end(), other.unexpected.begin(), other.unexpected.end());
}

const std::vector<Client::Act> Client::kActs = {
    {20, &Client::DoCampaign},
    {12, &Client::DoWaitingCampaign},
    {4, &Client::DoCancelledCampaign},
    {4, &Client::DoRepeatedCampaign},
    {6, &Client::DoSupersede},
    {8, &Client::DoCampaignForAll},
    {16, &Client::DoRenew},
    {5, &Client::DoProclaim},
    {10, &Client::DoResign},
    {3, &Client::DoLeave},
    {6, &Client::DoLook},
    {3, &Client::DoDescribe},
    {2, &Client::DoList},
    {8, &Client::DoAppoint},
    {5, &Client::DoDepose},
    {3, &Client::DoPause},
    {6, &Client::DoResume},
    {3, &Client::DoUpdate},
    {1, &Client::DoDelete},
    {2, &Client::DoEndSession},
};

Client::Client(std::vector<Tenured*> replicas, std::vector<std::string> elections, int number,
               uint32_t seed)
    : replicas_(std::move(replicas)),
      elections_(std::move(elections)),
      candidate_("c" + std::to_string(number)),
      random_(seed) {}

void Client::RunUntil(std::chrono::steady_clock::time_point end) {
  const int total = std::accumulate(kActs.begin(), kActs.end(), 0,
                                    [](int sum, const Act& act) { return sum + act.weight; });
  while (std::chrono::steady_clock::now() < end) {
    int left = static_cast<int>(Number(static_cast<uint32_t>(total)));
    const auto act =
        std::ranges::find_if(kActs, [&](const Act& it) { return (left -= it.weight) < 0; });
    (this->*act->run)();
  }
}

bool Client::Check(const std::string& what, const grpc::Status& status) {
  if (status.ok()) {
    ++testimony_.outcomes[what];
    return true;
  }
  const std::string reason = ReasonOf(status);
  ++testimony_.outcomes[what + " " + reason];
  if (!kExpectedReasons.contains(reason)) testimony_.unexpected.push_back(what + ": " + reason);
  return false;
}

void Client::Saw(const v1::Leadership& leadership) {
  testimony_.seats.insert({leadership.election(), leadership.term(), leadership.candidate()});
  uint64_t& latest = latest_terms_[leadership.election()];
  latest = std::max(latest, leadership.term());
}

void Client::Saw(const v1::Election& election) {
  if (election.has_leader()) Saw(election.leader());
  uint64_t& latest = latest_terms_[election.name()];
  latest = std::max(latest, election.term());
}

void Client::Forget(const std::string& session, bool lost) {
  if (lost) lost_session_ = session;
  std::erase(sessions_, session);
  std::erase_if(seats_, [&](const auto& seat) { return seat.second == session; });
}

std::pair<std::string, std::string> Client::AnySeat() {
  if (seats_.empty() || Chance(4)) return {AnyOf(sessions_), AnyElection()};
  const auto seat = std::next(seats_.begin(), Number(static_cast<uint32_t>(seats_.size())));
  return {seat->second, seat->first};
}

std::string Client::AnyRequestId() {
  std::string id;
  for (int i = 0; i < 16; ++i) id += static_cast<char>('a' + Number(26));
  return id;
}

CampaignArguments Client::AnyCampaign() {
  CampaignArguments arguments{.election = AnyElection(), .candidate = candidate_};
  const bool opens = sessions_.empty() || (sessions_.size() < kSessionsMax && Chance(4));
  if (!opens) {
    arguments.session_id = AnyOf(sessions_);
  } else if (!lost_session_.empty()) {
    arguments.previous_session_id = std::exchange(lost_session_, "");
  }
  arguments.value = std::to_string(Number(1000));
  arguments.lease_ttl = Chance(2) ? 2s : 3s;
  arguments.priority = static_cast<int>(Number(4)) - 1;
  return arguments;
}

void Client::SendCampaign(const std::string& what, const CampaignArguments& arguments) {
  grpc::ClientContext context;
  v1::CampaignResponse response;
  const auto status = AnyReplica().stub().Campaign(&context, ToRequest(arguments), &response);
  OnCampaign(what, arguments, status, response);
}

void Client::OnCampaign(const std::string& what, const CampaignArguments& arguments,
                        const grpc::Status& status, const v1::CampaignResponse& response) {
  if (!status.ok()) {
    Check(what, status);
    const std::string reason = ReasonOf(status);
    if (reason == "SESSION_ENDED" || reason == "SESSION_NOT_FOUND") {
      Forget(arguments.session_id, true);
    }
    return;
  }
  const std::string& session = response.session().session_id();
  if (std::ranges::find(sessions_, session) == sessions_.end()) sessions_.push_back(session);
  if (response.has_elected()) {
    Check(what + " elected", status);
    Saw(response.elected());
    seats_[response.elected().election()] = session;
  } else if (response.has_standing()) {
    Check(what + " standing", status);
    if (response.standing().has_leader()) Saw(response.standing().leader());
  } else if (response.has_all_elected()) {
    Check(what + " all elected", status);
    for (const auto& seat : response.all_elected().leaderships()) {
      Saw(seat);
      seats_[seat.election()] = session;
      if (seat.candidate() != candidate_) {
        testimony_.unexpected.push_back(what + ": a seat of " + seat.candidate());
      }
    }
    if (response.all_elected().leaderships_size() != static_cast<int>(arguments.elections.size())) {
      testimony_.unexpected.push_back(what + ": not all of the seats");
    }
  } else {
    Check(what + " blocked", status);
    if (response.blocked().elections().empty()) {
      testimony_.unexpected.push_back(what + ": blocked by nothing");
    }
  }
}

void Client::DoCampaign() { SendCampaign("Campaign", AnyCampaign()); }

void Client::DoWaitingCampaign() {
  CampaignArguments arguments = AnyCampaign();
  arguments.wait = std::chrono::milliseconds(20 + Number(200));
  SendCampaign("Campaign, waiting,", arguments);
}

void Client::DoCancelledCampaign() {
  const CampaignArguments arguments = AnyCampaign();
  WaitingCampaign call(AnyReplica(), arguments);
  std::this_thread::sleep_for(std::chrono::milliseconds(Number(50)));  // anywhere in its life
  call.Cancel();
  if (call.Status().error_code() == grpc::StatusCode::CANCELLED) {
    ++testimony_.outcomes["Campaign, cancelled"];
  } else if (!call.Status().ok()) {
    OnCampaign("Campaign, cancelled,", arguments, call.Status(), {});
  } else {
    OnCampaign("Campaign, cancelled,", arguments, call.Status(), call.Response());
  }
}

void Client::DoRepeatedCampaign() {
  CampaignArguments arguments = AnyCampaign();
  arguments.session_id.clear();
  arguments.request_id = AnyRequestId();
  std::string session;
  for (Tenured* replica : replicas_) {
    grpc::ClientContext context;
    v1::CampaignResponse response;
    const auto status = replica->stub().Campaign(&context, ToRequest(arguments), &response);
    OnCampaign("Campaign, repeated,", arguments, status, response);
    if (!status.ok()) continue;
    if (session.empty()) session = response.session().session_id();
    if (session != response.session().session_id()) {
      testimony_.unexpected.push_back("one request_id opened two sessions");
    }
  }
}

void Client::DoSupersede() {
  CampaignArguments arguments = AnyCampaign();
  arguments.supersede = true;
  if (Chance(2)) arguments.session_id.clear();
  SendCampaign("Campaign, superseding,", arguments);
}

void Client::DoCampaignForAll() {
  CampaignArguments arguments = AnyCampaign();
  arguments.election.clear();
  std::vector<std::string> names = elections_;
  std::ranges::shuffle(names, random_);
  names.resize(2 + Number(2));
  arguments.elections = names;
  if (Chance(2)) arguments.wait = std::chrono::milliseconds(Number(100));
  if (Chance(5)) {
    WaitingCampaign call(AnyReplica(), arguments);
    std::this_thread::sleep_for(std::chrono::milliseconds(Number(20)));  // anywhere in its life
    return;                                                              // cancels it
  }
  SendCampaign("Campaign for all", arguments);
}

void Client::DoRenew() {
  if (sessions_.empty()) return;
  grpc::ClientContext context;
  const auto stream = AnyReplica().stub().KeepAlive(&context);
  v1::KeepAliveRequest request;
  request.mutable_session_ids()->Add(sessions_.begin(), sessions_.end());
  stream->Write(request);
  stream->WritesDone();
  v1::KeepAliveResponse response;
  while (stream->Read(&response)) {
    if (response.notice().has_elected()) Saw(response.notice().elected());
    for (const auto& renewal : response.renewal().sessions()) {
      for (const auto& seat : renewal.seats()) Saw(seat);
      if (!renewal.has_lease_ttl()) Forget(renewal.session_id(), true);
    }
  }
  Check("KeepAlive", stream->Finish());
}

void Client::DoProclaim() {
  if (sessions_.empty()) return;
  const auto [session, election] = AnySeat();
  grpc::ClientContext context;
  v1::ProclaimRequest request;
  request.set_election(election);
  request.set_session_id(session);
  request.set_term(std::max<uint64_t>(1, ReadLeader(election).term()));
  request.set_value(std::to_string(Number(1000)));
  v1::ProclaimResponse response;
  const auto status = AnyReplica().stub().Proclaim(&context, request, &response);
  if (Check("Proclaim", status)) Saw(response.leadership());
}

void Client::DoResign() {
  if (sessions_.empty()) return;
  const auto [session, election] = AnySeat();
  seats_.erase(election);
  grpc::ClientContext context;
  v1::ResignRequest request;
  request.set_session_id(session);
  request.set_election(election);
  if (Chance(3)) request.set_term(std::max<uint64_t>(1, latest_terms_[election]));
  v1::ResignResponse response;
  const auto status = AnyReplica().stub().Resign(&context, request, &response);
  if (!Check("Resign", status)) return;
  if (response.outcome() == v1::ResignResponse::OUTCOME_RESIGNED) {
    testimony_.seats.insert({election, response.term(), candidate_});
  }
}

void Client::DoLeave() {
  if (sessions_.empty()) return;
  const std::string session = AnyOf(sessions_);
  grpc::ClientContext context;
  v1::ResignRequest request;
  request.set_session_id(session);
  v1::ResignResponse response;
  Check("Resign all", AnyReplica().stub().Resign(&context, request, &response));
  Forget(session, false);
}

v1::LeaderResponse Client::ReadLeader(const std::string& election) {
  const uint64_t known = latest_terms_[election];
  grpc::ClientContext context;
  v1::LeaderRequest request;
  request.set_election(election);
  v1::LeaderResponse response;
  if (!Check("Leader", AnyReplica().stub().Leader(&context, request, &response))) return response;
  if (response.term() < known) {
    testimony_.unexpected.push_back("Leader: term " + std::to_string(response.term()) +
                                    " was read after term " + std::to_string(known));
  }
  latest_terms_[election] = std::max(known, response.term());
  if (response.has_leader()) Saw(response.leader());
  return response;
}

void Client::DoLook() { ReadLeader(AnyElection()); }

void Client::DoDescribe() {
  v1::DescribeElectionRequest request;
  request.set_election(AnyElection());
  request.set_page_size(static_cast<int>(Number(5)));
  v1::DescribeElectionResponse response;
  const auto status = TryCall(AnyReplica(), &AdminStub::DescribeElection, request, &response);
  if (Check("DescribeElection", status)) Saw(response.election());
}

void Client::DoList() {
  v1::ListTermsRequest terms_request;
  terms_request.set_election(AnyElection());
  v1::ListTermsResponse terms;
  if (Check("ListTerms", TryCall(AnyReplica(), &AdminStub::ListTerms, terms_request, &terms))) {
    for (const auto& term : terms.terms()) {
      testimony_.seats.insert({terms_request.election(), term.term(), term.candidate()});
    }
  }
  v1::ListElectionsResponse elections;
  if (Check("ListElections", TryCall(AnyReplica(), &AdminStub::ListElections, {}, &elections))) {
    for (const auto& election : elections.elections()) Saw(election);
  }
  Check("ListChanges", TryCall(AnyReplica(), &AdminStub::ListChanges, {}));
}

template <typename Request, typename Response, typename Made>
void Client::Operate(const std::string& what, AdminCall<Request, Response> call, Request request,
                     Made made) {
  const std::string reason = candidate_ + " " + std::to_string(++operations_);
  request.set_reason(reason);
  Response response;
  const auto status = TryCall(AnyReplica(), call, request, &response);
  if (Check(what, status)) {
    testimony_.changes[reason] = made(response);
  } else {
    testimony_.changes[reason] = Testimony::Change::kNone;
  }
}

void Client::DoAppoint() {
  AppointArguments arguments{.election = AnyElection()};
  arguments.term = ReadLeader(arguments.election).term();
  arguments.candidate = "c" + std::to_string(Number(kCandidates));
  arguments.force = Chance(3);
  if (Chance(3)) arguments.reserve_for = std::chrono::milliseconds(1 + Number(200));
  Operate("Appoint", &AdminStub::Appoint, ToRequest(arguments), [&](const auto& response) {
    Saw(response.election());
    return Testimony::Change::kPossible;
  });
}

void Client::DoDepose() {
  DeposeArguments arguments{.election = AnyElection()};
  arguments.term = std::max<uint64_t>(1, ReadLeader(arguments.election).term());
  if (Chance(2)) arguments.cool_down = std::chrono::milliseconds(1 + Number(300));
  Operate("Depose", &AdminStub::Depose, ToRequest(arguments), [&](const auto& response) {
    Saw(response.election());
    return response.deposed() ? Testimony::Change::kMade : Testimony::Change::kNone;
  });
}

void Client::DoPause() {
  Operate("Pause", &AdminStub::Pause, For<v1::PauseRequest>(AnyElection()),
          [&](const auto& response) {
            Saw(response.election());
            return Testimony::Change::kPossible;
          });
}

void Client::DoResume() {
  Operate("Resume", &AdminStub::Resume, For<v1::ResumeRequest>(AnyElection()),
          [&](const auto& response) {
            Saw(response.election());
            return Testimony::Change::kPossible;
          });
}

void Client::DoUpdate() {
  UpdateArguments arguments{.election = AnyElection(), .allow_missing = Chance(2)};
  if (Chance(2)) arguments.lock_delay = std::chrono::milliseconds(Number(2) * 50);
  if (Chance(2)) arguments.min_hold = std::chrono::milliseconds(Number(2) * 50);
  if (Chance(2)) arguments.max_lease_ttl = std::chrono::seconds(Chance(4) ? 2 : 0);
  if (Chance(2)) arguments.max_candidates = Chance(4) ? 5 : 0;
  Operate("UpdateElection", &AdminStub::UpdateElection, ToRequest(arguments),
          [&](const auto& response) {
            Saw(response.election());
            return Testimony::Change::kPossible;
          });
}

void Client::DoDelete() {
  const std::string& election = AnyElection();
  auto request = For<v1::DeleteElectionRequest>(election);
  request.set_term(ReadLeader(election).term());
  Operate("DeleteElection", &AdminStub::DeleteElection, request, [](const auto& response) {
    return response.deleted() ? Testimony::Change::kMade : Testimony::Change::kNone;
  });
}

void Client::DoEndSession() {
  v1::ListSessionsRequest list;
  list.set_candidate_prefix("c" + std::to_string(Number(kCandidates)));
  v1::ListSessionsResponse sessions;
  if (!Check("ListSessions", TryCall(AnyReplica(), &AdminStub::ListSessions, list, &sessions)) ||
      sessions.sessions().empty()) {
    return;
  }
  v1::EndSessionRequest request;
  request.set_handle(
      sessions.sessions(static_cast<int>(Number(static_cast<uint32_t>(sessions.sessions_size()))))
          .handle());
  Operate("EndSession", &AdminStub::EndSession, request, [](const auto& response) {
    return response.ended() ? Testimony::Change::kMade : Testimony::Change::kNone;
  });
}

}  // namespace tenure::testing::storm
