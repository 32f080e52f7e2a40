#include "bench/commands/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <vector>

#include "bench/report/gauges.h"
#include "bench/report/statistics.h"
#include "bench/systems/servers.h"
#include "bench/works/crash.h"
#include "bench/works/observers.h"
#include "bench/works/open_loop.h"
#include "bench/works/tenure_works.h"
#include "bench/works/works.h"

namespace tenure::bench {
namespace {

using namespace std::chrono_literals;

constexpr size_t kInFlight = 32;
constexpr size_t kOpenLoopCandidates = 256;
constexpr double kOpenLoopShare = 0.5;  // of what etcd does
constexpr size_t kWaiting = 100;
constexpr size_t kReplicas = 3;
constexpr size_t kWaitingForCrash = 800;
constexpr size_t kWaitingLong = 10'000;
constexpr size_t kObservers = 10'000;
constexpr size_t kObservedRounds = 5;
constexpr size_t kMany = 1'000;
constexpr double kP50 = 0.5;
constexpr double kP99 = 0.99;
constexpr double kP999 = 0.999;
constexpr char kGenerator[] = "the generator";  // in CpuTimes

struct Contender {
  Contender(Column named, std::unique_ptr<Server> started)
      : column(named), server(std::move(started)), system(Connect(named, server->endpoint())) {}

  [[nodiscard]] CpuTimes CpuTime() const {
    CpuTimes times = server->CpuTime();
    times[kGenerator] = ProcessorTime(getpid());
    return times;
  }

  Column column;
  std::unique_ptr<Server> server;
  std::unique_ptr<System> system;
};

class Run {
 public:
  explicit Run(const RunPlan& plan) : plan_(plan) {
    Say("starting the servers");
    for (const Column system : plan.systems) {
      if (system == Column::kTenureOnMySql && !StartMySqlToo()) continue;
      contenders_.emplace_back(system, StartServer(system, Source(), "tenure"));
    }
  }

  RunOutcome ToItsEnd() {
    for (round_ = 0; round_ < plan_.rounds; ++round_) {
      const bool long_too = round_ < plan_.long_rounds;
      if (Wants(Part::kThroughputs)) CompareThroughputs();
      if (Wants(Part::kHandOvers)) CompareHandOvers();
      if (Wants(Part::kCrashes) && long_too) CompareCrashes();
      const bool tenure_too = plan_.systems.contains(Column::kTenure);
      if (Wants(Part::kTenureOnly) && long_too && tenure_too) MeasureWhatOnlyTenureDoes();
      // Each system is the first to do a work as often as the others.
      std::ranges::rotate(contenders_, contenders_.begin() + 1);
    }
    if (Wants(Part::kOpenLoop)) CompareOpenLoops();
    auto systems = nlohmann::ordered_json::object();
    for (const Contender& contender : contenders_) {
      systems[Name(contender.column)] = contender.server->configuration();
    }
    return {results_, systems};
  }

 private:
  [[nodiscard]] ServerSource Source() { return {plan_.etcd, database_, mysql_.get()}; }

  // Whether there is one. It does the work of the throughputs, and nothing else.
  bool StartMySqlToo() {
    if (!Wants(Part::kThroughputs)) return false;
    if (plan_.mysql.empty()) {
      results_.remarks.emplace_back("Tenure on MySQL is left out: --mysql names none.");
      return false;
    }
    mysql_ = StartMySql(plan_.mysql);
    return true;
  }

  // The contenders in a work that is not done on MySQL.
  [[nodiscard]] std::vector<Contender*> Systems() {
    std::vector<Contender*> systems;
    for (Contender& contender : contenders_) {
      if (contender.column != Column::kTenureOnMySql) systems.push_back(&contender);
    }
    return systems;
  }

  using Work = Throughput (*)(const Replicas&, const std::string&, size_t, const Window&);

  static void Say(const std::string& text) { std::cerr << "tenure-bench: " << text << std::endl; }

  [[nodiscard]] bool Wants(Part part) const { return plan_.parts.contains(part); }

  // A name for elections that no other work has.
  [[nodiscard]] std::string Label(RowId row) const {
    return fmt::format("work-{}-{}", static_cast<int>(row), round_);
  }

  void Note(RowId id, Column column, double figure) {
    Row& row = results_.At(id);
    row.rounds[column].push_back(figure);
    Say(fmt::format("round {} of {}: {}: {}: {} {}", round_ + 1, plan_.rounds, row.work,
                    Name(column), FigureText(figure), row.unit));
  }
  void NoteAlso(RowId id, Column column, const std::string& what, double figure) {
    results_.At(id).also[what][column].push_back(figure);
  }

