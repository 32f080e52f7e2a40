#include "proto/rich_status.h"

#include <google/protobuf/util/time_util.h>

#include "tenure/rich_error.pb.h"

namespace tenure {
namespace {

using google::protobuf::util::TimeUtil;

constexpr char kErrorInfo[] = "type.googleapis.com/google.rpc.ErrorInfo";
constexpr char kRetryInfo[] = "type.googleapis.com/google.rpc.RetryInfo";

template <typename Detail>
void Add(const char* type, const Detail& detail, rich_error::Status& status) {
  auto& any = *status.add_details();
  any.set_type_url(type);
  any.set_value(detail.SerializeAsString());
}

// The first detail of a type; empty if there is none.
template <typename Detail>
Detail Find(const char* type, const rich_error::Status& status) {
  Detail detail;
  for (const auto& any : status.details()) {
    if (any.type_url() == type && detail.ParseFromString(any.value())) return detail;
  }
  return {};
}

}  // namespace

grpc::Status RichStatus(grpc::StatusCode code, const std::string& message,
                        const ErrorDetails& details) {
  rich_error::Status status;
  status.set_code(code);
  status.set_message(message);
  rich_error::ErrorInfo info;
  info.set_domain("tenure.v1");
  info.set_reason(details.reason);
  info.mutable_metadata()->insert(details.metadata.begin(), details.metadata.end());
  Add(kErrorInfo, info, status);
  if (details.retry_delay.count() > 0) {
    rich_error::RetryInfo retry;
    *retry.mutable_retry_delay() = TimeUtil::MillisecondsToDuration(details.retry_delay.count());
    Add(kRetryInfo, retry, status);
  }
  return {code, message, status.SerializeAsString()};
}

ErrorDetails DetailsOf(const grpc::Status& status) {
  rich_error::Status details;
  if (!details.ParseFromString(status.error_details())) return {};
  const auto info = Find<rich_error::ErrorInfo>(kErrorInfo, details);
  const auto retry = Find<rich_error::RetryInfo>(kRetryInfo, details);
  return {info.reason(),
          {info.metadata().begin(), info.metadata().end()},
          std::chrono::milliseconds(TimeUtil::DurationToMilliseconds(retry.retry_delay()))};
}

}  // namespace tenure
