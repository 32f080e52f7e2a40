// One open Campaign call: submits the candidacy and, if it has to, waits. While it waits it holds
// no thread and no database connection.
//
// Waiting ends by whatever comes first: an ELECTED event, the session's end, the caller's patience,
// a cancellation, or the shutdown of this replica. Events are hints that make it fast; every third
// of the lease the call also renews its session and reads where it stands, which alone would be
// enough.
#pragma once

#include <grpcpp/grpcpp.h>

#include "server/engine.h"
#include "tenure/v1/election.pb.h"

namespace tenure {

// Starts a call. The reactor owns itself. `claimant` is the caller.
[[nodiscard]] grpc::ServerUnaryReactor* StartCampaign(Engine& engine, Claimant claimant,
                                                      grpc::CallbackServerContext* context,
                                                      const v1::CampaignRequest& request,
                                                      v1::CampaignResponse* response);

}  // namespace tenure