  void CompareThroughputs() {
    Compare(RowId::kCycles1, &MeasureCycles, 1);
    Compare(RowId::kCycles8, &MeasureCycles, 8);
    Compare(RowId::kCycles32, &MeasureCycles, kInFlight, RowId::kCycleProcessor);
    Compare(RowId::kReads, &MeasureReads, kInFlight, RowId::kReadProcessor);
    Compare(RowId::kKeepAlives, &MeasureKeepAlives, kInFlight, RowId::kKeepAliveProcessor);
  }

  // `processor` is the row of the processor time that a server needs for an operation.
  void Compare(RowId id, Work work, size_t in_flight,
               std::optional<RowId> processor = std::nullopt) {
    for (const Contender& contender : contenders_) {
      std::vector<CpuTimes> used;  // at the beginning, and at the end
      Window window = plan_.window;
      window.at_edge = [&] { used.push_back(contender.CpuTime()); };
      const Throughput done = work({contender.system.get()}, Label(id), in_flight, window);
      Note(id, contender.column, in_flight == 1 ? done.median_ms : done.per_second);
      NoteAlso(id, contender.column, "median ms", done.median_ms);
      NoteAlso(id, contender.column, "p99 ms", done.p99_ms);
      const double seconds = std::chrono::duration<double>(window.measured).count();
      const double of_server =
          NoteProcessorTime(id, contender.column, used, done.per_second * seconds);
      if (processor) Note(*processor, contender.column, of_server);
    }
  }

  // What each program used between the first and the last of these, for each of the operations. The
  // sum of all but the generator, in us.
  double NoteProcessorTime(RowId id, Column column, const std::vector<CpuTimes>& used,
                           double operations) {
    double of_server = 0;
    for (const auto& [program, time] : used.back()) {
      const double each =
          static_cast<double>((time - used.front().at(program)).count()) / operations;
      NoteAlso(id, column, "processor time of " + program + ", us per operation", each);
      if (program != kGenerator) of_server += each;
    }
    return of_server;
  }

  // After all rounds of the throughputs: these say what etcd can do.
  void CompareOpenLoops() {
    auto capacity = results_.At(RowId::kCycles32).Value(Column::kEtcd);
    for (const Contender* contender : Systems()) {
      if (capacity || plan_.open_loop_rate || contender->column != Column::kEtcd) continue;
      capacity =
          MeasureCycles({contender->system.get()}, "capacity", kInFlight, plan_.window).per_second;
    }
    if (!capacity && !plan_.open_loop_rate) {
      results_.remarks.emplace_back(
          "The open loop is left out: its rate is half of what etcd does.");
      return;
    }
    const double rate = plan_.open_loop_rate ? *plan_.open_loop_rate : kOpenLoopShare * *capacity;
    results_.remarks.push_back(
        fmt::format("Open loop: {} cycles/s{}.", FigureText(rate),
                    plan_.open_loop_rate ? "" : ", half of what etcd does with 32 in flight"));
    for (round_ = 0; round_ < plan_.rounds; ++round_) {
      for (const Contender* contender : Systems()) MeasureOpenLoopOf(*contender, rate);
      std::ranges::rotate(contenders_, contenders_.begin() + 1);
    }
  }

  void MeasureOpenLoopOf(const Contender& contender, double rate) {
    using enum RowId;
    const Column column = contender.column;
    std::vector<CpuTimes> used;
    OpenLoopPlan plan{rate, kOpenLoopCandidates, plan_.open_loop};
    plan.window.at_edge = [&] { used.push_back(contender.CpuTime()); };
    const OpenLoopTimes times = MeasureOpenLoop(*contender.system, Label(kOpenCampaignP50), plan);
    Note(kOpenCampaignP50, column, Percentile(times.campaigns, kP50));
    Note(kOpenCampaignP99, column, Percentile(times.campaigns, kP99));
    Note(kOpenCampaignP999, column, Percentile(times.campaigns, kP999));
    Note(kOpenResignP50, column, Percentile(times.resigns, kP50));
    Note(kOpenResignP99, column, Percentile(times.resigns, kP99));
    Note(kOpenResignP999, column, Percentile(times.resigns, kP999));
    NoteAlso(kOpenCampaignP50, column, "begun late, p50 ms", Percentile(times.lags, kP50));
    NoteAlso(kOpenCampaignP99, column, "begun late, p99 ms", Percentile(times.lags, kP99));
    const auto count = static_cast<double>(times.campaigns.size());
    NoteProcessorTime(kOpenCampaignP50, column, used, count);
    if (times.delayed == 0) return;
    results_.remarks.push_back(fmt::format(
        "Open loop, round {}: {} of {} campaigns of {} were due when all {} candidates were busy. "
        "They had to wait, which is in their times, and no goal is met with these figures.",
        round_ + 1, times.delayed, times.campaigns.size(), Name(column), kOpenLoopCandidates));
    for (const RowId id : {kOpenCampaignP50, kOpenCampaignP99, kOpenCampaignP999, kOpenResignP50,
                           kOpenResignP99, kOpenResignP999}) {
      results_.At(id).spoiled.insert(column);
    }
  }

