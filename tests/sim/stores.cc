#include "tests/sim/stores.h"

#include <algorithm>
#include <utility>

#include "core/law/remembered.h"
#include "tests/sim/auditor.h"

namespace tenure::sim {

using namespace std::chrono_literals;

namespace {

// Leaves the head of a queue as a store would have read it just before the first in it died: the
// next one was not read. Returns the candidacy to put back before the transaction is saved.
std::optional<Candidacy> HideHead(ElectionState& state, const LockSet::Part& item) {
  if (state.queue.empty()) return std::nullopt;
  const Candidacy head = state.queue.front();
  const bool spoken_for = std::ranges::find(item.sessions, head.session) != item.sessions.end();
  const auto& appointment = state.election.appointment;
  const bool named = item.candidates.contains(head.candidate) ||
                     (appointment && appointment->candidate == head.candidate);
  if (spoken_for || named) return std::nullopt;
  state.queue.erase(state.queue.begin());
  state.horizon = head;
  // The one that died, whose ticket was the one before.
  state.horizon->session = {};
  state.horizon->ticket.value -= state.horizon->ticket.value > 0 ? 1 : 0;
  return head;
}

}  // namespace

Result<Committed> AuditedStore::Transact(const LockSet& locks, const CommitRules& rules,
                                         const Decide& decide) {
  auto committed = next_.Transact(locks, rules, decide);
  if (!committed) return committed;
  world_.from_memory += committed->memory == Committed::Memory::kHeld ? 1 : 0;
  world_.refused += committed->memory == Committed::Memory::kRefused ? 1 : 0;
  auditor_.OnTransaction(locks, committed->transaction);
  return committed;
}

Result<size_t> AuditedStore::ForgetSessions(Duration age, size_t limit) {
  auto forgotten = next_.ForgetSessions(age, limit);
  if (forgotten && *forgotten > 0) auditor_.OnForgotten();
  return forgotten;
}

Result<bool> AuditedStore::DeclareDead(HomeId home, uint64_t beat) {
  const auto before = auditor_.FindHome(home);
  auto dead = next_.DeclareDead(home, beat);
  if (dead && *dead && before && !before->dead && before->beat != beat) {
    world_.Violate("home {} was declared dead though it has beaten since", home.value);
  }
  if (dead && *dead && before && !before->dead) auditor_.OnDeath(home);
  return dead;
}

Result<Committed> MutantStore::Transact(const LockSet& locks, const CommitRules& rules,
                                        const Decide& decide) {
  const Mutation& mutation = world_.mutation;
  if (mutation.answers_before_commit && !locks.elections.empty() && world_.random.OneIn(20)) {
    return PretendToCommit(locks, rules, decide);
  }
  world_.settling_only =
      !locks.elections.empty() && std::ranges::all_of(locks.elections, [](const auto& election) {
        return election.second.sessions.empty();
      });
  CommitRules kept = rules;
  if (mutation.without_witness && kept.witness && !kept.witness->number) kept.witness.reset();
  LockSet changed = locks;
  if (mutation.before_load) mutation.before_load(changed, world_);
  TransactionState decided;  // answered, whatever was saved
  const Decide wrongly = [&](TransactionState& transaction) {
    const TransactionState before = transaction;
    if (mutation.before_law) mutation.before_law(transaction, world_);
    decide(transaction);
    decided = transaction;
    if (mutation.after_law) mutation.after_law(before, transaction, world_);
  };
  const bool unchecked = mutation.unchecked && rules.remembered != nullptr;
  auto committed = unchecked ? TransactUnchecked(changed, kept, wrongly)
                             : next_.Transact(changed, kept, wrongly);
  if (committed) committed->transaction = std::move(decided);
  return committed;
}

Result<Committed> MutantStore::TransactUnchecked(const LockSet& locks, CommitRules rules,
                                                 const Decide& decide) {
  const TransactionState& remembered = *std::exchange(rules.remembered, nullptr);
  auto memory = Committed::Memory::kUnused;
  auto committed = next_.Transact(locks, rules, [&](TransactionState& transaction) {
    memory = Committed::Memory::kRefused;
    TransactionState seen = transaction;
    world_.mutation.unchecked(remembered, seen);
    TransactionState decided = remembered;
    decide(decided);
    if (!StillHolds(remembered, seen) || !MayCommitFromMemory(remembered, decided)) {
      return decide(transaction);
    }
    transaction = std::move(decided);
    memory = Committed::Memory::kHeld;
  });
  if (committed) committed->memory = memory;
  return committed;
}

Result<Committed> MutantStore::PretendToCommit(const LockSet& locks, const CommitRules& rules,
                                               const Decide& decide) {
  TransactionState decided;
  auto done = next_.Transact(locks, rules, [&](TransactionState& transaction) {
    decided = transaction;
    decide(decided);
  });
  if (!done) return done;
  if (!decided.events.empty()) {
    const int partition = PartitionOf(locks.elections.begin()->first);
    const auto partitions = next_.ReadPartitions();
    done->offsets = {{partition, partitions->offsets[static_cast<size_t>(partition)] + 1}};
  }
  done->transaction = std::move(decided);
  return done;
}

Result<Attendance> MutantStore::ReadAttendance(HomeId home) {
  auto attendance = next_.ReadAttendance(home);
  if (attendance && world_.mutation.after_attendance) {
    world_.mutation.after_attendance(*attendance);
  }
  return attendance;
}

Result<std::vector<FeedEntry>> MutantStore::ReadFeed(int partition, uint64_t after,
                                                     uint64_t until) {
  auto entries = next_.ReadFeed(partition, after, until);
  if (entries && world_.mutation.after_feed) world_.mutation.after_feed(*entries);
  return entries;
}

Result<DueWork> MutantStore::FindDueWork(size_t limit) {
  auto due = next_.FindDueWork(limit);
  if (due && world_.mutation.after_due) world_.mutation.after_due(*due);
  return due;
}

Result<std::vector<PlaceKey>> MutantStore::FindPlaces(const std::vector<SessionId>& sessions) {
  auto places = next_.FindPlaces(sessions);
  if (places && world_.mutation.after_places) world_.mutation.after_places(*places);
  return places;
}

Result<BeatReport> MutantStore::Beat(const BeatOrder& order) {
  const auto& beat = world_.mutation.beat;
  auto report = beat ? beat(next_, order) : next_.Beat(order);
  if (report && world_.mutation.after_due) world_.mutation.after_due(report->due);
  return report;
}

Result<std::vector<NumberedDeparture>> MutantStore::ReadDepartures(HomeId home, uint64_t after,
                                                                   size_t limit) {
  auto departures = next_.ReadDepartures(home, after, limit);
  if (departures && world_.mutation.after_departures) {
    world_.mutation.after_departures(*departures);
  }
  return departures;
}

Result<bool> MutantStore::DeclareDead(HomeId home, uint64_t beat) {
  const auto& declare = world_.mutation.declare_dead;
  return declare ? declare(next_, home, beat) : next_.DeclareDead(home, beat);
}

Result<std::vector<Session>> MutantStore::ListKept(HomeId home, const SessionId& after,
                                                   size_t limit) {
  auto kept = next_.ListKept(home, after, limit);
  if (kept && world_.mutation.never_sweeps) kept->clear();
  return kept;
}

Result<std::vector<SessionId>> MutantStore::ListOrphans(HomeId home, Duration lease_max,
                                                        size_t limit) {
  const Duration most = world_.mutation.ends_orphans_at_once ? Duration(1h) : lease_max;
  return next_.ListOrphans(home, most, limit);
}

// --- Late ---

bool LateStore::IsLate() {
  const int64_t late = world_.plan.late_writes;
  return late > 0 && !world_.healed && world_.random.Chance(late);
}

// For a while: what is tried again is late, too.
bool LateStore::EndsAreLate() {
  if (world_.healed || world_.Now() < ends_late_until_) return !world_.healed;
  if (!IsLate()) return false;
  ends_late_until_ = world_.Now() + world_.random.Between(1ms, 6s);
  return true;
}

Error LateStore::Later(std::function<void()> write) {
  world_.After(world_.random.Between(1ms, 6s), std::move(write));
  return {Reason::kStoreUnavailable, "planted: the write is late"};
}

// Ends of sessions, by their homes or as orphans.
Result<Committed> LateStore::Transact(const LockSet& locks, const CommitRules& rules,
                                      const Decide& decide) {
  const bool may_end = rules.witness && !rules.witness->number && locks.elections.empty();
  if (!may_end || !EndsAreLate()) return next_.Transact(locks, rules, decide);
  std::vector<Session> ends;
  CommitRules late = rules;
  late.remembered = nullptr;
  const auto decided = next_.Transact(locks, late, [&](TransactionState& transaction) {
    TransactionState copy = transaction;
    decide(copy);
    for (const SessionId& id : copy.ended) {
      if (copy.sessions.at(id).ended == Cause::kExpired) ends.push_back(copy.sessions.at(id));
    }
  });
  if (!decided || ends.empty()) return next_.Transact(locks, rules, decide);
  return tl::unexpected(Later([this, locks, late, ends] {
    (void)next_.Transact(locks, late, [&](TransactionState& transaction) {
      transaction.home = late.witness->home;
      for (const Session& end : ends) {
        world_.Say("an end of {} comes late", NameOf(end.id));
        world_.mutation.late_end(transaction, end);
      }
    });
  }));
}

Result<BeatReport> LateStore::Beat(const BeatOrder& order) {
  if (!IsLate()) return next_.Beat(order);
  return tl::unexpected(Later([this, order] { (void)next_.Beat(order); }));
}

Result<bool> LateStore::DeclareDead(HomeId home, uint64_t beat) {
  const bool may_be_late = world_.plan.late_writes > 0 && !world_.healed;
  if (!may_be_late || !world_.random.OneIn(3)) return next_.DeclareDead(home, beat);
  return tl::unexpected(Later([this, home, beat] { (void)next_.DeclareDead(home, beat); }));
}

Result<Committed> QuirkyStore::Transact(const LockSet& locks, const CommitRules& rules,
                                        const Decide& decide) {
  const bool purges =
      std::ranges::any_of(locks.elections, [](const auto& it) { return it.second.past; });
  if (purges && !world_.all_is_told()) return Fail(Reason::kStoreUnavailable, "it is too early");
  const bool twice = world_.plan.decided_twice && world_.random.OneIn(10);
  const bool stale = world_.plan.stale_heads && !world_.healed && world_.random.OneIn(4);
  CommitRules without_memory = rules;
  if (world_.plan.forgetful && world_.random.OneIn(4)) without_memory.remembered = nullptr;
  return next_.Transact(locks, without_memory, [&](TransactionState& transaction) {
    if (twice) {
      TransactionState rolled_back = transaction;
      decide(rolled_back);
    }
    std::map<ElectionName, Candidacy> hidden;
    if (stale) {
      for (auto& [name, state] : transaction.elections) {
        const auto head = HideHead(state, locks.elections.at(name));
        if (head) hidden.emplace(name, *head);
      }
    }
    decide(transaction);
    for (const auto& [name, head] : hidden) {
      ElectionState& state = transaction.elections.at(name);
      if (!state.emptied) state.queue.push_back(head);
    }
  });
}

}  // namespace tenure::sim
