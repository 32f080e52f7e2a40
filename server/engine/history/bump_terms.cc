#include "server/engine/history/bump_terms.h"

#include <set>
#include <utility>
#include <vector>

#include "core/law/law.h"

namespace tenure::engine {
namespace {

constexpr size_t kPerTransaction = 250;
constexpr int kTriesMax = 10;  // for what others have locked; each waits for about a second

LockSet Elections(const std::vector<ElectionName>& names) {
  LockSet locks;
  for (const ElectionName& name : names) locks.elections[name].departures = 1;
  return locks;
}

// Returns the elections that others have locked.
Result<std::set<ElectionName>> BumpElections(Store& store, const LockSet& locks, uint64_t floor) {
  auto committed = store.Transact(locks, {}, [&](TransactionState& transaction) {
    for (const auto& [name, state] : transaction.elections) Bump(transaction, name, floor);
  });
  if (!committed) return tl::unexpected(committed.error());
  return std::move(committed->transaction.busy);
}

Result<void> BumpPatiently(Store& store, const ElectionName& name, uint64_t floor) {
  LockSet locks = Elections({name});
  locks.patient = true;
  for (int tries = 0; tries < kTriesMax; ++tries) {
    const auto busy = BumpElections(store, locks, floor);
    if (!busy) return tl::unexpected(busy.error());
    if (busy->empty()) return {};
  }
  return Fail(Reason::kOverloaded,
              "election '" + name.bytes + "' is locked by another transaction; try again");
}

using BeforeEach = std::function<Result<void>()>;

Result<size_t> BumpAllElections(Store& store, uint64_t floor, const BeforeEach& before_each) {
  size_t bumped = 0;
  std::vector<ElectionName> names;
  do {
    const std::string after = names.empty() ? "" : names.back().bytes;
    const auto page = store.ListElections("", after, kPerTransaction);
    if (!page) return tl::unexpected(page.error());
    names.clear();
    for (const ElectionView& view : *page) names.push_back(view.election.name);
    if (names.empty()) break;
    if (const auto go_on = before_each(); !go_on) return tl::unexpected(go_on.error());
    const auto busy = BumpElections(store, Elections(names), floor);
    if (!busy) return tl::unexpected(busy.error());
    for (const ElectionName& name : *busy) {
      const auto done = BumpPatiently(store, name, floor);
      if (!done) return tl::unexpected(done.error());
    }
    bumped += names.size();
  } while (names.size() == kPerTransaction);
  return bumped;
}

// Ends those that are alive: the seats of the others are given up in any case.
Result<size_t> EndAllSessions(Store& store, const BeforeEach& before_each) {
  size_t ended = 0;
  SessionId last;
  while (true) {
    const auto page = store.ReadSessions("", last, kPerTransaction);
    if (!page) return tl::unexpected(page.error());
    if (page->empty()) return ended;
    if (const auto go_on = before_each(); !go_on) return tl::unexpected(go_on.error());
    LockSet locks;
    for (const SessionView& view : *page) locks.sessions.push_back(view.session.id);
    const auto committed = store.Transact(locks, {}, [&](TransactionState& transaction) {
      for (const auto& [id, session] : transaction.sessions) {
        (void)EndSession(transaction, id, Cause::kDeposed);
      }
    });
    if (!committed) return tl::unexpected(committed.error());
    if (!committed->transaction.busy_sessions.empty()) {
      return Fail(Reason::kOverloaded,
                  "a session is locked; stop all replicas, then try again (the locks of a killed "
                  "replica disappear within seconds)");
    }
    ended += page->size();
    last = page->back().session.id;
  }
}

Result<void> Record(Store& store, const Bumped& bumped, const Author& author) {
  const auto committed = store.Transact({}, {}, [&](TransactionState& transaction) {
    transaction.admin_changes.push_back({{},
                                         AdminAction::kTermsRaised,
                                         {bumped.to},
                                         transaction.now,
                                         "all terms, of " + std::to_string(bumped.elections) +
                                             " elections; " + std::to_string(bumped.sessions) +
                                             " sessions were ended",
                                         author});
  });
  if (!committed) return tl::unexpected(committed.error());
  return {};
}

}  // namespace

Result<Bumped> BumpTerms(Store& store, const Author& author, const BeforeEach& before_each) {
  // First, so that elections created meanwhile begin above all earlier numbers.
  const auto origin = store.RaiseOrigin();
  if (!origin) return tl::unexpected(origin.error());
  const auto sessions = EndAllSessions(store, before_each);
  if (!sessions) return tl::unexpected(sessions.error());
  const auto elections = BumpAllElections(store, *origin, before_each);
  if (!elections) return tl::unexpected(elections.error());
  const Bumped bumped{*origin, *elections, *sessions};
  if (const auto recorded = Record(store, bumped, author); !recorded) {
    return tl::unexpected(recorded.error());
  }
  return bumped;
}

}  // namespace tenure::engine
