// The one place where errors become gRPC codes.
#pragma once

#include <grpcpp/support/status.h>

#include <string>

#include "core/error.h"
#include "tenure/v1/election.pb.h"

namespace tenure {

// The code, the message, and a google.rpc.ErrorInfo (domain "tenure.v1", the reason's name,
// metadata); a google.rpc.RetryInfo, too, if the request may be sent again.
[[nodiscard]] grpc::Status ToStatus(const Error& error);

[[nodiscard]] v1::ErrorReason ToProto(Reason reason);
[[nodiscard]] grpc::StatusCode CodeOf(Reason reason);
// The reason's name on the wire: `STALE_TERM`.
[[nodiscard]] std::string ReasonName(Reason reason);

}  // namespace tenure
