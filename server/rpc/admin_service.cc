#include "server/rpc/admin_service.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/validation.h"
#include "server/access/trace.h"
#include "server/rpc/admin_requests.h"
#include "server/rpc/convert.h"
#include "server/rpc/unary_call.h"

namespace tenure::rpc {
namespace {

// The greatest number that every database can compare.
constexpr uint64_t kNumberMax = std::numeric_limits<int64_t>::max();

// For calls that concern no single election.
const access::Target kEverything{{}, {""}};

template <typename Page>
using ReadPage = std::function<Result<Page>(OperatorStore&)>;

// Maximum size of a page without its last item. Clients accept messages of 4 MB.
constexpr size_t kPageBytesMax = 2 << 20;

// Cuts `items` to one page, and returns the token of the next one. There is a next one if more than
// `limit` items were read, or if they are too large for one page.
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

void AdminService::AddTo(wire::Dispatcher& dispatcher) {
  const auto& service = *v1::AppointRequest::descriptor()->file()->service(0);
  dispatcher.Add(service, "Status", *this, &AdminService::Status);
  dispatcher.Add(service, "ListElections", *this, &AdminService::ListElections);
  dispatcher.Add(service, "DescribeElection", *this, &AdminService::DescribeElection);
  dispatcher.Add(service, "ListTerms", *this, &AdminService::ListTerms);
  dispatcher.Add(service, "ListChanges", *this, &AdminService::ListChanges);
  dispatcher.Add(service, "ListSessions", *this, &AdminService::ListSessions);
  dispatcher.Add(service, "Appoint", *this, &AdminService::Appoint);
  dispatcher.Add(service, "Depose", *this, &AdminService::Depose);
  dispatcher.Add(service, "Pause", *this, &AdminService::Pause);
  dispatcher.Add(service, "Resume", *this, &AdminService::Resume);
  dispatcher.Add(service, "UpdateElection", *this, &AdminService::UpdateElection);
  dispatcher.Add(service, "DeleteElection", *this, &AdminService::DeleteElection);
  dispatcher.Add(service, "PurgeElections", *this, &AdminService::PurgeElections);
  dispatcher.Add(service, "EndSession", *this, &AdminService::EndSession);
}

template <typename Request, typename Response>
void AdminService::Change(wire::ServerCall& call, const Request& request,
                          void (*fill)(const AdminAnswer&, const Request&, Response&)) {
  const auto caller =
      access_.Admit(call.context(), access::Verb::kAdminister, {{request.election()}});
  if (!caller) return wire::Refuse(call, caller.error());
  const auto unary = UnaryCall<Response>::Start(call, engine_.scheduler());
  auto command = Parse(request, access::NameOf(*caller, call.context()));
  if (!command) return unary->Fail(command.error());
  if constexpr (requires { command->principal; }) command->principal = access::PrincipalOf(*caller);
  engine_.Submit(
      *std::move(command),
      [unary, request, fill](const Result<Answer>& answer) {
        if (!answer) return unary->Fail(answer.error());
        unary->Answer([&](Response& it) { fill(std::get<AdminAnswer>(*answer), request, it); });
      },
      [unary] { return unary->open(); }, access::TraceIdOf(call.context()));
}

template <typename Page, typename Response>
void AdminService::Show(wire::ServerCall& call, const access::Target& target,
                        Result<ReadPage<Page>> read,
                        std::function<void(const Page&, Response&)> fill, access::Verb verb) {
  const auto caller = access_.Admit(call.context(), verb, target);
  if (!caller) return wire::Refuse(call, caller.error());
  const auto unary = UnaryCall<Response>::Start(call, engine_.scheduler());
  if (!read) return unary->Fail(read.error());
  engine_.Read<Page>(*std::move(read), [unary, fill = std::move(fill)](const Result<Page>& page) {
    if (!page) return unary->Fail(page.error());
    unary->Answer([&](Response& it) { fill(*page, it); });
  });
}

void AdminService::ListElections(wire::ServerCall& call, const v1::ListElectionsRequest& request) {
  struct Page {
    std::vector<ElectionView> elections;
    std::string next;
  };
  const auto limit = ParsePageSize(request.page_size());
  Result<ReadPage<Page>> read = limit.map([&](size_t size) -> ReadPage<Page> {
    return [size, prefix = request.prefix(),
            after = request.page_token()](OperatorStore& store) -> Result<Page> {
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
  Show<Page, v1::ListElectionsResponse>(call, {{}, {request.prefix()}}, std::move(read),
                                        [](const Page& page, v1::ListElectionsResponse& it) {
                                          for (const ElectionView& view : page.elections) {
                                            *it.add_elections() = ToProto(view);
                                          }
                                          it.set_next_page_token(page.next);
                                        });
}

void AdminService::DescribeElection(wire::ServerCall& call,
                                    const v1::DescribeElectionRequest& request) {
  struct Page {
    ElectionView election;
    std::vector<QueueEntry> queue;
    uint64_t skipped = 0;
    std::string next;
  };
  const auto parse = [&]() -> Result<ReadPage<Page>> {
    const auto name = ParseElectionName(request.election());
    if (!name) return tl::unexpected(name.error());
    const auto size = ParsePageSize(request.page_size());
    if (!size) return tl::unexpected(size.error());
    const auto skip = ParsePageNumber(request.page_token(), 0);
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
  Show<Page, v1::DescribeElectionResponse>(
      call, {{request.election()}}, parse(),
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

void AdminService::ListTerms(wire::ServerCall& call, const v1::ListTermsRequest& request) {
  struct Page {
    std::vector<TermRecord> terms;
    std::string next;
  };
  const auto parse = [&]() -> Result<ReadPage<Page>> {
    const auto name = ParseElectionName(request.election());
    if (!name) return tl::unexpected(name.error());
    const auto size = ParsePageSize(request.page_size());
    if (!size) return tl::unexpected(size.error());
    const auto before = ParsePageNumber(request.page_token(), kNumberMax);
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
  Show<Page, v1::ListTermsResponse>(call, {{request.election()}}, parse(),
                                    [](const Page& page, v1::ListTermsResponse& it) {
                                      for (const TermRecord& term : page.terms)
                                        *it.add_terms() = ToProto(term);
                                      it.set_next_page_token(page.next);
                                    });
}

void AdminService::ListChanges(wire::ServerCall& call, const v1::ListChangesRequest& request) {
  struct Page {
    std::vector<AdminRecord> changes;
    std::string next;
  };
  const auto parse = [&]() -> Result<ReadPage<Page>> {
    std::optional<ElectionName> name;
    if (!request.election().empty()) {
      auto parsed = ParseElectionName(request.election());
      if (!parsed) return tl::unexpected(parsed.error());
      name = *std::move(parsed);
    }
    const auto size = ParsePageSize(request.page_size());
    if (!size) return tl::unexpected(size.error());
    const auto before = ParsePageNumber(request.page_token(), kNumberMax);
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
  Show<Page, v1::ListChangesResponse>(
      call, request.election().empty() ? kEverything : access::Target{{request.election()}},
      parse(), [](const Page& page, v1::ListChangesResponse& it) {
        for (const AdminRecord& record : page.changes) *it.add_changes() = ToProto(record);
        it.set_next_page_token(page.next);
      });
}

void AdminService::ListSessions(wire::ServerCall& call, const v1::ListSessionsRequest& request) {
  struct Page {
    std::vector<SessionView> sessions;
    std::string next;
  };
  const auto parse = [&]() -> Result<ReadPage<Page>> {
    const auto size = ParsePageSize(request.page_size());
    if (!size) return tl::unexpected(size.error());
    SessionId after;
    if (!request.page_token().empty()) {
      // The token is a handle, since the id is a secret.
      const auto last = ParseHandle(request.page_token());
      if (!last)
        return Fail(Reason::kInvalidPage, "the page_token is not from an earlier response");
      after = SessionId::FromHex(*last + std::string(last->size(), 'f')).value();
    }
    return [size = *size, prefix = request.candidate_prefix(),
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
  Show<Page, v1::ListSessionsResponse>(call, kEverything, parse(),
                                       [](const Page& page, v1::ListSessionsResponse& it) {
                                         for (const SessionView& session : page.sessions)
                                           *it.add_sessions() = ToProto(session);
                                         it.set_next_page_token(page.next);
                                       });
}

void AdminService::Appoint(wire::ServerCall& call, const v1::AppointRequest& request) {
  Change<v1::AppointRequest, v1::AppointResponse>(
      call, request,
      [](const AdminAnswer& answer, const v1::AppointRequest& asked, v1::AppointResponse& it) {
        const auto& leader = answer.election.leader;
        it.set_outcome(!leader ? v1::AppointResponse::OUTCOME_RESERVED
                       : leader->candidate == asked.candidate()
                           ? v1::AppointResponse::OUTCOME_LEADS
                           : v1::AppointResponse::OUTCOME_HANDOVER_ASKED);
        *it.mutable_election() = ToProto(answer.election);
      });
}

void AdminService::Depose(wire::ServerCall& call, const v1::DeposeRequest& request) {
  Change<v1::DeposeRequest, v1::DeposeResponse>(
      call, request,
      [](const AdminAnswer& answer, const v1::DeposeRequest&, v1::DeposeResponse& it) {
        it.set_deposed(answer.changed);
        *it.mutable_election() = ToProto(answer.election);
      });
}

void AdminService::Pause(wire::ServerCall& call, const v1::PauseRequest& request) {
  Change<v1::PauseRequest, v1::PauseResponse>(
      call, request, [](const AdminAnswer& answer, const v1::PauseRequest&, v1::PauseResponse& it) {
        *it.mutable_election() = ToProto(answer.election);
      });
}

void AdminService::Resume(wire::ServerCall& call, const v1::ResumeRequest& request) {
  Change<v1::ResumeRequest, v1::ResumeResponse>(
      call, request,
      [](const AdminAnswer& answer, const v1::ResumeRequest&, v1::ResumeResponse& it) {
        *it.mutable_election() = ToProto(answer.election);
      });
}

void AdminService::UpdateElection(wire::ServerCall& call,
                                  const v1::UpdateElectionRequest& request) {
  Change<v1::UpdateElectionRequest, v1::UpdateElectionResponse>(
      call, request,
      [](const AdminAnswer& answer, const v1::UpdateElectionRequest&,
         v1::UpdateElectionResponse& it) { *it.mutable_election() = ToProto(answer.election); });
}

void AdminService::DeleteElection(wire::ServerCall& call,
                                  const v1::DeleteElectionRequest& request) {
  Change<v1::DeleteElectionRequest, v1::DeleteElectionResponse>(
      call, request,
      [](const AdminAnswer& answer, const v1::DeleteElectionRequest&,
         v1::DeleteElectionResponse& it) {
        it.set_deleted(answer.changed);
        it.set_term(answer.election.term.value);
      });
}

void AdminService::PurgeElections(wire::ServerCall& call,
                                  const v1::PurgeElectionsRequest& request) {
  const auto caller =
      access_.Admit(call.context(), access::Verb::kAdminister, {{}, {request.prefix()}});
  if (!caller) return wire::Refuse(call, caller.error());
  const auto unary = UnaryCall<v1::PurgeElectionsResponse>::Start(call, engine_.scheduler());
  auto order = Parse(request, access::NameOf(*caller, call.context()), engine_.unused_min());
  if (!order) return unary->Fail(order.error());
  engine_.Purge(*std::move(order), [unary](const Result<engine::PurgePage>& page) {
    if (!page) return unary->Fail(page.error());
    unary->Answer([&](v1::PurgeElectionsResponse& it) {
      for (const ElectionName& name : page->purged) it.add_elections(name.bytes);
      it.set_next_page_token(page->next);
    });
  });
}

void AdminService::EndSession(wire::ServerCall& call, const v1::EndSessionRequest& request) {
  const auto caller = access_.Admit(call.context(), access::Verb::kAdminister, kEverything);
  if (!caller) return wire::Refuse(call, caller.error());
  const auto unary = UnaryCall<v1::EndSessionResponse>::Start(call, engine_.scheduler());
  const auto handle = ParseHandle(request.handle());
  const auto reason = ParseReason(request.reason());
  if (!handle || !reason) return unary->Fail(handle ? reason.error() : handle.error());
  const Author author{access::NameOf(*caller, call.context()), *reason};
  engine_.Read<std::optional<SessionId>>(
      [handle = *handle](OperatorStore& store) { return store.FindSession(handle); },
      [this, unary, author,
       trace = access::TraceIdOf(call.context())](const Result<std::optional<SessionId>>& found) {
        if (!found) return unary->Fail(found.error());
        if (!*found) return unary->Fail({Reason::kSessionNotFound, "no session has this handle"});
        engine_.DeposeSession(
            **found, author,
            [unary](const Result<engine::Closed>& closed) {
              if (!closed) return unary->Fail(closed.error());
              unary->Answer([&](v1::EndSessionResponse& it) {
                it.set_ended(closed->deposed);
                it.set_cause(ToProto(closed->session.ended));
              });
            },
            trace);
      });
}

}  // namespace tenure::rpc
