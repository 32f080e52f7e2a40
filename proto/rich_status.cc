#include "proto/rich_status.h"

#include <google/protobuf/util/time_util.h>

#include "google/rpc/error_details.pb.h"

namespace tenure {

grpc::Status RichStatus(grpc::StatusCode code, const std::string& message,
                        const std::string& reason,
                        const std::map<std::string, std::string>& metadata,
                        std::chrono::milliseconds retry_delay) {
  google::rpc::ErrorInfo info;
  info.set_domain("tenure.v1");
  info.set_reason(reason);
  info.mutable_metadata()->insert(metadata.begin(), metadata.end());

  google::rpc::Status details;
  details.set_code(code);
  details.set_message(message);
  details.add_details()->PackFrom(info);
  if (retry_delay.count() > 0) {
    google::rpc::RetryInfo retry;
    *retry.mutable_retry_delay() =
        google::protobuf::util::TimeUtil::MillisecondsToDuration(retry_delay.count());
    details.add_details()->PackFrom(retry);
  }
  return {code, message, details.SerializeAsString()};
}

}  // namespace tenure
