// Errors as the contract wants them: with google.rpc.ErrorInfo, and RetryInfo where it applies.
#pragma once

#include <grpcpp/support/status.h>

#include <chrono>
#include <map>
#include <string>

namespace tenure {

// `reason` is the name of a v1::ErrorReason without its prefix. Without a retry delay, sending the
// same request again does not help.
[[nodiscard]] grpc::Status RichStatus(grpc::StatusCode code, const std::string& message,
                                      const std::string& reason,
                                      const std::map<std::string, std::string>& metadata = {},
                                      std::chrono::milliseconds retry_delay = {});

}  // namespace tenure
