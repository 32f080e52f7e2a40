#include "storage/sqlite/turns.h"

#include <utility>

namespace tenure::sqlite {

void Turns::Take(For whom) {
  MutexLock lock(mutex_);
  if (!std::exchange(taken_, true)) return;
  Waiter waiter;
  queues_[static_cast<size_t>(whom)].push_back(&waiter);
  while (!waiter.called) waiter.changed.Wait(lock);
}

// Hands the turn over: a thread that comes now cannot take it from the one that is called.
void Turns::Leave(For whom) {
  const MutexLock lock(mutex_);
  const auto own = static_cast<size_t>(whom);
  const size_t other = 1 - own;
  Queue& next = queues_[other].empty() ? queues_[own] : queues_[other];
  if (next.empty()) {
    taken_ = false;
    return;
  }
  Waiter& waiter = *next.front();
  next.pop_front();
  waiter.called = true;
  waiter.changed.NotifyOne();  // under the lock: the waiter is gone as soon as it sees this
}

}  // namespace tenure::sqlite
