#include "tests/chaos/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <thread>

#include "tenure/observer.h"
#include "tests/chaos/checker.h"
#include "tests/chaos/faults.h"
#include "tests/support/contention.h"
#include "tests/support/sql_application.h"

namespace tenure::testing {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kFaultMin = 500ms;
constexpr auto kFaultMax = 4000ms;
constexpr auto kRestMin = 500ms;
constexpr auto kRestMax = 1500ms;
constexpr auto kSoakInterval = 60s;
constexpr auto kReadPatience = 1s;
constexpr auto kBetweenReads = 10ms;
constexpr size_t kViolationsShown = 20;

std::chrono::milliseconds Between(std::chrono::milliseconds least, std::chrono::milliseconds most,
                                  std::mt19937_64& random) {
  return std::chrono::milliseconds(
      std::uniform_int_distribution<int64_t>(least.count(), most.count())(random));
}

// Reads the leader of one election after the other from one replica, all the time, and keeps the
// answers.
class Reader {
 public:
  Reader(World& world, size_t replica)
      : elections_(world.elections()),
        endpoint_(world.replica(replica).endpoint()),
        thread_([this](const std::stop_token& stop) { Run(stop); }) {}
  std::vector<Reading> End() {
    thread_.request_stop();
    thread_.join();
    return std::move(readings_);
  }

 private:
  void Run(const std::stop_token& stop) {
    const auto stub = Connect(endpoint_);
    for (size_t i = 0; !stop.stop_requested(); ++i) {
      v1::LeaderRequest request;
      request.set_election(elections_[i % elections_.size()]);
      v1::LeaderResponse response;
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + kReadPatience);
      Reading reading{.election = request.election(), .asked = NowNs()};
      const grpc::Status status = stub->Leader(&context, request, &response);
      reading.answered = NowNs();
      reading.term = response.term();
      reading.revision = response.revision();
      if (status.ok()) readings_.push_back(std::move(reading));
      std::this_thread::sleep_for(kBetweenReads);
    }
  }

  const std::vector<std::string> elections_;
  const std::string endpoint_;
  std::vector<Reading> readings_;  // used by the thread
  std::jthread thread_;            // also stops when the run is aborted
};

// Observes every election, whatever breaks.
class Follower {
 public:
  explicit Follower(std::string endpoints)
      : observer_({.endpoints = std::move(endpoints),
                   .names = {""},
                   .prefix = true,
                   .from_revision = 1,
                   .on_snapshot =
                       [this](const v1::Snapshot& snapshot) {
                         resyncs_ += snapshot.revision() > 0 ? 1 : 0;
                       },
                   .on_event =
                       [this](const v1::Event& event) {
                         ++events_;
                         chronicle_.Add(event);
                       }}) {}

  [[nodiscard]] uint64_t events() const { return events_; }
  // Reports each gap, repetition and skipped part of history.
  void Check(World& world, std::vector<std::string>& violations) {
    std::map<std::string, uint64_t> untold;
    for (const std::string& election : world.elections()) {
      untold[election] = Leader(world.replica(0), election).revision();
    }
    (void)Eventually([&] {
      std::erase_if(untold,
                    [&](const auto& it) { return chronicle_.RevisionOf(it.first) >= it.second; });
      return untold.empty();
    });
    for (const auto& [election, revision] : untold) {
      violations.push_back(fmt::format("an observer of {} missed revision {}", election, revision));
    }
    if (!chronicle_.Complaints().empty()) violations.push_back(chronicle_.Complaints());
    if (resyncs_ > 0) violations.push_back(fmt::format("an observer skipped {} times", resyncs_));
  }

 private:
  Chronicle chronicle_;
  std::atomic<uint64_t> events_ = 0;
  std::atomic<int> resyncs_ = 0;
  tenure::Observer observer_;
};

class Chaos {
 public:
  Chaos(const ChaosPlan& plan, std::ostream& out)
      : plan_(plan), out_(out), random_(plan.world.seed), world_(plan.world) {
    for (Fault& fault : FaultsFor(plan.world)) {
      const auto is_it = [&](const std::string& name) { return name == fault.name; };
      if (!plan.only.empty() && std::ranges::none_of(plan.only, is_it)) continue;
      if (std::ranges::any_of(plan.except, is_it)) continue;
      summaries_.push_back({fault.name});
      faults_.push_back(std::move(fault));
    }
    if (faults_.empty()) throw std::runtime_error("there is no such fault");
  }

