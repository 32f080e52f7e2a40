// `tenure status`: the first thing an operator looks at.
#include <chrono>
#include <future>
#include <map>
#include <string>
#include <vector>

#include "client/cpp/io/connection.h"
#include "client/cpp/io/diagnosis.h"
#include "client/cpp/machine/endpoints.h"
#include "client/tool/admin_commands.h"
#include "client/tool/exit_code.h"
#include "client/tool/output.h"
#include "command_line/table.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 2s;

// The answer of one endpoint.
struct EndpointStatus {
  std::string endpoint;
  std::string trouble;  // why it cannot be asked; empty if it answered
  // Has only the version and the service if the caller may not inspect.
  v1::StatusResponse status;
  bool denied = false;

  [[nodiscard]] bool well() const { return trouble.empty() && !denied && status.ready(); }
  [[nodiscard]] std::string state() const {
    if (!trouble.empty()) return trouble;
    if (denied) return "it answers; whether it is ready needs the verb 'inspect'";
    if (status.ready()) return "ready";
    return status.database().available()
               ? "not ready: " + status.not_ready_reason()
               : "the service runs, but cannot reach its database: " + status.database().error();
  }
  [[nodiscard]] std::string database() const {
    const v1::DatabaseStatus& database = status.database();
    if (database.server().empty()) return "-";
    return (database.engine().empty() ? "" : database.engine() + " at ") + database.server() +
           (database.available() ? "" : " (away)");
  }
};

template <typename Request, typename Response, typename Stub>
grpc::Status Ask(Connection& connection, Stub& stub,
                 grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                 Response* response) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kPatience);
  connection.NameService(context);
  return (stub.*method)(&context, Request(), response);
}

EndpointStatus StatusOf(const std::string& endpoint, const CommonOptions& common) {
  EndpointStatus result;
  result.endpoint = endpoint;
  const auto credentials = common.Credentials();
  Connection connection(endpoint, credentials, HealthCheck::kOff, common.service_id);
  for (int tries = 0; tries < 3 && !connection.Connect(); ++tries) continue;
  const auto admin = connection.admin();
  grpc::Status status =
      Ask<v1::StatusRequest>(connection, *admin, &v1::AdminService::Stub::Status, &result.status);
  if (status.error_code() == grpc::StatusCode::PERMISSION_DENIED) {
    v1::IdentifyResponse identity;
    const auto stub = connection.stub();
    status = Ask<v1::IdentifyRequest>(connection, *stub, &v1::ElectionService::Stub::Identify,
                                      &identity);
    result.status.set_version(identity.version());
    result.status.set_service_id(identity.service_id());
    result.denied = status.ok();
  }
  if (status.ok()) return result;
  const Trouble trouble = Explain(status, credentials != nullptr);
  result.trouble = trouble.kind == Trouble::Kind::kNotTenure
                       ? "not Tenure, or a version before `tenure status`"
                       : Diagnose(endpoint, credentials, trouble);
  return result;
}

std::string OrDash(const std::string& text) { return text.empty() ? "-" : text; }
Json OrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json ToJson(const EndpointStatus& it, bool tls) {
  const v1::DatabaseStatus& database = it.status.database();
  const bool asked = it.trouble.empty() && !it.denied;
  Json object = {{"endpoint", it.endpoint},
                 {"reachable", it.trouble.empty()},
                 {"ready", asked ? Json(it.status.ready()) : Json(nullptr)},
                 {"why_not", it.well() ? Json(nullptr) : Json(it.state())},
                 {"version", OrNull(it.status.version())},
                 {"service_id", OrNull(it.status.service_id())},
                 {"database", nullptr},
                 {"tls", tls}};
  if (asked) {
    object["database"] = {{"engine", OrNull(database.engine())},
                          {"server", OrNull(database.server())},
                          {"available", database.available()},
                          {"error", OrNull(database.error())}};
  }
  return object;
}

void Show(const Output& output, const std::vector<EndpointStatus>& all, bool tls) {
  if (output.json()) {
    for (const EndpointStatus& it : all) output.Object(ToJson(it, tls));
    return;
  }
  Table table({{.title = "ENDPOINT"},
               {.title = "VERSION"},
               {.title = "SERVICE"},
               {.title = "DATABASE"},
               {.title = "TLS"},
               {.title = "STATE"}});
  for (const EndpointStatus& it : all) {
    table.Add({it.endpoint, OrDash(it.status.version()), OrDash(it.status.service_id()),
               it.database(), tls ? "yes" : "no", it.state()});
  }
  output.Text(table);
}

void ShowCounts(const Output& output, const v1::ServiceCounts& counts) {
  if (output.json()) {
    return output.Object({{"elections", counts.elections()},
                          {"leaders", counts.leaders()},
                          {"sessions", counts.sessions()}});
  }
  output.Text("elections: " + std::to_string(counts.elections()) +
              ", leaders: " + std::to_string(counts.leaders()) +
              ", sessions: " + std::to_string(counts.sessions()));
}

}  // namespace

int RunStatus(const CommonOptions& common, const StatusOptions&) {
  const Output output(common.json);
  std::vector<std::future<EndpointStatus>> asked;
  const auto endpoints = ParseEndpoints(common.endpoints).value();
  for (const std::string& endpoint : endpoints) {
    asked.push_back(
        std::async(std::launch::async, [endpoint, &common] { return StatusOf(endpoint, common); }));
  }
  std::vector<EndpointStatus> all;
  for (auto& one : asked) all.push_back(one.get());
  Show(output, all, common.tls);

  std::map<std::string, std::string> services;  // service id -> one of its endpoints
  bool well = true;
  bool any_serves = false;
  const v1::ServiceCounts* counts = nullptr;
  for (const EndpointStatus& it : all) {
    if (!it.status.service_id().empty()) services.emplace(it.status.service_id(), it.endpoint);
    well = well && it.well();
    any_serves = any_serves || it.well();
    if (it.status.has_counts() && counts == nullptr) counts = &it.status.counts();
  }
  if (services.size() > 1) {
    std::string text;
    for (const auto& [service, endpoint] : services) {
      text += (text.empty() ? "" : ", ") + endpoint + " to " + service;
    }
    Output::Complain("the endpoints belong to different services: " + text);
    return kExitError;
  }
  if (counts != nullptr) ShowCounts(output, *counts);
  if (well) return EXIT_SUCCESS;
  return any_serves ? kExitError : kExitUnavailable;
}

}  // namespace tenure
