// Mutexes whose use clang checks: a variable that is TENURE_GUARDED_BY one is used, and a function
// that TENURE_REQUIRES one is called, only under its lock. `make check` runs the analysis
// (https://clang.llvm.org/docs/ThreadSafetyAnalysis.html); to other compilers these are std::mutex,
// std::unique_lock and std::condition_variable.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define TENURE_THREAD_SAFETY(x) __attribute__((x))
#else
#define TENURE_THREAD_SAFETY(x)
#endif

#define TENURE_GUARDED_BY(mutex) TENURE_THREAD_SAFETY(guarded_by(mutex))
#define TENURE_REQUIRES(...) TENURE_THREAD_SAFETY(requires_capability(__VA_ARGS__))

namespace tenure {

class TENURE_THREAD_SAFETY(capability("mutex")) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

 private:
  friend class MutexLock;

  std::mutex mutex_;
};

// Holds a mutex for as long as it lives, except between Unlock and Lock.
class TENURE_THREAD_SAFETY(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) TENURE_THREAD_SAFETY(acquire_capability(mutex))
      : lock_(mutex.mutex_) {}
  ~MutexLock() TENURE_THREAD_SAFETY(release_capability()) {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void Unlock() TENURE_THREAD_SAFETY(release_capability()) { lock_.unlock(); }
  void Lock() TENURE_THREAD_SAFETY(acquire_capability()) { lock_.lock(); }

 private:
  friend class ConditionVariable;

  std::unique_lock<std::mutex> lock_;
};

// Waits may end spuriously: wait in a loop that checks the condition.
class ConditionVariable {
 public:
  void Wait(MutexLock& lock) { changed_.wait(lock.lock_); }
  // False on timeout.
  template <typename Clock, typename Duration>
  bool WaitUntil(MutexLock& lock, std::chrono::time_point<Clock, Duration> when) {
    return changed_.wait_until(lock.lock_, when) == std::cv_status::no_timeout;
  }
  void NotifyOne() { changed_.notify_one(); }
  void NotifyAll() { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

}  // namespace tenure