  void CompareHandOvers() {
    for (Contender* contender : Systems()) {
      // A new one: an etcd with which many waiting campaigns were cancelled at once, as at the end
      // of the last round, tells the next ones nothing, for ever.
      if (contender->column == Column::kEtcd) {
        *contender = Contender(contender->column, StartServer(contender->column, Source(), "etcd"));
      }
      NoteHandOvers(
          RowId::kHandOver, contender->column,
          MeasureHandOvers({contender->system.get()}, Label(RowId::kHandOver),
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
      const size_t count = 2 * plan_.hand_overs;  // about two thirds of them go elsewhere
      const auto times = MeasureHandOvers(replicas, Label(id),
                                          {.waiting = kWaiting, .count = count, .elsewhere = true});
      Note(id, Column::kTenure, Percentile(times, kP99));
      NoteAlso(id, Column::kTenure, "median ms", Median(times));
    };
    hand_over(RowId::kHandOverElsewhere);
    const Throughput cycles =
        MeasureCycles(replicas, Label(RowId::kReplicaCycles), kInFlight, plan_.window);
    Note(RowId::kReplicaCycles, Column::kTenure, cycles.per_second);
    NoteAlso(RowId::kReplicaCycles, Column::kTenure, "median ms", cycles.median_ms);
    NoteAlso(RowId::kReplicaCycles, Column::kTenure, "p99 ms", cycles.p99_ms);
    WhileCycling(replicas, Label(RowId::kHandOverElsewhereLoaded) + "-load", kInFlight,
                 [&] { hand_over(RowId::kHandOverElsewhereLoaded); });
  }

  void NoteHandOvers(RowId id, Column column, const std::vector<double>& times) {
    Note(id, column, Median(times));
    NoteAlso(id, column, "p99 ms", Percentile(times, kP99));
  }

  void CompareCrashes() {
    for (const Contender* contender : Systems()) {
      // Of its own, for the same reason.
      const auto server = StartServer(contender->column, Source(), "crash");
      const auto times = MeasureCrashes({.system = contender->column,
                                         .endpoint = server->endpoint(),
                                         .label = Label(RowId::kCrash),
                                         .waiting = kWaitingForCrash,
                                         .count = plan_.crashes});
      for (const double time : times) Note(RowId::kCrash, contender->column, time);
    }
  }

  // On a replica and a database that have seen nothing else.
  void MeasureWhatOnlyTenureDoes() {
    TenureServer server(database_, database_.FreshDatabase("alone"));
    TenureSystem system(server.endpoint());
    // Two replicas are idle on this database server: the contender, and this one.
    const double idle = MeasureStatements(database_, plan_.idle) / 2;
    Note(RowId::kIdle, Column::kTenure, idle);
    const double with_many = MeasureStatementsWithMany(
        system, database_, Label(RowId::kIdleWithMany), kMany, plan_.idle);
    Note(RowId::kIdleWithMany, Column::kTenure, with_many - idle);
    const std::string observed = Label(RowId::kObservers);
    Observers observers(system, observed, kObservers);
    const auto telling = MeasureTelling(system, observers, observed, kObservedRounds);
    Note(RowId::kObservers, Column::kTenure, std::ranges::max(telling));
    NoteHandOvers(
        RowId::kHandOverLongQueue, Column::kTenure,
        MeasureHandOvers({&system}, Label(RowId::kHandOverLongQueue),
                         {.waiting = kWaitingLong, .count = plan_.hand_overs, .elsewhere = false}));
  }

  const RunPlan plan_;
  testing::DatabaseServer database_;
  std::unique_ptr<testing::DatabaseServer> mysql_;  // if there is one
  std::vector<Contender> contenders_;
  Results results_ = NoResults();
  size_t round_ = 0;
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
