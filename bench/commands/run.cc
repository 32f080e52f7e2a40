#include "bench/commands/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <vector>

#include "bench/commands/contender.h"
#include "bench/commands/ledger.h"
#include "bench/commands/open_loops.h"
#include "bench/report/statistics.h"
#include "bench/systems/servers.h"
#include "bench/works/crash.h"
#include "bench/works/observers.h"
#include "bench/works/tenure_works.h"
#include "bench/works/works.h"

namespace tenure::bench {
namespace {

using namespace std::chrono_literals;

constexpr size_t kInFlight = 32;
constexpr size_t kWaiting = 100;
constexpr size_t kReplicas = 3;
constexpr size_t kWaitingForCrash = 800;
constexpr size_t kWaitingLong = 10'000;
constexpr size_t kObservers = 10'000;
constexpr size_t kObservedRounds = 5;
constexpr size_t kMany = 1'000;
constexpr double kP99 = 0.99;

class Run {
 public:
  explicit Run(const RunPlan& plan) : plan_(plan), ledger_(plan.rounds) {
    std::cerr << "tenure-bench: starting the servers" << std::endl;
    for (const Column system : plan.systems) {
      if (system == Column::kTenureBySocket && !Wants(Part::kThroughputs)) continue;
      if (system == Column::kTenureOnMySql && !StartMySqlToo()) continue;
      contenders_.emplace_back(system, StartServer(system, Source(), "tenure"));
    }
    if (contenders_.empty()) throw std::runtime_error("no system is left to be measured");
  }

  RunOutcome ToItsEnd() {
    for (size_t round = 0; round < plan_.rounds; ++round) {
      ledger_.BeginRound(round);
      const bool long_too = round < plan_.long_rounds;
      if (Wants(Part::kThroughputs)) CompareThroughputs();
      if (Wants(Part::kHandOvers)) CompareHandOvers();
      if (Wants(Part::kCrashes) && long_too) CompareCrashes();
      const bool tenure_too = plan_.systems.contains(Column::kTenure);
      if (Wants(Part::kTenureOnly) && long_too && tenure_too) MeasureWhatOnlyTenureDoes();
      Rotate();
    }
    if (Wants(Part::kOpenLoop)) CompareOpenLoops();
    auto systems = nlohmann::ordered_json::object();
    for (const Contender& contender : contenders_) {
      systems[Name(contender.column)] = contender.server->configuration();
    }
    return {ledger_.results(), systems};
  }

 private:
  [[nodiscard]] ServerSource Source() { return {plan_.etcd, database_, mysql_.get()}; }

  // False if there is no MySQL. It only takes part in the throughputs.
  bool StartMySqlToo() {
    if (!Wants(Part::kThroughputs)) return false;
    if (plan_.mysql.empty()) {
      ledger_.Remark("Tenure on MySQL is left out: --mysql names none.");
      return false;
    }
    mysql_ = StartMySql(plan_.mysql);
    return true;
  }

  // Each system is the first to do a work equally often.
  void Rotate() { std::ranges::rotate(contenders_, contenders_.begin() + 1); }

  // The systems for works beyond throughputs: only one Tenure.
  [[nodiscard]] std::vector<Contender*> Systems() {
    std::vector<Contender*> systems;
    for (Contender& contender : contenders_) {
      const bool another =
          contender.column == Column::kTenureBySocket || contender.column == Column::kTenureOnMySql;
      if (!another) systems.push_back(&contender);
    }
    return systems;
  }

  using Work = Throughput (*)(const Replicas&, const std::string&, size_t, const Window&);

  [[nodiscard]] bool Wants(Part part) const { return plan_.parts.contains(part); }

  void CompareThroughputs() {
    Compare(RowId::kCycles1, &MeasureCycles, 1);
    Compare(RowId::kCycles8, &MeasureCycles, 8);
    Compare(RowId::kCycles32, &MeasureCycles, kInFlight, RowId::kCycleProcessor);
    Compare(RowId::kReads, &MeasureReads, kInFlight, RowId::kReadProcessor);
    Compare(RowId::kKeepAlives, &MeasureKeepAlives, kInFlight, RowId::kKeepAliveProcessor);
  }

