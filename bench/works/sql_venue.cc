#include "bench/works/sql_venue.h"

#include <atomic>
#include <csignal>
#include <functional>
#include <random>
#include <semaphore>
#include <stdexcept>
#include <vector>

#include "bench/report/gauges.h"
#include "bench/systems/mariadb_connection.h"
#include "bench/works/sql_candidate.h"
#include "tests/support/tenured.h"

namespace tenure::bench {
namespace {

constexpr char kDatabase[] = "homegrown";
constexpr std::chrono::seconds kStandPatience{30};

class SqlContest : public Contest {
 public:
  SqlContest(const SqlScheme& scheme, int port, const ContestPlan& plan)
      : scheme_(scheme), port_(port) {
    // The same phases for each scheme.
    std::mt19937 random(static_cast<uint32_t>(std::hash<std::string>{}(plan.label)));
    std::uniform_int_distribution<int64_t> phase(0, scheme.attempt_every.count() - 1);
    for (size_t number = 0; number < plan.candidates; ++number) {
      const SqlPlace place{.port = port,
                           .database = kDatabase,
                           .election = plan.ElectionOf(number),
                           .candidate = "candidate-" + std::to_string(number),
                           .phase = std::chrono::milliseconds(phase(random))};
      candidates_.push_back(std::make_unique<SqlCandidate>(scheme, place, Reports()));
    }
    for (size_t number = 0; number < plan.candidates; ++number) {
      if (!standing_.try_acquire_for(kStandPatience)) {
        throw std::runtime_error(scheme.name + ": not all candidates stand in time");
      }
    }
  }

  ~SqlContest() override {
    for (const auto& candidate : candidates_) candidate->Stop();
    if (scheme_.held_by_connection) EndConnections();
  }

  [[nodiscard]] LeaderLog& leaders() override { return leaders_; }
  [[nodiscard]] uint64_t failed_statements() const override { return failed_; }

 private:
  SqlReports Reports() {
    return {.on_stands = [this] { standing_.release(); },
            .on_leads = [this] { leaders_.Add(Clock::now()); },
            .on_failed = [this] { ++failed_; },
            .on_broken = [this](const std::string& error) { leaders_.Fail(error); }};
  }

  // For attempts that wait in the server. A candidate may have ended by itself.
  void EndConnections() const {
    MariaDbConnection connection(port_, kDatabase);
    for (const auto& candidate : candidates_) {
      try {
        (void)connection.Run("KILL " + std::to_string(candidate->connection()));
      } catch (const SqlError&) {
        continue;
      }
    }
  }

  const SqlScheme& scheme_;
  const int port_;
  std::counting_semaphore<> standing_{0};
  LeaderLog leaders_;
  std::atomic<uint64_t> failed_ = 0;
  std::vector<std::unique_ptr<SqlCandidate>> candidates_;  // last: they use all others
};

}  // namespace

SqlVenue::SqlVenue(testing::DatabaseServer& server, const SqlScheme& scheme)
    : server_(server), scheme_(scheme) {
  (void)server_.FreshDatabase(kDatabase);
  if (!scheme.table.empty()) (void)MariaDbConnection(server.port(), kDatabase).Run(scheme.table);
}

std::unique_ptr<Contest> SqlVenue::Open(const ContestPlan& plan) {
  if (!plan.held) {
    for (size_t number = 0; number < plan.elections; ++number) Seed(plan.ElectionOf(number));
  }
  return std::make_unique<SqlContest>(scheme_, server_.port(), plan);
}

std::unique_ptr<testing::Process> SqlVenue::StartHolder(const std::string& election) {
  Seed(election);
  return std::make_unique<testing::Process>(std::vector<std::string>{
      testing::Program("tenure-bench"), "sql-holder", "--scheme", scheme_.key, "--port",
      std::to_string(server_.port()), "--database", kDatabase, "--election", election});
}

void SqlVenue::Depose(const testing::Process& holder, const std::string& election) {
  if (!scheme_.held_by_connection) return holder.Signal(SIGSTOP);
  MariaDbConnection connection(server_.port(), kDatabase);
  const std::string id = connection.Run("SELECT IS_USED_LOCK('" + election + "')").Cell();
  (void)connection.Run("KILL " + id);
}

CpuTimes SqlVenue::CpuTime() {
  return {{kDatabaseProgram, ProcessorTime(server_.process().pid())}};
}

void SqlVenue::Seed(const std::string& election) const {
  if (scheme_.seed.empty()) return;
  (void)MariaDbConnection(server_.port(), kDatabase).Run(Filled(scheme_.seed, election));
}

}  // namespace tenure::bench
