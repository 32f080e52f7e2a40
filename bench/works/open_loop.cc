#include "bench/works/open_loop.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "bench/report/arrivals.h"
#include "bench/works/crowd.h"

namespace tenure::bench {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

class OpenLoop {
 public:
  OpenLoop(System& system, const std::string& label, const OpenLoopPlan& plan)
      : plan_(plan), candidates_(plan.candidates), arrivals_(plan.candidates) {
    for (size_t number = 0; number < plan.candidates; ++number) {
      elections_.push_back(label + "-" + std::to_string(number));
    }
    InParallel(plan.candidates, [&](size_t number) {
      candidates_[number] = system.NewCandidate({.name = "host-" + std::to_string(number)});
    });
  }

  OpenLoopTimes ToItsEnd() {
    OpenSessions();
    const auto start = Clock::now();
    schedule_ = Schedule(start, plan_.per_second);
    from_ = start + plan_.window.warm_up;
    const auto until = from_ + plan_.window.measured;
    const size_t first_measured = Generate(0, from_);
    plan_.window.at_edge();
    Generate(first_measured, until);
    plan_.window.at_edge();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return arrivals_.Idle(); });
    if (!error_.empty()) throw std::runtime_error(error_);
    if (times_.campaigns.empty()) throw std::runtime_error("nothing was due within the window");
    return times_;
  }

 private:
  // Each candidate keeps the session and the election of its first campaign.
  void OpenSessions() {
    InParallel(candidates_.size(), [&](size_t number) {
      Candidate& candidate = *candidates_[number];
      Await([&](Done done) { candidate.Campaign(elections_[number], std::move(done)); });
      Await([&](Done done) { candidate.Resign(std::move(done)); });
    });
  }

  // Starts the arrivals due before `until`, beginning with this number. Returns the next number, at
  // that time or after a failure.
  size_t Generate(size_t arrival, Clock::time_point until) {
    for (; schedule_.Due(arrival) < until; ++arrival) {
      std::this_thread::sleep_until(schedule_.Due(arrival));
      std::optional<size_t> candidate;
      {
        const std::lock_guard lock(mutex_);
        if (!error_.empty()) return arrival;
        candidate = arrivals_.Arrive(arrival);
        if (!candidate && Counts(arrival)) ++times_.delayed;
      }
      if (candidate) Begin(*candidate, arrival);
    }
    std::this_thread::sleep_until(until);
    return arrival;
  }

  [[nodiscard]] bool Counts(size_t arrival) const { return schedule_.Due(arrival) >= from_; }

  void Begin(size_t candidate, size_t arrival) {
    const auto begun = Clock::now();
    candidates_[candidate]->Campaign(elections_[candidate], [=, this](const std::string& error) {
      OnElected(candidate, arrival, begun, error);
    });
  }

  void OnElected(size_t candidate, size_t arrival, Clock::time_point begun,
                 const std::string& error) {
    if (!error.empty()) return OnEnded(candidate, error);
    const auto elected = Clock::now();
    if (Counts(arrival)) {
      const auto due = schedule_.Due(arrival);
      const std::lock_guard lock(mutex_);
      times_.campaigns.push_back(Milliseconds(elected - due).count());
      times_.lags.push_back(Milliseconds(begun - due).count());
    }
    candidates_[candidate]->Resign([=, this](const std::string& failed) {
      if (failed.empty() && Counts(arrival)) {
        const std::lock_guard lock(mutex_);
        times_.resigns.push_back(Milliseconds(Clock::now() - elected).count());
      }
      OnEnded(candidate, failed);
    });
  }

  void OnEnded(size_t candidate, const std::string& error) {
    std::optional<size_t> next;
    {
      const std::lock_guard lock(mutex_);
      if (!error.empty()) error_ = error;
      next = arrivals_.Done(candidate);
      while (next && !error_.empty()) next = arrivals_.Done(candidate);  // drops them
      changed_.notify_all();
    }
    if (next) Begin(candidate, *next);
  }

  const OpenLoopPlan plan_;
  std::vector<std::string> elections_;
  std::vector<std::unique_ptr<Candidate>> candidates_;
  Schedule schedule_{{}, 1};  // set before the first arrival, as is from_
  Clock::time_point from_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Arrivals arrivals_;    // guarded by mutex_
  OpenLoopTimes times_;  // guarded by mutex_
  std::string error_;    // guarded by mutex_
};

}  // namespace

OpenLoopTimes MeasureOpenLoop(System& system, const std::string& label, const OpenLoopPlan& plan) {
  return OpenLoop(system, label, plan).ToItsEnd();
}

}  // namespace tenure::bench
