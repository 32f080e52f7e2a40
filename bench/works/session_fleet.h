// Very many sessions of Tenure, opened by campaigns and kept alive by a few KeepAlive streams.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bench/systems/tenure_system.h"

namespace tenure::bench {

struct FleetPlan {
  size_t sessions;
  size_t elections;  // the sessions are spread over these
  std::chrono::seconds lease;
  size_t streams;
  size_t in_flight;  // campaigns while the sessions are opened
};

// Received on the streams since the last call.
struct Renewals {
  size_t renewed = 0;
  size_t refused = 0;            // sessions that have ended or are unknown
  std::vector<double> trips_ms;  // of each request
  double least_margin_ms = 0;    // the least time left of a lease when it was renewed
};

// For one thread; has a thread for each stream.
class SessionFleet {
 public:
  // Opens the sessions, and then renews them every third of the lease. Throws if one cannot be
  // opened.
  SessionFleet(TenureSystem& system, const std::string& label, const FleetPlan& plan);
  ~SessionFleet();  // lets the sessions expire
  SessionFleet(const SessionFleet&) = delete;
  SessionFleet& operator=(const SessionFleet&) = delete;

  [[nodiscard]] double opened_per_second() const { return opened_per_second_; }
  // Throws if a stream was lost.
  [[nodiscard]] Renewals TakeRenewals();

 private:
  class Stream;

  std::vector<std::unique_ptr<Stream>> streams_;
  double opened_per_second_ = 0;
};

}  // namespace tenure::bench
