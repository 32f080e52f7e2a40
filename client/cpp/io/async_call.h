// A call that is answered on one of gRPC's threads. Make it shared, and let the callback hold it.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>

#include "client/cpp/io/connection.h"

namespace tenure {

template <typename Stub, typename Request, typename Response>
struct AsyncCall {
  AsyncCall(Connection& connection, std::shared_ptr<Stub> stub_in_use)
      : mark(connection.Mark()), stub(std::move(stub_in_use)) {}

  const std::shared_ptr<void> mark;  // the first member: released last
  const std::shared_ptr<Stub> stub;
  grpc::ClientContext context;
  Request request;
  Response response;
};

}  // namespace tenure
