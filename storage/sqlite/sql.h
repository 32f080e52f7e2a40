// Every statement that Tenure sends to SQLite, and nothing else. The tables are in storage/schema.
#pragma once

namespace tenure::sqlite::query {

#define TENURE_ELECTION_COLUMNS                                                                 \
  "e.name, e.term, e.revision, e.next_ticket, e.waiting, e.leader_session, e.leader_candidate," \
  " e.leader_lease_ttl_us, e.leader_value, e.leader_elected_at_us, e.leader_attempt"
#define TENURE_CANDIDACY_COLUMNS "c.session, c.ticket, c.precedence, c.value, c.attempt"
#define TENURE_EVENT_COLUMNS                                                        \
  "election, revision, type, cause, term, session, candidate, lease_ttl_us, value," \
  " elected_at_us, at_us"

// Transactions.
inline constexpr char kBegin[] = "BEGIN IMMEDIATE";
inline constexpr char kBeginRead[] = "BEGIN";
inline constexpr char kCommit[] = "COMMIT";
inline constexpr char kRollback[] = "ROLLBACK";
inline constexpr char kLoadElection[] =
    "SELECT " TENURE_ELECTION_COLUMNS " FROM elections e WHERE e.name = ?";
inline constexpr char kLoadPlace[] =
    "SELECT " TENURE_CANDIDACY_COLUMNS " FROM candidacies c WHERE c.election = ? AND c.session = ?";
inline constexpr char kLoadHead[] = "SELECT " TENURE_CANDIDACY_COLUMNS
                                    " FROM candidacies c JOIN sessions s ON s.id = c.session"
                                    " WHERE c.election = ? AND s.state = 0 AND s.expires_at_us > ?"
                                    " ORDER BY c.precedence, c.ticket LIMIT ?";
inline constexpr char kLoadSession[] =
    "SELECT candidate, lease_ttl_us, expires_at_us, cause FROM sessions WHERE id = ?";
inline constexpr char kSaveElection[] =
    "INSERT INTO elections (name, term, revision, next_ticket, waiting, leader_session,"
    " leader_candidate, leader_lease_ttl_us, leader_value, leader_elected_at_us, leader_attempt)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (name) DO UPDATE SET term = excluded.term, revision = excluded.revision,"
    " next_ticket = excluded.next_ticket, waiting = excluded.waiting,"
    " leader_session = excluded.leader_session, leader_candidate = excluded.leader_candidate,"
    " leader_lease_ttl_us = excluded.leader_lease_ttl_us, leader_value = excluded.leader_value,"
    " leader_elected_at_us = excluded.leader_elected_at_us,"
    " leader_attempt = excluded.leader_attempt";
inline constexpr char kSaveSession[] =
    "INSERT INTO sessions (id, candidate, lease_ttl_us, expires_at_us, state, cause)"
    " VALUES (?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (id) DO UPDATE SET expires_at_us = excluded.expires_at_us,"
    " state = excluded.state, cause = excluded.cause";
inline constexpr char kDeletePlace[] = "DELETE FROM candidacies WHERE election = ? AND session = ?";
inline constexpr char kSavePlace[] =
    "INSERT OR REPLACE INTO candidacies (election, session, ticket, precedence, value, attempt)"
    " VALUES (?, ?, ?, ?, ?, ?)";
inline constexpr char kAdvanceLane[] = "UPDATE lanes SET position = position + 1 WHERE lane = ?";
inline constexpr char kLanePosition[] = "SELECT position FROM lanes WHERE lane = ?";
inline constexpr char kSaveEvent[] = "INSERT INTO events (" TENURE_EVENT_COLUMNS
                                     ", lane, position)"
                                     " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

// Reads.
inline constexpr char kViewElection[] =
    "SELECT " TENURE_ELECTION_COLUMNS
    ", s.id IS NOT NULL FROM elections e"
    " LEFT JOIN sessions s ON s.id = e.leader_session AND s.state = 0 AND s.expires_at_us > ?2"
    " WHERE e.name = ?1";
inline constexpr char kListElections[] =
    "SELECT " TENURE_ELECTION_COLUMNS
    ", s.id IS NOT NULL FROM elections e"
    " LEFT JOIN sessions s ON s.id = e.leader_session AND s.state = 0 AND s.expires_at_us > ?1"
    " WHERE e.name >= ?2 AND e.name < ?3 AND e.name > ?4 ORDER BY e.name LIMIT ?5";
inline constexpr char kPosition[] =
    "SELECT COUNT(*) FROM candidacies me JOIN candidacies c ON c.election = me.election"
    " AND (c.precedence, c.ticket) <= (me.precedence, me.ticket)"
    " WHERE me.election = ? AND me.session = ?";
inline constexpr char kSeats[] =
    "SELECT " TENURE_ELECTION_COLUMNS " FROM elections e WHERE e.leader_session = ?";
inline constexpr char kEvents[] =
    "SELECT " TENURE_EVENT_COLUMNS
    " FROM events WHERE election = ? AND revision >= ? ORDER BY revision LIMIT ?";
inline constexpr char kFeed[] =
    "SELECT " TENURE_EVENT_COLUMNS
    ", position FROM events WHERE lane = ? AND position > ? AND position <= ?"
    " ORDER BY position, election, revision";
inline constexpr char kLanePositions[] = "SELECT lane, position FROM lanes";

// The end of sessions.
inline constexpr char kExpired[] =
    "SELECT id FROM sessions WHERE state = 0 AND expires_at_us <= ? ORDER BY expires_at_us LIMIT ?";
inline constexpr char kUnsettled[] = "SELECT id FROM sessions WHERE state = 1 LIMIT ?";
inline constexpr char kNextExpiry[] =
    "SELECT MIN(expires_at_us) FROM sessions WHERE state = 0 AND expires_at_us > ?";
inline constexpr char kPlaces[] =
    "SELECT name FROM elections WHERE leader_session = ?1"
    " UNION SELECT election FROM candidacies WHERE session = ?1";
inline constexpr char kMarkSettled[] =
    "UPDATE sessions SET state = 2 WHERE id = ?1 AND state = 1"
    " AND NOT EXISTS (SELECT 1 FROM elections WHERE leader_session = ?1)"
    " AND NOT EXISTS (SELECT 1 FROM candidacies WHERE session = ?1)";
inline constexpr char kForgetSessions[] =
    "DELETE FROM sessions WHERE id IN"
    " (SELECT id FROM sessions WHERE state = 2 AND expires_at_us < ? LIMIT ?)";

// The schema.
inline constexpr char kCreateSchemaVersion[] =
    "CREATE TABLE IF NOT EXISTS schema_version (one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),"
    " version INTEGER NOT NULL)";
inline constexpr char kHasSchemaVersion[] =
    "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'";
inline constexpr char kSchemaVersion[] = "SELECT version FROM schema_version";
inline constexpr char kSetSchemaVersion[] =
    "INSERT OR REPLACE INTO schema_version (one, version) VALUES (1, ?)";

#undef TENURE_ELECTION_COLUMNS
#undef TENURE_CANDIDACY_COLUMNS
#undef TENURE_EVENT_COLUMNS

}  // namespace tenure::sqlite::query
