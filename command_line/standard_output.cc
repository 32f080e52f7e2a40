#include "command_line/standard_output.h"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iostream>

namespace tenure {
namespace {

// The first error; 0: none.
constexpr int kUnknown = -1;
constexpr std::chrono::milliseconds kErrorPatience{1000};
std::atomic<int> failure = 0;

}  // namespace

void FlushOutput() {
  errno = 0;
  if (std::cout.flush()) return;
  int none = 0;
  failure.compare_exchange_strong(none, errno != 0 ? errno : kUnknown);
}

bool OutputFailed() { return failure != 0; }

std::string FaultOfOutput() {
  FlushOutput();
  if (failure == 0) return "";
  if (failure == kUnknown) return "cannot write the output";
  return std::string("cannot write the output: ") + std::strerror(failure);
}

void WriteError(std::string line) {
  FlushOutput();
  line += '\n';
  pollfd errors{STDERR_FILENO, POLLOUT, 0};
  if (poll(&errors, 1, kErrorPatience.count()) > 0) {
    (void)!write(STDERR_FILENO, line.data(), line.size());
  }
}

}  // namespace tenure
