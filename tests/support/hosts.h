// A small network of hosts, each a network namespace of its own, for programs that a test starts
// there. The test itself is the router between them: it reaches all of them, even those that are
// cut off. REQUIRES: the test has a network of its own, with nothing but loopback (`unshare
// --net`).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace tenure::testing {

class Hosts {
 public:
  explicit Hosts(size_t count);
  ~Hosts();

  [[nodiscard]] const std::vector<Host>& all() const { return hosts_; }
  // An address of the test, which every host reaches.
  [[nodiscard]] std::string router() const;
  // From now on, all packets between this one and the others are lost.
  void CutOff(size_t number);
  void Reconnect(size_t number);

 private:
  void ChangeRules(const std::string& change, size_t number);

  std::vector<Host> hosts_;
  std::vector<std::unique_ptr<Process>> namespaces_;  // each lives as long as its process
};

}  // namespace tenure::testing
