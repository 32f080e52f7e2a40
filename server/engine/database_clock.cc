#include "server/engine/database_clock.h"

#include <chrono>

namespace tenure::engine {
namespace {

Duration Between(SteadyTime begin, SteadyTime end) {
  return std::chrono::duration_cast<Duration>(end - begin);
}

}  // namespace

DatabaseClock::Sight DatabaseClock::SightOf(DbTime now, SteadyTime asked, SteadyTime answered) {
  return {now, asked + (answered - asked) / 2, Between(asked, answered) / 2};
}

std::optional<Duration> DatabaseClock::JumpTo(DbTime now, SteadyTime asked,
                                              SteadyTime answered) const {
  const Sight sight = SightOf(now, asked, answered);
  const MutexLock lock(mutex_);
  if (!last_) return std::nullopt;
  const Duration passed = Between(last_->at, sight.at);
  const Duration jump = (sight.now - last_->now) - passed;
  const Duration explained =
      kJumpMin + last_->uncertainty + sight.uncertainty + passed / kDriftDivisor;
  return std::chrono::abs(jump) > explained ? std::optional(jump) : std::nullopt;
}

void DatabaseClock::Saw(DbTime now, SteadyTime asked, SteadyTime answered) {
  const Sight sight = SightOf(now, asked, answered);
  const MutexLock lock(mutex_);
  // A slow answer could hide a jump: what was seen before may still say more.
  const bool vaguer = last_ && sight.uncertainty > last_->uncertainty + kJumpMin +
                                                       Between(last_->at, sight.at) / kDriftDivisor;
  if (vaguer) return;
  // A jump since a vague look could be hidden in it.
  if (!last_ || sight.uncertainty + kJumpMin < last_->uncertainty) known_since_ = answered;
  last_ = sight;
}

bool DatabaseClock::HasJumped(DbTime now, SteadyTime asked, SteadyTime answered) const {
  const MutexLock lock(mutex_);
  if (!last_) return false;
  const Duration passed = now - last_->now;
  const Duration longest = Between(last_->at, answered) + last_->uncertainty;
  const Duration shortest = Between(last_->at, asked) - last_->uncertainty;
  const Duration tolerance = kJumpMin + longest / kDriftDivisor;
  return passed > longest + tolerance || passed < shortest - tolerance;
}

bool DatabaseClock::IsFamiliar(SteadyTime now) const {
  const MutexLock lock(mutex_);
  return known_since_ && now - *known_since_ >= kFamiliarAfter;
}

std::optional<DbTime> DatabaseClock::At(SteadyTime when) const {
  const MutexLock lock(mutex_);
  if (!last_) return std::nullopt;
  return last_->now + Between(last_->at, when);
}

std::optional<DbTime> DatabaseClock::LatestAt(SteadyTime when) const {
  const MutexLock lock(mutex_);
  if (!last_) return std::nullopt;
  const Duration passed = Between(last_->at, when);
  return last_->now + passed + last_->uncertainty + passed / kDriftDivisor;
}

}  // namespace tenure::engine
