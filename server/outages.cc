#include "server/outages.h"

namespace tenure {

void Outages::Answered(SteadyTime now) {
  const std::lock_guard lock(mutex_);
  if (now - last_answer_ >= kShortest) last_ = Outage{last_answer_, now};
  last_answer_ = now;
}

SteadyTime Outages::last_answer() const {
  const std::lock_guard lock(mutex_);
  return last_answer_;
}

std::optional<Outages::Outage> Outages::LastUntil(SteadyTime now) const {
  const std::lock_guard lock(mutex_);
  if (now - last_answer_ >= kShortest) return Outage{last_answer_, now};
  return last_;
}

}  // namespace tenure
