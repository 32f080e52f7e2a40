// Every statement that Tenure sends to MySQL and MariaDB, and nothing else. The tables are in
// storage/schema. Bytes are written as hexadecimal literals, so nothing needs to be escaped.
//
// UTC_TIMESTAMP is the start of its statement; SYSDATE, which LockSessions and LoadHeads use, is
// the moment at which it is evaluated, after the row was locked. A transaction that needs the time
// after another lock reads it with a separate statement (kClock).
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/law/transaction_state.h"
#include "core/types.h"
#include "storage/changes.h"
#include "storage/mysql/server.h"
#include "storage/store.h"
#include "storage/trimming.h"

namespace tenure::mysql::query {

// Servers. storage/mysql/session.h sets up their sessions.
inline constexpr char kReadOnly[] = "SELECT @@global.read_only";
// The variables that storage/mysql/server.cc judges a server by. The answer lacks those that the
// engine does not have.
inline constexpr char kServerVariables[] =
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'version_comment', 'server_uuid',"
    " 'server_id', 'hostname', 'port', 'read_only', 'innodb_read_only', 'aurora_version',"
    " 'aurora_server_id', 'innodb_flush_log_at_trx_commit', 'log_bin', 'sync_binlog', 'wsrep_on',"
    " 'wsrep_provider', 'wsrep_node_name', 'group_replication_group_name',"
    " 'group_replication_single_primary_mode', 'group_replication_consistency')"
    " OR Variable_name LIKE 'rpl\\_semi\\_sync\\_%'";
inline constexpr char kServerStatus[] =
    "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_cluster_status',"
    " 'wsrep_cluster_size', 'wsrep_local_state_comment', 'wsrep_gcomm_uuid',"
    " 'wsrep_cluster_state_uuid', 'rpl_semi_sync_source_status', 'rpl_semi_sync_master_status',"
    " 'rpl_semi_sync_source_clients', 'rpl_semi_sync_master_clients')";
inline constexpr char kGroupMembers[] =
    "SELECT MEMBER_ID, MEMBER_STATE, MEMBER_ROLE FROM performance_schema.replication_group_members";
// This session's rights, also from its active roles, roles granted to these, and PUBLIC.
inline constexpr char kGrants[] = "SHOW GRANTS";

// Transactions. The order of locks: the connection's own writer, elections by name, sessions, homes
// by id, partitions.

// After this error, InnoDB rolls back the statement, not the transaction.
inline constexpr int kLockWaitTimeout = 1205;
inline constexpr char kBegin[] = "START TRANSACTION";
inline constexpr char kCommit[] = "COMMIT";
inline constexpr char kRollback[] = "ROLLBACK";
// How many rows the previous statement in the same message changed.
inline constexpr char kRowCount[] = "SELECT ROW_COUNT()";
inline constexpr char kClock[] =
    "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";
// The free ones; or, with kWait, all of them as soon as they are free.
enum class Patience { kSkipLocked, kWait };
[[nodiscard]] std::string LockElections(const std::vector<ElectionName>& names, Patience patience);
[[nodiscard]] std::string ExistingElections(const std::vector<ElectionName>& names);
// Placeholders: they get their numbers from kOrigin later.
[[nodiscard]] std::string CreateElections(const std::vector<ElectionName>& names);
[[nodiscard]] std::string DeleteElections(const std::vector<ElectionName>& names);
[[nodiscard]] std::string LoadPlaces(const std::vector<PlaceKey>& places);
// The first live candidacies that may be elected. Each row also has its session, which this
// statement locks, and the time of that reading. If another transaction holds the session, its
// columns are NULL; if one holds the election, there are no rows of it.
struct Head {
  ElectionName election;
  size_t size = 0;
  bool cooling = false;  // some candidates are kept out
};
[[nodiscard]] std::string LoadHeads(const std::vector<Head>& heads);
// Live candidacies of candidates, at most `limit` of each.
[[nodiscard]] std::string LoadNamed(
    const std::vector<std::pair<ElectionName, std::string>>& candidates, size_t limit);
[[nodiscard]] std::string LoadCoolDowns(const std::vector<ElectionName>& names);
// With the time at which each was read, by SYSDATE: the latest of them is after the last lock.
[[nodiscard]] std::string LockSessions(const std::vector<SessionId>& ids);
// Rows: identity, live sessions, their seats and places.
[[nodiscard]] std::string UsageOf(const std::set<std::string>& identities);
// Rows: identity, elections.
[[nodiscard]] std::string CreatedBy(const std::set<std::string>& identities);
// Rows: ToPast.
[[nodiscard]] std::string Pasts(const std::vector<ElectionName>& names);
[[nodiscard]] std::string ExistingSessions(const std::vector<SessionId>& ids);
// Locks what is remembered (core/law/remembered.h). Fails with kStale unless all of it still holds,
// and nobody else has locked it. Where each election needs one session, one statement locks both.
// REQUIRES: plain elections.
inline constexpr int kStale = 1690;  // "BIGINT UNSIGNED value is out of range"
[[nodiscard]] std::vector<std::string> Hold(const TransactionState& remembered,
                                            const TransactionState& decided);
// The changes to elections of a transaction that is decided from memory.
[[nodiscard]] std::string SaveSeats(const std::vector<const Election*>& elections);
[[nodiscard]] std::string SaveElections(const std::vector<const Election*>& elections);
// Inserts new sessions. One that exists after all is a conflict.
[[nodiscard]] std::string OpenSessions(const std::vector<const Session*>& sessions);
[[nodiscard]] std::string SaveSessions(const std::vector<const Session*>& sessions);
[[nodiscard]] std::vector<std::string> EmptyElections(
    const std::vector<const ElectionName*>& names);
[[nodiscard]] std::string DeletePlaces(const std::vector<PlaceKey>& places);
[[nodiscard]] std::string SavePlaces(
    const std::vector<std::pair<const ElectionName*, const Candidacy*>>& candidacies);
[[nodiscard]] std::string SaveCoolDowns(const std::vector<CoolDown>& cool_downs);
[[nodiscard]] std::string SaveAdminChanges(const std::vector<AdminChange>& changes);
// Elections that are created later begin after no lower number.
[[nodiscard]] std::string RaiseOriginTo(uint64_t number);
// Elections, and all that belongs to them, except operators' changes.
// REQUIRES: nobody leads or waits there.
[[nodiscard]] std::vector<std::string> PurgeElections(
    const std::vector<const ElectionName*>& names);
[[nodiscard]] std::string ForgetEvents(const ElectionName& election, Revision before);
// Gives these partitions, in this order, their next offsets. The last statement returns them in one
// row, and SaveEvents uses them. Fails with kNotNull if a partition is not where `point` says.
[[nodiscard]] std::vector<std::string> AdvancePartitions(const std::vector<int>& partitions,
                                                         const std::optional<HistoryPoint>& point);
inline constexpr int kNotNull = 1048;
// REQUIRES: AdvancePartitions of exactly these partitions came before; some of them have events.
[[nodiscard]] std::string SaveEvents(const std::map<int, std::vector<const Event*>>& events);
[[nodiscard]] std::string SaveWriter(std::string_view writer, uint64_t transaction);
[[nodiscard]] std::string LockWriter(std::string_view writer);
// Nobody gets the ticket: a remembered election that has it is stale.
[[nodiscard]] std::string SpendTicket(const ElectionName& election);
// One if exactly this event was committed.
[[nodiscard]] std::string CountEvent(const Event& event);
[[nodiscard]] std::string OffsetOfEvent(const Event& event);

// Reads. A last column of @@global.read_only shows whether the server was the one to ask.
[[nodiscard]] std::string ViewElections(const std::vector<ElectionName>& names);
[[nodiscard]] std::string ListElections(std::string_view prefix, std::string_view after,
                                        size_t limit);
[[nodiscard]] std::string Positions(const std::vector<PlaceKey>& places);
[[nodiscard]] std::string Seats(const SeatPage& page);
[[nodiscard]] std::string Events(const ElectionName& election, Revision from, size_t limit);
[[nodiscard]] std::string Feed(int partition, uint64_t after, uint64_t until);
inline constexpr char kPartitions[] = "SELECT lane, position, epoch, @@global.read_only FROM lanes";
// Three kinds of rows, distinguished by kKindColumn: those of kPartitions, the home's as of
// ToHomeRow, and sessions with their id in kUnsettledColumn.
inline constexpr size_t kKindColumn = 7;
inline constexpr int kPartitionRow = 0;
inline constexpr int kHomeRow = 1;
inline constexpr int kUnsettledRow = 2;
inline constexpr size_t kUnsettledColumn = 5;
[[nodiscard]] std::string Attendance(HomeId home, size_t unsettled_max);
inline constexpr char kPing[] = "SELECT COUNT(*) FROM lanes";

// Homes. Statements that lock several rows lock them by id.

// For each home that sessions leave: counts them in its row, and lists them. One of the statements
// fails with kStale unless the replica's row is as `witness` says. `writes`: also writes that row,
// so that servers that compare writes notice each other.
[[nodiscard]] std::vector<std::string> SaveDepartures(const std::vector<Departure>& departures,
                                                      const std::optional<HomeWitness>& witness,
                                                      bool writes);
// For the same servers: a grant or a place then conflicts with the end of its session.
[[nodiscard]] std::string WriteSessions(const std::set<SessionId>& ids);
[[nodiscard]] std::string BeginHome(const HomeRow& home);
[[nodiscard]] std::string Beat(const BeatOrder& order);
// Send it right after `Beat`. Rows: ToHomeRow, and in kBeatenColumn how many rows `Beat` changed.
// The own row, if it exists; others that are not dead; then, with a second column of kGone, homes
// that are dead or missing, and still keep sessions.
inline constexpr int kGone = 2;
inline constexpr size_t kBeatenColumn = 7;
[[nodiscard]] std::string HomesAfterBeat(HomeId own);
[[nodiscard]] std::string DeclareDead(HomeId home, uint64_t beat);
[[nodiscard]] std::string FindHome(HomeId home);
[[nodiscard]] std::string ReadDepartures(HomeId home, uint64_t after, size_t limit);
[[nodiscard]] std::string ForgetDepartures(HomeId home, uint64_t until);
[[nodiscard]] std::string KeptSessions(HomeId home, const SessionId& after, size_t limit);
[[nodiscard]] std::string Orphans(HomeId home, Duration lease_max, size_t limit);
[[nodiscard]] std::vector<std::string> ForgetHomes(Duration age, size_t limit);

// For a cluster, where a fence guard writes one of these rows.
[[nodiscard]] std::string WriteFences(const std::set<ElectionName>& names);

// The history. Epochs: number, token, server, lossless, state, began_at, repairer, repair_until,
// guards_write.
inline constexpr char kLockPartitions[] =
    "SELECT lane, position FROM lanes ORDER BY lane FOR UPDATE";
[[nodiscard]] std::string LatestEpoch();
[[nodiscard]] std::string FindEpoch(uint64_t number);
inline constexpr char kLastRepaired[] =
    "SELECT COALESCE(MAX(epoch), 0) FROM lineage WHERE state = 2";
inline constexpr char kLongestLease[] = "SELECT COALESCE(MAX(lease_ttl_us), 0) FROM sessions";
[[nodiscard]] std::vector<std::string> SaveEpoch(const Epoch& epoch);
[[nodiscard]] std::string JoinEpoch(uint64_t number);

// What operators see.
[[nodiscard]] std::string Queue(const ElectionName& election, size_t skip, size_t limit);
[[nodiscard]] std::string Terms(const ElectionName& election, Term before, size_t limit);
[[nodiscard]] std::string AdminChanges(const std::optional<ElectionName>& election, uint64_t before,
                                       size_t limit);
[[nodiscard]] std::string LiveSessions(std::string_view candidate_prefix, const SessionId& after,
                                       size_t limit);
[[nodiscard]] std::string SessionsLead(const std::vector<SessionId>& sessions);
[[nodiscard]] std::string SessionsWait(const std::vector<SessionId>& sessions);
[[nodiscard]] std::string FindSession(const SessionId& first, const SessionId& last);

// Due work.

// Everything that time has made due, as of one moment. Each row begins with its kind; then come an
// id or a name, a time, and a partition's number, offset and epoch.
enum class Due { kNow, kNext, kUnsettled, kElection, kPartition };
[[nodiscard]] std::string FindDueWork(size_t limit);
[[nodiscard]] std::string Places(const std::vector<SessionId>& sessions);
[[nodiscard]] std::string MarkSettled(const std::vector<SessionId>& sessions);
[[nodiscard]] std::string ForgetSessions(Duration age, size_t limit);
[[nodiscard]] std::string ForgetWriters(Duration age, size_t limit);

// Counts: elections with a leader; of the others, all, those without candidates, and those that are
// not paused and have an electable candidate; elections that are not paused, whose leader's session
// has ended; candidacies; live sessions.
inline constexpr char kCountAll[] =
    "SELECT * FROM (SELECT COUNT(*) FROM elections WHERE leader_session IS NOT NULL) led,"
    " (SELECT COUNT(*) AS number, COALESCE(SUM(e.waiting = 0), 0) AS unwanted,"
    " COALESCE(SUM(e.paused = 0 AND e.waiting > 0 AND EXISTS (SELECT 1 FROM candidacies c"
    " WHERE c.election = e.name AND c.precedence < 0)), 0) AS wanted"
    " FROM elections e WHERE e.leader_session IS NULL AND e.deleted = 0) vacant,"
    " (SELECT COUNT(*) FROM sessions s JOIN elections e ON e.leader_session = s.id"
    " WHERE s.state = 1 AND e.paused = 0) lapsed,"
    " (SELECT COUNT(*) FROM candidacies) waiting,"
    " (SELECT COUNT(*) FROM sessions WHERE state = 0) alive";

// History.
[[nodiscard]] std::string OldestEvents(const ElectionName& after, size_t limit);
// The last event below `end` that may go according to the cut; 0 if there is none.
[[nodiscard]] std::string LastToTrim(const ElectionName& election, Revision end,
                                     const HistoryTrimmer::Cut& cut);
[[nodiscard]] std::string TrimEvents(const ElectionName& election, Revision last, size_t limit);
[[nodiscard]] std::string TrimAdminChanges(Duration age, size_t limit);
[[nodiscard]] std::string TrimCoolDowns(size_t limit);

// The number after which those of new elections begin.
inline constexpr char kOrigin[] = "SELECT COALESCE(MAX(number), 0) FROM origin";
[[nodiscard]] std::string RaiseOrigin();

// The key of session ids.
inline constexpr char kSessionKey[] = "SELECT value FROM session_key";
inline constexpr int kNoSuchTable = 1146;
inline constexpr int kUnknownTable = 1051;  // of DROP TABLE
// Does nothing if there is one.
[[nodiscard]] std::string AddSessionKey(std::string_view key);

// The schema.
inline constexpr char kCreateSchemaVersion[] =
    "CREATE TABLE IF NOT EXISTS schema_version (one TINYINT NOT NULL PRIMARY KEY,"
    " version INT NOT NULL) ENGINE = InnoDB";
inline constexpr std::string_view kOrReplace = "OR REPLACE ";
inline constexpr char kDropFence[] = "DROP PROCEDURE IF EXISTS tenure_fence";
inline constexpr char kTryFence[] = "CALL tenure_fence('', 0)";
inline constexpr int kSignal = 1644;
// The holder of the row may change the schema until its time has expired.
inline constexpr char kCreateMigrationLock[] =
    "CREATE TABLE IF NOT EXISTS migration_lock (one TINYINT NOT NULL PRIMARY KEY,"
    " holder BINARY(16) NOT NULL, until_us BIGINT NOT NULL) ENGINE = InnoDB";
inline constexpr char kAddMigrationLock[] =
    "INSERT IGNORE INTO migration_lock (one, holder, until_us) VALUES (1, '', 0)";
// Changes a row if the lock was taken, or kept.
[[nodiscard]] std::string TakeMigrationLock(std::string_view holder, Duration lease);
[[nodiscard]] std::string FreeMigrationLock(std::string_view holder);
inline constexpr char kHasSchemaVersion[] =
    "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()"
    " AND table_name = 'schema_version' AND column_name = 'one'";
// The address of a replica of Tenure 0.1 that has announced itself lately.
inline constexpr char kReplicaOf01[] =
    "SELECT address FROM replicas WHERE seen_at_us >"
    " TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) - 20000000"
    " ORDER BY seen_at_us DESC LIMIT 1";
inline constexpr char kTables[] =
    "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()"
    " ORDER BY table_name";
// A statement that changes nothing, and fails without a right.
struct Trial {
  std::string right;
  std::string statement;
};
// For programs that migrate; about a table that does not exist.
[[nodiscard]] std::vector<Trial> TrialsOfMigration();
// Whether the user has a right to the whole database; for rights that cannot be tried. A user with
// a role, which may give the right, counts as having it.
[[nodiscard]] std::string HasRight(std::string_view right);
// For programs that serve; also about tables that do not exist yet.
[[nodiscard]] std::vector<Trial> TrialsOfUse();
inline constexpr char kSchemaVersion[] = "SELECT version FROM schema_version";
[[nodiscard]] std::string SetSchemaVersion(int version);

}  // namespace tenure::mysql::query
