// Many Observe streams of one election of Tenure, which check that they miss nothing.
#pragma once

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bench/systems/tenure_system.h"

namespace tenure::bench {

// When the observers got one event.
struct Telling {
  size_t told = 0;
  Clock::time_point first = Clock::time_point::max();
  Clock::time_point last = Clock::time_point::min();
};

// Thread-safe.
class Observers {
 public:
  // Returns when all streams are open.
  Observers(TenureSystem& system, const std::string& election, size_t count);
  ~Observers();
  Observers(const Observers&) = delete;
  Observers& operator=(const Observers&) = delete;

  // Waits until all have got this revision. Throws if one missed an event, or lost its stream.
  Telling WaitForAll(uint64_t revision);

 private:
  class Stream;

  void Opened();
  void Note(uint64_t revision, Clock::time_point at);
  void Fail(const std::string& error);
  void Ended();
  // Waits for the condition, and throws if an observer fails.
  template <typename Condition>
  void WaitUntil(std::unique_lock<std::mutex>& lock, const Condition& condition);

  const size_t count_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t opened_ = 0;                     // guarded by mutex_
  size_t ended_ = 0;                      // guarded by mutex_
  std::string error_;                     // guarded by mutex_
  std::map<uint64_t, Telling> tellings_;  // guarded by mutex_; by revision
  std::vector<std::unique_ptr<Stream>> streams_;
};

}  // namespace tenure::bench
