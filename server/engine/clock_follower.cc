#include "server/engine/clock_follower.h"

#include <chrono>
#include <set>
#include <utility>

#include "core/law.h"
#include "server/log/log.h"

namespace tenure::engine {
namespace {

constexpr size_t kMovedAtOnceMax = 500;
constexpr int kMoveTriesMax = 20;  // of sessions that others have locked

}  // namespace

ClockFollower::ClockFollower(LawStore& store, Metrics& metrics, DatabaseClock& clock,
                             Transactions& transactions)
    : store_(store), metrics_(metrics), clock_(clock), transactions_(transactions) {}

bool ClockFollower::Follow(DbTime now, SteadyTime asked, SteadyTime answered) {
  if (const auto jump = clock_.JumpTo(now, asked, answered)) {
    if (const auto moved = MoveLeases(); !moved) {
      LogWarning("cannot move leases along with the database's clock",
                 {{"error", moved.error().message}});
      return false;
    }
    transactions_.ForgetAll();
    metrics_.database_clock_jumps.Increment();
    LogWarning("the database's clock jumped",
               {{"seconds", std::chrono::duration<double>(*jump).count()}});
  }
  clock_.Saw(now, asked, answered);
  return true;
}

Result<void> ClockFollower::MoveLeases() {
  std::vector<SessionId> busy;
  for (SessionId after;;) {
    const auto page = store_.ListUnended(after, kMovedAtOnceMax);
    if (!page) return tl::unexpected(page.error());
    if (page->empty()) break;
    after = page->back();
    if (const auto moved = MoveLeases(*page, busy); !moved) return moved;
  }
  for (int tries = 0; !busy.empty() && tries < kMoveTriesMax; ++tries) {
    if (const auto moved = MoveLeases(std::exchange(busy, {}), busy); !moved) return moved;
  }
  if (!busy.empty()) return Fail(Reason::kOverloaded, "another transaction has locked sessions");
  return {};
}

Result<void> ClockFollower::MoveLeases(const std::vector<SessionId>& sessions,
                                       std::vector<SessionId>& busy) {
  LockSet locks{{}, sessions};
  const auto committed = transactions_.RunByAnyClock(locks, [&](TransactionState& transaction) {
    for (const SessionId& id : sessions) FollowClock(transaction, id);
  });
  if (!committed) return tl::unexpected(committed.error());
  const std::set<SessionId>& passed_by = committed->transaction.busy_sessions;
  busy.insert(busy.end(), passed_by.begin(), passed_by.end());
  return {};
}

}  // namespace tenure::engine
