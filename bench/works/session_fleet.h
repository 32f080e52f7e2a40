// Very many sessions of Tenure, opened by campaigns and held alive by few KeepAlive streams.
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
  size_t elections;  // among which they are spread
  std::chrono::seconds lease;
  size_t streams;
  size_t in_flight;  // campaigns, while they are opened
};

// What the streams have received since the last call.
struct Renewals {
  size_t renewed = 0;
  size_t refused = 0;            // sessions that are over or unknown
  std::vector<double> trips_ms;  // of each request
  double least_margin_ms = 0;    // the least that was left of a lease when it was renewed
};

// Owned by one thread, with a thread for each stream.
class SessionFleet {
 public:
  // Opens them, and renews each third of the lease from then on. Throws if one is not opened.
  SessionFleet(TenureSystem& system, const std::string& label, const FleetPlan& plan);
  ~SessionFleet();  // the sessions run out
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
