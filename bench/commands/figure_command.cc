#include "bench/commands/figure_command.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <iostream>
#include <stdexcept>

#include "bench/systems/servers.h"
#include "bench/works/crash.h"

namespace tenure::bench {
namespace {

// ZooKeeper's client needs a connection and a pipe for each candidate.
constexpr size_t kFilesPerZooKeeperCandidate = 3;

void Say(const std::string& text) { std::cerr << "tenure-bench: " << text << std::endl; }

void RequireFiles(Column system, size_t waiting) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const size_t needed = waiting * kFilesPerZooKeeperCandidate;
  if (system != Column::kZooKeeper || needed < limit.rlim_cur) return;
  throw std::runtime_error(
      fmt::format("as many clients need {} files and {} threads in one process, which may open {} "
                  "files here: each is a connection of its own",
                  needed, 2 * waiting, limit.rlim_cur));
}

class Measurement {
 public:
  explicit Measurement(const FigurePlan& plan) : plan_(plan) {}

  CrashFigure ToItsEnd() {
    CrashFigure figure;
    for (const Column system : plan_.systems) {
      for (const size_t waiting : plan_.waiting) figure.points.push_back(Measure(system, waiting));
    }
    return figure;
  }

 private:
  CrashPoint Measure(Column system, size_t waiting) {
    CrashPoint point{system, waiting, {}};
    try {
      RequireFiles(system, waiting);
      const auto server = StartServer(system, {plan_.etcd, database_}, "figure");
      point.times_ms = MeasureCrashes({.system = system,
                                       .endpoint = server->endpoint(),
                                       .label = "figure",
                                       .waiting = waiting,
                                       .count = plan_.crashes});
      Say(fmt::format("{}, {} wait: {:.0f} ms", Name(system), waiting,
                      fmt::join(point.times_ms, ", ")));
    } catch (const std::runtime_error& error) {
      point.left_out = error.what();
      Say(fmt::format("{}, {} wait: left out: {}", Name(system), waiting, point.left_out));
    }
    return point;
  }

  const FigurePlan& plan_;
  testing::DatabaseServer database_;
};

}  // namespace

FigurePlan FullFigurePlan() {
  return {.etcd = "etcd",
          .systems = {kSystems.begin(), kSystems.end()},
          .waiting = {100, 200, 400, 800, 2'000, 10'000},
          .crashes = 5};
}

FigurePlan QuickFigurePlan() {
  FigurePlan plan = FullFigurePlan();
  plan.waiting = {100, 200, 400, 800};
  plan.crashes = 2;
  return plan;
}

CrashFigure MeasureCrashFigure(const FigurePlan& plan) { return Measurement(plan).ToItsEnd(); }

}  // namespace tenure::bench
