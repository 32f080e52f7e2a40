// How a candidate in C++ says what it believes and what happens to it: lines of README.md's
// protocol.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>

namespace tenure::testing {

// By CLOCK_MONOTONIC.
[[nodiscard]] int64_t NowNs();

// One line, whole, on standard output. Thread-safe.
void Say(const std::string& event, uint64_t term, const std::string& cause = "");

// Asks again and again whether this process leads, on a thread of its own, and reports the answers.
class Beliefs {
 public:
  struct Answer {
    uint64_t term;  // 0: it does not lead
    std::optional<std::chrono::nanoseconds> remaining = {};
  };
  explicit Beliefs(std::function<Answer()> ask);

 private:
  void Run(const std::stop_token& stop) const;

  const std::function<Answer()> ask_;
  std::jthread thread_;
};

}  // namespace tenure::testing
