// The columns of each kind of row, in the order in which storage/rows.h reads them. The same in all
// dialects; macros, because SQLite's statements are literals.
#pragma once

#define TENURE_ELECTION_COLUMNS                                                                 \
  "e.name, e.term, e.revision, e.next_ticket, e.waiting, e.leader_session, e.leader_candidate," \
  " e.leader_lease_ttl_us, e.leader_value, e.leader_elected_at_us, e.leader_attempt,"           \
  " e.lock_delay_us, e.min_hold_us, e.lease_ttl_default_us, e.lease_ttl_max_us, e.queue_max,"   \
  " e.paused, e.deleted, e.vacant_until_us, e.appointed_candidate, e.appointed_until_us,"       \
  " e.cooling_until_us, e.wake_at_us, e.history_from, e.vacant_cause, e.vacant_since_us,"       \
  " e.creator"
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
