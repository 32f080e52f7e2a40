#include "server/engine/timed_work.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "core/law/law.h"

namespace tenure::engine {
namespace {

using namespace std::chrono_literals;

// Later work is left to the next beat.
constexpr SteadyTime::duration kPlannedMax = 1s;
// Pause before the next search, if one search does not show everything.
constexpr SteadyTime::duration kPauseWithMore = 100ms;
constexpr int64_t kJitterMax = 20;  // milliseconds

}  // namespace

TimedWork::TimedWork(ReplicaState& replica, ChangeFeed& feed, uint64_t seed, Commands& commands,
                     SessionEndings& endings)
    : store_(replica.store),
      scheduler_(replica.scheduler),
      metrics_(replica.metrics),
      clock_(replica.clock),
      feed_(feed),
      commands_(commands),
      endings_(endings),
      random_(static_cast<uint32_t>(seed)) {}

void TimedWork::Begin(const DueWork& due, SteadyTime asked, SteadyTime answered) {
  clock_.Saw(due.now, asked, answered);
  std::vector<SessionId> unsettled = due.unsettled;
  std::erase_if(unsettled, [&](const SessionId& id) { return endings_.Settling(id); });
  if (!unsettled.empty()) endings_.Settle(unsettled);
  for (const ElectionName& name : due.elections) {
    commands_.Submit(Reconcile{name, {}}, [](Result<Answer>) {});
  }
  const bool more = due.unsettled.size() == kDueMax || due.elections.size() == kDueMax;
  if (more) Plan(answered + kPauseWithMore);
  if (due.next) Plan(answered + std::max(*due.next - due.now, Duration(0)));
}

void TimedWork::Plan(SteadyTime when) {
  if (when >= scheduler_.Now() + kPlannedMax) return;  // the next beat shows it
  const MutexLock lock(mutex_);
  if (planned_ && planned_->first <= when) return;
  if (planned_) scheduler_.Cancel(*planned_);
  std::uniform_int_distribution<int64_t> jitter(0, kJitterMax);
  planned_ = scheduler_.PostAt(Work::kBackground, when + std::chrono::milliseconds(jitter(random_)),
                               [this] { Search(); });
}

void TimedWork::Search() {
  {
    const MutexLock lock(mutex_);
    planned_.reset();
  }
  const SteadyTime asked = scheduler_.Now();
  const auto point = feed_.point();
  const auto due = store_.FindDueWork(kDueMax);
  const SteadyTime answered = scheduler_.Now();
  ObserveSeconds(metrics_.database_seconds[Operation::kSearch], answered - asked);
  const bool fits = feed_.Confirm(point, due.map([](const DueWork& it) { return it.partitions; }));
  if (fits) Begin(*due, asked, answered);
}

}  // namespace tenure::engine
