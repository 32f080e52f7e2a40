#include "server/database_clock.h"

#include <chrono>

namespace tenure {
namespace {

Duration Between(SteadyTime begin, SteadyTime end) {
  return std::chrono::duration_cast<Duration>(end - begin);
}

}  // namespace

std::optional<Duration> DatabaseClock::Saw(DbTime now, SteadyTime asked, SteadyTime answered) {
  const Sight sight{now, asked + (answered - asked) / 2, Between(asked, answered) / 2};
  const std::lock_guard lock(mutex_);
  const std::optional<Sight> before = std::exchange(last_, sight);
  if (!before) return std::nullopt;
  const Duration jump = (sight.now - before->now) - Between(before->at, sight.at);
  const Duration explained = kJumpMin + before->uncertainty + sight.uncertainty;
  return std::chrono::abs(jump) > explained ? std::optional(jump) : std::nullopt;
}

std::optional<DbTime> DatabaseClock::At(SteadyTime when) const {
  const std::lock_guard lock(mutex_);
  if (!last_) return std::nullopt;
  return last_->now + Between(last_->at, when);
}

}  // namespace tenure
