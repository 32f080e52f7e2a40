#include "bench/commands/contender.h"

#include <unistd.h>

#include <utility>

#include "bench/report/gauges.h"
#include "bench/works/crash.h"

namespace tenure::bench {

Contender::Contender(Column named, std::unique_ptr<Server> started)
    : column(named), server(std::move(started)), system(Connect(named, server->endpoint())) {}

CpuTimes Contender::CpuTime() const {
  CpuTimes times = server->CpuTime();
  times[kGenerator] = ProcessorTime(getpid());
  return times;
}

}  // namespace tenure::bench
