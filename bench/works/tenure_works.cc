#include "bench/works/tenure_works.h"

#include <thread>

#include "bench/works/crowd.h"

namespace tenure::bench {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;
using namespace std::chrono_literals;

constexpr auto kSettle = 500ms;
constexpr auto kLongLease = 3600s;  // not renewed while anything is measured

}  // namespace

uint64_t CountStatements(const testing::DatabaseServer& database) {
  const auto status = database.Query("SHOW GLOBAL STATUS LIKE 'Questions'");
  return std::stoull(status.output.substr(status.output.find('\t') + 1));
}

std::vector<double> MeasureTelling(TenureSystem& system, Observers& observers,
                                   const std::string& election, size_t rounds) {
  const auto leader = system.NewCandidate({.name = "observed"});
  std::vector<double> times;
  uint64_t revision = 0;
  const auto wait_for_all = [&] {
    const Telling telling = observers.WaitForAll(++revision);
    times.push_back(Milliseconds(telling.last - telling.first).count());
  };
  for (size_t round = 0; round < rounds; ++round) {
    Await([&](Done elected) { leader->Campaign(election, std::move(elected)); });
    wait_for_all();
    Await([&](Done resigned) { leader->Resign(std::move(resigned)); });
    wait_for_all();
  }
  return times;
}

double MeasureStatements(const testing::DatabaseServer& database,
                         std::chrono::milliseconds duration) {
  std::this_thread::sleep_for(kSettle);
  const uint64_t before = CountStatements(database);
  const auto begun = Clock::now();
  std::this_thread::sleep_for(duration);
  const uint64_t after = CountStatements(database);
  return static_cast<double>(after - before) /
         std::chrono::duration<double>(Clock::now() - begun).count();
}

double MeasureStatementsWithMany(TenureSystem& system, const testing::DatabaseServer& database,
                                 const std::string& label, size_t many,
                                 std::chrono::milliseconds duration) {
  const CandidateOptions options{.name = label, .lease = kLongLease, .own_connection = false};
  Crowd leaders({&system}, many, options);
  InParallel(many, [&](size_t number) {
    Await([&](Done elected) {
      leaders[number].Campaign(label + "-" + std::to_string(number), std::move(elected));
    });
  });
  Crowd waiting({&system}, many, options);
  waiting.Stand(label);
  const Observers observers(system, label, many);
  return MeasureStatements(database, duration);
}

}  // namespace tenure::bench
