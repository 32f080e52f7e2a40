// One open Observe stream.
//
// Each election that is watched has a cursor: the next revision to send. Events that come in order
// are sent as they come; for anything else (the stream opens, the observer is slow, events were
// missed) the cursor is not live, and catches up from the store, where all events are. So an
// observer is bounded in memory, sees every event once, and is only resynchronised when history
// itself is gone.
#pragma once

#include <grpcpp/grpcpp.h>

#include "server/engine.h"
#include "tenure/v1/election.pb.h"

namespace tenure {

struct ObserveOptions {
  std::chrono::milliseconds progress_interval{5000};
};

// Starts a stream. The reactor owns itself.
[[nodiscard]] grpc::ServerWriteReactor<v1::ObserveResponse>* StartObserve(
    Engine& engine, const v1::ObserveRequest& request, const ObserveOptions& options);

}  // namespace tenure
