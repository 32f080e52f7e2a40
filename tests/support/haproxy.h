// HAProxy in front of database servers: it sends all clients to the first server that answers, and
// ends the connections to one that stops answering.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace tenure::testing {

class HaProxy {
 public:
  explicit HaProxy(const std::vector<std::string>& servers);  // their addresses

  [[nodiscard]] int port() const { return port_; }

 private:
  TempDir folder_;
  const int port_;
  std::unique_ptr<Process> process_;
};

}  // namespace tenure::testing
