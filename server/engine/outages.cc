#include "server/engine/outages.h"

namespace tenure::engine {

void Outages::Answered(SteadyTime now) {
  const MutexLock lock(mutex_);
  if (write_fault_) return;
  if (now - last_answer_ >= kShortest) last_ = SilentUntil(now);
  last_answer_ = now;
}

void Outages::Wrote(const Result<void>& outcome) {
  const MutexLock lock(mutex_);
  write_fault_ = outcome ? std::nullopt : std::optional(outcome.error());
}

std::optional<Error> Outages::write_fault() const {
  const MutexLock lock(mutex_);
  return write_fault_;
}

SteadyTime Outages::last_answer() const {
  const MutexLock lock(mutex_);
  return last_answer_;
}

std::optional<Outages::Outage> Outages::LastUntil(SteadyTime now) const {
  const MutexLock lock(mutex_);
  return now - last_answer_ >= kShortest ? SilentUntil(now) : last_;
}

Outages::Outage Outages::SilentUntil(SteadyTime now) const {
  const bool again = last_ && last_answer_ - last_->ended < kRecovery;
  return {again ? last_->began : last_answer_, now};
}

}  // namespace tenure::engine
