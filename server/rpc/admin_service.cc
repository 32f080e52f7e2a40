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

// Reads at most `limit` rows of a list.
template <typename Row>
using ReadRows = std::function<Result<std::vector<Row>>(OperatorStore&, size_t limit)>;

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

// What the answer to a change says: the election, unless an overload knows more.

template <typename Request, typename Response>
void Fill(const AdminAnswer& answer, const Request&, Response& it) {
  *it.mutable_election() = ToProto(answer.election);
}

void Fill(const AdminAnswer& answer, const v1::AppointRequest& asked, v1::AppointResponse& it) {
  const auto& leader = answer.election.leader;
  it.set_outcome(!leader ? v1::AppointResponse::OUTCOME_RESERVED
                 : leader->candidate == asked.candidate()
                     ? v1::AppointResponse::OUTCOME_LEADS
                     : v1::AppointResponse::OUTCOME_HANDOVER_ASKED);
  *it.mutable_election() = ToProto(answer.election);
}

void Fill(const AdminAnswer& answer, const v1::DeposeRequest&, v1::DeposeResponse& it) {
  it.set_deposed(answer.changed);
  *it.mutable_election() = ToProto(answer.election);
}

void Fill(const AdminAnswer& answer, const v1::DeleteElectionRequest&,
          v1::DeleteElectionResponse& it) {
  it.set_deleted(answer.changed);
  it.set_term(answer.election.term.value);
}

}  // namespace

void AdminService::AddTo(wire::Dispatcher& dispatcher) {
  const auto& service = *v1::AppointRequest::descriptor()->file()->service(0);
  const auto add = [&](const char* method, auto handle) {
    dispatcher.Add(service, method, *this, handle);
  };
  using A = AdminService;
  add("Status", &A::Status);
  add("ListElections", &A::ListElections);
  add("DescribeElection", &A::DescribeElection);
  add("ListTerms", &A::ListTerms);
  add("ListChanges", &A::ListChanges);
  add("ListSessions", &A::ListSessions);
  add("Appoint", &A::Change<v1::AppointRequest, v1::AppointResponse>);
  add("Depose", &A::Change<v1::DeposeRequest, v1::DeposeResponse>);
  add("Pause", &A::Change<v1::PauseRequest, v1::PauseResponse>);
  add("Resume", &A::Change<v1::ResumeRequest, v1::ResumeResponse>);
  add("UpdateElection", &A::Change<v1::UpdateElectionRequest, v1::UpdateElectionResponse>);
  add("DeleteElection", &A::Change<v1::DeleteElectionRequest, v1::DeleteElectionResponse>);
  add("PurgeElections", &A::PurgeElections);
  add("EndSession", &A::EndSession);
}

template <typename Response, typename Work>
void AdminService::Begin(wire::ServerCall& call, access::Verb verb, const access::Target& target,
                         Work work) {
  const auto caller = access_.Admit(call.context(), verb, target);
  if (!caller) return wire::Refuse(call, caller.error());
  work(*caller, UnaryCall<Response>::Start(call, engine_.scheduler()));
}

template <typename Request, typename Response>
void AdminService::Change(wire::ServerCall& call, const Request& request) {
  Begin<Response>(call, access::Verb::kAdminister, {{request.election()}},
                  [&](const access::Access::Caller& caller, const auto& unary) {
                    auto command = Parse(request, access::NameOf(caller, call.context()));
                    if (!command) return unary->Fail(command.error());
                    if constexpr (requires { command->principal; }) {
                      command->principal = access::PrincipalOf(caller);
                    }
                    engine_.Submit(
                        *std::move(command),
                        [unary, request](const Result<Answer>& answer) {
                          if (!answer) return unary->Fail(answer.error());
                          unary->Answer([&](Response& it) {
                            Fill(std::get<AdminAnswer>(*answer), request, it);
                          });
                        },
                        [unary] { return unary->open(); }, access::TraceIdOf(call.context()));
                  });
}

