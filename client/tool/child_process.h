// A command that runs as a child, in a process group of its own, and the guard that ends it when
// nobody else can.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"

namespace tenure {

// A small process beside this one. It kills a process group (SIGKILL) when its deadline has passed,
// and when this process has ended, however: also when this process is stopped, hangs or is killed.
// Thread-safe.
class Guard {
 public:
  // Make it before any thread is started: it forks.
  Guard();
  // The guard ends, and what it guards with it.
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  // From now on it guards this group, until `left` has passed. Zero guards none.
  void Watch(pid_t group, std::chrono::nanoseconds left) const;

 private:
  int pipe_ = -1;
  pid_t pid_ = -1;
};

class ChildProcess {
 public:
  // Starts it, with the signals as they were before any was blocked, after `prepare`, which gets
  // its group, has returned. It is killed when the thread that starts it ends. Throws
  // std::system_error if it cannot be started.
  ChildProcess(const std::vector<std::string>& command,
               const std::map<std::string, std::string>& environment,
               const std::function<void(pid_t group)>& prepare);
  // Kills its group, if it still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  [[nodiscard]] pid_t group() const { return pid_; }
  // To all of its group. From any thread; passes by one that has ended.
  void Signal(int number);
  // Whether it has ended, within `patience`; what is left of its group is killed then. Its number
  // is no other process's until it is reaped.
  [[nodiscard]] bool WaitForEnd(std::chrono::milliseconds patience) const;
  // The exit code, or 128 + the signal that ended it. REQUIRES: it has ended. Once.
  [[nodiscard]] int Reap();
  // Whether it was stopped, by its terminal or by a signal, since this was last asked.
  [[nodiscard]] bool WasSuspended() const;
  // Suspends this process too, as its shell expects, and gives the terminal back meanwhile.
  void SuspendWithIt() const;

 private:
  Mutex mutex_;
  bool ended_ TENURE_GUARDED_BY(mutex_) = false;
  pid_t pid_ = -1;
  int pidfd_ = -1;
};

}  // namespace tenure
