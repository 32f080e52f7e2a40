#include "server/engine/housekeeping.h"

#include <algorithm>
#include <utility>

#include "server/log/log.h"

namespace tenure::engine {
namespace {

using namespace std::chrono_literals;

constexpr SteadyTime::duration kForgetInterval = 60s;
constexpr SteadyTime::duration kForgetPause = 1s;  // while there is more to forget
constexpr Duration kEndedSessionsKeptFor = std::chrono::hours(1);
constexpr size_t kForgottenAtOnceMax = 10'000;

// Passes through the history within its maximum age, within bounds.
constexpr int kTrimsPerAge = 10;
constexpr Duration kTrimIntervalMin = 100ms;
constexpr Duration kTrimIntervalMax = 60s;
constexpr SteadyTime::duration kTrimPause = 100ms;  // while there is more to look through
constexpr size_t kTrimmedAtOnceMax = 1000;

constexpr SteadyTime::duration kStatisticsInterval = 10s;

}  // namespace

void Housekeeping::Start() {
  scheduler_.Post(Work::kBackground, [this] { ForgetSessions(); });
  scheduler_.Post(Work::kBackground, [this] { TrimHistory({}); });
  scheduler_.Post(Work::kBackground, [this] { ReadStatistics(); });
}

void Housekeeping::ForgetSessions() {
  const auto forgotten = store_.ForgetSessions(kEndedSessionsKeptFor, kForgottenAtOnceMax);
  if (!forgotten) {
    LogWarning("cannot delete ended sessions", {{"error", forgotten.error().message}});
  }
  const bool more = forgotten && *forgotten == kForgottenAtOnceMax;
  PostIn(more ? kForgetPause : kForgetInterval, [this] { ForgetSessions(); });
}

void Housekeeping::TrimHistory(const ElectionName& after) {
  const auto trimmed = store_.TrimHistory(retention_, after, kTrimmedAtOnceMax);
  if (trimmed) {
    metrics_.events_trimmed.Increment(static_cast<double>(trimmed->deleted));
  } else {
    LogWarning("cannot trim history", {{"error", trimmed.error().message}});
  }
  const bool more =
      trimmed && (!trimmed->last.bytes.empty() || trimmed->deleted >= kTrimmedAtOnceMax);
  const Duration interval =
      std::clamp(retention_.age_max / kTrimsPerAge, kTrimIntervalMin, kTrimIntervalMax);
  PostIn(more ? kTrimPause : SteadyTime::duration(interval),
         [this, next = more ? trimmed->last : ElectionName()] { TrimHistory(next); });
}

void Housekeeping::ReadStatistics() {
  statistics_.Take();
  PostIn(kStatisticsInterval, [this] { ReadStatistics(); });
}

void Housekeeping::PostIn(SteadyTime::duration pause, Scheduler::Task task) {
  scheduler_.PostAt(Work::kBackground, scheduler_.Now() + pause, std::move(task));
}

}  // namespace tenure::engine
