#include "client/tool/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <system_error>

#include "client/cpp/io/holder_clock.h"

namespace tenure {
namespace {

[[noreturn]] void Throw(const std::string& what, int error = errno) {
  throw std::system_error(error, std::generic_category(), what);
}

// A message to the guard.
struct Order {
  pid_t group;
  int64_t deadline;  // of the holder's clock, in ns
};

int64_t NowNs() { return HolderNow().time_since_epoch().count(); }

// The guard's main loop. It has one thread, and was forked from a process with one thread.
[[noreturn]] void GuardUntilClosed(int pipe) {
  setsid();  // ignore signals that a terminal or a supervisor sends to the whole group
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
    signal(number, SIG_IGN);
  }
  Order order{0, 0};
  while (true) {
    int timeout_ms = -1;
    if (order.group != 0) {
      const int64_t left_ms = (order.deadline - NowNs()) / 1'000'000 + 1;
      // Not too long: the deadline's clock may run while poll's stands still.
      timeout_ms = static_cast<int>(std::clamp<int64_t>(left_ms, 0, 1'000));
    }
    pollfd ready{pipe, POLLIN, 0};
    if (poll(&ready, 1, timeout_ms) > 0) {
      Order next{0, 0};
      const ssize_t size = read(pipe, &next, sizeof next);
      if (size == sizeof next) {
        order = next;
      } else if (size >= 0 || errno != EINTR) {
        if (order.group != 0) kill(-order.group, SIGKILL);
        _exit(0);
      }
    }
    if (order.group != 0 && NowNs() >= order.deadline) {
      kill(-order.group, SIGKILL);
      order.group = 0;
    }
  }
}

std::vector<std::string> Merged(const std::map<std::string, std::string>& additional) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!additional.contains(text.substr(0, text.find('=')))) merged.push_back(text);
  }
  for (const auto& [name, value] : additional) merged.push_back(name + "=" + value);
  return merged;
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// If `from` is the terminal's foreground group, makes `group` the foreground group.
void GiveTerminal(pid_t from, pid_t group) {
  if (isatty(STDIN_FILENO) == 0 || tcgetpgrp(STDIN_FILENO) != from) return;
  const auto before = signal(SIGTTOU, SIG_IGN);
  tcsetpgrp(STDIN_FILENO, group);
  signal(SIGTTOU, before);
}

}  // namespace

Guard::Guard() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) Throw("pipe");
  pid_ = fork();
  if (pid_ < 0) Throw("fork");
  if (pid_ == 0) {
    close(ends[1]);
    GuardUntilClosed(ends[0]);
  }
  close(ends[0]);
  pipe_ = ends[1];
  // A message to the guard must not hang or kill this process if the guard is stopped or gone.
  fcntl(pipe_, F_SETFL, O_NONBLOCK);
  signal(SIGPIPE, SIG_IGN);
}

Guard::~Guard() {
  close(pipe_);
  waitpid(pid_, nullptr, 0);
}

void Guard::Watch(pid_t group, std::chrono::nanoseconds left) const {
  const Order order{group, NowNs() + left.count()};
  // A pipe takes this few bytes at once or not at all; a guard that is gone guards nothing.
  [[maybe_unused]] const ssize_t written = write(pipe_, &order, sizeof order);
}

ChildProcess::ChildProcess(const std::vector<std::string>& command,
                           const std::map<std::string, std::string>& environment,
                           const std::function<void(pid_t group)>& prepare) {
  // Allocates everything before the fork: other threads may hold the allocator's lock.
  const auto variables = Merged(environment);
  const auto argv = Pointers(command);
  const auto envp = Pointers(variables);
  int failure[2];  // closed by a successful exec, or gets the error
  int start[2];    // gets a byte when the command may start, or is closed
  if (pipe2(failure, O_CLOEXEC) != 0 || pipe2(start, O_CLOEXEC) != 0) Throw("pipe");
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) Throw("fork");
  if (pid_ == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(start[1]);
    char go = 0;
    if (read(start[0], &go, sizeof go) != sizeof go) _exit(127);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    signal(SIGPIPE, SIG_DFL);
    if (getppid() == parent) execvpe(argv[0], argv.data(), envp.data());
    const int error = errno;
    [[maybe_unused]] const ssize_t written = write(failure[1], &error, sizeof error);
    _exit(127);
  }
  setpgid(pid_, pid_);
  close(failure[1]);
  close(start[0]);
  prepare(pid_);
  // Before the command starts: otherwise it would be stopped if it used the terminal first.
  GiveTerminal(getpgrp(), pid_);
  [[maybe_unused]] const ssize_t told = write(start[1], "", 1);
  close(start[1]);
  int error = 0;
  const bool failed = read(failure[0], &error, sizeof error) == sizeof error;
  close(failure[0]);
  if (failed) {
    waitpid(pid_, nullptr, 0);
    GiveTerminal(pid_, getpgrp());
    Throw(command.front(), error);
  }
  pidfd_ =
      static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));  // glibc 2.36 does not declare it as C
  if (pidfd_ < 0) {
    const int reason = errno;
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    GiveTerminal(pid_, getpgrp());
    Throw("pidfd_open", reason);
  }
}

ChildProcess::~ChildProcess() {
  if (!ended_) {
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(pidfd_);
  GiveTerminal(pid_, getpgrp());
}

void ChildProcess::Signal(int number) {
  const MutexLock lock(mutex_);
  if (!ended_) kill(-pid_, number);
}

bool ChildProcess::WaitForEnd(std::chrono::milliseconds patience) const {
  pollfd ready{pidfd_, POLLIN, 0};
  if (poll(&ready, 1, static_cast<int>(std::min<int64_t>(patience.count(), INT_MAX))) <= 0) {
    return false;
  }
  kill(-pid_, SIGKILL);
  return true;
}

int ChildProcess::Reap() {
  const MutexLock lock(mutex_);
  int status = 0;
  waitpid(pid_, &status, 0);
  ended_ = true;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool ChildProcess::WasSuspended() const {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG) == 0 &&
         info.si_pid == pid_;
}

void ChildProcess::SuspendWithIt() const {
  GiveTerminal(pid_, getpgrp());
  kill(getpid(), SIGSTOP);
  GiveTerminal(getpgrp(), pid_);
  kill(-pid_, SIGCONT);
}

}  // namespace tenure
