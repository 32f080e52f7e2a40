// Counts the calls of gRPC services, under the names that gRPC servers commonly use.
//
// A factory of interceptors: each call has one. The children of every method are made when the
// factory is. Calls of other services, and of methods that do not exist, are not counted. The
// metrics must outlive the server. Thread-safe.
#pragma once

#include <google/protobuf/descriptor.h>
#include <grpcpp/support/server_interceptor.h>

#include <array>
#include <string>
#include <string_view>
#include <unordered_map>

#include "metrics/metrics.h"

namespace tenure::rpc {

class RpcMetrics final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  RpcMetrics(Metrics& metrics,
             const std::vector<const google::protobuf::ServiceDescriptor*>& services);

  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* info) override;

 private:
  static constexpr size_t kCodes = 17;

  struct Method {
    prometheus::Counter* started;
    std::array<prometheus::Counter*, kCodes> handled;
    prometheus::Histogram* handling_seconds;
    prometheus::Counter* received;
    prometheus::Counter* sent;
  };
  class Call;

  void Add(Metrics& metrics, const google::protobuf::MethodDescriptor& method);
  void CountEnd(const Method& method, const grpc::Status& status);

  std::unordered_map<std::string, Method> methods_;                // by "/package.Service/Method"
  std::unordered_map<std::string, prometheus::Counter*> refused_;  // by the reason
};

}  // namespace tenure::rpc
