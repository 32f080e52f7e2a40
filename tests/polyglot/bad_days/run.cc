#include "tests/polyglot/bad_days/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <iterator>
#include <memory>
#include <mutex>
#include <thread>

namespace tenure::testing {
namespace {

constexpr auto kTheEnd = "the end";
constexpr int kTries = 3;

// A thread that does one thing after the other. Processes that it starts live as long as it does.
class Worker {
 public:
  Worker() : thread_([this](const std::stop_token& stop) { Run(stop); }) {}
  void Do(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    task_ = std::move(task);
    changed_.notify_all();
  }
  void WaitUntilDone() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !task_; });
  }

 private:
  void Run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return task_ != nullptr; })) {
      lock.unlock();
      task_();
      lock.lock();
      task_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::function<void()> task_;  // guarded by mutex_; null: there is nothing to do
  std::jthread thread_;
};

// A cast, and the thread that plays it. A failed expectation is noted, and ends the day.
class Troupe {
 public:
  Troupe(Stage& stage, const Language& language, int number, uint64_t seed) : language_(language) {
    Do([this, &stage, number, seed] {
      cast_ =
          std::make_unique<Cast>(stage, language_, number, seed + static_cast<uint64_t>(number));
    });
  }
  // Runs on the thread that has started its processes.
  ~Troupe() {
    WaitUntilDone();
    Do([this] { cast_.reset(); });
    WaitUntilDone();
  }
  Troupe(const Troupe&) = delete;
  Troupe& operator=(const Troupe&) = delete;

  [[nodiscard]] const std::string& language() const { return language_.name; }

  // Each begins without waiting. REQUIRES: nothing is being done.
  void Begin(const Day& day) {
    Do([this, &day] { TryBegin(day); });
  }
  void Play(const Day& day) {
    Do([this, &day] { TryPlay(day); });
  }
  void End(const Day& day) {
    Do([this, &day] { TryEnd(day); });
  }
  // All three, and again if something is missed: on a machine that stalls, a lease may end by
  // itself when the day needs it. Violations are noted all the same, and so is a candidate that
  // does not stand again.
  void Live(const Day& day) {
    Do([this, &day] {
      for (int tries = 1; tries < kTries; ++tries) {
        TryBegin(day);
        const size_t noted = tally_.violations.size();
        TryPlay(day);
        if (tally_.violations.size() == noted) return TryEnd(day);
        tally_.repeated.push_back(tally_.violations[noted]);
        tally_.violations.resize(noted);
        Try([this] { cast_->Recover(); });
        missed_ = false;
      }
      TryBegin(day);
      TryPlay(day);
      TryEnd(day);
    });
  }
  void Quit() {
    Do([this] { Try([this] { cast_->Quit(); }); });
  }

  void WaitUntilDone() { worker_.WaitUntilDone(); }
  // The results since the last call. REQUIRES: nothing is being done.
  [[nodiscard]] Tally TakeTally() {
    for (std::string& violation : cast_->witness().TakeViolations()) {
      tally_.violations.push_back(std::move(violation));
    }
    return std::exchange(tally_, {});
  }

 private:
  void Do(std::function<void()> task) { worker_.Do(std::move(task)); }
  void Try(const std::function<void()>& task) {
    try {
      task();
    } catch (const std::exception& error) {
      missed_ = true;
      tally_.violations.push_back(fmt::format("{}, term {}: {}", cast_->leader().stand().process,
                                              cast_->term(), error.what()));
    }
  }
  void TryBegin(const Day& day) {
    Try([&] {
      cast_->Settle();
      leader_ = cast_->leader().stand().process;
      cast_->leader().Linger(day.lingers);
      std::this_thread::sleep_for(cast_->AnyMoment());
    });
  }
  void TryPlay(const Day& day) {
    if (!missed_) Try([&] { day.play(*cast_); });
  }
  void TryEnd(const Day& day) {
    if (!missed_ && day.afterwards) Try([&] { day.afterwards(*cast_); });
    const bool missed = std::exchange(missed_, false);
    Try([this, missed] {
      if (missed) cast_->Recover();
      cast_->Settle();
      for (Player* const player : {&cast_->leader(), &cast_->other()}) player->Linger(false);
    });
    ++tally_.times;
    if (!missed && !missed_ && cast_->leader().stand().process == leader_) ++tally_.seats_kept;
    missed_ = false;
  }