template <typename Page, typename Response>
void AdminService::Show(wire::ServerCall& call, access::Verb verb, const access::Target& target,
                        Result<std::function<Result<Page>(OperatorStore&)>> read,
                        std::function<void(const Page&, Response&)> fill) {
  Begin<Response>(call, verb, target, [&](const access::Access::Caller&, const auto& unary) {
    if (!read) return unary->Fail(read.error());
    engine_.Read<Page>(*std::move(read), [unary, fill = std::move(fill)](const Result<Page>& page) {
      if (!page) return unary->Fail(page.error());
      unary->Answer([&](Response& it) { fill(*page, it); });
    });
  });
}

template <typename Row, typename Response, typename Request>
void AdminService::List(
    wire::ServerCall& call, const Request& request, const access::Target& target,
    Result<std::function<Result<std::vector<Row>>(OperatorStore&, size_t)>> read,
    std::string (*token_of)(const Row&), void (*add)(const Row&, Response&)) {
  struct Page {
    std::vector<Row> rows;
    std::string next;
  };
  using ReadPage = std::function<Result<Page>(OperatorStore&)>;
  const auto size = ParsePageSize(request.page_size());
  Result<ReadPage> page = !read ? tl::unexpected(read.error())
                          : !size
                              ? tl::unexpected(size.error())
                              : Result<ReadPage>([size = *size, read = *std::move(read),
                                                  token_of](OperatorStore& store) -> Result<Page> {
                                  auto rows = read(store, size + 1);
                                  if (!rows) return tl::unexpected(rows.error());
                                  std::string next = CutPage(*rows, size, token_of);
                                  return Page{*std::move(rows), std::move(next)};
                                });
  Show<Page, Response>(call, access::Verb::kInspect, target, std::move(page),
                       [add](const Page& page, Response& it) {
                         for (const Row& row : page.rows) add(row, it);
                         it.set_next_page_token(page.next);
                       });
}

