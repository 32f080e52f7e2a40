#include "server/engine/expiry.h"

#include <algorithm>
#include <chrono>

#include "core/law.h"

namespace tenure::engine {
namespace {

using namespace std::chrono_literals;

// The search knows of sessions that other replicas opened before the first of them can expire: it
// runs at least this often within the shortest lease.
constexpr int kSearchesPerShortestLease = 2;
constexpr SteadyTime::duration kSearchPauseMax = 500ms;
constexpr size_t kDuePerSearch = 500;

}  // namespace

Expiry::Expiry(LawStore& store, Scheduler& scheduler, Metrics& metrics, DatabaseClock& clock,
               ChangeFeed& feed, Duration lease_ttl_min, uint64_t seed, Commands& commands,
               Transactions& transactions, Publisher& publisher, SessionEndings& endings)
    : store_(store),
      scheduler_(scheduler),
      metrics_(metrics),
      feed_(feed),
      pause_max_(std::min<SteadyTime::duration>(kSearchPauseMax,
                                                lease_ttl_min / kSearchesPerShortestLease)),
      commands_(commands),
      transactions_(transactions),
      publisher_(publisher),
      endings_(endings),
      clock_(store, metrics, clock, transactions),
      random_(static_cast<uint32_t>(seed)) {}

void Expiry::Start() {
  scheduler_.Post(Work::kBackground, [this] { Search(); });
}

void Expiry::Search() {
  scheduler_.PostAt(Work::kBackground, FindAndDoDueWork(), [this] { Search(); });
}

SteadyTime Expiry::FindAndDoDueWork() {
  const SteadyTime asked = scheduler_.Now();
  const SteadyTime latest = asked + pause_max_;
  const auto point = feed_.point();
  auto due = store_.FindDueWork(kDuePerSearch);
  const SteadyTime answered = scheduler_.Now();
  ObserveSeconds(metrics_.database_seconds[Operation::kSearch], answered - asked);
  const bool confirmed =
      feed_.Confirm(point, due.map([](const DueWork& it) { return it.partitions; }));
  if (!confirmed) return latest;
  if (!clock_.Follow(due->now, asked, answered)) return latest;
  if (!clock_.MayJudge(asked)) due->expired.clear();
  const auto marked = MarkExpired(due->expired);
  std::erase_if(due->unsettled, [&](const SessionId& id) { return endings_.Settling(id); });
  if (!due->unsettled.empty()) endings_.Settle(due->unsettled);
  for (const ElectionName& name : due->elections) {
    commands_.Submit(Reconcile{name, {}}, [](Result<Answer>) {});
  }
  if (marked && due->expired.size() == kDuePerSearch) return scheduler_.Now();
  if (!due->next) return latest;
  return std::min(latest, scheduler_.Now() + (*due->next - due->now) +
                              std::chrono::milliseconds(jitter_(random_)));
}

Result<void> Expiry::MarkExpired(const std::vector<SessionId>& sessions) {
  if (sessions.empty()) return {};
  LockSet locks{{}, sessions};
  const auto committed = transactions_.Run(locks, [&](TransactionState& transaction) {
    for (const SessionId& id : sessions)
      ExpireIfDue(transaction, id);  // busy ones: by the next search
  });
  if (!committed) return tl::unexpected(committed.error());
  publisher_.Publish(*committed);
  return {};
}

}  // namespace tenure::engine