  ChaosOutcome Run() {
    for (int i = 0; i < plan_.world.replicas; ++i) {
      readers_.push_back(std::make_unique<Reader>(world_, static_cast<size_t>(i)));
      followers_.push_back(std::make_unique<Follower>(world_.Endpoints(static_cast<size_t>(i))));
    }
    if (plan_.compared_after) recorder_.emplace(world_, vitals_);
    const auto until = begun_ + plan_.duration;
    std::vector<size_t> order(faults_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    while (Clock::now() < until) {
      std::ranges::shuffle(order, random_);
      for (const size_t number : order) {
        if (Clock::now() >= until) break;
        Strike(number);
        Rest();
      }
    }
    return Audit();
  }

 private:
  void Rest() {
    if (!plan_.compared_after) {
      return std::this_thread::sleep_for(Between(kRestMin, kRestMax, random_));
    }
    std::this_thread::sleep_until(begun_ + strikes_.size() * kSoakInterval);
  }

  void Strike(size_t number) {
    FaultSummary& summary = summaries_[number];
    const auto before = world_.Leaders();
    const auto lasts = Between(kFaultMin, kFaultMax, random_);
    out_ << fmt::format("{:>7.1f} s  {}, {} ms", Seconds(), summary.name, lasts.count())
         << std::endl;
    strikes_.push_back({NowNs(), number});
    const auto heal = faults_[number].strike(world_, random_);
    std::this_thread::sleep_for(lasts);
    heal();
    world_.databases().WaitUntilWhole();
    ++summary.times;
    world_.WaitUntilAllAreLed();
    const auto after = world_.Leaders();
    for (const auto& [election, term] : before) {
      if (!election.starts_with(kSteady)) continue;
      ++summary.seats;
      const auto now = after.find(election);
      if (now != after.end() && now->second == term) ++summary.seats_kept;
    }
  }
  [[nodiscard]] double Seconds() const {
    return std::chrono::duration<double>(Clock::now() - begun_).count();
  }

  ChaosOutcome Audit() {
    ChaosOutcome outcome;
    if (plan_.compared_after) outcome.needs = Needs(*plan_.compared_after);
    for (const auto& reader : readers_) {
      for (Reading& reading : reader->End()) history_.Add(std::move(reading));
    }
    world_.End(history_);
    outcome.violations = Violations(history_);
    for (const auto& follower : followers_) {
      follower->Check(world_, outcome.violations);
      outcome.events += follower->events();
    }
    CheckWrites(outcome);
    outcome.terms = history_.beliefs().size();
    outcome.readings = history_.readings().size();
    for (const Vacancy& vacancy : Vacancies(history_)) Count(vacancy);
    outcome.faults = std::move(summaries_);
    return outcome;
  }

  std::vector<Vitals::Course> Needs(std::chrono::nanoseconds part) {
    recorder_.reset();
    return vitals_.Courses(begun_ns_ + part.count(), NowNs(), part.count());
  }

  // Every acknowledged write is there, with no others but those in doubt; and once a term has
  // written, no earlier term writes.
  void CheckWrites(ChaosOutcome& outcome) {
    const std::vector<std::string> urls = world_.ApplicationUrls();
    for (const std::string& election : world_.elections()) {
      const uint64_t acknowledged = history_.writes_acknowledged(election);
      const uint64_t tried = history_.writes_tried(election);
      mysql::Rows rows;
      (void)Eventually([&] {  // it may lag behind
        rows =
            SqlApplication(urls.front())
                .Run("SELECT term FROM writes WHERE election = '" + election + "' ORDER BY number");
        return rows.size() >= acknowledged;
      });
      outcome.writes += acknowledged;
      if (rows.size() < acknowledged || rows.size() > tried) {
        outcome.violations.push_back(
            fmt::format("{}: of {} writes {} were acknowledged, but {} are there", election, tried,
                        acknowledged, rows.size()));
      }
      uint64_t before = 0;
      for (const mysql::Row& row : rows) {
        const uint64_t term = row.Unsigned(0);
        if (term < before) {
          outcome.violations.push_back(
              fmt::format("{}: term {} wrote after term {}", election, term, before));
        }
        before = std::max(before, term);
      }
    }
    if (outcome.writes == 0) throw std::runtime_error("no leader has written anything");
  }

  // A vacancy counts for the last fault that struck before its end.
  void Count(const Vacancy& vacancy) {
    const auto after = std::ranges::upper_bound(strikes_, vacancy.until, {}, &StrikeTime::at);
    if (after == strikes_.begin()) return;
    FaultSummary& summary = summaries_[std::prev(after)->fault];
    summary.longest_vacancy = std::max(summary.longest_vacancy,
                                       std::chrono::duration_cast<std::chrono::milliseconds>(
                                           std::chrono::nanoseconds(vacancy.until - vacancy.from)));
  }

  struct StrikeTime {
    Nanoseconds at;
    size_t fault;
  };

  const ChaosPlan plan_;
  std::ostream& out_;
  std::mt19937_64 random_;
  World world_;
  const Clock::time_point begun_ = Clock::now();
  const Nanoseconds begun_ns_ = NowNs();
  std::vector<Fault> faults_;
  std::vector<FaultSummary> summaries_;
  std::vector<StrikeTime> strikes_;
  std::vector<std::unique_ptr<Reader>> readers_;
  std::vector<std::unique_ptr<Follower>> followers_;
  Vitals vitals_;
  std::optional<VitalsRecorder> recorder_;
  History history_;
};

}  // namespace

bool ChaosOutcome::good() const {
  return violations.empty() && std::ranges::none_of(needs, &Vitals::Course::grew);
}

ChaosOutcome RunChaos(const ChaosPlan& plan, std::ostream& out) { return Chaos(plan, out).Run(); }

std::string Describe(const ChaosOutcome& outcome) {
  std::string text = fmt::format("{:<30} {:>5} {:>12} {:>18}\n", "fault", "times", "seats kept",
                                 "longest vacancy");
  for (const FaultSummary& fault : outcome.faults) {
    text += fmt::format("{:<30} {:>5} {:>12} {:>15} ms\n", fault.name, fault.times,
                        fmt::format("{} of {}", fault.seats_kept, fault.seats),
                        fault.longest_vacancy.count());
  }
  text += fmt::format("{} terms, {} guarded writes, {} readings, {} events: {} violations\n",
                      outcome.terms, outcome.writes, outcome.readings, outcome.events,
                      outcome.violations.size());
  for (size_t i = 0; i < std::min(outcome.violations.size(), kViolationsShown); ++i) {
    text += "VIOLATION: " + outcome.violations[i] + "\n";
  }
  if (outcome.needs.empty()) return text;
  text += "\nneeded, medians of parts of the time\n";
  for (const Vitals::Course& need : outcome.needs) {
    text += fmt::format("{:<30} {:>8.1f}{}\n", need.what, fmt::join(need.medians, " "),
                        need.grew() ? "  GREW" : "");
  }
  return text;
}

}  // namespace tenure::testing
