// The columns of each kind of row, once for all dialects: storage/rows.h reads them in this order,
// and storage/cells.h has their values. Macros, because SQLite's statements are literals.
#pragma once

// Each column of an election after its name, and whether a grant, a resignation or a new value can
// change it. FIRST and X make something of a column.
// clang-format off
#define TENURE_ELECTION_FIELDS(FIRST, X) \
  FIRST(term, true) X(revision, true) X(next_ticket, true) X(waiting, true) \
  X(leader_session, true) X(leader_candidate, true) X(leader_lease_ttl_us, true) \
  X(leader_value, true) X(leader_elected_at_us, true) X(leader_attempt, true) \
  X(lock_delay_us, false) X(min_hold_us, false) X(lease_ttl_default_us, false) \
  X(lease_ttl_max_us, false) X(queue_max, false) X(paused, false) X(deleted, false) \
  X(vacant_until_us, false) X(appointed_candidate, false) X(appointed_until_us, false) \
  X(cooling_until_us, false) X(wake_at_us, true) X(history_from, false) X(vacant_cause, true) \
  X(vacant_since_us, true) X(creator, false)
// clang-format on
#define TENURE_SELECTED(column, of_seat) ", e." #column
#define TENURE_ELECTION_COLUMNS "e.name" TENURE_ELECTION_FIELDS(TENURE_SELECTED, TENURE_SELECTED)
#define TENURE_CANDIDACY_COLUMNS \
  "c.session, c.ticket, c.precedence, c.value, c.attempt, c.candidate, c.asked_again"
#define TENURE_SESSION_COLUMNS                                                         \
  "id, candidate, lease_ttl_us, cause, ended_at_us, opened_at_us, lease_ttl_asked_us," \
  " lease_ttl_since_us, identity, home, moves"
#define TENURE_HOME_COLUMNS "h.id, h.beat, h.dead, h.departures, h.good_for_us, h.peer, h.address"
#define TENURE_EVENT_COLUMNS                                                        \
  "election, revision, type, cause, term, session, candidate, lease_ttl_us, value," \
  " elected_at_us, at_us, successor"
#define TENURE_EPOCH_COLUMNS \
  "epoch, token, server, lossless, state, began_at_us, repairer, repair_until_us, guards_write"
#define TENURE_ADMIN_COLUMNS "number, election, action, term, at_us, detail, identity, reason"
