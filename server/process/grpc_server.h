// gRPC's server, and who may connect to it.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "metrics/metrics.h"
#include "server/network/acceptor.h"
#include "server/network/newcomers.h"
#include "server/network/self_check.h"
#include "server/process/refusals.h"
#include "server/wire/dispatcher.h"
#include "server/wire/health_service.h"
#include "server/wire/queue.h"
#include "server/wire/reflection_service.h"

namespace tenure::process {

// The limits asked for, as far as there are descriptors: some are kept for everything else.
[[nodiscard]] network::ConnectionLimits Fit(const network::ConnectionLimits& asked,
                                            size_t descriptors);

struct GrpcOptions {
  std::string address;  // "host:port"
  std::shared_ptr<grpc::ServerCredentials> credentials;
  network::ConnectionLimits limits;
  size_t threads = 1;
  bool tls = false;  // whether the credentials use TLS
  // Decides who may use gRPC's reflection service.
  wire::ReflectionService::MayAsk may_reflect = [](const auto&) { return Result<void>(); };
};

class GrpcServer {
 public:
  using AddServices = std::function<void(wire::Dispatcher&)>;
  // Serves the services that `add` adds, which must outlive it, and gRPC's health service, which
  // says NOT_SERVING until it is set. The error is one sentence for the operator.
  static tl::expected<std::unique_ptr<GrpcServer>, std::string> Start(const GrpcOptions& options,
                                                                      const AddServices& add,
                                                                      Metrics& metrics);
  ~GrpcServer();

  // Whether it reacts to new connections. Thread-safe.
  [[nodiscard]] bool Healthy() const { return self_check_->Healthy(); }
  [[nodiscard]] wire::HealthService& health() { return health_; }
  // For calls to other servers. Runs as long as this lives.
  [[nodiscard]] wire::Queue& queue() { return *queues_.front(); }
  [[nodiscard]] const wire::Dispatcher& dispatcher() const { return dispatcher_; }
  // Soon cancels the open calls for which `which` is true. Thread-safe; not after Shutdown.
  void Cancel(const wire::QueueCalls::Which& which) { dispatcher_.Cancel(which); }
  // Updates the metrics of newcomers at its port. Thread-safe.
  void CountNewcomers();
  // Stops accepting, and ends all calls that are still open at the deadline.
  void Shutdown(std::chrono::system_clock::time_point deadline);

 private:
  GrpcServer(const GrpcOptions& options, Metrics& metrics);

  Metrics& metrics_;
  Refusals refusals_;
  network::Newcomers newcomers_;
  wire::Dispatcher dispatcher_;
  wire::HealthService health_{dispatcher_};
  wire::ReflectionService reflection_;
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::unique_ptr<wire::Queue>> queues_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> door_;
  std::unique_ptr<network::Acceptor> acceptor_;
  std::unique_ptr<network::SelfCheck> self_check_;
};

}  // namespace tenure::process
