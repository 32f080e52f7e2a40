#include "client/tool/init.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>
#include <system_error>

namespace tenure {
namespace {

// Reaps all ended processes; returns the exit code of the child if it is among them.
std::optional<int> Reap(pid_t child) {
  std::optional<int> exit_code;
  int status = 0;
  for (pid_t ended = 0; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (ended != child) continue;
    exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  return exit_code;
}

}  // namespace

int RunAsInitIfFirst(const std::function<int()>& work) {
  if (getpid() != 1) return work();
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return work();
  }
  while (true) {
    siginfo_t signal{};
    const int number = sigwaitinfo(&all, &signal);
    if (number == SIGCHLD) {
      if (const auto exit_code = Reap(child)) return *exit_code;
    } else if (number > 0 &&
               signal.si_code !=
                   SI_KERNEL) {  // a terminal sends its signals to all processes anyway
      kill(child, number);
    }
  }
}

}  // namespace tenure
