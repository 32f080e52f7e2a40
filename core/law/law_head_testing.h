// What a store does around the law: it reads the head of the queue, and saves what was decided from
// it.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/law/law_testing.h"

namespace tenure::testing {

// What a store that holds `all` would load for the commands.
inline TransactionState HeadOf(const TransactionState& all, size_t head_size,
                               const std::vector<const Command*>& commands) {
  const LockSet locks = LockSetOf(commands);
  const LockSet::Part& needs = locks.elections.begin()->second;
  const auto& appointment = ElectionIn(all).appointment;
  const auto& cool_downs = StateIn(all).cool_downs;
  const auto is_alive = [&](const Candidacy& it) { return all.sessions.at(it.session).Alive(); };
  const auto may_be_elected = [&](const Candidacy& it) {
    const auto kept_out = cool_downs.find(it.candidate);
    return it.priority >= 0 && (kept_out == cool_downs.end() || kept_out->second <= all.now);
  };
  const auto is_needed = [&](const Candidacy& it) {
    const bool named = needs.candidates.contains(it.candidate) ||
                       (appointment && appointment->candidate == it.candidate);
    return std::ranges::count(needs.sessions, it.session) > 0 || (named && is_alive(it));
  };

  TransactionState head = all;
  ElectionState& state = head.elections[kElection];
  state.queue.clear();
  size_t places_left = head_size;
  for (const Candidacy& candidacy : StateIn(all).queue) {
    const bool in_head = places_left > 0 && is_alive(candidacy) && may_be_elected(candidacy);
    if (in_head && --places_left == 0) state.horizon = candidacy;
    if (in_head || is_needed(candidacy)) state.queue.push_back(candidacy);
  }
  return head;
}

// What a store would hold after it saved how `decided` differs from `head`.
inline TransactionState Saved(const TransactionState& all, const TransactionState& head,
                              const TransactionState& decided) {
  TransactionState saved = decided;
  ElectionState& state = saved.elections[kElection];
  state.horizon.reset();
  if (state.emptied) return saved;
  for (const Candidacy& candidacy : StateIn(all).queue) {
    const auto& read = StateIn(head).queue;
    const bool was_read =
        std::ranges::find(read, candidacy.session, &Candidacy::session) != read.end();
    if (!was_read) state.queue.push_back(candidacy);
  }
  std::ranges::sort(state.queue,
                    [](const Candidacy& a, const Candidacy& b) { return a.Before(b); });
  return saved;
}

}  // namespace tenure::testing
