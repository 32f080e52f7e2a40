// One open Campaign call for several elections, all or none. Each try is one transaction. Between
// two tries the call holds no thread, no database connection and no place in any queue; it tries
// again when a seat is vacated, and every now and then, which alone would be enough and keeps its
// session alive.
#pragma once

#include <grpcpp/grpcpp.h>

#include "server/engine.h"
#include "tenure/v1/election.pb.h"

namespace tenure {

// Starts a call. The reactor owns itself. `claimant` is the caller. REQUIRES: `request.elections`
// is not empty.
[[nodiscard]] grpc::ServerUnaryReactor* StartCampaignForAll(Engine& engine, Claimant claimant,
                                                            grpc::CallbackServerContext* context,
                                                            const v1::CampaignRequest& request,
                                                            v1::CampaignResponse* response);

}  // namespace tenure
