#include "server/rpc/admin_service.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/validation.h"
#include "server/access/trace.h"
#include "server/rpc/admin_requests.h"
#include "server/rpc/convert.h"
#include "server/rpc/refused.h"
#include "server/rpc/unary_call.h"

namespace tenure::rpc {
namespace {

// The greatest number that every database can compare with.
constexpr uint64_t kNumberMax = std::numeric_limits<int64_t>::max();

// Whatever concerns no single election concerns all.
const access::Target kEverything{{}, {""}};

template <typename Page>
using ReadPage = std::function<Result<Page>(OperatorStore&)>;

// Of a page, apart from its last item. Clients take messages of 4 MB.
constexpr size_t kPageBytesMax = 2 << 20;

// A page, and the token of the one behind it. One more than `limit` was read if there is one.
template <typename Item, typename Token>
std::string CutPage(std::vector<Item>& items, size_t limit, Token token_of) {
  size_t kept = 0;
  for (size_t bytes = 0; kept < std::min(limit, items.size()) && bytes < kPageBytesMax; ++kept) {
    bytes += ToProto(items[kept]).ByteSizeLong();
  }
  if (kept == items.size()) return "";
  items.resize(kept);
  return token_of(items.back());
}

}  // namespace

template <typename Request, typename Response>
grpc::ServerUnaryReactor* AdminService::Change(grpc::CallbackServerContext* context,
                                               const Request& request, Response* response,
                                               void (*fill)(const AdminAnswer&, const Request&,
                                                            Response&)) {
  const auto caller = access_.Admit(*context, access::Verb::kAdminister, {{request.election()}});
  if (!caller) return Refused(*context, caller.error());
  auto call = UnaryCall<Response>::Start(context, response, engine_.scheduler());
  auto* reactor = call->reactor();
  auto command = Parse(request, access::NameOf(*caller, *context));
  if (!command) {
    call->Fail(command.error());
    return reactor;
  }
  if constexpr (requires { command->principal; }) command->principal = access::PrincipalOf(*caller);
  engine_.Submit(
      *std::move(command),
      [call, request, fill](const Result<Answer>& answer) {
        if (!answer) return call->Fail(answer.error());
        call->Answer([&](Response& it) { fill(std::get<AdminAnswer>(*answer), request, it); });
      },
      [call] { return call->open(); }, access::TraceIdOf(*context));
  return reactor;
}

template <typename Page, typename Response>
grpc::ServerUnaryReactor* AdminService::Show(
    grpc::CallbackServerContext* context, const access::Target& target, Response* response,
    Result<ReadPage<Page>> read,
    std::type_identity_t<std::function<void(const Page&, Response&)>> fill, access::Verb verb) {
  const auto caller = access_.Admit(*context, verb, target);
  if (!caller) return Refused(*context, caller.error());
  auto call = UnaryCall<Response>::Start(context, response, engine_.scheduler());
  auto* reactor = call->reactor();
  if (!read) {
    call->Fail(read.error());
    return reactor;
  }
  engine_.Read<Page>(*std::move(read), [call, fill = std::move(fill)](const Result<Page>& page) {
    if (!page) return call->Fail(page.error());
    call->Answer([&](Response& it) { fill(*page, it); });
  });
  return reactor;
}

grpc::ServerUnaryReactor* AdminService::ListElections(grpc::CallbackServerContext* context,
                                                      const v1::ListElectionsRequest* request,
                                                      v1::ListElectionsResponse* response) {
  struct Page {
    std::vector<ElectionView> elections;
    std::string next;
  };
  const auto limit = ParsePageSize(request->page_size());
  Result<ReadPage<Page>> read = limit.map([&](size_t size) -> ReadPage<Page> {
    return [size, prefix = request->prefix(),
            after = request->page_token()](OperatorStore& store) -> Result<Page> {
      auto views = store.ListElections(prefix, after, size + 1);
      if (!views) return tl::unexpected(views.error());
      Page page;
      page.next =
          CutPage(*views, size, [](const ElectionView& it) { return it.election.name.bytes; });
      std::erase_if(*views, [](const ElectionView& it) { return it.election.deleted; });
      page.elections = *std::move(views);
      return page;
    };
  });
  return Show<Page>(context, {{}, {request->prefix()}}, response, std::move(read),
                    [](const Page& page, v1::ListElectionsResponse& it) {
                      for (const ElectionView& view : page.elections) {
                        *it.add_elections() = ToProto(view);
                      }
                      it.set_next_page_token(page.next);
                    });
}

grpc::ServerUnaryReactor* AdminService::DescribeElection(grpc::CallbackServerContext* context,
                                                         const v1::DescribeElectionRequest* request,
                                                         v1::DescribeElectionResponse* response) {
  struct Page {
    ElectionView election;
    std::vector<QueueEntry> queue;
    uint64_t skipped = 0;
    std::string next;
  };
  const auto parse = [&]() -> Result<ReadPage<Page>> {
    const auto name = ParseElectionName(request->election());
    if (!name) return tl::unexpected(name.error());
    const auto size = ParsePageSize(request->page_size());
    if (!size) return tl::unexpected(size.error());
    const auto skip = ParsePageNumber(request->page_token(), 0);
    if (!skip) return tl::unexpected(skip.error());
    return [name = *name, size = *size, skip = *skip](OperatorStore& store) -> Result<Page> {
      const auto views = store.ReadElections({name});
      if (!views) return tl::unexpected(views.error());
      const auto view = views->find(name);
      if (view == views->end()) return tl::unexpected(UnknownElectionError({name, {}, {}, {}}));
      if (view->second.election.deleted)
        return tl::unexpected(UnknownElectionError(view->second.election));
      auto queue = store.ReadQueue(name, skip, size + 1);
      if (!queue) return tl::unexpected(queue.error());
      Page page{view->second, {}, skip, {}};
      page.next = CutPage(*queue, size,
                          [&](const QueueEntry&) { return std::to_string(skip + queue->size()); });
      page.queue = *std::move(queue);
      return page;
    };
  };
  return Show<Page>(
      context, {{request->election()}}, response, parse(),
      [](const Page& page, v1::DescribeElectionResponse& it) {
        *it.mutable_election() = ToProto(page.election);
        uint64_t position = page.skipped;
        for (const QueueEntry& entry : page.queue) {
          v1::Candidate& candidate = *it.add_queue();
          candidate = ToProto(entry);
          candidate.set_position(++position);
        }
        it.set_next_page_token(page.next);
      },
      access::Verb::kDescribe);
}

grpc::ServerUnaryReactor* AdminService::ListTerms(grpc::CallbackServerContext* context,
                                                  const v1::ListTermsRequest* request,
                                                  v1::ListTermsResponse* response) {
  struct Page {
    std::vector<TermRecord> terms;
    std::string next;
  };
  const auto parse = [&]() -> Result<ReadPage<Page>> {
    const auto name = ParseElectionName(request->election());
    if (!name) return tl::unexpected(name.error());
    const auto size = ParsePageSize(request->page_size());
    if (!size) return tl::unexpected(size.error());
    const auto before = ParsePageNumber(request->page_token(), kNumberMax);
    if (!before) return tl::unexpected(before.error());
    return [name = *name, size = *size, before = *before](OperatorStore& store) -> Result<Page> {
      auto terms = store.ReadTerms(name, Term{before}, size + 1);
      if (!terms) return tl::unexpected(terms.error());
      Page page;
      page.next =
          CutPage(*terms, size, [](const TermRecord& it) { return std::to_string(it.term.value); });
      page.terms = *std::move(terms);
      return page;
    };
  };
  return Show<Page>(context, {{request->election()}}, response, parse(),
                    [](const Page& page, v1::ListTermsResponse& it) {
                      for (const TermRecord& term : page.terms) *it.add_terms() = ToProto(term);
                      it.set_next_page_token(page.next);
                    });
}

grpc::ServerUnaryReactor* AdminService::ListChanges(grpc::CallbackServerContext* context,
                                                    const v1::ListChangesRequest* request,
                                                    v1::ListChangesResponse* response) {
  struct Page {
    std::vector<AdminRecord> changes;
    std::string next;
  };
  const auto parse = [&]() -> Result<ReadPage<Page>> {
    std::optional<ElectionName> name;
    if (!request->election().empty()) {
      auto parsed = ParseElectionName(request->election());
      if (!parsed) return tl::unexpected(parsed.error());
      name = *std::move(parsed);
    }
    const auto size = ParsePageSize(request->page_size());
    if (!size) return tl::unexpected(size.error());
    const auto before = ParsePageNumber(request->page_token(), kNumberMax);
    if (!before) return tl::unexpected(before.error());
    return [name, size = *size, before = *before](OperatorStore& store) -> Result<Page> {
      auto changes = store.ReadAdminChanges(name, before, size + 1);
      if (!changes) return tl::unexpected(changes.error());
      Page page;
      page.next =
          CutPage(*changes, size, [](const AdminRecord& it) { return std::to_string(it.number); });
      page.changes = *std::move(changes);
      return page;
    };
  };
  return Show<Page>(
      context, request->election().empty() ? kEverything : access::Target{{request->election()}},
      response, parse(), [](const Page& page, v1::ListChangesResponse& it) {
        for (const AdminRecord& record : page.changes) *it.add_changes() = ToProto(record);
        it.set_next_page_token(page.next);
      });
}

grpc::ServerUnaryReactor* AdminService::ListSessions(grpc::CallbackServerContext* context,
                                                     const v1::ListSessionsRequest* request,
                                                     v1::ListSessionsResponse* response) {
  struct Page {
    std::vector<SessionView> sessions;
    std::string next;
  };
  const auto parse = [&]() -> Result<ReadPage<Page>> {
    const auto size = ParsePageSize(request->page_size());
    if (!size) return tl::unexpected(size.error());
    SessionId after;
    if (!request->page_token().empty()) {
      // The token is a handle: an id would be a secret.
      const auto last = ParseHandle(request->page_token());
      if (!last)
        return Fail(Reason::kInvalidPage, "the page_token is not from an earlier response");
      after = SessionId::FromHex(*last + std::string(last->size(), 'f')).value();
    }
    return [size = *size, prefix = request->candidate_prefix(),
            after](OperatorStore& store) -> Result<Page> {
      auto sessions = store.ReadSessions(prefix, after, size + 1);
      if (!sessions) return tl::unexpected(sessions.error());
      Page page;
      page.next =
          CutPage(*sessions, size, [](const SessionView& it) { return it.session.id.Handle(); });
      page.sessions = *std::move(sessions);
      return page;
    };
  };
  return Show<Page>(context, kEverything, response, parse(),
                    [](const Page& page, v1::ListSessionsResponse& it) {
                      for (const SessionView& session : page.sessions)
                        *it.add_sessions() = ToProto(session);
                      it.set_next_page_token(page.next);
                    });
}

grpc::ServerUnaryReactor* AdminService::Appoint(grpc::CallbackServerContext* context,
                                                const v1::AppointRequest* request,
                                                v1::AppointResponse* response) {
  return Change<v1::AppointRequest, v1::AppointResponse>(
      context, *request, response,
      [](const AdminAnswer& answer, const v1::AppointRequest& asked, v1::AppointResponse& it) {
        const auto& leader = answer.election.leader;
        it.set_outcome(!leader ? v1::AppointResponse::OUTCOME_RESERVED
                       : leader->candidate == asked.candidate()
                           ? v1::AppointResponse::OUTCOME_LEADS
                           : v1::AppointResponse::OUTCOME_HANDOVER_ASKED);
        *it.mutable_election() = ToProto(answer.election);
      });
}

grpc::ServerUnaryReactor* AdminService::Depose(grpc::CallbackServerContext* context,
                                               const v1::DeposeRequest* request,
                                               v1::DeposeResponse* response) {
  return Change<v1::DeposeRequest, v1::DeposeResponse>(
      context, *request, response,
      [](const AdminAnswer& answer, const v1::DeposeRequest&, v1::DeposeResponse& it) {
        it.set_deposed(answer.changed);
        *it.mutable_election() = ToProto(answer.election);
      });
}

grpc::ServerUnaryReactor* AdminService::Pause(grpc::CallbackServerContext* context,
                                              const v1::PauseRequest* request,
                                              v1::PauseResponse* response) {
  return Change<v1::PauseRequest, v1::PauseResponse>(
      context, *request, response,
      [](const AdminAnswer& answer, const v1::PauseRequest&, v1::PauseResponse& it) {
        *it.mutable_election() = ToProto(answer.election);
      });
}

grpc::ServerUnaryReactor* AdminService::Resume(grpc::CallbackServerContext* context,
                                               const v1::ResumeRequest* request,
                                               v1::ResumeResponse* response) {
  return Change<v1::ResumeRequest, v1::ResumeResponse>(
      context, *request, response,
      [](const AdminAnswer& answer, const v1::ResumeRequest&, v1::ResumeResponse& it) {
        *it.mutable_election() = ToProto(answer.election);
      });
}

grpc::ServerUnaryReactor* AdminService::UpdateElection(grpc::CallbackServerContext* context,
                                                       const v1::UpdateElectionRequest* request,
                                                       v1::UpdateElectionResponse* response) {
  return Change<v1::UpdateElectionRequest, v1::UpdateElectionResponse>(
      context, *request, response,
      [](const AdminAnswer& answer, const v1::UpdateElectionRequest&,
         v1::UpdateElectionResponse& it) { *it.mutable_election() = ToProto(answer.election); });
}

grpc::ServerUnaryReactor* AdminService::DeleteElection(grpc::CallbackServerContext* context,
                                                       const v1::DeleteElectionRequest* request,
                                                       v1::DeleteElectionResponse* response) {
  return Change<v1::DeleteElectionRequest, v1::DeleteElectionResponse>(
      context, *request, response,
      [](const AdminAnswer& answer, const v1::DeleteElectionRequest&,
         v1::DeleteElectionResponse& it) {
        it.set_deleted(answer.changed);
        it.set_term(answer.election.term.value);
      });
}

grpc::ServerUnaryReactor* AdminService::PurgeElections(grpc::CallbackServerContext* context,
                                                       const v1::PurgeElectionsRequest* request,
                                                       v1::PurgeElectionsResponse* response) {
  const auto caller = access_.Admit(*context, access::Verb::kAdminister, {{}, {request->prefix()}});
  if (!caller) return Refused(*context, caller.error());
  auto call = UnaryCall<v1::PurgeElectionsResponse>::Start(context, response, engine_.scheduler());
  auto* reactor = call->reactor();
  auto order = Parse(*request, access::NameOf(*caller, *context), engine_.unused_min());
  if (!order) {
    call->Fail(order.error());
    return reactor;
  }
  engine_.Purge(*std::move(order), [call](const Result<engine::PurgePage>& page) {
    if (!page) return call->Fail(page.error());
    call->Answer([&](v1::PurgeElectionsResponse& it) {
      for (const ElectionName& name : page->purged) it.add_elections(name.bytes);
      it.set_next_page_token(page->next);
    });
  });
  return reactor;
}

grpc::ServerUnaryReactor* AdminService::EndSession(grpc::CallbackServerContext* context,
                                                   const v1::EndSessionRequest* request,
                                                   v1::EndSessionResponse* response) {
  const auto caller = access_.Admit(*context, access::Verb::kAdminister, kEverything);
  if (!caller) return Refused(*context, caller.error());
  auto call = UnaryCall<v1::EndSessionResponse>::Start(context, response, engine_.scheduler());
  auto* reactor = call->reactor();
  const auto handle = ParseHandle(request->handle());
  const auto reason = ParseReason(request->reason());
  if (!handle || !reason) {
    call->Fail(handle ? reason.error() : handle.error());
    return reactor;
  }
  const Asker asker{access::NameOf(*caller, *context), *reason};
  engine_.Read<std::optional<SessionId>>(
      [handle = *handle](OperatorStore& store) { return store.FindSession(handle); },
      [this, call, asker,
       trace = access::TraceIdOf(*context)](const Result<std::optional<SessionId>>& found) {
        if (!found) return call->Fail(found.error());
        if (!*found) return call->Fail({Reason::kSessionNotFound, "no session has this handle"});
        engine_.DeposeSession(
            **found, asker,
            [call](const Result<engine::Closed>& closed) {
              if (!closed) return call->Fail(closed.error());
              call->Answer([&](v1::EndSessionResponse& it) {
                it.set_ended(closed->deposed);
                it.set_cause(ToProto(closed->session.ended));
              });
            },
            trace);
      });
  return reactor;
}

}  // namespace tenure::rpc
