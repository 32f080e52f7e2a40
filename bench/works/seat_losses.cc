#include "bench/works/seat_losses.h"

#include <algorithm>
#include <csignal>
#include <functional>
#include <future>
#include <random>
#include <stdexcept>
#include <thread>

#include "bench/report/holder_log.h"

namespace tenure::bench {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;
using namespace std::chrono_literals;

constexpr auto kBesideTheNext = 100ms;  // from the next leader until the stopped holder continues
constexpr std::chrono::milliseconds kPeriod = 1s;  // between the attempts of each polling scheme
constexpr size_t kFew = 10;

// A holder, and candidates that wait for its seat.
class Siege {
 public:
  Siege(Venue& venue, const std::string& label, size_t candidates)
      : plan_{.label = label, .candidates = candidates, .elections = 1, .held = true},
        holder_(venue.StartHolder(election())) {
    (void)WaitFor([](const HolderLog& log) { return log.began.has_value(); }, "does not lead");
    contest_ = venue.Open(plan_);
  }

  [[nodiscard]] testing::Process& holder() { return *holder_; }
  [[nodiscard]] Contest& contest() { return *contest_; }
  [[nodiscard]] std::string election() const { return plan_.ElectionOf(0); }

  void WaitForRenewal() {
    const size_t before = Log().renewals;
    (void)WaitFor([&](const HolderLog& log) { return log.renewals > before; }, "does not renew");
  }

  HolderLog WaitForEnd() {
    return WaitFor([](const HolderLog& log) { return log.ended.has_value(); },
                   "does not learn that it was deposed");
  }

  HolderTime WaitForResignation() {
    return *WaitFor([](const HolderLog& log) { return log.resigning.has_value(); },
                    "does not resign")
                .resigning;
  }

 private:
  [[nodiscard]] HolderLog Log() const { return ReadHolderLog(holder_->Lines()); }

  template <typename Condition>
  HolderLog WaitFor(const Condition& condition, const std::string& else_it) {
    HolderLog log;
    const auto fulfilled = [&] {
      log = Log();
      return condition(log);
    };
    (void)testing::Eventually([&] { return fulfilled() || !holder_->Running(); }, kLeaderPatience);
    if (!fulfilled()) {
      throw std::runtime_error("the holder " + else_it + "; it wrote: " + holder_->Errors());
    }
    return log;
  }

  const ContestPlan plan_;
  const std::unique_ptr<testing::Process> holder_;
  std::unique_ptr<Contest> contest_;
};

double Crash(Venue& venue, const std::string& label, size_t candidates) {
  Siege siege(venue, label, candidates);
  siege.WaitForRenewal();
  const auto killed_at = Clock::now();
  siege.holder().Signal(SIGKILL);
  return Milliseconds(siege.contest().NextLeader() - killed_at).count();
}

// Spreads the attempts, so that they do not follow the order of the candidates' starts. The same
// for each scheme.
std::chrono::milliseconds SomeTimeWithinAPeriod(const std::string& label) {
  std::mt19937 random(static_cast<uint32_t>(std::hash<std::string>{}(label + " resigns")));
  return std::chrono::milliseconds(
      std::uniform_int_distribution<int64_t>(0, kPeriod.count() - 1)(random));
}

double Resign(Venue& venue, const std::string& label, size_t candidates) {
  Siege siege(venue, label, candidates);
  std::this_thread::sleep_for(SomeTimeWithinAPeriod(label));
  siege.holder().Signal(SIGUSR1);
  const auto next = siege.contest().NextLeader();
  return Milliseconds(next - siege.WaitForResignation()).count();
}

double Depose(Venue& venue, const std::string& label, size_t candidates) {
  Siege siege(venue, label, candidates);
  siege.WaitForRenewal();
  venue.Depose(siege.holder(), siege.election());
  auto both_from = siege.contest().NextLeader();
  if (!venue.held_by_connection()) {
    std::this_thread::sleep_for(kBesideTheNext);
    both_from = std::max(both_from, Clock::now());
    siege.holder().Signal(SIGCONT);
  }
  return siege.WaitForEnd().OverlapMs(both_from);
}

}  // namespace

SeatLosses MeasureSeatLosses(Venue& venue, const LossPlan& plan) {
  SeatLosses losses;
  for (size_t number = 0; number < plan.count; ++number) {
    const std::string suffix = plan.label + "-" + std::to_string(number);
    losses.resign_ms.push_back(Resign(venue, "resign-" + suffix, plan.candidates));
    // These two mostly wait for a lease to expire.
    auto deposed = std::async(std::launch::async,
                              [&] { return Depose(venue, "depose-" + suffix, plan.candidates); });
    losses.crash_ms.push_back(Crash(venue, "crash-" + suffix, plan.candidates));
    losses.overlap_ms.push_back(deposed.get());
  }
  return losses;
}

bool ReplacesAStoppedHolder(Venue& venue, const std::string& label,
                            std::chrono::milliseconds duration) {
  Siege siege(venue, label, kFew);
  siege.holder().Signal(SIGSTOP);
  return siege.contest().leaders().Next(duration).has_value();
}

}  // namespace tenure::bench
