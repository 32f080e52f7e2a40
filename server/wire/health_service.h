// gRPC's health service (https://github.com/grpc/grpc/blob/master/doc/health-checking.md): reports
// the server's health under the empty name, the only one it knows.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "grpc/health/v1/health.pb.h"
#include "server/wire/broadcast.h"
#include "server/wire/dispatcher.h"
#include "server/wire/places.h"

namespace tenure::wire {

// Begins with NOT_SERVING. Must outlive the server and its queues. Thread-safe.
class HealthService {
 public:
  explicit HealthService(Dispatcher& dispatcher);

  void SetServing(bool serving);

 private:
  void Check(ServerCall& call, const grpc::health::v1::HealthCheckRequest& request);
  void Watch(ServerCall& call, const grpc::health::v1::HealthCheckRequest& request);

  // A place for one more watching call from this address and port; null if the port, or the
  // address, has enough.
  [[nodiscard]] std::shared_ptr<void> TakePlace(const std::string& peer);

  Places places_;
  Mutex mutex_;
  std::map<std::string, size_t> watchers_ TENURE_GUARDED_BY(mutex_);  // by address and port
  std::atomic<bool> serving_ = false;
  Broadcast<grpc::health::v1::HealthCheckResponse> status_;
  Broadcast<grpc::health::v1::HealthCheckResponse> unknown_;  // for every other name
};

}  // namespace tenure::wire
