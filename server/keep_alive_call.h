// One open KeepAlive stream: renews what each request names, and tells of the sessions' seats.
#pragma once

#include <grpcpp/grpcpp.h>

#include "server/engine.h"
#include "tenure/v1/election.pb.h"

namespace tenure {

// Starts a stream. The reactor owns itself.
[[nodiscard]] grpc::ServerBidiReactor<v1::KeepAliveRequest, v1::KeepAliveResponse>* StartKeepAlive(
    Engine& engine);

}  // namespace tenure
