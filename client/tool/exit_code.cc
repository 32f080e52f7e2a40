#include "client/tool/exit_code.h"

#include "client/cpp/machine/call_error.h"
#include "command_line/command_line.h"

namespace tenure {

int ExitCodeOf(const grpc::Status& status) {
  const std::string reason = ReasonOf(status);
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DEADLINE_EXCEEDED: return kExitUnavailable;
    case grpc::StatusCode::UNIMPLEMENTED: return reason.empty() ? kExitUnavailable : kExitError;
    case grpc::StatusCode::INVALID_ARGUMENT: return kExitUsage;
    case grpc::StatusCode::NOT_FOUND: return kExitNotFound;
    case grpc::StatusCode::FAILED_PRECONDITION:
      return reason == "WRONG_SERVICE" ? kExitUnavailable : kExitRefused;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      if (reason == "OVERLOADED") return kExitUnavailable;
      return reason == "TOO_MANY_COOL_DOWNS" || reason == "QUEUE_FULL" ? kExitRefused : kExitError;
    default: return kExitError;
  }
}

}  // namespace tenure
