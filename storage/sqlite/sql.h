// Every statement that Tenure sends to SQLite, and nothing else. The tables are in storage/schema.
#pragma once

#include "storage/columns.h"

namespace tenure::sqlite::query {

// The rest of the leases of live sessions s, with their homes h, at the time ?2: all of it while
// the home lives; once it is dead, the lease runs out.
#define TENURE_LEASE_LEFT                  \
  "CASE h.dead WHEN 0 THEN s.lease_ttl_us" \
  " WHEN 1 THEN MAX(0, s.lease_ttl_us + h.died_at_us - ?2) ELSE 0 END"
#define TENURE_WITH_HOMES \
  " LEFT JOIN (SELECT id AS home_id, dead, died_at_us FROM homes) h ON h.home_id = s.home"

// Transactions.
inline constexpr char kBegin[] = "BEGIN IMMEDIATE";
inline constexpr char kBeginRead[] = "BEGIN";
inline constexpr char kCommit[] = "COMMIT";
inline constexpr char kRollback[] = "ROLLBACK";
inline constexpr char kLoadElection[] =
    "SELECT " TENURE_ELECTION_COLUMNS " FROM elections e WHERE e.name = ?";
inline constexpr char kLoadPlace[] =
    "SELECT " TENURE_CANDIDACY_COLUMNS " FROM candidacies c WHERE c.election = ? AND c.session = ?";
// The first live candidacies that may be elected.
inline constexpr char kLoadHead[] =
    "SELECT " TENURE_CANDIDACY_COLUMNS
    " FROM candidacies c JOIN sessions s ON s.id = c.session"
    " WHERE c.election = ?1 AND c.precedence < 0 AND s.state = 0"
    " AND NOT EXISTS (SELECT 1 FROM cool_downs d WHERE d.election = c.election"
    " AND d.candidate = c.candidate AND d.until_us > ?2)"
    " ORDER BY c.precedence, c.ticket LIMIT ?3";
// Live candidacies of one candidate.
inline constexpr char kLoadNamed[] = "SELECT " TENURE_CANDIDACY_COLUMNS
                                     " FROM candidacies c JOIN sessions s ON s.id = c.session"
                                     " WHERE c.election = ?1 AND c.candidate = ?2 AND s.state = 0"
                                     " ORDER BY c.precedence, c.ticket LIMIT ?3";
inline constexpr char kLoadCoolDowns[] =
    "SELECT candidate, until_us FROM cool_downs WHERE election = ? AND until_us > ?";
inline constexpr char kLoadSession[] =
    "SELECT " TENURE_SESSION_COLUMNS " FROM sessions WHERE id = ?";
#define TENURE_NAMED(column, of_seat) ", " #column
#define TENURE_MARKED(column, of_seat) ", ?"
#define TENURE_OVERWRITTEN_FIRST(column, of_seat) #column " = excluded." #column
#define TENURE_OVERWRITTEN(column, of_seat) ", " #column " = excluded." #column
inline constexpr char kSaveElection[] =
    "INSERT INTO elections (name" TENURE_ELECTION_FIELDS(TENURE_NAMED, TENURE_NAMED)
    ") VALUES (?" TENURE_ELECTION_FIELDS(TENURE_MARKED, TENURE_MARKED)
    ") ON CONFLICT (name) DO UPDATE SET "
    TENURE_ELECTION_FIELDS(TENURE_OVERWRITTEN_FIRST, TENURE_OVERWRITTEN);
inline constexpr char kUsage[] =
    "SELECT COUNT(*), COALESCE(SUM("
    "(SELECT COUNT(*) FROM candidacies c WHERE c.session = s.id)"
    " + (SELECT COUNT(*) FROM elections e WHERE e.leader_session = s.id)), 0)"
    " FROM sessions s WHERE s.identity = ?1 AND s.identity != x'' AND s.state = 0";
inline constexpr char kCreated[] =
    "SELECT COUNT(*) FROM elections WHERE creator = ?1 AND creator != x''";
inline constexpr char kPast[] =
    "SELECT x.name, (SELECT MIN(e.revision) FROM events e WHERE e.election = x.name),"
    " (SELECT e.at_us FROM events e WHERE e.election = x.name ORDER BY e.revision DESC LIMIT 1),"
    " (SELECT MAX(c.at_us) FROM admin_changes c WHERE c.election = x.name)"
    " FROM elections x WHERE x.name = ?";
inline constexpr char kSaveSession[] =
    "INSERT INTO sessions (" TENURE_SESSION_COLUMNS
    ", state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (id) DO UPDATE SET ended_at_us = excluded.ended_at_us,"
    " state = excluded.state, cause = excluded.cause, lease_ttl_us = excluded.lease_ttl_us,"
    " lease_ttl_since_us = excluded.lease_ttl_since_us, home = excluded.home,"
    " moves = excluded.moves";
inline constexpr char kEmptyQueue[] = "DELETE FROM candidacies WHERE election = ?";
inline constexpr char kEmptyCoolDowns[] = "DELETE FROM cool_downs WHERE election = ?";
inline constexpr char kDeletePlace[] = "DELETE FROM candidacies WHERE election = ? AND session = ?";
inline constexpr char kSavePlace[] =
    "INSERT OR REPLACE INTO candidacies (election, session, ticket, precedence, value, attempt,"
    " candidate, asked_again) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
inline constexpr char kSaveCoolDown[] =
    "INSERT OR REPLACE INTO cool_downs (election, candidate, until_us) VALUES (?, ?, ?)";
inline constexpr char kSaveAdminChange[] =
    "INSERT INTO admin_changes (election, action, term, at_us, detail, identity, reason)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)";
// An election, and all that belongs to it, except operators' changes.
inline constexpr const char* kPurge[] = {"DELETE FROM events WHERE election = ?",
                                         "DELETE FROM cool_downs WHERE election = ?",
                                         "DELETE FROM elections WHERE name = ?"};
inline constexpr char kForgetEvents[] = "DELETE FROM events WHERE election = ? AND revision < ?";
inline constexpr char kAdvancePartition[] =
    "UPDATE lanes SET position = position + 1 WHERE lane = ?";
inline constexpr char kPartition[] = "SELECT position, epoch FROM lanes WHERE lane = ?";
inline constexpr char kSaveEvent[] = "INSERT INTO events (" TENURE_EVENT_COLUMNS
                                     ", lane, position)"
                                     " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

// Homes.
inline constexpr char kHome[] = "SELECT " TENURE_HOME_COLUMNS " FROM homes h WHERE h.id = ?";
inline constexpr char kBeginHome[] =
    "INSERT OR IGNORE INTO homes (id, beat, dead, departures, good_for_us, peer, address, "
    "began_at_us)"
    " VALUES (?, ?, 0, ?, ?, ?, ?, ?)";
// Only if the home is not dead, and its beat is between two numbers.
inline constexpr char kNumberHome[] =
    "UPDATE homes SET beat = ?2 WHERE id = ?1 AND dead = 0 AND beat >= ?3 AND beat < ?2";
inline constexpr char kHomeStands[] =
    "SELECT COUNT(*) FROM homes WHERE id = ? AND dead = 0 AND beat >= ?";
inline constexpr char kLivingHomes[] =
    "SELECT " TENURE_HOME_COLUMNS " FROM homes h WHERE h.dead = 0 AND h.id != ?";
// Dead or missing homes of live sessions. Reads the index from one home to the next.
inline constexpr char kGoneHomes[] =
    "WITH RECURSIVE s (home) AS (SELECT MIN(home) FROM sessions WHERE state = 0 UNION ALL"
    " SELECT (SELECT MIN(home) FROM sessions WHERE state = 0 AND home > s.home) FROM s"
    " WHERE s.home IS NOT NULL)"
    " SELECT s.home FROM s LEFT JOIN homes h ON h.id = s.home"
    " WHERE s.home IS NOT NULL AND (h.id IS NULL OR h.dead = 1)";
inline constexpr char kDeclareDead[] =
    "UPDATE homes SET dead = 1, died_at_us = ?3 WHERE id = ?1 AND beat = ?2 AND dead = 0";
inline constexpr char kIsDead[] = "SELECT COUNT(*) FROM homes WHERE id = ? AND dead = 1";
inline constexpr char kDepart[] =
    "UPDATE homes SET departures = departures + 1 WHERE id = ? AND dead = 0";
inline constexpr char kSaveDeparture[] =
    "INSERT INTO departed (home, number, session, moves)"
    " SELECT id, departures, ?2, ?3 FROM homes WHERE id = ?1";
inline constexpr char kReadDepartures[] =
    "SELECT number, session, moves FROM departed WHERE home = ? AND number > ?"
    " ORDER BY number LIMIT ?";
inline constexpr char kForgetDepartures[] = "DELETE FROM departed WHERE home = ? AND number <= ?";
inline constexpr char kKept[] = "SELECT " TENURE_SESSION_COLUMNS
                                " FROM sessions WHERE state = 0 AND home = ? AND id > ?"
                                " ORDER BY id LIMIT ?";
inline constexpr char kOrphans[] =
    "SELECT id FROM sessions WHERE state = 0 AND home = ? AND lease_ttl_us <= ? LIMIT ?";
inline constexpr char kForgetDepartedOfTheDead[] =
    "DELETE FROM departed WHERE home IN (SELECT id FROM homes WHERE dead = 1)";
inline constexpr char kForgetHomes[] =
    "DELETE FROM homes WHERE dead = 1 AND died_at_us < ?"
    " AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.state = 0 AND s.home = homes.id)";

// Reads.
inline constexpr char kViewElection[] =
    "SELECT " TENURE_ELECTION_COLUMNS ", s.id IS NOT NULL, " TENURE_LEASE_LEFT
    " FROM elections e LEFT JOIN sessions s ON s.id = e.leader_session AND s.state = "
    "0" TENURE_WITH_HOMES " WHERE e.name = ?1";
inline constexpr char kListElections[] =
    "SELECT " TENURE_ELECTION_COLUMNS ", s.id IS NOT NULL, " TENURE_LEASE_LEFT
    " FROM elections e LEFT JOIN sessions s ON s.id = e.leader_session AND s.state = "
    "0" TENURE_WITH_HOMES
    " WHERE e.name >= ?1 AND e.name < ?3 AND e.name > ?4 ORDER BY e.name LIMIT ?5";
inline constexpr char kPosition[] =
    "SELECT COUNT(*) FROM candidacies me JOIN candidacies c ON c.election = me.election"
    " AND (c.precedence, c.ticket) <= (me.precedence, me.ticket)"
    " WHERE me.election = ? AND me.session = ?";
inline constexpr char kSeats[] = "SELECT " TENURE_ELECTION_COLUMNS
                                 " FROM elections e WHERE e.leader_session = ?"
                                 " AND e.name > ? ORDER BY e.name LIMIT ?";
inline constexpr char kEvents[] =
    "SELECT " TENURE_EVENT_COLUMNS
    " FROM events WHERE election = ?1 AND revision >= MAX(?2,"
    " COALESCE((SELECT history_from FROM elections WHERE name = ?1), 0))"
    " ORDER BY revision LIMIT ?3";
inline constexpr char kFeed[] =
    "SELECT " TENURE_EVENT_COLUMNS
    ", position FROM events WHERE lane = ? AND position > ? AND position <= ?"
    " ORDER BY position, election, revision";
inline constexpr char kPartitions[] = "SELECT lane, position, epoch FROM lanes";

// The history. Epochs: number, token, server, lossless, state, began_at, repairer, repair_until,
// guards_write.
inline constexpr char kLatestEpoch[] =
    "SELECT " TENURE_EPOCH_COLUMNS " FROM lineage ORDER BY epoch DESC LIMIT 1";
inline constexpr char kFindEpoch[] = "SELECT " TENURE_EPOCH_COLUMNS " FROM lineage WHERE epoch = ?";
inline constexpr char kLastRepaired[] =
    "SELECT COALESCE(MAX(epoch), 0) FROM lineage WHERE state = 2";
inline constexpr char kLongestLease[] = "SELECT COALESCE(MAX(lease_ttl_us), 0) FROM sessions";
inline constexpr char kSaveEpoch[] =
    "INSERT OR REPLACE INTO lineage (epoch, token, server, lossless, state, began_at_us, repairer,"
    " repair_until_us, joined_at_us, guards_write) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
inline constexpr char kSavePartitionsEpoch[] = "UPDATE lanes SET epoch = ?";
inline constexpr char kJoinEpoch[] = "UPDATE lineage SET joined_at_us = ? WHERE epoch = ?";

// What operators see.
inline constexpr char kQueue[] =
    "SELECT " TENURE_CANDIDACY_COLUMNS
    ", s.lease_ttl_us, CASE s.state WHEN 0 THEN " TENURE_LEASE_LEFT
    " ELSE 0 END, d.until_us"
    " FROM candidacies c JOIN sessions s ON s.id = c.session" TENURE_WITH_HOMES
    " LEFT JOIN cool_downs d ON d.election = c.election AND d.candidate = c.candidate"
    " AND d.until_us > ?2"
    " WHERE c.election = ?1 ORDER BY c.precedence, c.ticket LIMIT ?4 OFFSET ?3";
inline constexpr char kTerms[] =
    "SELECT term, MAX(candidate), MAX(elected_at_us), MAX(CASE type WHEN 3 THEN at_us END),"
    " MAX(CASE type WHEN 3 THEN cause END) FROM events WHERE election = ?1 AND term < ?2"
    " AND revision >= (SELECT history_from FROM elections WHERE name = ?1)"
    " GROUP BY term ORDER BY term DESC LIMIT ?3";
inline constexpr char kAdminChanges[] = "SELECT " TENURE_ADMIN_COLUMNS
                                        " FROM admin_changes WHERE number < ?"
                                        " ORDER BY number DESC LIMIT ?";
inline constexpr char kAdminChangesOf[] = "SELECT " TENURE_ADMIN_COLUMNS
                                          " FROM admin_changes WHERE number < ? AND election = ?"
                                          " ORDER BY number DESC LIMIT ?";
inline constexpr char kLiveSessions[] =
    "SELECT " TENURE_SESSION_COLUMNS ", " TENURE_LEASE_LEFT " FROM sessions s" TENURE_WITH_HOMES
    " WHERE s.state = 0 AND s.candidate >= ?1 AND s.candidate < ?3 AND s.id > ?4"
    " ORDER BY s.id LIMIT ?5";
inline constexpr char kSessionLeads[] =
    "SELECT name FROM elections WHERE leader_session = ? ORDER BY name LIMIT ?";
inline constexpr char kSessionWaits[] =
    "SELECT election FROM candidacies WHERE session = ? ORDER BY election LIMIT ?";
inline constexpr char kFindSession[] = "SELECT id FROM sessions WHERE id BETWEEN ? AND ? LIMIT 1";

// Due work.
inline constexpr char kUnsettled[] = "SELECT id FROM sessions WHERE state = 1 LIMIT ?";
inline constexpr char kDueElections[] =
    "SELECT name FROM elections WHERE wake_at_us <= ? ORDER BY wake_at_us LIMIT ?";
inline constexpr char kNextDue[] = "SELECT MIN(wake_at_us) FROM elections WHERE wake_at_us > ?";
inline constexpr char kPlaces[] =
    "SELECT name FROM elections WHERE leader_session = ?1"
    " UNION SELECT election FROM candidacies WHERE session = ?1";
inline constexpr char kMarkSettled[] =
    "UPDATE sessions SET state = 2 WHERE id = ?1 AND state = 1"
    " AND NOT EXISTS (SELECT 1 FROM elections WHERE leader_session = ?1)"
    " AND NOT EXISTS (SELECT 1 FROM candidacies WHERE session = ?1)";
inline constexpr char kForgetSessions[] =
    "DELETE FROM sessions WHERE id IN"
    " (SELECT id FROM sessions WHERE state = 2 AND ended_at_us < ? LIMIT ?)";

// Counts: see storage/mysql/sql.h.
inline constexpr char kCountLed[] =
    "SELECT COUNT(*) FROM elections WHERE leader_session IS NOT NULL";
inline constexpr char kCountEmpty[] =
    "SELECT COUNT(*), COALESCE(SUM(e.waiting = 0), 0), COALESCE(SUM(e.paused = 0 AND e.waiting > 0"
    " AND EXISTS (SELECT 1 FROM candidacies c WHERE c.election = e.name AND c.precedence < 0)), 0)"
    " FROM elections e WHERE e.leader_session IS NULL AND e.deleted = 0";
inline constexpr char kCountLapsed[] =
    "SELECT COUNT(*) FROM sessions s JOIN elections e ON e.leader_session = s.id"
    " WHERE s.state = 1 AND e.paused = 0";
inline constexpr char kCountCandidates[] = "SELECT COUNT(*) FROM candidacies";
inline constexpr char kCountSessions[] = "SELECT COUNT(*) FROM sessions WHERE state = 0";

// History.
inline constexpr char kOldestEvents[] =
    "SELECT x.name, x.revision, x.history_from, o.revision, o.at_us FROM elections x"
    " LEFT JOIN events o ON o.election = x.name"
    " AND o.revision = (SELECT MIN(e.revision) FROM events e WHERE e.election = x.name)"
    " WHERE x.name > ? ORDER BY x.name LIMIT ?";
inline constexpr char kTrimEvents[] =
    "DELETE FROM events WHERE election = ?1 AND revision IN"
    " (SELECT revision FROM events WHERE election = ?1 AND revision <="
    " (SELECT MAX(revision) FROM events WHERE election = ?1 AND revision < ?2"
    " AND (revision < ?3 OR at_us < ?4) AND at_us < ?5) ORDER BY revision LIMIT ?6)";
inline constexpr char kTrimAdminChanges[] =
    "DELETE FROM admin_changes WHERE number IN"
    " (SELECT number FROM admin_changes WHERE at_us < ? LIMIT ?)";
inline constexpr char kTrimCoolDowns[] = "DELETE FROM cool_downs WHERE until_us < ?";

// The number after which those of new elections begin.
inline constexpr char kOrigin[] = "SELECT COALESCE(MAX(number), 0) FROM origin";
inline constexpr char kSaveOrigin[] = "REPLACE INTO origin (one, number) VALUES (1, ?)";

// The key of session ids.
inline constexpr char kAddSessionKey[] =
    "INSERT OR IGNORE INTO session_key (one, value) VALUES (1, ?)";
inline constexpr char kSessionKey[] = "SELECT value FROM session_key";
inline constexpr char kHasSessionKey[] =
    "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'session_key'";

// The schema.
inline constexpr char kCreateSchemaVersion[] =
    "CREATE TABLE IF NOT EXISTS schema_version (one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),"
    " version INTEGER NOT NULL)";
inline constexpr char kHasSchemaVersion[] =
    "SELECT COUNT(*) FROM pragma_table_info('schema_version') WHERE name = 'one'";
// The address of a replica of Tenure 0.1 that has announced itself since then.
inline constexpr char kReplicaOf01[] =
    "SELECT address FROM replicas WHERE seen_at_us > ? ORDER BY seen_at_us DESC LIMIT 1";
inline constexpr char kCountTables[] = "SELECT COUNT(*) FROM sqlite_master";
inline constexpr char kTables[] =
    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%'"
    " ESCAPE '\\' ORDER BY name";
inline constexpr char kSchemaVersion[] = "SELECT version FROM schema_version";
inline constexpr char kSetSchemaVersion[] =
    "INSERT OR REPLACE INTO schema_version (one, version) VALUES (1, ?)";

}  // namespace tenure::sqlite::query
