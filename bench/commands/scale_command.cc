#include "bench/commands/scale_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <iostream>
#include <stdexcept>
#include <thread>

#include "bench/report/statistics.h"
#include "bench/systems/servers.h"
#include "bench/works/observers.h"
#include "bench/works/session_fleet.h"
#include "bench/works/tenure_works.h"
#include "bench/works/waiting_campaigns.h"
#include "bench/works/works.h"

namespace tenure::bench {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;
using namespace std::chrono_literals;

constexpr double kKilobyte = 1024;
constexpr double kMegabyte = 1024 * kKilobyte;
constexpr double kP99 = 0.99;
constexpr size_t kInFlight = 32;
constexpr size_t kOpeningInFlight = 256;
constexpr size_t kStreams = 4;
constexpr auto kSessionLease = 10s;
constexpr double kDatabaseProcessorsMax = 0.3;  // while the sessions are renewed
constexpr double kIdleStatementsMax = 5;
constexpr auto kPatience = 60s;
constexpr auto kLook = 20ms;
constexpr auto kLeaderLease = 3600s;  // not renewed while anything is measured

// Checks rarely, because counting a long queue is work for the database.
void WaitUntil(const std::function<bool()>& condition, const std::string& what) {
  const auto deadline = Clock::now() + kPatience;
  while (!condition()) {
    if (Clock::now() > deadline) throw std::runtime_error(what + ": not in time");
    std::this_thread::sleep_for(kLook);
  }
}

// A replica on an empty database, and its client.
struct Alone {
  explicit Alone(testing::DatabaseServer& database)
      : server(database, database.FreshDatabase("scale")), system(server.endpoint()) {}

  [[nodiscard]] double Failures() const {
    return server.Metric("tenure_transactions_total{outcome=\"failed\"}") +
           server.Metric("tenure_refused_total{reason=\"OVERLOADED\"}");
  }

  TenureServer server;
  TenureSystem system;
};

class Scale {
 public:
  explicit Scale(const ScalePlan& plan) : plan_(plan) {}

  Figures ToItsEnd() {
    ParkAndCancel();
    HandOver();
    Observe();
    HoldSessions();
    CountStatementsOfAReplica();
    return figures_;
  }

 private:
  void Note(std::string what, std::string unit, double value,
            std::optional<double> at_most = std::nullopt) {
    std::cerr << fmt::format("tenure-bench: {}: {} {}", what, value, unit) << std::endl;
    figures_.list.push_back({std::move(what), std::move(unit), value, at_most});
  }

  void ParkAndCancel() {
    Alone alone(database_);
    const std::string election = "waiting";
    const auto leader = alone.system.NewCandidate({.name = "leader", .lease = kLeaderLease});
    Await([&](Done elected) { leader->Campaign(election, std::move(elected)); });
    const double before = alone.server.ResidentBytes();
    WaitingCampaigns waiting(alone.system, election, plan_.waiting);
    WaitUntil(
        [&] {
          // Exactly these: the leader's call may be counted for a moment after its answer.
          return alone.server.Metric("tenure_watchers") == static_cast<double>(plan_.waiting) &&
                 alone.system.CountStanding(election) == plan_.waiting + 1;
        },
        "campaigns wait");
    const double with_all = alone.server.ResidentBytes();
    const auto count = static_cast<double>(plan_.waiting);
    Note("memory of a waiting campaign", "KB", (with_all - before) / count / kKilobyte, 64);
    Note("memory of tenured with all of them", "MB", with_all / kMegabyte);

    const auto begun = Clock::now();
    waiting.Cancel();
    Note("all are cancelled at once: the client knows", "ms",
         Milliseconds(Clock::now() - begun).count());
    WaitUntil([&] { return alone.system.CountStanding(election) == 1; }, "the queue empties");
    Note("all are cancelled at once: the queue is empty", "ms",
         Milliseconds(Clock::now() - begun).count());
    Await([&](Done resigned) { leader->Resign(std::move(resigned)); });
    const auto next = alone.system.NewCandidate({.name = "next"});
    const auto asked = Clock::now();
    Await([&](Done elected) { next->Campaign(election, std::move(elected)); });
    Note("then a new campaign is elected in", "ms", Milliseconds(Clock::now() - asked).count(),
         1000);
    Note("memory of tenured after it", "MB", alone.server.ResidentBytes() / kMegabyte,
         with_all / kMegabyte * 1.1);
    Note("transactions failed, calls refused", "", alone.Failures(), 0);
  }

  void HandOver() {
    double few_median = 0;
    {
      Alone alone(database_);
      const auto few = MeasureQueue(alone, plan_.waiting_few);
      few_median = Median(few);
      Note(fmt::format("resign to next told, {} wait, median", plan_.waiting_few), "ms",
           few_median);
      Note("the same, p99", "ms", Percentile(few, kP99));
    }
    Alone alone(database_);
    const auto many = MeasureQueue(alone, plan_.waiting);
    Note(fmt::format("resign to next told, {} wait, median", plan_.waiting), "ms", Median(many));
    Note("the same, p99", "ms", Percentile(many, kP99));
    Note("grows by a factor of", "", Median(many) / few_median, 2);
  }

