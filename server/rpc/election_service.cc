#include "server/rpc/election_service.h"

#include <algorithm>
#include <utility>

#include "core/validation.h"
#include "core/version.h"
#include "server/access/trace.h"
#include "server/calls/campaign.h"
#include "server/calls/keep_alive.h"
#include "server/rpc/campaign_request.h"
#include "server/rpc/convert.h"
#include "server/rpc/reactors.h"
#include "server/rpc/refused.h"
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

// Without an election's name: all of the session.
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
  if (request.election().empty()) return {};  // the session, with all that it holds
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

// Runs a Campaign call, for one election or for several. `parsed` is what it asks for.
template <typename Machine, typename Request>
grpc::ServerUnaryReactor* RunCampaign(engine::Engine& engine, Result<Request> parsed,
                                      grpc::CallbackServerContext& context,
                                      v1::CampaignResponse* response) {
  if (!parsed) return Refused(context, parsed.error());
  // A caller that waits for a seat without limit can wait for this, too.
  if (parsed->campaign.opening && parsed->wait) {
    const auto admitted = engine.AdmitCampaign();
    if (!admitted) return Refused(context, admitted.error());
  }
  const calls::CampaignPatience patience{AnswerBy(context, engine.scheduler()), parsed->wait};
  Machine machine(std::move(parsed->campaign), patience);
  const auto watches = machine.Watches();
  auto* reactor = new rpc::UnaryReactor<Machine, v1::CampaignResponse>(
      engine, std::move(machine), access::TraceIdOf(context), response);
  return reactor->Begin(watches);
}

}  // namespace

grpc::ServerUnaryReactor* ElectionService::Campaign(grpc::CallbackServerContext* context,
                                                    const v1::CampaignRequest* request,
                                                    v1::CampaignResponse* response) {
  const auto admitted = access_.Admit(*context, access::Verb::kCampaign, TargetOf(*request));
  if (!admitted) return Refused(*context, admitted.error());
  const CampaignCaller caller{access::PrincipalOf(*admitted), engine_.session_key()};
  if (request->elections().empty()) {
    return RunCampaign<calls::WaitingCampaign>(
        engine_, ParseCampaign(*request, engine_.limits(), caller), *context, response);
  }
  return RunCampaign<calls::CampaignSet>(
      engine_, ParseCampaignForAll(*request, engine_.limits(), caller), *context, response);
}

rpc::BytesReactor* ElectionService::KeepAlive(grpc::CallbackServerContext* context) {
  const auto caller = access_.Allow(*context, access::Verb::kCampaign, {});
  if (!caller) return RefusedStream<rpc::BytesReactor>(caller.error());
  using Reactor = rpc::BidiReactor<calls::KeepAlive, v1::KeepAliveRequest, v1::KeepAliveResponse>;
  return (new Reactor(engine_, calls::KeepAlive(access::PrincipalOf(*caller))))->Begin({});
}

grpc::ServerUnaryReactor* ElectionService::Proclaim(grpc::CallbackServerContext* context,
                                                    const v1::ProclaimRequest* request,
                                                    v1::ProclaimResponse* response) {
  const auto caller = access_.Admit(*context, access::Verb::kCampaign, {{request->election()}});
  if (!caller) return Refused(*context, caller.error());
  auto call = UnaryCall<v1::ProclaimResponse>::Start(context, response, engine_.scheduler());
  auto* reactor = call->reactor();
  auto command = Parse(*request, access::PrincipalOf(*caller));
  if (!command) {
    call->Fail(command.error());
    return reactor;
  }
  // What has failed is not done afterwards: the caller may have gone on by then.
  engine_.Submit(
      *std::move(command),
      [call](Result<Answer> answer) {
        if (!answer) return call->Fail(answer.error());
        call->Answer([&](v1::ProclaimResponse& it) {
          *it.mutable_leadership() = ToProto(std::get<ProclaimAnswer>(*answer).leadership);
        });
      },
      [call] { return call->open(); }, access::TraceIdOf(*context));
  return reactor;
}

