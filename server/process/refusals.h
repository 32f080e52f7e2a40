// Counts and logs refusals at the gRPC port before there is a request.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/mutex.h"
#include "metrics/metrics.h"
#include "server/network/connections.h"
#include "server/network/newcomers.h"

namespace tenure::process {

// Thread-safe. `metrics` must outlive it.
class Refusals {
 public:
  explicit Refusals(Metrics& metrics) : metrics_(metrics) {}

  void Add(network::Refusal refusal);
  void Add(network::Newcomer refused);

 private:
  // Logs at most one line per second, with the number of refusals since the last one.
  class Log {
   public:
    explicit Log(const char* message) : message_(message) {}
    void Add(const std::string& limit);

   private:
    const char* const message_;
    Mutex mutex_;
    std::chrono::steady_clock::time_point logged_at_ TENURE_GUARDED_BY(mutex_);
    uint64_t count_ TENURE_GUARDED_BY(mutex_) = 0;  // since then
  };

  Metrics& metrics_;
  Log connections_{"connections refused"};
  Log newcomers_{"newcomers refused"};
};

}  // namespace tenure::process