void AdminService::ListElections(wire::ServerCall& call, const v1::ListElectionsRequest& request) {
  List<ElectionView, v1::ListElectionsResponse>(
      call, request, {{}, {request.prefix()}},
      ReadRows<ElectionView>([prefix = request.prefix(), after = request.page_token()](
                                 OperatorStore& store, size_t limit) {
        return store.ListElections(prefix, after, limit);
      }),
      [](const ElectionView& it) { return it.election.name.bytes; },
      [](const ElectionView& view, v1::ListElectionsResponse& it) {
        if (!view.election.deleted) *it.add_elections() = ToProto(view);
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
  const auto parse = [&]() -> Result<std::function<Result<Page>(OperatorStore&)>> {
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
  Show<Page, v1::DescribeElectionResponse>(call, access::Verb::kDescribe, {{request.election()}},
                                           parse(),
                                           [](const Page& page, v1::DescribeElectionResponse& it) {
                                             *it.mutable_election() = ToProto(page.election);
                                             uint64_t position = page.skipped;
                                             for (const QueueEntry& entry : page.queue) {
                                               v1::Candidate& candidate = *it.add_queue();
                                               candidate = ToProto(entry);
                                               candidate.set_position(++position);
                                             }
                                             it.set_next_page_token(page.next);
                                           });
}

void AdminService::ListTerms(wire::ServerCall& call, const v1::ListTermsRequest& request) {
  const auto parse = [&]() -> Result<ReadRows<TermRecord>> {
    const auto name = ParseElectionName(request.election());
    if (!name) return tl::unexpected(name.error());
    const auto before = ParsePageNumber(request.page_token(), kNumberMax);
    if (!before) return tl::unexpected(before.error());
    return [name = *name, before = *before](OperatorStore& store, size_t limit) {
      return store.ReadTerms(name, Term{before}, limit);
    };
  };
  List<TermRecord, v1::ListTermsResponse>(
      call, request, {{request.election()}}, parse(),
      [](const TermRecord& it) { return std::to_string(it.term.value); },
      [](const TermRecord& term, v1::ListTermsResponse& it) { *it.add_terms() = ToProto(term); });
}

void AdminService::ListChanges(wire::ServerCall& call, const v1::ListChangesRequest& request) {
  const auto parse = [&]() -> Result<ReadRows<AdminRecord>> {
    std::optional<ElectionName> name;
    if (!request.election().empty()) {
      auto parsed = ParseElectionName(request.election());
      if (!parsed) return tl::unexpected(parsed.error());
      name = *std::move(parsed);
    }
    const auto before = ParsePageNumber(request.page_token(), kNumberMax);
    if (!before) return tl::unexpected(before.error());
    return [name, before = *before](OperatorStore& store, size_t limit) {
      return store.ReadAdminChanges(name, before, limit);
    };
  };
  List<AdminRecord, v1::ListChangesResponse>(
      call, request,
      request.election().empty() ? kEverything : access::Target{{request.election()}}, parse(),
      [](const AdminRecord& it) { return std::to_string(it.number); },
      [](const AdminRecord& change, v1::ListChangesResponse& it) {
        *it.add_changes() = ToProto(change);
      });
}

void AdminService::ListSessions(wire::ServerCall& call, const v1::ListSessionsRequest& request) {
  const auto parse = [&]() -> Result<ReadRows<SessionView>> {
    SessionId after;
    if (!request.page_token().empty()) {
      // The token is a handle, since the id is a secret.
      const auto last = ParseHandle(request.page_token());
      if (!last)
        return Fail(Reason::kInvalidPage, "the page_token is not from an earlier response");
      after = SessionId::FromHex(*last + std::string(last->size(), 'f')).value();
    }
    return [prefix = request.candidate_prefix(), after](OperatorStore& store, size_t limit) {
      return store.ReadSessions(prefix, after, limit);
    };
  };
  List<SessionView, v1::ListSessionsResponse>(
      call, request, kEverything, parse(),
      [](const SessionView& it) { return it.session.id.Handle(); },
      [](const SessionView& session, v1::ListSessionsResponse& it) {
        *it.add_sessions() = ToProto(session);
      });
}

void AdminService::PurgeElections(wire::ServerCall& call,
                                  const v1::PurgeElectionsRequest& request) {
  Begin<v1::PurgeElectionsResponse>(
      call, access::Verb::kAdminister, {{}, {request.prefix()}},
      [&](const access::Access::Caller& caller, const auto& unary) {
        auto order = Parse(request, access::NameOf(caller, call.context()), engine_.unused_min());
        if (!order) return unary->Fail(order.error());
        engine_.Purge(*std::move(order), [unary](const Result<engine::PurgePage>& page) {
          if (!page) return unary->Fail(page.error());
          unary->Answer([&](v1::PurgeElectionsResponse& it) {
            for (const ElectionName& name : page->purged) it.add_elections(name.bytes);
            it.set_next_page_token(page->next);
          });
        });
      });
}

void AdminService::EndSession(wire::ServerCall& call, const v1::EndSessionRequest& request) {
  Begin<v1::EndSessionResponse>(
      call, access::Verb::kAdminister, kEverything,
      [&](const access::Access::Caller& caller, const auto& unary) {
        const auto handle = ParseHandle(request.handle());
        const auto reason = ParseReason(request.reason());
        if (!handle || !reason) return unary->Fail(handle ? reason.error() : handle.error());
        const Author author{access::NameOf(caller, call.context()), *reason};
        const auto answer = [unary](const Result<engine::Closed>& closed) {
          if (!closed) return unary->Fail(closed.error());
          unary->Answer([&](v1::EndSessionResponse& it) {
            it.set_ended(closed->deposed);
            it.set_cause(ToProto(closed->session.ended));
          });
        };
        engine_.Read<std::optional<SessionId>>(
            [handle = *handle](OperatorStore& store) { return store.FindSession(handle); },
            [this, unary, author, answer, trace = access::TraceIdOf(call.context())](
                const Result<std::optional<SessionId>>& found) {
              if (!found) return unary->Fail(found.error());
              if (!*found) {
                return unary->Fail({Reason::kSessionNotFound, "no session has this handle"});
              }
              engine_.DeposeSession(**found, author, answer, trace);
            });
      });
}

}  // namespace tenure::rpc