grpc::ServerUnaryReactor* ElectionService::Resign(grpc::CallbackServerContext* context,
                                                  const v1::ResignRequest* request,
                                                  v1::ResignResponse* response) {
  const auto caller = access_.Allow(*context, access::Verb::kCampaign, TargetOf(*request));
  if (!caller) return Refused(*context, caller.error());
  auto call = UnaryCall<v1::ResignResponse>::Start(context, response, engine_.scheduler());
  auto* reactor = call->reactor();
  const auto command = Parse(*request);
  if (!command) {
    call->Fail(command.error());
    return reactor;
  }
  if (!command->election) {
    engine_.CloseSession(
        command->session, access::PrincipalOf(*caller),
        [call](const Result<Session>& ended) {
          if (!ended) return call->Fail(ended.error());
          call->Answer([](v1::ResignResponse& it) {
            it.set_outcome(v1::ResignResponse::OUTCOME_SESSION_ENDED);
          });
        },
        access::TraceIdOf(*context));
    return reactor;
  }
  const tenure::Resign resign{*command->election, command->session, command->term,
                              access::PrincipalOf(*caller)};
  const auto answer = [call](Result<Answer> answer) {
    if (!answer) return call->Fail(answer.error());
    call->Answer([&](v1::ResignResponse& it) {
      const auto& resigned = std::get<ResignAnswer>(*answer);
      it.set_outcome(ToProto(resigned.outcome));
      it.set_term(resigned.term.value);
    });
  };
  // As for Proclaim: the session may lead again by then.
  engine_.Submit(
      resign, answer, [call] { return call->open(); }, access::TraceIdOf(*context));
  return reactor;
}

grpc::ServerUnaryReactor* ElectionService::Leader(grpc::CallbackServerContext* context,
                                                  const v1::LeaderRequest* request,
                                                  v1::LeaderResponse* response) {
  const auto caller = access_.Admit(*context, access::Verb::kObserve, {{request->election()}});
  if (!caller) return Refused(*context, caller.error());
  auto call = UnaryCall<v1::LeaderResponse>::Start(context, response, engine_.scheduler());
  auto* reactor = call->reactor();
  const auto name = ParseElectionName(request->election());
  if (!name) {
    call->Fail(name.error());
    return reactor;
  }
  const auto admitted = request->stale_ok() ? Result<void>() : engine_.AdmitRead();
  if (!admitted) {
    call->Fail(admitted.error());
    return reactor;
  }
  engine_.ReadElection(*name, request->stale_ok(), [call](Result<std::optional<Election>> read) {
    if (!read) return call->Fail(read.error());
    call->Answer([&](v1::LeaderResponse& it) {
      if (!*read) return;
      it.set_term((*read)->term.value);
      it.set_revision((*read)->revision.value);
      if (const auto leader = LeadershipOf(**read)) *it.mutable_leader() = ToProto(*leader);
    });
  });
  return reactor;
}

grpc::ServerWriteReactor<v1::ObserveResponse>* ElectionService::Observe(
    grpc::CallbackServerContext* context, const v1::ObserveRequest* request) {
  const auto caller =
      access_.Admit(*context, access::Verb::kObserve, TargetOf(*request), CostOf(*request));
  if (!caller) {
    return RefusedStream<grpc::ServerWriteReactor<v1::ObserveResponse>>(caller.error());
  }
  auto selection = rpc::Parse(*request);
  if (!selection) {
    return RefusedStream<grpc::ServerWriteReactor<v1::ObserveResponse>>(selection.error());
  }
  calls::Observe machine(*std::move(selection), observe_);
  const auto watches = machine.Watches();
  using Reactor = rpc::WriteReactor<calls::Observe, v1::ObserveResponse>;
  auto* reactor = new Reactor(engine_, std::move(machine), engine_.metrics().observers);
  return reactor->Begin(watches);
}

grpc::ServerUnaryReactor* ElectionService::Identify(grpc::CallbackServerContext* context,
                                                    const v1::IdentifyRequest* /*request*/,
                                                    v1::IdentifyResponse* response) {
  const auto caller = access_.Identify(*context);
  if (!caller) return Refused(*context, caller.error());
  response->set_service_id(engine_.service_id());
  if (response->service_id().empty()) {
    return Refused(*context, {Reason::kStoreUnavailable, engine_.status().why_not});
  }
  response->set_version(kVersion);
  auto* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

}  // namespace tenure::rpc
