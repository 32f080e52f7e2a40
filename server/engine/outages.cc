#include "server/engine/outages.h"

#include <utility>

namespace tenure::engine {

void Outages::Answered(SteadyTime now) {
  const MutexLock lock(mutex_);
  if (write_fault_) return;
  if (now - last_answer_ >= kOutageMin) last_ = SilentUntil(now);
  last_answer_ = now;
}

void Outages::Announced(const Result<void>& outcome) {
  const MutexLock lock(mutex_);
  const bool writable = std::exchange(committed_, false) || outcome;
  write_fault_ = writable ? std::nullopt : std::optional(outcome.error());
}

void Outages::Committed() {
  const MutexLock lock(mutex_);
  committed_ = true;
  write_fault_.reset();
}

std::optional<Error> Outages::write_fault() const {
  const MutexLock lock(mutex_);
  return write_fault_;
}

SteadyTime Outages::last_answer() const {
  const MutexLock lock(mutex_);
  return last_answer_;
}

Outages::UnderWay::UnderWay(Outages& outages, SteadyTime now)
    : outages_(outages), begun_([&] {
        const MutexLock lock(outages.mutex_);
        return outages.under_way_.insert(now);
      }()) {}

Outages::UnderWay::~UnderWay() {
  const MutexLock lock(outages_.mutex_);
  outages_.under_way_.erase(begun_);
}

bool Outages::Hangs(SteadyTime now) const {
  const MutexLock lock(mutex_);
  return now - last_answer_ >= kOutageMin ||
         (!under_way_.empty() && now - *under_way_.begin() >= kTransactionMax);
}

std::optional<Outages::Outage> Outages::LastUntil(SteadyTime now) const {
  const MutexLock lock(mutex_);
  return now - last_answer_ >= kOutageMin ? SilentUntil(now) : last_;
}

Outages::Outage Outages::SilentUntil(SteadyTime now) const {
  const bool again = last_ && last_answer_ - last_->ended < kRecovery;
  return {.began = again ? last_->began : last_answer_, .last_began = last_answer_, .ended = now};
}

}  // namespace tenure::engine
