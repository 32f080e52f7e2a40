// One of the systems that a run compares: its server, and the client that gives it work.
#pragma once

#include <memory>

#include "bench/report/results.h"
#include "bench/systems/servers.h"
#include "bench/systems/system.h"

namespace tenure::bench {

inline constexpr char kGenerator[] = "the generator";  // this process, in CpuTimes

struct Contender {
  Contender(Column named, std::unique_ptr<Server> started);

  // The processor time that its programs have used, and this one.
  [[nodiscard]] CpuTimes CpuTime() const;

  Column column;
  std::unique_ptr<Server> server;
  std::unique_ptr<System> system;
};

}  // namespace tenure::bench
