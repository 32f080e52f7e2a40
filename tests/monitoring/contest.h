// An election that goes on: three candidates, each `tenure campaign` in a process of its own. A
// candidate that has gone is replaced by a new one.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "tests/support/process.h"
#include "tests/support/tenured.h"

namespace tenure::testing {

class Contest {
 public:
  // Campaigns by all `endpoints`; asks `replica`. Waits until one leads and two wait.
  Contest(Tenured& replica, std::string endpoints, std::string election, std::string lease);

  // kill -9. Returns when a successor leads, and two wait.
  void CrashTheLeader();
  // An operator appoints the next candidate. Returns as above.
  void HandOver();
  [[nodiscard]] uint64_t term();

 private:
  void Start();
  void FillUp();
  void WaitForTheTermAfter(uint64_t term);

  Tenured& replica_;
  const std::string endpoints_;
  const std::string election_;
  const std::string lease_;
  int started_ = 0;
  std::map<std::string, std::unique_ptr<Process>> candidates_;  // by their names
};

}  // namespace tenure::testing
