#include "server/wire/call_counts.h"

#include <algorithm>

#include "proto/rich_status.h"
#include "proto/status.h"

namespace tenure::wire {
namespace {

// Indexed by status code.
constexpr const char* kCodeNames[] = {
    "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
    "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
    "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
    "DataLoss", "Unauthenticated"};

// The call itself is valid, but room, a permission or the database is missing.
bool IsRefusal(Reason reason) {
  const grpc::StatusCode code = CodeOf(reason);
  return code == grpc::StatusCode::RESOURCE_EXHAUSTED || code == grpc::StatusCode::UNAVAILABLE ||
         code == grpc::StatusCode::PERMISSION_DENIED;
}

const char* TypeOf(const google::protobuf::MethodDescriptor& method) {
  if (method.client_streaming()) return method.server_streaming() ? "bidi_stream" : "client_stream";
  return method.server_streaming() ? "server_stream" : "unary";
}

}  // namespace

CallCounts::CallCounts(Metrics& metrics,
                       const std::vector<const google::protobuf::ServiceDescriptor*>& services) {
  for (const auto* service : services) {
    for (int i = 0; i < service->method_count(); ++i) Add(metrics, *service->method(i));
  }
  for (int number = 1;; ++number) {
    const auto reason = static_cast<Reason>(number);
    if (ToProto(reason) == v1::ERROR_REASON_UNSPECIFIED) break;  // that was the last
    if (!IsRefusal(reason)) continue;
    const std::string name = ReasonName(reason);
    refused_[name] = &metrics.refused.Add({{"reason", name}});
  }
}

void CallCounts::Add(Metrics& metrics, const google::protobuf::MethodDescriptor& method) {
  const std::string& service = method.service()->full_name();
  const prometheus::Labels labels = {
      {"grpc_type", TypeOf(method)}, {"grpc_service", service}, {"grpc_method", method.name()}};
  Method& added = methods_["/" + service + "/" + method.name()];
  added.started = &metrics.rpc_started.Add(labels);
  added.handling_seconds = &metrics.rpc_handling_seconds.Add(labels, Metrics::CallSeconds());
  added.received = &metrics.rpc_received.Add(labels);
  added.sent = &metrics.rpc_sent.Add(labels);
  for (size_t code = 0; code < kCodes; ++code) {
    prometheus::Labels with_code = labels;
    with_code["grpc_code"] = kCodeNames[code];
    added.handled[code] = &metrics.rpc_handled.Add(with_code);
  }
}

const CallCounts::Method* CallCounts::Find(const std::string& path) const {
  const auto method = methods_.find(path);
  return method == methods_.end() ? nullptr : &method->second;
}

void CallCounts::CountEnd(const Method& method, std::chrono::steady_clock::time_point started_at,
                          const grpc::Status& status) const {
  ObserveSeconds(*method.handling_seconds, std::chrono::steady_clock::now() - started_at);
  const auto code = static_cast<size_t>(status.error_code());
  method.handled[std::min(code, kCodes - 1)]->Increment();
  if (status.ok() || status.error_details().empty()) return;
  const auto refused = refused_.find(DetailsOf(status).reason);
  if (refused != refused_.end()) refused->second->Increment();
}

}  // namespace tenure::wire