  const Language& language_;
  std::unique_ptr<Cast> cast_;
  std::string leader_;   // as the day began
  bool missed_ = false;  // something, on this day
  Tally tally_;
  Worker worker_;  // the last: it works on the others
};

void Add(Tally& sum, Tally tally) {
  sum.times += tally.times;
  sum.seats_kept += tally.seats_kept;
  std::ranges::move(tally.repeated, std::back_inserter(sum.repeated));
  std::ranges::move(tally.violations, std::back_inserter(sum.violations));
}

class Run {
 public:
  Run(const Plan& plan, std::ostream& out) : plan_(plan), out_(out) {
    uint64_t seed = plan.seed;
    for (const Language& language : plan.languages) {
      for (int number = 1; number <= plan.casts; ++number) {
        troupes_.push_back(std::make_unique<Troupe>(stage_, language, number, seed));
        seed += kSeedsPerTroupe;
      }
    }
    WaitForAll();
  }

  Outcome Play() {
    const int rounds = (plan_.rounds + plan_.casts - 1) / plan_.casts;
    for (int round = 1; round <= rounds; ++round) {
      for (const Day& day : plan_.days) Live(day);
      out_ << fmt::format("{:>7.1f} s  round {} of {}: {} violations\n", Seconds(), round, rounds,
                          CountViolations(outcome_))
           << std::flush;
    }
    ForAll([](Troupe& troupe) { troupe.Quit(); });
    Gather(kTheEnd);
    return std::move(outcome_);
  }

 private:
  static constexpr uint64_t kSeedsPerTroupe = 1'000;

  void Live(const Day& day) {
    if (!day.strike) {
      ForAll([&](Troupe& troupe) { troupe.Live(day); });
    } else {
      ForAll([&](Troupe& troupe) { troupe.Begin(day); });
      day.strike(stage_);
      ForAll([&](Troupe& troupe) { troupe.Play(day); });
      day.heal(stage_);
      ForAll([&](Troupe& troupe) { troupe.End(day); });
    }
    Gather(day.name);
  }
  void ForAll(const std::function<void(Troupe&)>& begin) {
    for (const auto& troupe : troupes_) begin(*troupe);
    WaitForAll();
  }
  void WaitForAll() {
    for (const auto& troupe : troupes_) troupe->WaitUntilDone();
  }
  void Gather(const std::string& day) {
    for (const auto& troupe : troupes_) {
      Tally tally = troupe->TakeTally();
      for (const std::string& missed : tally.repeated) {
        out_ << fmt::format("{:>7.1f} s  {}, repeated: {}\n", Seconds(), day, missed);
      }
      for (const std::string& violation : tally.violations) {
        out_ << fmt::format("{:>7.1f} s  {}: {}\n", Seconds(), day, violation);
      }
      out_ << std::flush;
      Add(outcome_[troupe->language()][day], std::move(tally));
    }
  }
  [[nodiscard]] double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  }

  const Plan& plan_;
  std::ostream& out_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  Outcome outcome_;
  Stage stage_;
  std::vector<std::unique_ptr<Troupe>> troupes_;
};

}  // namespace

Outcome Play(const Plan& plan, std::ostream& out) { return Run(plan, out).Play(); }

size_t CountViolations(const Outcome& outcome) {
  size_t count = 0;
  for (const auto& [language, days] : outcome) {
    for (const auto& [day, tally] : days) count += tally.violations.size();
  }
  return count;
}

std::string Describe(const Outcome& outcome, const Plan& plan) {
  std::string text = fmt::format("{:<36}", "seats kept, of days");
  for (const auto& [language, days] : outcome) text += fmt::format("{:>14}", language);
  text += "\n";
  for (const Day& day : plan.days) {
    text += fmt::format("{:<36}", day.name);
    for (const auto& [language, days] : outcome) {
      const Tally& tally = days.at(day.name);
      text += fmt::format("{:>14}", fmt::format("{} of {}", tally.seats_kept, tally.times));
    }
    text += "\n";
  }
  std::string repeated = fmt::format("\n{:<36}", "days that were repeated");
  std::string violations = fmt::format("\n{:<36}", "violations");
  for (const auto& [language, days] : outcome) {
    size_t count = 0;
    for (const auto& [day, tally] : days) count += tally.repeated.size();
    repeated += fmt::format("{:>14}", count);
    violations += fmt::format("{:>14}", CountViolations({{language, days}}));
  }
  return text + repeated + violations + "\n";
}

}  // namespace tenure::testing
