// gRPC's server, and who may connect to it.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "metrics/metrics.h"
#include "server/network/acceptor.h"
#include "server/network/self_check.h"

namespace tenure::process {

// What is asked for, as far as this process may have descriptors: some are kept for all else.
[[nodiscard]] network::ConnectionLimits Fit(const network::ConnectionLimits& asked,
                                            size_t descriptors);

struct GrpcOptions {
  std::string address;  // "host:port"
  std::shared_ptr<grpc::ServerCredentials> credentials;
  network::ConnectionLimits limits;
};

class GrpcServer {
 public:
  // Serves; the health service says NOT_SERVING until SetServingStatus. The services outlive
  // it. The error is one sentence for the operator.
  static tl::expected<std::unique_ptr<GrpcServer>, std::string> Start(
      const GrpcOptions& options, const std::vector<grpc::Service*>& services, Metrics& metrics);

  // Whether it answers who connects. Thread-safe.
  [[nodiscard]] bool Healthy() const { return self_check_->Healthy(); }
  [[nodiscard]] grpc::HealthCheckServiceInterface& health() {
    return *server_->GetHealthCheckService();
  }
  // Accepts nobody any more, and ends all calls that are still open at that time.
  void Shutdown(std::chrono::system_clock::time_point deadline);

 private:
  GrpcServer() = default;

  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> door_;
  std::unique_ptr<network::Acceptor> acceptor_;
  std::unique_ptr<network::SelfCheck> self_check_;
};

}  // namespace tenure::process
