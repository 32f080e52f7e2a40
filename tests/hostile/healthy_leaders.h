// Leaders who do nothing wrong, and must keep their seats whatever others do.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/tenured.h"

namespace tenure::testing {

// Renew leases of 5 s every 1.5 s, all on one connection to one replica, whatever happens to it.
class HealthyLeaders {
 public:
  HealthyLeaders(
      Tenured& server, const std::vector<std::string>& elections,
      std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials());
  ~HealthyLeaders();

  // Waits for this many further renewals.
  void AwaitRenewals(size_t more);
  // The longest time that a renewal took.
  [[nodiscard]] std::chrono::milliseconds WorstRenewal();
  // Fails the test unless all lead still, in their first terms.
  void ExpectSeats();

 private:
  struct Seat {
    std::string election;
    uint64_t term;
  };

  void Run();
  // Whether one renewal was answered.
  bool Renew(v1::ElectionService::Stub& stub);

  Tenured& server_;
  const std::shared_ptr<grpc::ChannelCredentials> credentials_;
  std::vector<Seat> seats_;
  v1::KeepAliveRequest renewal_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;               // guarded by mutex_
  size_t renewals_ = 0;                 // guarded by mutex_
  std::chrono::milliseconds worst_{0};  // guarded by mutex_
  std::thread thread_;
};

}  // namespace tenure::testing
