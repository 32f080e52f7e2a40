// What the threads of gRPC and of the signals report to a campaign. Internal to the command line
// tool.
#pragma once

#include <grpcpp/support/status.h>

#include <cstdint>
#include <variant>

#include "client/mailbox.h"
#include "tenure/v1/election.pb.h"

namespace tenure {

struct Interrupted {};
struct CampaignDone {
  uint64_t call;
  grpc::Status status;
  v1::CampaignResponse response;
};
struct StreamMessage {
  uint64_t stream;
  v1::KeepAliveResponse response;
};
struct StreamClosed {
  uint64_t stream;
};
using CampaignMailbox =
    Mailbox<std::variant<Interrupted, CampaignDone, StreamMessage, StreamClosed>>;

}  // namespace tenure
