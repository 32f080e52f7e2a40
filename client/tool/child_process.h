// A command that runs as a child, in its own process group, and a guard that kills the group if
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
// or when this process has ended for any reason. It works even if this process is stopped, hangs or
// is killed. Thread-safe.
class Guard {
 public:
  // Create it before any thread: it forks.
  Guard();
  // Kills the guarded group, and ends the guard.
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  // Guards this group from now on, until `left` has passed. Group 0: guards nothing.
  void Watch(pid_t group, std::chrono::nanoseconds left) const;

 private:
  int pipe_ = -1;
  pid_t pid_ = -1;
};

class ChildProcess {
 public:
  // Starts the command after `prepare` has returned, with the signals as they were before any was
  // blocked. `prepare` gets the command's group. The command is killed when the thread that starts
  // it ends. Throws std::system_error if it cannot be started.
  ChildProcess(const std::vector<std::string>& command,
               const std::map<std::string, std::string>& environment,
               const std::function<void(pid_t group)>& prepare);
  // Kills the group if it still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  [[nodiscard]] pid_t group() const { return pid_; }
  // Sends a signal to the whole group. From any thread; does nothing if the command has ended.
  void Signal(int number);
  // Waits for the command to end, for at most `patience`, and then kills the rest of its group. Its
  // process id is not reused until Reap.
  [[nodiscard]] bool WaitForEnd(std::chrono::milliseconds patience) const;
  // The exit code, or 128 + the signal that ended it. REQUIRES: it has ended, and this is the only
  // call.
  [[nodiscard]] int Reap();
  // Whether its terminal or a signal has stopped it since the last call.
  [[nodiscard]] bool WasSuspended() const;
  // Suspends this process too, as its shell expects, and meanwhile returns the terminal to the
  // shell.
  void SuspendWithIt() const;

 private:
  Mutex mutex_;
  bool ended_ TENURE_GUARDED_BY(mutex_) = false;
  pid_t pid_ = -1;
  int pidfd_ = -1;
};

}  // namespace tenure