  // `processor` is the row of the server's processor time per operation.
  void Compare(RowId id, Work work, size_t in_flight,
               std::optional<RowId> processor = std::nullopt) {
    for (const Contender& contender : contenders_) {
      std::vector<CpuTimes> used;  // at the start, and at the end
      Window window = plan_.window;
      window.at_edge = [&] { used.push_back(contender.CpuTime()); };
      const Throughput done = work({contender.system.get()}, ledger_.Label(id), in_flight, window);
      ledger_.Note(id, contender.column, in_flight == 1 ? done.median_ms : done.per_second);
      ledger_.NoteLatencies(id, contender.column, done);
      const double seconds = std::chrono::duration<double>(window.measured).count();
      const double of_server =
          ledger_.NoteProcessorTime(id, contender.column, used, done.per_second * seconds);
      if (processor) ledger_.Note(*processor, contender.column, of_server);
    }
  }

  // Needs all rounds of the throughputs, which show etcd's rate.
  void CompareOpenLoops() {
    if (!Wants(Part::kThroughputs) && !plan_.open_loop_rate) MeasureEtcd();
    const auto rate = plan_.open_loop_rate ? plan_.open_loop_rate : OpenLoopRate(ledger_.results());
    if (!rate) return ledger_.Remark("The open loop is left out: its rate is half of etcd's.");
    ledger_.Remark(
        fmt::format("Open loop: {} cycles/s{}.", FigureText(*rate),
                    plan_.open_loop_rate ? "" : ", half of what etcd does with 32 in flight"));
    for (size_t round = 0; round < plan_.rounds; ++round) {
      ledger_.BeginRound(round);
      for (const Contender* contender : Systems()) {
        NoteOpenLoop(ledger_, *contender, *rate, plan_.open_loop);
      }
      Rotate();
    }
  }

  void MeasureEtcd() {
    for (const Contender* contender : Systems()) {
      if (contender->column != Column::kEtcd) continue;
      const Throughput done = MeasureCycles(
          {contender->system.get()}, ledger_.Label(RowId::kCycles32), kInFlight, plan_.window);
      ledger_.Note(RowId::kCycles32, Column::kEtcd, done.per_second);
    }
  }

  void CompareHandOvers() {
    for (Contender* contender : Systems()) {
      // A new server: an etcd in which many waiting campaigns were cancelled at once, as at the end
      // of the last round, never notifies later ones.
      if (contender->column == Column::kEtcd) {
        *contender = Contender(contender->column, StartServer(contender->column, Source(), "etcd"));
      }
      NoteHandOvers(
          RowId::kHandOver, contender->column,
          MeasureHandOvers({contender->system.get()}, ledger_.Label(RowId::kHandOver),
                           {.waiting = kWaiting, .count = plan_.hand_overs, .elsewhere = false}));
    }
    if (plan_.systems.contains(Column::kTenure)) MeasureReplicas();
  }

  // Several replicas on one database.
  void MeasureReplicas() {
    const std::string store_url = database_.FreshDatabase("elsewhere");
    std::vector<std::unique_ptr<TenureServer>> servers;
    std::vector<std::unique_ptr<TenureSystem>> systems;
    Replicas replicas;
    for (size_t number = 0; number < kReplicas; ++number) {
      servers.push_back(std::make_unique<TenureServer>(database_, store_url));
      systems.push_back(std::make_unique<TenureSystem>(servers.back()->endpoint()));
      replicas.push_back(systems.back().get());
    }
    const auto hand_over = [&](RowId id) {
      const size_t count = 2 * plan_.hand_overs;  // about two thirds of them go to another replica
      const auto times = MeasureHandOvers(replicas, ledger_.Label(id),
                                          {.waiting = kWaiting, .count = count, .elsewhere = true});
      ledger_.Note(id, Column::kTenure, Percentile(times, kP99));
      ledger_.NoteAlso(id, Column::kTenure, "median ms", Median(times));
    };
    hand_over(RowId::kHandOverElsewhere);
    const Throughput cycles =
        MeasureCycles(replicas, ledger_.Label(RowId::kReplicaCycles), kInFlight, plan_.window);
    ledger_.Note(RowId::kReplicaCycles, Column::kTenure, cycles.per_second);
    ledger_.NoteLatencies(RowId::kReplicaCycles, Column::kTenure, cycles);
    WhileCycling(replicas, ledger_.Label(RowId::kHandOverElsewhereLoaded) + "-load", kInFlight,
                 [&] { hand_over(RowId::kHandOverElsewhereLoaded); });
  }

