// Refuses requests that are not messages of their calls, with kMalformedRequest. Left to itself,
// gRPC ends such a call with UNIMPLEMENTED, and our handlers do not hear of it.
//
// A factory of interceptors, for calls with one request. It must come before those that count how
// calls end. What a client streams is parsed in server/rpc/reactors.h. Thread-safe.
#pragma once

#include <grpcpp/support/server_interceptor.h>

namespace tenure::rpc {

class MalformedRequests final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* info) override;
};

}  // namespace tenure::rpc
