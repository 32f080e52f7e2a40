#include "client/cpp/machine/call_error.h"

#include "proto/rich_status.h"

namespace tenure {
namespace {

constexpr char kWrongService[] = "WRONG_SERVICE";
constexpr char kServiceIdOfError[] = "service_id";

}  // namespace

std::string ReasonOf(const grpc::Status& status) { return DetailsOf(status).reason; }

std::string MetadataOf(const grpc::Status& status, const std::string& key) {
  const auto metadata = DetailsOf(status).metadata;
  const auto entry = metadata.find(key);
  return entry == metadata.end() ? "" : entry->second;
}

std::chrono::milliseconds RetryDelayOf(const grpc::Status& status) {
  return DetailsOf(status).retry_delay;
}

bool IsTransient(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::FAILED_PRECONDITION: return IsWrongService(status);
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::CANCELLED: return true;
    case grpc::StatusCode::RESOURCE_EXHAUSTED: {
      const std::string reason = ReasonOf(status);
      return reason.empty() || reason == "OVERLOADED";
    }
    default: return false;
  }
}

bool IsRefusedForNow(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED:
    case grpc::StatusCode::UNKNOWN:
    case grpc::StatusCode::INTERNAL: return true;
    case grpc::StatusCode::UNIMPLEMENTED: return ReasonOf(status).empty();  // not Tenure
    default: return ReasonOf(status) == "CANDIDACY_WITHDRAWN";
  }
}

bool IsWrongService(const grpc::Status& status) { return ReasonOf(status) == kWrongService; }

grpc::Status WrongService(const std::string& service_id) {
  return RichStatus(grpc::StatusCode::FAILED_PRECONDITION,
                    "this replica belongs to service " + service_id,
                    {.reason = kWrongService, .metadata = {{kServiceIdOfError, service_id}}});
}

bool IsSessionGone(const grpc::Status& status) {
  const std::string reason = ReasonOf(status);
  return reason == "SESSION_ENDED" || reason == "SESSION_NOT_FOUND";
}

}  // namespace tenure
