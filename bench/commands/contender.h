// One of the systems that a run compares: its server, and the client that sends work to it.
#pragma once

#include <memory>

#include "bench/report/results.h"
#include "bench/systems/servers.h"
#include "bench/systems/system.h"

namespace tenure::bench {

inline constexpr char kGenerator[] = "the generator";  // this process, in CpuTimes

struct Contender {
  Contender(Column named, std::unique_ptr<Server> started);

  // The processor time used by its programs and by this process.
  [[nodiscard]] CpuTimes CpuTime() const;

  Column column;
  std::unique_ptr<Server> server;
  std::unique_ptr<System> system;
};

}  // namespace tenure::bench
