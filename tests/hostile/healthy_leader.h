// A leader who does nothing wrong, and must keep its seat whatever others do to its replica.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "tests/support/tenured.h"

namespace tenure::testing {

// Renews a lease of 5 s every 1.5 s, on one connection, whatever happens to it.
class HealthyLeader {
 public:
  HealthyLeader(Tenured& server, std::string election);
  ~HealthyLeader();

  // The longest time that a renewal took.
  [[nodiscard]] std::chrono::milliseconds WorstRenewal();
  // Fails the test unless it leads still, in its first term.
  void ExpectSeat();

 private:
  void Run();
  // Whether one renewal was answered.
  bool Renew(v1::ElectionService::Stub& stub);

  Tenured& server_;
  const std::string election_;
  std::string session_;
  uint64_t term_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;               // guarded by mutex_
  std::chrono::milliseconds worst_{0};  // guarded by mutex_
  std::thread thread_;
};

}  // namespace tenure::testing
