#include "bench/works/crash.h"

#include <csignal>
#include <future>
#include <iostream>
#include <stdexcept>
#include <thread>

#include "bench/systems/etcd_system.h"
#include "bench/systems/tenure_system.h"
#include "bench/systems/zookeeper_system.h"
#include "bench/works/crowd.h"
#include "tests/support/tenured.h"

namespace tenure::bench {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

using namespace std::chrono_literals;

constexpr int kRenewalsPerLease = 3;

// How long to wait for the next leader, and for a leader's renewal.
constexpr auto kPatience = 60s;

// Waits until a leader has written this number of lines. Throws with its output if it does not.
std::vector<std::string> WaitForLines(testing::Process& leader, size_t count) {
  std::vector<std::string> lines;
  const auto written = [&] {
    lines = leader.Lines();
    return lines.size() >= count;
  };
  const bool ended = testing::Eventually([&] { return written() || !leader.Running(); }, kPatience);
  if (written()) return lines;
  const std::string what = ended ? "ended" : "is silent";
  throw std::runtime_error("a leader's process " + what + "; it wrote: " + leader.Output() +
                           leader.Errors());
}

// The first line of a leader is the time, on the clock that all processes of the machine share;
// each further line is a renewal.
Clock::time_point WhenTold(testing::Process& leader) {
  return Clock::time_point(Clock::duration(std::stoll(WaitForLines(leader, 1).front())));
}

void WaitForRenewal(testing::Process& leader) {
  WaitForLines(leader, 1);
  WaitForLines(leader, leader.Lines().size() + 1);
}

}  // namespace

std::unique_ptr<System> Connect(Column system, const std::string& endpoint) {
  switch (system) {
    case Column::kTenure:
    case Column::kTenureBySocket:
    case Column::kTenureOnMySql: return std::make_unique<TenureSystem>(endpoint);
    case Column::kEtcd: return std::make_unique<EtcdSystem>(endpoint);
    case Column::kZooKeeper: return std::make_unique<ZooKeeperSystem>(endpoint);
  }
  throw std::invalid_argument("no such system");
}

std::vector<double> MeasureCrashes(const CrashPlan& plan) {
  const auto system = Connect(plan.system, plan.endpoint);
  std::vector<std::unique_ptr<testing::Process>> leaders;
  for (size_t number = 0; number <= plan.count; ++number) {
    leaders.push_back(std::make_unique<testing::Process>(std::vector<std::string>{
        testing::Program("tenure-bench"), "leader", "--system", Name(plan.system), "--endpoint",
        plan.endpoint, "--election", plan.label, "--name", "leader-" + std::to_string(number),
        "--lease-seconds", std::to_string(plan.lease.count())}));
    WaitUntilStanding(*system, plan.label, number + 1);
  }
  Crowd crowd({system.get()}, plan.waiting,
              {.name = plan.label, .lease = plan.lease, .own_connection = false});
  crowd.Stand(plan.label);
  std::vector<double> times;
  for (size_t number = 0; number < plan.count; ++number) {
    testing::Process& leader = *leaders[number];
    WaitForRenewal(leader);
    const auto killed_at = Clock::now();
    leader.Signal(SIGKILL);
    times.push_back(Milliseconds(WhenTold(*leaders[number + 1]) - killed_at).count());
  }
  leaders.back()->Signal(SIGKILL);
  return times;
}

void RunLeader(const LeaderOptions& options) {
  const auto system = Connect(options.system, options.endpoint);
  const auto candidate = system->NewCandidate({.name = options.name, .lease = options.lease});
  std::promise<Clock::time_point> told;
  candidate->Stand(options.election, [&](const std::string& error) {
    if (!error.empty()) throw std::runtime_error(error);
    told.set_value(Clock::now());
  });
  std::cout << told.get_future().get().time_since_epoch().count() << std::endl;
  const auto pause = std::chrono::milliseconds(options.lease) / kRenewalsPerLease;
  while (true) {
    Await([&](Done renewed) { candidate->KeepAlive(std::move(renewed)); });
    std::cout << "renewed" << std::endl;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace tenure::bench