  [[nodiscard]] std::vector<double> MeasureQueue(Alone& alone, size_t waiting) const {
    return MeasureHandOvers(
        {&alone.system}, "queue",
        {.waiting = waiting, .count = plan_.hand_overs, .elsewhere = false, .lease = kLeaderLease});
  }

  void Observe() {
    Alone alone(database_);
    const std::string election = "observed";
    const double before = alone.server.ResidentBytes();
    Observers observers(alone.system, election, plan_.observers);
    const double with_all = alone.server.ResidentBytes();
    Note("memory of an observer", "KB",
         (with_all - before) / static_cast<double>(plan_.observers) / kKilobyte);
    const auto telling = MeasureTelling(alone.system, observers, election, plan_.observed_rounds);
    Note(fmt::format("{} observers: first to last told, worst", plan_.observers), "ms",
         std::ranges::max(telling), 1000);
    figures_.remarks.push_back("No observer missed an event: that would have ended the run.");
  }

  void HoldSessions() {
    Alone alone(database_);
    const double before = alone.server.ResidentBytes();
    SessionFleet fleet(alone.system, "held",
                       {.sessions = plan_.sessions,
                        .elections = plan_.session_elections,
                        .lease = kSessionLease,
                        .streams = kStreams,
                        .in_flight = kOpeningInFlight});
    Note("sessions opened, by a campaign each", "per s", fleet.opened_per_second());
    std::this_thread::sleep_for(kSessionLease);  // the first renewals list the seats, too
    const Renewals opening = fleet.TakeRenewals();
    const double ended_before = alone.server.Metric("tenure_sessions_ended_total");
    const uint64_t statements_before = CountStatements(database_);
    const CpuTimes cpu_before = alone.server.CpuTime();
    const auto begun = Clock::now();
    std::this_thread::sleep_for(plan_.held);
    const Renewals held = fleet.TakeRenewals();
    const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
    const CpuTimes cpu = alone.server.CpuTime();
    const uint64_t statements = CountStatements(database_);

    const std::string of = fmt::format("{} sessions: ", plan_.sessions);
    Note(of + "ended, by the server's count", "",
         alone.server.Metric("tenure_sessions_ended_total"), 0);
    Note(of + "of which while they were held", "",
         alone.server.Metric("tenure_sessions_ended_total") - ended_before, 0);
    Note(of + "renewals refused", "", static_cast<double>(opening.refused + held.refused), 0);
    Note(of + "renewals", "per s", static_cast<double>(held.renewed) / seconds);
    Note(of + "round trip of 500 renewals, median", "ms", Median(held.trips_ms));
    Note(of + "round trip of 500 renewals, worst", "ms", std::ranges::max(held.trips_ms));
    Note(of + "least that was left of a lease", "ms", held.least_margin_ms);
    for (const auto& [program, time] : cpu) {
      const bool judged = program == kDatabaseProgram;
      Note(of + "processors that " + program + " uses", "",
           Milliseconds(time - cpu_before.at(program)).count() / 1000 / seconds,
           judged ? std::optional(kDatabaseProcessorsMax) : std::nullopt);
    }
    Note(of + "database statements", "per s",
         static_cast<double>(statements - statements_before) / seconds);
    Note(of + "memory of tenured, for each", "KB",
         (alone.server.ResidentBytes() - before) / static_cast<double>(plan_.sessions) / kKilobyte);
    Note(of + "transactions failed, calls refused", "", alone.Failures(), 0);
  }

  void CountStatementsOfAReplica() {
    Alone alone(database_);
    Note("statements of an idle replica", "per s", MeasureStatements(database_, plan_.idle),
         kIdleStatementsMax);
    Note(fmt::format("with {} elections, waiters and observers, all idle", plan_.waiting), "per s",
         MeasureStatementsWithMany(alone.system, database_, "many", plan_.waiting, plan_.idle));
    const double before = static_cast<double>(CountStatements(database_));
    const auto begun = Clock::now();
    const Throughput done = MeasureCycles({&alone.system}, "busy", kInFlight, plan_.busy);
    const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
    const double statements = static_cast<double>(CountStatements(database_)) - before;
    Note("busy: campaign + resign, 32 in flight", "cycles/s", done.per_second);
    Note("busy: statements, about", "per s", statements / seconds);
  }

  const ScalePlan plan_;
  testing::DatabaseServer database_;
  Figures figures_;
};

}  // namespace

ScalePlan FullScalePlan() {
  return {.waiting = 10'000,
          .waiting_few = 100,
          .hand_overs = 200,
          .observers = 10'000,
          .observed_rounds = 5,
          .sessions = 100'000,
          .session_elections = 1'000,
          .held = 30s,
          .idle = 30s,
          .busy = {500ms, 5s}};
}

ScalePlan QuickScalePlan() {
  return {.waiting = 1'000,
          .waiting_few = 10,
          .hand_overs = 20,
          .observers = 1'000,
          .observed_rounds = 2,
          .sessions = 10'000,
          .session_elections = 100,
          .held = 5s,
          .idle = 3s,
          .busy = {100ms, 500ms}};
}

Figures MeasureScale(const ScalePlan& plan) { return Scale(plan).ToItsEnd(); }

}  // namespace tenure::bench
