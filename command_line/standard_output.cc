#include "command_line/standard_output.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <iostream>

namespace tenure {
namespace {

// The first error; 0: none.
constexpr int kUnknown = -1;
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

}  // namespace tenure
