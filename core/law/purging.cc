#include "core/law/purging.h"

#include <algorithm>
#include <chrono>

#include "base/duration_text.h"

namespace tenure {
namespace {

// Whether something keeps the seat empty, or reserved, until a time in the future.
bool IsHeld(const Election& election, DbTime now) {
  const auto& appointment = election.appointment;
  return now < election.vacant_until || now < election.cooling_until || election.wake_at ||
         (appointment && appointment->until && now < *appointment->until);
}

// At least the number of events: revisions have no gaps, except where they were raised.
uint64_t EventsOf(const Election& election, const Past& past) {
  return past.oldest ? election.revision.value - past.oldest->value + 1 : 0;
}

// The later of the last change in the history and the end of the last term, which the election
// keeps when its history is trimmed. Nothing: it was never used, as far as anybody knows.
std::optional<DbTime> LastUsed(const Election& election, const Past& past) {
  if (!election.vacancy) return past.changed_at;
  return std::max(past.changed_at.value_or(election.vacancy->since), election.vacancy->since);
}

std::string Detail(const std::optional<DbTime>& used_at, DbTime now) {
  if (!used_at) return "never used";
  const Duration unused = now - *used_at;
  return "unused for " + DurationText(std::chrono::floor<std::chrono::hours>(unused));
}

}  // namespace

bool MayBeUnused(const Election& election) {
  return !election.leader && election.waiting == 0 && !election.paused &&
         election.settings == Settings();
}

Purged Apply(TransactionState& transaction, const Purge& purge, const ElectionName& name,
             uint64_t& events_max) {
  ElectionState& state = transaction.elections.at(name);
  const Election& election = state.election;
  const bool there = state.exists || election.deleted;
  if (!there || !MayBeUnused(election) || IsHeld(election, transaction.now)) return Purged::kNo;
  const Past& past = state.past.value();
  const auto used_at = LastUsed(election, past);
  if (used_at && transaction.now - *used_at < purge.unused_for) return Purged::kNo;
  if (purge.dry_run) return Purged::kYes;

  const uint64_t events = EventsOf(election, past);
  if (events > events_max) {
    state.forgotten_before = {past.oldest->value + events_max};
    events_max = 0;
    return Purged::kPartly;
  }
  events_max -= events;
  state.purged = true;
  state.exists = false;
  transaction.origin_min =
      std::max({transaction.origin_min, election.term.value, election.revision.value});
  transaction.admin_changes.push_back({name, AdminAction::kPurged, election.term, transaction.now,
                                       Detail(used_at, transaction.now), purge.author});
  return Purged::kYes;
}

}  // namespace tenure
