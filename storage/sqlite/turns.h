// Turns at using a connection. A mutex would let a thread that comes at the right moment overtake
// those that wait: under load, work that a lease depends on was overtaken for longer than the
// lease.
#pragma once

#include <array>
#include <deque>

#include "base/mutex.h"

namespace tenure::sqlite {

// Turns are given in the order of the requests; but while both kinds wait, every second turn is for
// homes: beats and adoptions. So a beat waits for at most one of the others, and one more for each
// of its kind before it, and load of either kind cannot keep the other one out. Thread-safe.
class TENURE_THREAD_SAFETY(capability("turns")) Turns {
 public:
  enum class For { kHomes, kOthers };

 private:
  friend class Turn;

  struct Waiter {
    bool called = false;
    ConditionVariable changed;
  };
  using Queue = std::deque<Waiter*>;

  void Take(For whom);
  void Leave(For whom);

  Mutex mutex_;
  bool taken_ TENURE_GUARDED_BY(mutex_) = false;
  std::array<Queue, 2> queues_ TENURE_GUARDED_BY(mutex_);  // by For
};

// Waits for a turn, and has it for as long as it lives.
class TENURE_THREAD_SAFETY(scoped_lockable) Turn {
 public:
  Turn(Turns& turns, Turns::For whom) TENURE_THREAD_SAFETY(acquire_capability(turns))
      : turns_(turns), whom_(whom) {
    turns_.Take(whom_);
  }
  ~Turn() TENURE_THREAD_SAFETY(release_capability()) { turns_.Leave(whom_); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Turns& turns_;
  const Turns::For whom_;
};

}  // namespace tenure::sqlite
