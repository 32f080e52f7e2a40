#include "server/rpc/election_service.h"

#include <algorithm>
#include <utility>

#include "base/version.h"
#include "core/validation.h"
#include "server/access/trace.h"
#include "server/calls/campaign.h"
#include "server/calls/keep_alive.h"
#include "server/rpc/campaign_request.h"
#include "server/rpc/convert.h"
#include "server/rpc/open_call.h"
#include "server/rpc/unary_call.h"

namespace tenure::rpc {
namespace {

Result<Proclaim> Parse(const v1::ProclaimRequest& request, Principal caller) {
  const auto election = ParseElectionName(request.election());
  if (!election) return tl::unexpected(election.error());
  const auto session = ParseSessionId(request.session_id());
  if (!session) return tl::unexpected(session.error());
  const auto term = ParseTerm(request.term());
  if (!term) return tl::unexpected(term.error());
  const auto value = ParseValue(request.value());
  if (!value) return tl::unexpected(value.error());
  return Proclaim{*election, *session, *term, *value, std::move(caller)};
}

// Without an election, it resigns everything that the session holds.
struct ResignCommand {
  SessionId session;
  std::optional<ElectionName> election;
  std::optional<Term> term;
};

Result<ResignCommand> Parse(const v1::ResignRequest& request) {
  const auto session = ParseSessionId(request.session_id());
  if (!session) return tl::unexpected(session.error());
  ResignCommand command{*session, {}, {}};
  if (request.has_term()) command.term = Term{request.term()};
  if (request.election().empty()) {
    if (!command.term) return command;
    return Fail(Reason::kInvalidTerm, "`term` is set without `election`; set both or neither");
  }
  const auto election = ParseElectionName(request.election());
  if (!election) return tl::unexpected(election.error());
  command.election = *election;
  return command;
}

// What the calls are about, as the policy sees it.

access::Target TargetOf(const v1::CampaignRequest& request) {
  access::Target target{{request.elections().begin(), request.elections().end()}};
  if (request.elections().empty()) target.elections.push_back(request.election());
  return target;
}

access::Target TargetOf(const v1::ResignRequest& request) {
  if (request.election().empty()) return {};  // the session, with everything it holds
  return {{request.election()}};
}

access::Target TargetOf(const v1::ObserveRequest& request) {
  access::Target target;
  for (const v1::Selector& selector : request.selectors()) {
    if (selector.has_election()) target.elections.push_back(selector.election());
    if (selector.has_prefix()) target.prefixes.push_back(selector.prefix());
  }
  return target;
}

// Room for the maximum number of selectors, with the longest names.
constexpr size_t kObserveBytesMax = 3 << 20;

// How many requests it counts as: one for each prefix, and one for each kNamesPerRequest names.
constexpr size_t kNamesPerRequest = 100;
size_t CostOf(const v1::ObserveRequest& request) {
  size_t prefixes = 0;
  for (const v1::Selector& selector : request.selectors())
    prefixes += selector.has_prefix() ? 1 : 0;
  const size_t names = static_cast<size_t>(request.selectors_size()) - prefixes;
  const size_t cost =
      std::min(prefixes, kPrefixesMax) + (names + kNamesPerRequest - 1) / kNamesPerRequest;
  return std::max<size_t>(1, cost);
}

// Runs a Campaign call, for one election or for several. `parsed` is its request.
template <typename Machine, typename Request>
void RunCampaign(engine::Engine& engine, Result<Request> parsed, wire::ServerCall& call,
                 std::shared_ptr<void> place) {
  if (!parsed) return wire::Refuse(call, parsed.error());
  // A caller that waits for a seat without limit can wait for this, too.
  if (parsed->campaign.opening && parsed->wait) {
    const auto admitted = engine.AdmitCampaign();
    if (!admitted) return wire::Refuse(call, admitted.error());
  }
  const calls::CampaignPatience patience{AnswerBy(call, engine.scheduler()), parsed->wait};
  Machine machine(std::move(parsed->campaign), patience);
  const auto watches = machine.Watches();
  OpenCall<Machine, void, v1::CampaignResponse>::Serve(call, engine, std::move(machine), watches,
                                                       access::TraceIdOf(call.context()), nullptr,
                                                       std::move(place));
}

}  // namespace

void ElectionService::AddTo(wire::Dispatcher& dispatcher) {
  const auto& service = *v1::CampaignRequest::descriptor()->file()->service(0);
  dispatcher.Add(service, "Campaign", *this, &ElectionService::Campaign);
  dispatcher.AddStream(service, "KeepAlive", *this, &ElectionService::KeepAlive);
  dispatcher.Add(service, "Proclaim", *this, &ElectionService::Proclaim);
  dispatcher.Add(service, "Resign", *this, &ElectionService::Resign);
  dispatcher.Add(service, "Leader", *this, &ElectionService::Leader);
  dispatcher.Add(service, "Observe", *this, &ElectionService::Observe,
                 {kObserveBytesMax, [this](const grpc::ServerContextBase& context) {
                    return access_.Identify(context).map([](const auto&) {});
                  }});
  dispatcher.Add(service, "Identify", *this, &ElectionService::Identify);
}

void ElectionService::Campaign(wire::ServerCall& call, const v1::CampaignRequest& request) {
  const auto admitted = access_.Admit(call.context(), access::Verb::kCampaign, TargetOf(request));
  if (!admitted) return wire::Refuse(call, admitted.error());
  auto place = open_calls_.Take(*admitted, call.context());
  if (!place) return wire::Refuse(call, place.error());
  const CampaignCaller caller{access::PrincipalOf(*admitted), engine_.session_key()};
  if (request.elections().empty()) {
    return RunCampaign<calls::WaitingCampaign>(
        engine_, ParseCampaign(request, engine_.limits(), caller), call, *std::move(place));
  }
  RunCampaign<calls::CampaignSet>(engine_, ParseCampaignForAll(request, engine_.limits(), caller),
                                  call, *std::move(place));
}

void ElectionService::KeepAlive(wire::ServerCall& call) {
  const auto caller = access_.Allow(call.context(), access::Verb::kCampaign, {});
  if (!caller) return wire::Refuse(call, caller.error());
  auto place = open_calls_.Take(*caller, call.context(), true);
  if (!place) return wire::Refuse(call, place.error());
  auto budget = send_budgets_.For(access::HolderOf(*caller, call.context()));
  OpenCall<calls::KeepAlive, v1::KeepAliveRequest, v1::KeepAliveResponse>::Serve(
      call, engine_, calls::KeepAlive(access::PrincipalOf(*caller), std::move(budget)), {}, "",
      nullptr, *std::move(place));
}

void ElectionService::Proclaim(wire::ServerCall& call, const v1::ProclaimRequest& request) {
  const auto caller =
      access_.Admit(call.context(), access::Verb::kCampaign, {{request.election()}});
  if (!caller) return wire::Refuse(call, caller.error());
  const auto unary = UnaryCall<v1::ProclaimResponse>::Start(call, engine_.scheduler());
  auto command = Parse(request, access::PrincipalOf(*caller));
  if (!command) return unary->Fail(command.error());
  // A proclamation that has failed must not be applied later: the caller may have moved on.
  engine_.Submit(
      *std::move(command),
      [unary](Result<Answer> answer) {
        if (!answer) return unary->Fail(answer.error());
        unary->Answer([&](v1::ProclaimResponse& it) {
          *it.mutable_leadership() = ToProto(std::get<ProclaimAnswer>(*answer).leadership);
        });
      },
      [unary] { return unary->open(); }, access::TraceIdOf(call.context()));
}

void ElectionService::Resign(wire::ServerCall& call, const v1::ResignRequest& request) {
  const auto caller = access_.Allow(call.context(), access::Verb::kCampaign, TargetOf(request));
  if (!caller) return wire::Refuse(call, caller.error());
  const auto unary = UnaryCall<v1::ResignResponse>::Start(call, engine_.scheduler());
  const auto command = Parse(request);
  if (!command) return unary->Fail(command.error());
  if (!command->election) {
    return engine_.CloseSession(
        command->session, access::PrincipalOf(*caller),
        [unary](const Result<Session>& ended) {
          if (!ended) return unary->Fail(ended.error());
          unary->Answer([](v1::ResignResponse& it) {
            it.set_outcome(v1::ResignResponse::OUTCOME_SESSION_ENDED);
          });
        },
        access::TraceIdOf(call.context()));
  }
  const tenure::Resign resign{*command->election, command->session, command->term,
                              access::PrincipalOf(*caller)};
  const auto answer = [unary](Result<Answer> answer) {
    if (!answer) return unary->Fail(answer.error());
    unary->Answer([&](v1::ResignResponse& it) {
      const auto& resigned = std::get<ResignAnswer>(*answer);
      it.set_outcome(ToProto(resigned.outcome));
      it.set_term(resigned.term.value);
    });
  };
  // As for Proclaim: the session may lead again by then.
  engine_.Submit(
      resign, answer, [unary] { return unary->open(); }, access::TraceIdOf(call.context()));
}

void ElectionService::Leader(wire::ServerCall& call, const v1::LeaderRequest& request) {
  const auto caller = access_.Admit(call.context(), access::Verb::kObserve, {{request.election()}});
  if (!caller) return wire::Refuse(call, caller.error());
  const auto unary = UnaryCall<v1::LeaderResponse>::Start(call, engine_.scheduler());
  const auto name = ParseElectionName(request.election());
  if (!name) return unary->Fail(name.error());
  const auto admitted = request.stale_ok() ? Result<void>() : engine_.AdmitRead();
  if (!admitted) return unary->Fail(admitted.error());
  engine_.ReadElection(*name, request.stale_ok(), [unary](Result<std::optional<Election>> read) {
    if (!read) return unary->Fail(read.error());
    unary->Answer([&](v1::LeaderResponse& it) {
      if (!*read) return;
      it.set_term((*read)->term.value);
      it.set_revision((*read)->revision.value);
      if (const auto leader = LeadershipOf(**read)) *it.mutable_leader() = ToProto(*leader);
    });
  });
}

void ElectionService::Observe(wire::ServerCall& call, const v1::ObserveRequest& request) {
  const auto caller =
      access_.Admit(call.context(), access::Verb::kObserve, TargetOf(request), CostOf(request));
  if (!caller) return wire::Refuse(call, caller.error());
  auto selection = rpc::Parse(request);
  if (!selection) return wire::Refuse(call, selection.error());
  auto place = open_calls_.Take(*caller, call.context());
  if (!place) return wire::Refuse(call, place.error());
  calls::Observe machine(*std::move(selection), observe_,
                         send_budgets_.For(access::HolderOf(*caller, call.context())));
  const auto watches = machine.Watches();
  OpenCall<calls::Observe, void, v1::ObserveResponse>::Serve(
      call, engine_, std::move(machine), watches, "", &engine_.metrics().observers,
      *std::move(place));
}

void ElectionService::Identify(wire::ServerCall& call, const v1::IdentifyRequest& /*request*/) {
  const auto caller = access_.Identify(call.context());
  if (!caller) return wire::Refuse(call, caller.error());
  v1::IdentifyResponse response;
  response.set_service_id(engine_.service_id());
  if (response.service_id().empty()) {
    return wire::Refuse(call, {Reason::kStoreUnavailable, engine_.status().why_not});
  }
  response.set_version(kVersion);
  call.Answer(response);
}

}  // namespace tenure::rpc
