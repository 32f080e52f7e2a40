// The command of `tenure run`, and its hooks before and after each term.
// Usage: bad_days_command leading|over|work [FILE]. While FILE exists, the work lingers when it is
// asked to stop.
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>

#include "tests/polyglot/bad_days/beliefs.h"

namespace {

using tenure::testing::Beliefs;
using tenure::testing::Say;

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// It believes for as long as it runs.
void Work(uint64_t term, const char* lingers) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGUSR1}) sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const Beliefs beliefs([term] { return Beliefs::Answer{term}; });
  Say("working", term);
  int number = 0;
  while (sigwait(&signals, &number) == 0) {
    if (number == SIGTERM) Say("stop", term);
    if (number == SIGUSR1 || access(lingers, F_OK) != 0) return Say("stopped", term);
  }
}

}  // namespace

int main(int, char** arguments) {
  const std::string what = arguments[1];
  const uint64_t term = std::stoull(Variable("TENURE_TERM"));
  if (what == "work") {
    Work(term, arguments[2]);
  } else {
    Say(what, term, Variable("TENURE_CAUSE"));
  }
}
