// tenure-bench: the same work on Tenure, etcd and ZooKeeper, in one run.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>

#include "bench/commands/figure_command.h"
#include "bench/commands/homegrown_command.h"
#include "bench/commands/machine.h"
#include "bench/commands/overload_command.h"
#include "bench/commands/run.h"
#include "bench/commands/scale_command.h"
#include "bench/report/json.h"
#include "bench/report/report_folder.h"
#include "bench/works/crash.h"
#include "bench/works/healthy_leaders.h"
#include "bench/works/holder.h"
#include "bench/works/storm.h"

namespace tenure::bench {
namespace {

struct Options {
  bool quick = false;
  bool json = false;
  std::string etcd = "etcd";
  std::string mysql;
  std::vector<Part> parts;
  std::optional<double> open_loop_rate;
  std::vector<Column> systems;
  std::string report;           // a folder; empty: none
  size_t in_flight = 0;         // of the overload; 0: ten times the saturating number
  std::vector<size_t> waiting;  // of the figure
};

// Every candidate of ZooKeeper has a connection and a pipe.
void AllowManyFiles() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Prints the figures, and writes them to the report folder under their name. `json` describes the
// machine and the systems.
template <typename Measured>
void Publish(const Options& options, const std::string& name, nlohmann::ordered_json json,
             const Measured& measured) {
  json["quick"] = options.quick;
  json.update(ToJson(measured));
  if (!options.report.empty()) {
    const std::filesystem::path folder = options.report;
    WriteReport(folder / (name + ".json"), json.dump(2) + "\n");
    WriteReport(folder / (name + ".md"), ToSheet(measured).Markdown());
  }
  std::cout << (options.json ? json.dump(2) + "\n" : ToSheet(measured).Text());
}

int Run(const Options& options) {
  AllowManyFiles();
  auto machine = DescribeMachine(std::filesystem::temp_directory_path());
  if (!options.mysql.empty()) {
    machine["mysql_sync_us_median"] =
        MedianSyncMicroseconds(std::filesystem::path(options.mysql) / "tmp");
  }
  RunPlan plan = options.quick ? QuickPlan() : FullPlan();
  plan.etcd = options.etcd;
  plan.mysql = options.mysql;
  plan.open_loop_rate = options.open_loop_rate;
  if (!options.parts.empty()) plan.parts = {options.parts.begin(), options.parts.end()};
  if (!options.systems.empty()) plan.systems = {options.systems.begin(), options.systems.end()};
  const RunOutcome outcome = RunAll(plan);
  Publish(options, "benchmarks", {{"machine", machine}, {"systems", outcome.systems}},
          outcome.results);
  return outcome.results.AllMet() ? EXIT_SUCCESS : EXIT_FAILURE;
}

int RunFigure(const Options& options) {
  AllowManyFiles();
  const auto machine = DescribeMachine(std::filesystem::temp_directory_path());
  FigurePlan plan = options.quick ? QuickFigurePlan() : FullFigurePlan();
  plan.etcd = options.etcd;
  if (!options.systems.empty()) plan.systems = {options.systems.begin(), options.systems.end()};
  if (!options.waiting.empty()) plan.waiting = options.waiting;
  const CrashFigure figure = MeasureCrashFigure(plan);
  Publish(options, "figure", {{"machine", machine}}, figure);
  return figure.Complete() ? EXIT_SUCCESS : EXIT_FAILURE;
}

int RunScale(const Options& options) {
  AllowManyFiles();
  const auto machine = DescribeMachine(std::filesystem::temp_directory_path());
  const Figures figures = MeasureScale(options.quick ? QuickScalePlan() : FullScalePlan());
  Publish(options, "scale", {{"machine", machine}}, figures);
  return figures.AllMet() ? EXIT_SUCCESS : EXIT_FAILURE;
}

int RunOverload(const Options& options) {
  AllowManyFiles();
  const auto machine = DescribeMachine(std::filesystem::temp_directory_path());
  OverloadPlan plan = options.quick ? QuickOverloadPlan() : FullOverloadPlan();
  if (options.in_flight > 0) plan.in_flight = options.in_flight;
  const Figures figures = MeasureOverload(plan);
  Publish(options, "overload", {{"machine", machine}}, figures);
  return figures.AllMet() ? EXIT_SUCCESS : EXIT_FAILURE;
}

int RunHomegrown(const Options& options) {
  AllowManyFiles();
  const auto machine = DescribeMachine(std::filesystem::temp_directory_path());
  const SchemeTable table =
      MeasureHomegrown(options.quick ? QuickHomegrownPlan() : FullHomegrownPlan());
  Publish(options, "homegrown", {{"machine", machine}}, table);
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace tenure::bench

int main(int argc, char** argv) {
  using tenure::bench::Column;
  CLI::App app(
      "Compare Tenure with etcd and ZooKeeper: the same work in one run. Exits with 1 if Tenure "
      "misses a goal.");
  tenure::bench::Options options;
  app.add_flag("--quick", options.quick,
               "Finish within three minutes: for a look, not for publication");
  app.add_flag("--json", options.json, "Print JSON with every round instead of a table");
  app.add_option("--etcd", options.etcd, "Path of the etcd program")->capture_default_str();
  app.add_option(
      "--mysql", options.mysql,
      "Root directory of MySQL, made by scripts/install-mysql.sh: measures Tenure on it, "
      "too (needs root)");
  std::map<std::string, Column> columns;
  for (const Column column : tenure::bench::kColumns) columns[Name(column)] = column;
  app.add_option("--part", options.parts, "Run only this part; repeat the flag for several")
      ->transform(CLI::CheckedTransformer(tenure::bench::kParts));
  app.add_option("--system", options.systems,
                 "Measure only this system; repeat the flag for several")
      ->transform(CLI::CheckedTransformer(columns));
  app.add_option("--open-loop-rate", options.open_loop_rate,
                 "Cycles per second of the open loop (default: half of etcd's with 32 in flight)")
      ->check(CLI::PositiveNumber);
  app.add_option("--report", options.report,
                 "Folder to write the results to: JSON and a Markdown table");
  tenure::bench::LeaderOptions leader{};
  int64_t lease_seconds = 0;
  CLI::App* lead = app.add_subcommand("leader", "The process that is killed")->group("");
  lead->add_option("--system", leader.system)
      ->required()
      ->transform(CLI::CheckedTransformer(columns));
  lead->add_option("--endpoint", leader.endpoint)->required();
  lead->add_option("--election", leader.election)->required();
  lead->add_option("--name", leader.name)->required();
  lead->add_option("--lease-seconds", lease_seconds)->required();
  CLI::App* figure =
      app.add_subcommand("figure",
                         "Measure the time from the leader's crash to the next leader, by the "
                         "number of waiting candidates");
  figure->fallthrough();
  figure->add_option("--waiting", options.waiting,
                     "Number of waiting candidates; repeat the flag for several");
  CLI::App* scale = app.add_subcommand("scale", "Measure how much one replica of Tenure can hold");
  scale->fallthrough();
  CLI::App* overload = app.add_subcommand(
      "overload", "Send ten times as many calls as one replica of Tenure can answer");
  overload->fallthrough();
  overload->add_option("--in-flight", options.in_flight,
                       "Number of concurrent calls (default: ten times the saturating number)");
  CLI::App* homegrown = app.add_subcommand(
      "homegrown",
      "Measure Tenure beside election schemes that teams write in SQL, on one MariaDB");
  homegrown->fallthrough();
  tenure::bench::StormOptions storming{};
  tenure::bench::HealthyOptions leading{};
  int64_t seconds = 0;
  CLI::App* storm = app.add_subcommand("storm", "The process that overloads")->group("");
  storm->add_option("--endpoint", storming.endpoint)->required();
  storm->add_option("--in-flight", storming.in_flight)->required();
  storm->add_option("--seconds", seconds)->required();
  CLI::App* healthy = app.add_subcommand("healthy", "The process of healthy leaders")->group("");
  healthy->add_option("--endpoint", leading.endpoint)->required();
  healthy->add_option("--count", leading.count)->required();
  healthy->add_option("--lease-seconds", lease_seconds)->required();
  healthy->add_option("--seconds", seconds)->required();
  tenure::bench::SqlHolderOptions sql_holding{};
  tenure::bench::TenureHolderOptions tenure_holding{};
  CLI::App* sql_holder = app.add_subcommand("sql-holder", "A leader by SQL statements")->group("");
  sql_holder->add_option("--scheme", sql_holding.scheme)->required();
  sql_holder->add_option("--port", sql_holding.port)->required();
  sql_holder->add_option("--database", sql_holding.database)->required();
  sql_holder->add_option("--election", sql_holding.election)->required();
  CLI::App* tenure_holder =
      app.add_subcommand("tenure-holder", "A leader by the C++ library")->group("");
  tenure_holder->add_option("--endpoint", tenure_holding.endpoint)->required();
  tenure_holder->add_option("--election", tenure_holding.election)->required();
  tenure_holder->add_option("--lease-seconds", lease_seconds)->required();
  CLI11_PARSE(app, argc, argv);

  ::testing::InitGoogleTest();  // makes failed expectations of the tests' support end the run
  GTEST_FLAG_SET(throw_on_failure, true);
  try {
    if (lead->parsed()) {
      leader.lease = std::chrono::seconds(lease_seconds);
      tenure::bench::RunLeader(leader);
    }
    if (storm->parsed()) {
      storming.duration = std::chrono::seconds(seconds);
      tenure::bench::RunStorm(storming);
      return EXIT_SUCCESS;
    }
    if (healthy->parsed()) {
      leading.lease = std::chrono::seconds(lease_seconds);
      leading.duration = std::chrono::seconds(seconds);
      tenure::bench::RunHealthyLeaders(leading);
      return EXIT_SUCCESS;
    }
    if (sql_holder->parsed()) {
      tenure::bench::RunSqlHolder(sql_holding);
      return EXIT_SUCCESS;
    }
    if (tenure_holder->parsed()) {
      tenure_holding.lease = std::chrono::seconds(lease_seconds);
      tenure::bench::RunTenureHolder(tenure_holding);
      return EXIT_SUCCESS;
    }
    if (homegrown->parsed()) return tenure::bench::RunHomegrown(options);
    if (overload->parsed()) return tenure::bench::RunOverload(options);
    if (scale->parsed()) return tenure::bench::RunScale(options);
    if (figure->parsed()) return tenure::bench::RunFigure(options);
    return tenure::bench::Run(options);
  } catch (const std::exception& error) {
    std::cerr << "tenure-bench: " << error.what() << std::endl;
    return EXIT_FAILURE;
  }
}
