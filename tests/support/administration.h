// Operators' calls, for tests against running servers.
#pragma once

#include <google/protobuf/util/time_util.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <type_traits>

#include "tests/support/tenured.h"

namespace tenure::testing {

using AdminStub = v1::AdminService::Stub;

template <typename Request, typename Response>
using AdminCall = grpc::Status (AdminStub::*)(grpc::ClientContext*, const Request&, Response*);

[[nodiscard]] inline google::protobuf::Duration Time(std::chrono::milliseconds time) {
  return google::protobuf::util::TimeUtil::MillisecondsToDuration(time.count());
}

// Makes one call: `TryCall(A(), &AdminStub::Pause, request)`.
template <typename Request, typename Response>
grpc::Status TryCall(Tenured& server, AdminCall<Request, Response> call,
                     const std::type_identity_t<Request>& request, Response* response) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kPatience);
  context.set_wait_for_ready(true);
  return (server.admin().*call)(&context, request, response);
}

template <typename Request, typename Response>
grpc::Status TryCall(Tenured& server, AdminCall<Request, Response> call,
                     const std::type_identity_t<Request>& request) {
  Response response;
  return TryCall(server, call, request, &response);
}

// The same for a call that has to succeed.
template <typename Request, typename Response>
Response Ask(Tenured& server, AdminCall<Request, Response> call,
             const std::type_identity_t<Request>& request) {
  Response response;
  const grpc::Status status = TryCall(server, call, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response;
}

struct AppointArguments {
  std::string election;
  uint64_t term = 0;
  std::string candidate = {};
  bool force = false;
  std::optional<std::chrono::milliseconds> reserve_for = {};
  std::string reason = {};
};
[[nodiscard]] v1::AppointRequest ToRequest(const AppointArguments& arguments);

struct DeposeArguments {
  std::string election;
  uint64_t term = 0;
  std::chrono::milliseconds cool_down = 0ms;
  std::string reason = {};
};
[[nodiscard]] v1::DeposeRequest ToRequest(const DeposeArguments& arguments);

struct UpdateArguments {
  std::string election;
  std::optional<std::chrono::milliseconds> lock_delay = {};
  std::optional<std::chrono::milliseconds> min_hold = {};
  std::optional<std::chrono::milliseconds> default_lease_ttl = {};
  std::optional<std::chrono::milliseconds> max_lease_ttl = {};
  std::optional<uint64_t> max_candidates = {};
  bool allow_missing = false;
  std::string reason = {};
};
[[nodiscard]] v1::UpdateElectionRequest ToRequest(const UpdateArguments& arguments);

struct PurgeArguments {
  std::string prefix = {};
  std::chrono::milliseconds unused_for = 24h;
  bool dry_run = false;
  std::string reason = {};
};
[[nodiscard]] v1::PurgeElectionsRequest ToRequest(const PurgeArguments& arguments);

// A request that names an election, and why.
template <typename Request>
[[nodiscard]] Request For(const std::string& election, const std::string& reason = "") {
  Request request;
  request.set_election(election);
  request.set_reason(reason);
  return request;
}

// Calls that have to succeed.
v1::AppointResponse Appoint(Tenured& server, const AppointArguments& arguments);
v1::DeposeResponse Depose(Tenured& server, const DeposeArguments& arguments);
v1::Election Pause(Tenured& server, const std::string& election, const std::string& reason = "");
v1::Election Resume(Tenured& server, const std::string& election, const std::string& reason = "");
v1::Election Update(Tenured& server, const UpdateArguments& arguments);
v1::DeleteElectionResponse Delete(Tenured& server, const std::string& election, uint64_t term,
                                  const std::string& reason = "");
// All pages, each of this size.
std::vector<std::string> Purge(Tenured& server, const PurgeArguments& arguments = {},
                               int32_t page_size = 0);
v1::EndSessionResponse EndSession(Tenured& server, const std::string& handle,
                                  const std::string& reason = "");
// All pages, each of this size.
std::vector<v1::Election> ListElections(Tenured& server, const std::string& prefix = "",
                                        int32_t page_size = 0);
std::vector<v1::Candidate> ListQueue(Tenured& server, const std::string& election,
                                     int32_t page_size = 0);
std::vector<v1::TermRecord> ListTerms(Tenured& server, const std::string& election,
                                      int32_t page_size = 0);
std::vector<v1::Change> ListChanges(Tenured& server, const std::string& election = "",
                                    int32_t page_size = 0);
std::vector<v1::SessionInfo> ListSessions(Tenured& server, const std::string& prefix = "",
                                          int32_t page_size = 0);

// The public half of a session's id.
[[nodiscard]] inline std::string HandleOf(const v1::CampaignResponse& response) {
  return response.session().session_id().substr(0, 16);
}
// "APPOINTED e 1 'b', by force: why".
[[nodiscard]] std::string Text(const v1::Change& change);
[[nodiscard]] std::vector<std::string> Texts(const std::vector<v1::Change>& changes);
// "2 b SUPERSEDED"; "3 c" while it stands.
[[nodiscard]] std::string Text(const v1::TermRecord& term);
[[nodiscard]] std::vector<std::string> Texts(const std::vector<v1::TermRecord>& terms);

}  // namespace tenure::testing
