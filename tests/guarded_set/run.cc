#include "tests/guarded_set/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/guarded_set/worker.h"
#include "tests/support/database_server.h"
#include "tests/support/sql_application.h"
#include "tests/support/tenured.h"

namespace tenure::testing {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kWorkers = 4;
constexpr auto kPause = 3s;
constexpr auto kBetweenPausesMin = 500ms;
constexpr auto kBetweenPausesMax = 2500ms;
constexpr auto kWatchInterval = 50ms;
constexpr auto kStandstillMax = 60s;

class GuardedSetRun {
 public:
  explicit GuardedSetRun(const GuardedSetPlan& plan) : plan_(plan), random_(plan.seed) {
    SqlApplication application(application_);
    application.Run(kMakeSharedSet);
    application.Run(kFillSharedSet);
    for (uint64_t number = 0; number < kWorkers; ++number) Hire(number);
  }

  GuardedSetOutcome Run() {
    while (!DoneWithin(BetweenPauses())) PauseTheLeader();
    return Audit();
  }

 private:
  void Hire(uint64_t number) {
    std::vector<std::string> command = {Program("guarded_set"),
                                        "worker",
                                        "--endpoints",
                                        replicas_[0].endpoint() + "," + replicas_[1].endpoint(),
                                        "--database",
                                        application_,
                                        "--number",
                                        std::to_string(number),
                                        "--workers",
                                        std::to_string(kWorkers),
                                        "--seed",
                                        std::to_string(plan_.seed * kWorkers + number)};
    command.emplace_back(plan_.fenced ? "--fence" : "--no-fence");
    workers_.push_back(std::make_unique<Process>(std::move(command)));
  }

  std::chrono::milliseconds BetweenPauses() {
    return std::chrono::milliseconds(std::uniform_int_distribution<int64_t>(
        kBetweenPausesMin.count(), kBetweenPausesMax.count())(random_));
  }

  // Whether enough inserts are acknowledged within this time.
  bool DoneWithin(std::chrono::milliseconds patience) {
    const auto until = Clock::now() + patience;
    while (true) {
      const uint64_t acknowledged = Count(kAcknowledged);
      if (acknowledged >= plan_.inserts) return true;
      if (acknowledged > seen_) {
        seen_ = acknowledged;
        seen_at_ = Clock::now();
      }
      if (Clock::now() - seen_at_ > kStandstillMax) throw std::runtime_error(Complaints());
      if (Clock::now() >= until) return false;
      std::this_thread::sleep_for(kWatchInterval);
    }
  }

  void PauseTheLeader() {
    const mysql::Rows leader = control_.Run("SELECT candidate FROM leaders WHERE election = '" +
                                            std::string(kGuardedElection) + "'");
    if (leader.empty()) return;
    for (uint64_t number = 0; number < kWorkers; ++number) {
      if (leader[0][0] != WorkerName(number)) continue;
      workers_[number]->Signal(SIGSTOP);
      std::this_thread::sleep_for(kPause);
      workers_[number]->Signal(SIGCONT);
      ++pauses_;
    }
  }

  // Ends the workers, so that nothing is written any more, and audits the set.
  GuardedSetOutcome Audit() {
    const uint64_t terms = std::stoull(control_.Run("SELECT MAX(term) FROM terms")[0][0].value());
    for (const auto& worker : workers_) worker->Signal(SIGTERM);
    for (const auto& worker : workers_) {
      if (worker->Wait() != EXIT_SUCCESS) throw std::runtime_error(Complaints());
    }
    std::set<uint64_t> acknowledged;
    ForEachLine(kAcknowledged, [&](std::string_view element) {
      acknowledged.insert(std::stoull(std::string(element)));
    });
    GuardedSetOutcome outcome;
    outcome.acknowledged = acknowledged.size();
    outcome.pauses = pauses_;
    outcome.terms = terms;
    outcome.refused = Count(kRefused);
    outcome.failed = Count(kFailed);
    outcome.lost =
        CountLost(acknowledged, SqlApplication(application_).Run(kReadSharedSet)[0][0].value());
    return outcome;
  }

  // Calls `take` with the rest of each line of a worker that begins so.
  template <typename Take>
  void ForEachLine(std::string_view beginning, const Take& take) const {
    for (const auto& worker : workers_) {
      for (const std::string& line : worker->Lines()) {
        if (line.starts_with(beginning)) take(std::string_view(line).substr(beginning.size()));
      }
    }
  }
  [[nodiscard]] uint64_t Count(std::string_view beginning) const {
    uint64_t count = 0;
    ForEachLine(beginning, [&](std::string_view) { ++count; });
    return count;
  }
  // The workers' reasons for making no progress.
  [[nodiscard]] std::string Complaints() const {
    std::string complaints = "the workers make no progress";
    ForEachLine(kFailed, [&](std::string_view why) { complaints.append("\n").append(why); });
    for (const auto& worker : workers_) complaints.append("\n").append(worker->Errors());
    return complaints;
  }

  const GuardedSetPlan plan_;
  std::mt19937_64 random_;
  DatabaseServer server_;
  const std::string tenure_ = server_.FreshDatabase("tenure");
  const std::string application_ = server_.FreshDatabase("application");
  Tenured replicas_[2] = {Tenured(tenure_), Tenured(tenure_)};
  SqlApplication control_{tenure_};
  std::vector<std::unique_ptr<Process>> workers_;
  uint64_t pauses_ = 0;
  uint64_t seen_ = 0;
  Clock::time_point seen_at_ = Clock::now();
};

}  // namespace

GuardedSetOutcome RunGuardedSet(const GuardedSetPlan& plan) { return GuardedSetRun(plan).Run(); }

std::string Describe(const GuardedSetPlan& plan, const GuardedSetOutcome& outcome) {
  return fmt::format(
      "{}: {} inserts acknowledged, {} pauses, {} terms, {} transactions refused, {} failed, "
      "{} lost ({:.1f} %)",
      plan.fenced ? "with the fence" : "without the fence", outcome.acknowledged, outcome.pauses,
      outcome.terms, outcome.refused, outcome.failed, outcome.lost,
      100.0 * static_cast<double>(outcome.lost) /
          static_cast<double>(std::max<uint64_t>(outcome.acknowledged, 1)));
}

uint64_t CountLost(const std::set<uint64_t>& acknowledged, std::string_view members) {
  std::set<uint64_t> present;
  std::istringstream list{std::string(members)};
  for (std::string member; std::getline(list, member, kAfterMember);) {
    present.insert(std::stoull(member));
  }
  return static_cast<uint64_t>(std::ranges::count_if(
      acknowledged, [&](uint64_t element) { return !present.contains(element); }));
}

}  // namespace tenure::testing
