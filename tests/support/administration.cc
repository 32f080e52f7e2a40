#include "tests/support/administration.h"

#include <algorithm>
#include <iterator>

namespace tenure::testing {
namespace {

constexpr size_t kPagesMax = 1000;  // a listing that goes round in circles ends here

// `items` gives the repeated field of an answer.
template <typename Item, typename Request, typename Response, typename Items>
std::vector<Item> AllPages(Tenured& server, AdminCall<Request, Response> call, Request request,
                           int32_t page_size, Items items) {
  request.set_page_size(page_size);
  std::vector<Item> all;
  for (size_t page = 0; page < kPagesMax; ++page) {
    const Response response = Ask(server, call, request);
    const auto& found = items(response);
    if (page_size > 0) {
      EXPECT_LE(found.size(), page_size);
    }
    all.insert(all.end(), found.begin(), found.end());
    if (response.next_page_token().empty()) return all;
    request.set_page_token(response.next_page_token());
  }
  ADD_FAILURE() << "the pages have no end";
  return all;
}

template <typename Item>
std::vector<std::string> TextsOf(const std::vector<Item>& items) {
  std::vector<std::string> texts;
  std::ranges::transform(items, std::back_inserter(texts), [](const Item& it) { return Text(it); });
  return texts;
}

}  // namespace

v1::AppointRequest ToRequest(const AppointArguments& arguments) {
  auto request = For<v1::AppointRequest>(arguments.election, arguments.reason);
  request.set_term(arguments.term);
  request.set_candidate(arguments.candidate);
  request.set_force(arguments.force);
  if (arguments.reserve_for) *request.mutable_reserve_for() = Time(*arguments.reserve_for);
  return request;
}

v1::DeposeRequest ToRequest(const DeposeArguments& arguments) {
  auto request = For<v1::DeposeRequest>(arguments.election, arguments.reason);
  request.set_term(arguments.term);
  *request.mutable_cool_down() = Time(arguments.cool_down);
  return request;
}

v1::UpdateElectionRequest ToRequest(const UpdateArguments& arguments) {
  auto request = For<v1::UpdateElectionRequest>(arguments.election, arguments.reason);
  if (arguments.lock_delay) *request.mutable_lock_delay() = Time(*arguments.lock_delay);
  if (arguments.min_hold) *request.mutable_min_hold() = Time(*arguments.min_hold);
  if (arguments.default_lease_ttl) {
    *request.mutable_default_lease_ttl() = Time(*arguments.default_lease_ttl);
  }
  if (arguments.max_lease_ttl) *request.mutable_max_lease_ttl() = Time(*arguments.max_lease_ttl);
  if (arguments.max_candidates) request.set_max_candidates(*arguments.max_candidates);
  request.set_allow_missing(arguments.allow_missing);
  return request;
}

v1::AppointResponse Appoint(Tenured& server, const AppointArguments& arguments) {
  return Ask(server, &AdminStub::Appoint, ToRequest(arguments));
}

v1::DeposeResponse Depose(Tenured& server, const DeposeArguments& arguments) {
  return Ask(server, &AdminStub::Depose, ToRequest(arguments));
}

v1::Election Pause(Tenured& server, const std::string& election, const std::string& reason) {
  return Ask(server, &AdminStub::Pause, For<v1::PauseRequest>(election, reason)).election();
}

v1::Election Resume(Tenured& server, const std::string& election, const std::string& reason) {
  return Ask(server, &AdminStub::Resume, For<v1::ResumeRequest>(election, reason)).election();
}

v1::Election Update(Tenured& server, const UpdateArguments& arguments) {
  return Ask(server, &AdminStub::UpdateElection, ToRequest(arguments)).election();
}

v1::DeleteElectionResponse Delete(Tenured& server, const std::string& election, uint64_t term,
                                  const std::string& reason) {
  auto request = For<v1::DeleteElectionRequest>(election, reason);
  request.set_term(term);
  return Ask(server, &AdminStub::DeleteElection, request);
}

v1::PurgeElectionsRequest ToRequest(const PurgeArguments& arguments) {
  v1::PurgeElectionsRequest request;
  request.set_prefix(arguments.prefix);
  *request.mutable_unused_for() = Time(arguments.unused_for);
  request.set_dry_run(arguments.dry_run);
  request.set_reason(arguments.reason);
  return request;
}

std::vector<std::string> Purge(Tenured& server, const PurgeArguments& arguments,
                               int32_t page_size) {
  return AllPages<std::string>(
      server, &AdminStub::PurgeElections, ToRequest(arguments), page_size,
      [](const auto& page) -> auto& { return page.elections(); });
}

v1::EndSessionResponse EndSession(Tenured& server, const std::string& handle,
                                  const std::string& reason) {
  v1::EndSessionRequest request;
  request.set_handle(handle);
  request.set_reason(reason);
  return Ask(server, &AdminStub::EndSession, request);
}

std::vector<v1::Election> ListElections(Tenured& server, const std::string& prefix,
                                        int32_t page_size) {
  v1::ListElectionsRequest request;
  request.set_prefix(prefix);
  return AllPages<v1::Election>(
      server, &AdminStub::ListElections, request, page_size,
      [](const auto& page) -> auto& { return page.elections(); });
}

std::vector<v1::Candidate> ListQueue(Tenured& server, const std::string& election,
                                     int32_t page_size) {
  v1::DescribeElectionRequest request;
  request.set_election(election);
  return AllPages<v1::Candidate>(
      server, &AdminStub::DescribeElection, request, page_size,
      [](const auto& page) -> auto& { return page.queue(); });
}

std::vector<v1::TermRecord> ListTerms(Tenured& server, const std::string& election,
                                      int32_t page_size) {
  v1::ListTermsRequest request;
  request.set_election(election);
  return AllPages<v1::TermRecord>(
      server, &AdminStub::ListTerms, request, page_size,
      [](const auto& page) -> auto& { return page.terms(); });
}

std::vector<v1::Change> ListChanges(Tenured& server, const std::string& election,
                                    int32_t page_size) {
  v1::ListChangesRequest request;
  request.set_election(election);
  return AllPages<v1::Change>(
      server, &AdminStub::ListChanges, request, page_size,
      [](const auto& page) -> auto& { return page.changes(); });
}

std::vector<v1::SessionInfo> ListSessions(Tenured& server, const std::string& prefix,
                                          int32_t page_size) {
  v1::ListSessionsRequest request;
  request.set_candidate_prefix(prefix);
  return AllPages<v1::SessionInfo>(
      server, &AdminStub::ListSessions, request, page_size,
      [](const auto& page) -> auto& { return page.sessions(); });
}

std::string Text(const v1::Change& change) {
  std::string text = v1::Change::Action_Name(change.action()).substr(7) + " " + change.election() +
                     " " + std::to_string(change.term());
  if (!change.detail().empty()) text += " " + change.detail();
  if (!change.reason().empty()) text += ": " + change.reason();
  return text;
}

std::vector<std::string> Texts(const std::vector<v1::Change>& changes) { return TextsOf(changes); }

std::string Text(const v1::TermRecord& term) {
  std::string text = std::to_string(term.term()) + " " + term.candidate();
  if (term.has_end_time()) text += " " + v1::Cause_Name(term.cause()).substr(6);
  return text;
}

std::vector<std::string> Texts(const std::vector<v1::TermRecord>& terms) { return TextsOf(terms); }

}  // namespace tenure::testing
