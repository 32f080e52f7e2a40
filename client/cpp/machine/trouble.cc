#include "client/cpp/machine/trouble.h"

#include <string_view>
#include <utility>

#include "client/cpp/machine/call_error.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using Kind = Trouble::Kind;

constexpr auto kRepeatAfter = 1min;  // if its kind has changed by then

// gRPC's messages about failed connections, by a part of the text. The first match counts.
struct Row {
  std::string_view part;
  Kind kind;
  std::string_view text;
};
constexpr Row kConnecting[] = {
    {"Connection refused", Kind::kRefused, "connection refused"},
    {"Domain name not found", Kind::kNoSuchHost, "no such host"},
    {"no data", Kind::kNoSuchHost, "no such host"},
    {"DNS", Kind::kNoSuchHost, "its name cannot be looked up"},
    {"http1.x", Kind::kNotGrpc, "it speaks HTTP, not gRPC; is it the port for metrics and health?"},
    {"http2 header with status", Kind::kNotGrpc, "it speaks HTTP, not gRPC; is it a web server?"},
    {"parsing HTTP/2", Kind::kNotGrpc, "it does not speak gRPC; is it a database's port?"},
    {"wrong version number", Kind::kNoTls, "it does not speak TLS"},
    {"WRONG_VERSION_NUMBER", Kind::kNoTls, "it does not speak TLS"},
    {"certificate verify failed", Kind::kCertificate,
     "its certificate has expired, or is not signed by a trusted CA"},
    {"CERTIFICATE_VERIFY_FAILED", Kind::kCertificate,
     "its certificate has expired, or is not signed by a trusted CA"},
    {"Hostname Verification", Kind::kCertificate, "its certificate is for another host name"},
    {"alert", Kind::kRefusesTls, "it refuses the TLS handshake; does it accept our certificate?"},
    {"SETTINGS", Kind::kNoAnswer, "no answer"},
    {"timed out", Kind::kNoAnswer, "no answer"},
    // gRPC 1.51 reports this for some attempts that it gave up on a busy machine.
    {"No such file or directory", Kind::kNoAnswer, "no answer"},
    {"unhealthy", Kind::kNotReady, "the service runs, but is not ready"},
    {"No route to host", Kind::kRefused, "no route to host"},
    {"unreachable", Kind::kRefused, "network unreachable"},
};

bool Has(const grpc::Status& status, std::string_view part) {
  return status.error_message().find(part) != std::string::npos;
}

bool IsConnecting(const grpc::Status& status) {
  return Has(status, "failed to connect") || Has(status, "backends failing") ||
         Has(status, "DNS resolution failed") || Has(status, "http2 header with status");
}

Trouble ExplainConnecting(const grpc::Status& status, bool tls) {
  for (const Row& row : kConnecting) {
    if (Has(status, row.part)) return {row.kind, std::string(row.text)};
  }
  if (Has(status, "andshake")) return {Kind::kRefusesTls, "the TLS handshake failed"};
  if (tls) {
    return {Kind::kRefusesTls,
            "it closed the connection during the TLS handshake; does it ask for a client "
            "certificate?"};
  }
  return {Kind::kWantsTls, "it closed the connection at once; does it want TLS?"};
}

Trouble ExplainAnswer(const grpc::Status& status, const std::string& reason) {
  const std::string& said = status.error_message();
  if (reason == "STORE_UNAVAILABLE") {
    return {Kind::kDatabase, "the service runs, but cannot reach its database: " + said};
  }
  if (reason == "DRAINING") return {Kind::kNotReady, "the replica is shutting down"};
  if (reason == "WRONG_SERVICE") return {Kind::kWrongService, said};
  if (reason == "PERMISSION_DENIED") return {Kind::kDenied, "permission denied: " + said};
  if (reason == "OVERLOADED") return {Kind::kBusy, "the replica is overloaded: " + said};
  return {Kind::kOther, said + " (" + reason + ")"};
}

}  // namespace

Trouble Explain(const grpc::Status& status, bool tls) {
  const std::string reason = ReasonOf(status);
  if (!reason.empty()) return ExplainAnswer(status, reason);
  if (IsConnecting(status)) return ExplainConnecting(status, tls);
  switch (status.error_code()) {
    case grpc::StatusCode::DEADLINE_EXCEEDED: return {Kind::kNoAnswer, "no answer"};
    case grpc::StatusCode::UNIMPLEMENTED:
      return {Kind::kNotTenure,
              "it speaks gRPC, but does not know this call; is it Tenure, and new enough?"};
    case grpc::StatusCode::UNAUTHENTICATED:
    case grpc::StatusCode::PERMISSION_DENIED:
      return {Kind::kDenied, "permission denied: " + status.error_message()};
    case grpc::StatusCode::UNAVAILABLE:
      if (Has(status, "silent")) return {Kind::kNoAnswer, status.error_message()};
      return {Kind::kBroken, "the connection broke: " + status.error_message()};
    default: return {Kind::kOther, status.error_message()};
  }
}

grpc::Status Explained(const grpc::Status& status, const std::string& endpoint, bool tls) {
  if (status.ok()) return status;
  const std::string reason = ReasonOf(status);
  const bool by_grpc =
      reason.empty() && (status.error_code() == grpc::StatusCode::UNAVAILABLE ||
                         status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED ||
                         status.error_code() == grpc::StatusCode::UNIMPLEMENTED);
  if (!by_grpc && reason != "STORE_UNAVAILABLE") return status;
  return {status.error_code(), endpoint + ": " + Explain(status, tls).text, status.error_details()};
}

bool TroubleLog::Failed(const std::string& endpoint, Trouble::Kind kind, Time now) {
  const auto [state, is_new] = failing_.try_emplace(endpoint, State{now, now, kind});
  if (is_new) return true;
  if (kind == state->second.said || now < state->second.said_at + kRepeatAfter) return false;
  state->second.said_at = now;
  state->second.said = kind;
  return true;
}

std::optional<TroubleLog::Time::duration> TroubleLog::Answered(const std::string& endpoint,
                                                               Time now) {
  const auto state = failing_.extract(endpoint);
  if (state.empty()) return std::nullopt;
  return now - state.mapped().since;
}

std::string DurationText(Lease::Time::duration duration) {
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
  return milliseconds < 1'000 ? std::to_string(milliseconds) + " ms"
                              : std::to_string(milliseconds / 1'000) + " s";
}

}  // namespace tenure
