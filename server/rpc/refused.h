// Calls that are over before they begin.
#pragma once

#include <grpcpp/grpcpp.h>

#include "core/error.h"
#include "proto/status.h"

namespace tenure::rpc {

[[nodiscard]] inline Error MalformedRequest() {
  return {Reason::kMalformedRequest,
          "the request is not a message of this call: its protobuf is malformed, or a string in it "
          "is not UTF-8"};
}

[[nodiscard]] inline grpc::ServerUnaryReactor* Refused(grpc::CallbackServerContext& context,
                                                       const Error& error) {
  auto* reactor = context.DefaultReactor();
  reactor->Finish(ToStatus(error));
  return reactor;
}

// A stream that ends at once. The reactor owns itself.
template <typename Reactor>
[[nodiscard]] Reactor* RefusedStream(const Error& error) {
  class Call final : public Reactor {
   public:
    explicit Call(const grpc::Status& status) { this->Finish(status); }
    void OnDone() override { delete this; }
  };
  return new Call(ToStatus(error));
}

}  // namespace tenure::rpc
