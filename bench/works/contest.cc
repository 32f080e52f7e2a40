#include "bench/works/contest.h"

#include <stdexcept>

namespace tenure::bench {

void LeaderLog::Add(Clock::time_point at) {
  const std::lock_guard lock(mutex_);
  leaders_.push_back(at);
  changed_.notify_all();
}

void LeaderLog::Fail(const std::string& error) {
  const std::lock_guard lock(mutex_);
  error_ = error;
  changed_.notify_all();
}

std::optional<Clock::time_point> LeaderLog::Next(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return returned_ < leaders_.size() || !error_.empty(); });
  if (!error_.empty()) throw std::runtime_error("a candidate failed: " + error_);
  if (returned_ == leaders_.size()) return std::nullopt;
  return leaders_[returned_++];
}

size_t LeaderLog::CountRest() {
  const std::lock_guard lock(mutex_);
  if (!error_.empty()) throw std::runtime_error("a candidate failed: " + error_);
  return leaders_.size() - returned_;
}

Clock::time_point Contest::NextLeader() {
  const auto next = leaders().Next(kLeaderPatience);
  if (!next) {
    throw std::runtime_error("no candidate learns that it leads within " +
                             std::to_string(kLeaderPatience.count()) + " s");
  }
  return *next;
}

}  // namespace tenure::bench
