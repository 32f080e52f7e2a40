#include "command_line/standard_output.h"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iostream>
#include <utility>

namespace tenure {
namespace {

// The first error; 0: none.
constexpr int kUnknown = -1;
constexpr std::chrono::milliseconds kErrorPatience{1000};
std::atomic<int> failure = 0;

bool BecomesWritable(int descriptor, std::chrono::milliseconds patience) {
  pollfd output{descriptor, POLLOUT, 0};
  return poll(&output, 1, static_cast<int>(patience.count())) > 0;
}

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
  if (BecomesWritable(STDOUT_FILENO, std::chrono::milliseconds(0))) FlushOutput();
  WriteErrorAlone(std::move(line));
}

void WriteErrorAlone(std::string line) {
  line += '\n';
  if (BecomesWritable(STDERR_FILENO, kErrorPatience)) {
    (void)!write(STDERR_FILENO, line.data(), line.size());
  }
}

}  // namespace tenure
