// A running program of client/examples/rust, and what it has said.
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace tenure::testing {

// One line of a program's output. What an event does not have is zero or empty.
struct Line {
  std::string event;
  uint64_t term = 0;
  int64_t time_ms = 0;
  int64_t left_ms = 0;
  uint64_t revision = 0;
  std::string type;
  std::string candidate;
  std::string cause;
};

class Candidate {
 public:
  Candidate(std::string name, const std::string& election, const std::string& endpoints);

  void Kill();       // kill -9
  void Terminate();  // SIGTERM
  void Stop() const { process_.Signal(SIGSTOP); }
  void Continue() const { process_.Signal(SIGCONT); }

  // Whole lines so far.
  [[nodiscard]] std::vector<Line> Lines() const;
  // Waits for a line; fails the test if it does not come.
  Line WaitFor(const std::string& event, uint64_t term, int64_t from_ms = 0);
  void WaitUntilItObserves();
  // Waits until it has observed that this term ended, and returns why.
  std::string WaitForVacated(uint64_t term);

  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  using Condition = std::function<bool(const Line&)>;

  Line WaitForLine(const std::string& description, const Condition& condition);

  const std::string name_;
  Process process_;
};

}  // namespace tenure::testing
