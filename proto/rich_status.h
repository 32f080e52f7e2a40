// Errors as the contract defines them: with google.rpc.ErrorInfo, and RetryInfo where it applies.
#pragma once

#include <grpcpp/support/status.h>

#include <chrono>
#include <map>
#include <string>

namespace tenure {

struct ErrorDetails {
  std::string reason;  // the name of a v1::ErrorReason without its prefix
  std::map<std::string, std::string> metadata = {};
  // Zero: sending the same request again does not help.
  std::chrono::milliseconds retry_delay{0};
};

[[nodiscard]] grpc::Status RichStatus(grpc::StatusCode code, const std::string& message,
                                      const ErrorDetails& details);
// Fields that the status does not have are empty.
[[nodiscard]] ErrorDetails DetailsOf(const grpc::Status& status);

}  // namespace tenure
