#include "bench/works/tenure_venue.h"

#include <csignal>
#include <set>
#include <thread>
#include <vector>

#include "bench/works/crowd.h"
#include "tests/support/tenured.h"

namespace tenure::bench {
namespace {

constexpr int kRenewalsPerLease = 3;

// Each candidate has its own connection. Leaders renew.
class TenureContest : public Contest {
 public:
  TenureContest(TenureSystem& system, const ContestPlan& plan, std::chrono::seconds lease)
      : lease_(lease), candidates_(plan.candidates) {
    InParallel(plan.candidates, [&](size_t number) {
      candidates_[number] = system.NewCandidate(
          {.name = "candidate-" + std::to_string(number), .lease = lease, .own_connection = true});
      candidates_[number]->Stand(plan.ElectionOf(number),
                                 [this, number](const std::string& error) { Told(number, error); });
    });
    for (size_t election = 0; election < plan.elections; ++election) {
      const size_t standing =
          plan.candidates / plan.elections + (election < plan.candidates % plan.elections ? 1 : 0);
      WaitUntilStanding(system, plan.ElectionOf(election), standing + (plan.held ? 1 : 0));
    }
  }

  ~TenureContest() override {
    renewing_ = {};
    InParallel(candidates_.size(), [&](size_t number) { candidates_[number].reset(); });
  }

  [[nodiscard]] LeaderLog& leaders() override { return log_; }

 private:
  void Told(size_t number, const std::string& error) {
    const auto now = Clock::now();
    if (!error.empty()) return log_.Fail(error);
    {
      const std::lock_guard lock(mutex_);
      leaders_.push_back(number);
    }
    log_.Add(now);
  }

  void Renew(const std::stop_token& stop) {
    const auto pause = std::chrono::milliseconds(lease_) / kRenewalsPerLease;
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    try {
      while (!stopped.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); })) {
        for (const size_t leader : Leaders()) {
          Await([&](Done renewed) { candidates_[leader]->KeepAlive(std::move(renewed)); });
        }
      }
    } catch (const std::exception& error) {
      log_.Fail(std::string("a renewal failed: ") + error.what());
    }
  }

  std::vector<size_t> Leaders() {
    const std::lock_guard lock(mutex_);
    return leaders_;
  }

  const std::chrono::seconds lease_;
  LeaderLog log_;
  std::mutex mutex_;
  std::vector<size_t> leaders_;  // guarded by mutex_
  std::vector<std::unique_ptr<Candidate>> candidates_;
  std::jthread renewing_{[this](const std::stop_token& stop) { Renew(stop); }};
};

}  // namespace

TenureVenue::TenureVenue(testing::DatabaseServer& database, std::chrono::seconds lease)
    : lease_(lease),
      server_(database, database.FreshDatabase("tenure")),
      system_(server_.endpoint()) {}

std::string TenureVenue::name() const {
  return "Tenure, lease " + std::to_string(lease_.count()) + " s";
}

std::unique_ptr<Contest> TenureVenue::Open(const ContestPlan& plan) {
  return std::make_unique<TenureContest>(system_, plan, lease_);
}

std::unique_ptr<testing::Process> TenureVenue::StartHolder(const std::string& election) {
  return std::make_unique<testing::Process>(std::vector<std::string>{
      testing::Program("tenure-bench"), "tenure-holder", "--endpoint", server_.endpoint(),
      "--election", election, "--lease-seconds", std::to_string(lease_.count())});
}

void TenureVenue::Depose(const testing::Process& holder, const std::string& /*election*/) {
  holder.Signal(SIGSTOP);
}

}  // namespace tenure::bench
