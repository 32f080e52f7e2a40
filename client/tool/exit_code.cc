#include "client/tool/exit_code.h"

#include "client/connection.h"

namespace tenure {

int ExitCodeOf(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::NOT_FOUND: return kExitNotFound;
    case grpc::StatusCode::FAILED_PRECONDITION: return kExitRefused;
    case grpc::StatusCode::RESOURCE_EXHAUSTED: {
      const std::string reason = ReasonOf(status);
      return reason == "TOO_MANY_COOL_DOWNS" || reason == "QUEUE_FULL" ? kExitRefused : kExitError;
    }
    default: return kExitError;
  }
}

}  // namespace tenure