  void NoteHandOvers(RowId id, Column column, const std::vector<double>& times) {
    ledger_.Note(id, column, Median(times));
    ledger_.NoteAlso(id, column, "p99 ms", Percentile(times, kP99));
  }

  void CompareCrashes() {
    for (const Contender* contender : Systems()) {
      // A new server, for the same reason.
      const auto server = StartServer(contender->column, Source(), "crash");
      const auto times = MeasureCrashes({.system = contender->column,
                                         .endpoint = server->endpoint(),
                                         .label = ledger_.Label(RowId::kCrash),
                                         .waiting = kWaitingForCrash,
                                         .count = plan_.crashes});
      for (const double time : times) ledger_.Note(RowId::kCrash, contender->column, time);
    }
  }

  // On a new replica and a new database server.
  void MeasureWhatOnlyTenureDoes() {
    testing::DatabaseServer database;
    TenureServer server(database, database.FreshDatabase("alone"));
    TenureSystem system(server.endpoint());
    ledger_.Note(RowId::kIdle, Column::kTenure, MeasureStatements(database, plan_.idle));
    ledger_.Note(RowId::kIdleWithMany, Column::kTenure,
                 MeasureStatementsWithMany(system, database, ledger_.Label(RowId::kIdleWithMany),
                                           kMany, plan_.idle));
    const std::string observed = ledger_.Label(RowId::kObservers);
    Observers observers(system, observed, kObservers);
    const auto telling = MeasureTelling(system, observers, observed, kObservedRounds);
    ledger_.Note(RowId::kObservers, Column::kTenure, std::ranges::max(telling));
    NoteHandOvers(
        RowId::kHandOverLongQueue, Column::kTenure,
        MeasureHandOvers({&system}, ledger_.Label(RowId::kHandOverLongQueue),
                         {.waiting = kWaitingLong, .count = plan_.hand_overs, .elsewhere = false}));
  }

  const RunPlan plan_;
  testing::DatabaseServer database_;
  std::unique_ptr<testing::DatabaseServer> mysql_;  // if requested
  std::vector<Contender> contenders_;
  Ledger ledger_;
};

std::set<Part> AllParts() {
  std::set<Part> parts;
  for (const auto& [name, part] : kParts) parts.insert(part);
  return parts;
}

}  // namespace

RunPlan FullPlan() {
  return {.etcd = "etcd",
          .mysql = "",
          .parts = AllParts(),
          .systems = {kColumns.begin(), kColumns.end()},
          .rounds = 5,
          .window = {500ms, 3s},
          .open_loop = {500ms, 5s},
          .open_loop_rate = {},
          .hand_overs = 200,
          .long_rounds = 2,
          .crashes = 3,
          .idle = 10s};
}

RunPlan QuickPlan() {
  return {.etcd = "etcd",
          .mysql = "",
          .parts = AllParts(),
          .systems = {kColumns.begin(), kColumns.end()},
          .rounds = 3,
          .window = {200ms, 600ms},
          .open_loop = {200ms, 1s},
          .open_loop_rate = {},
          .hand_overs = 50,
          .long_rounds = 1,
          .crashes = 1,
          .idle = 3s};
}

RunOutcome RunAll(const RunPlan& plan) { return Run(plan).ToItsEnd(); }

}  // namespace tenure::bench
