#include "server/engine/work/database_clock.h"

#include <chrono>

namespace tenure::engine {

void DatabaseClock::Saw(DbTime now, SteadyTime asked, SteadyTime answered) {
  const MutexLock lock(mutex_);
  last_ = Sight{now, asked + (answered - asked) / 2};
}

std::optional<DbTime> DatabaseClock::At(SteadyTime when) const {
  const MutexLock lock(mutex_);
  if (!last_) return std::nullopt;
  return last_->now + std::chrono::duration_cast<Duration>(when - last_->at);
}

}  // namespace tenure::engine
