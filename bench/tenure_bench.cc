// tenure-bench: Tenure beside etcd and ZooKeeper, the same work in one run.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include "bench/crash.h"
#include "bench/json.h"
#include "bench/machine.h"
#include "bench/plot.h"
#include "bench/run.h"
#include "bench/table.h"

namespace tenure::bench {
namespace {

struct Options {
  bool quick = false;
  bool json = false;
  std::string etcd = "etcd";
  std::vector<Part> parts;
  std::vector<Column> systems;
  std::string report;  // a folder; empty: none
};

// Every candidate of ZooKeeper has a connection and a pipe.
void AllowManyFiles() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void WriteFile(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

int Run(const Options& options) {
  AllowManyFiles();
  const auto machine = DescribeMachine(std::filesystem::temp_directory_path());
  RunPlan plan = options.quick ? QuickPlan() : FullPlan();
  plan.etcd = options.etcd;
  if (!options.parts.empty()) plan.parts = {options.parts.begin(), options.parts.end()};
  if (!options.systems.empty()) plan.systems = {options.systems.begin(), options.systems.end()};
  const RunOutcome outcome = RunAll(plan);
  nlohmann::ordered_json json = {{"machine", machine}, {"quick", options.quick}};
  json["systems"] = outcome.systems;
  json.update(ToJson(outcome.results));
  if (!options.report.empty()) {
    const std::filesystem::path folder = options.report;
    std::filesystem::create_directories(folder);
    WriteFile(folder / "benchmarks.json", json.dump(2) + "\n");
    WriteFile(folder / "benchmarks.md", MarkdownTable(outcome.results));
    WriteFile(folder / "benchmarks.svg", Plot(outcome.results));
  }
  std::cout << (options.json ? json.dump(2) + "\n" : TextTable(outcome.results));
  return outcome.results.AllMet() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace tenure::bench

int main(int argc, char** argv) {
  using tenure::bench::Column;
  CLI::App app(
      "Tenure beside etcd and ZooKeeper: the same work in one run. Exits with 1 if Tenure misses a "
      "goal.");
  tenure::bench::Options options;
  app.add_flag("--quick", options.quick, "Within two minutes: for a look, not for publication");
  app.add_flag("--json", options.json, "Print JSON, with every round, instead of a table");
  app.add_option("--etcd", options.etcd, "The program etcd")->capture_default_str();
  std::map<std::string, Column> columns;
  for (const Column column : tenure::bench::kColumns) columns[Name(column)] = column;
  app.add_option("--part", options.parts, "A part of the works only; may be given more than once")
      ->transform(CLI::CheckedTransformer(tenure::bench::kParts));
  app.add_option("--system", options.systems, "A system only; may be given more than once")
      ->transform(CLI::CheckedTransformer(columns));
  app.add_option("--report", options.report,
                 "A folder for the same as JSON, as a table in Markdown, and as a picture");
  tenure::bench::LeaderOptions leader{};
  int64_t lease_seconds = 0;
  CLI::App* lead = app.add_subcommand("leader", "A process that is killed")->group("");
  lead->add_option("--system", leader.system)
      ->required()
      ->transform(CLI::CheckedTransformer(columns));
  lead->add_option("--endpoint", leader.endpoint)->required();
  lead->add_option("--election", leader.election)->required();
  lead->add_option("--name", leader.name)->required();
  lead->add_option("--lease-seconds", lease_seconds)->required();
  CLI11_PARSE(app, argc, argv);

  ::testing::InitGoogleTest();  // what the support of the tests expects, ends the run
  GTEST_FLAG_SET(throw_on_failure, true);
  try {
    if (lead->parsed()) {
      leader.lease = std::chrono::seconds(lease_seconds);
      tenure::bench::RunLeader(leader);
    }
    return tenure::bench::Run(options);
  } catch (const std::exception& error) {
    std::cerr << "tenure-bench: " << error.what() << std::endl;
    return EXIT_FAILURE;
  }
}
