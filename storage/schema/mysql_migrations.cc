// Common SQL of MySQL 8+ and MariaDB 10.6+. Names and values are bytes (VARBINARY), so that
// collations have no effect; moments and durations are microseconds in BIGINT, so that time zones
// have none.
#include "storage/schema/migrations.h"

namespace tenure {
namespace {

constexpr const char* kFirstLight[] = {
    // One row per election, permanently: the term must not restart. `leader_*` are null while
    // vacant.
    R"(CREATE TABLE IF NOT EXISTS elections (
         name VARBINARY(255) NOT NULL PRIMARY KEY,
         term BIGINT UNSIGNED NOT NULL DEFAULT 0,
         revision BIGINT UNSIGNED NOT NULL DEFAULT 0,
         next_ticket BIGINT UNSIGNED NOT NULL DEFAULT 0,
         waiting BIGINT UNSIGNED NOT NULL DEFAULT 0,
         leader_session BINARY(16) NULL,
         leader_candidate VARBINARY(255) NULL,
         leader_lease_ttl_us BIGINT NULL,
         leader_value VARBINARY(4096) NULL,
         leader_elected_at_us BIGINT NULL,
         leader_attempt BIGINT UNSIGNED NULL,
         KEY by_leader_session (leader_session)
       ) ENGINE = InnoDB)",
    // One row per session. state: 0 alive, 1 ended, 2 ended and settled.
    R"(CREATE TABLE IF NOT EXISTS sessions (
         id BINARY(16) NOT NULL PRIMARY KEY,
         candidate VARBINARY(255) NOT NULL,
         lease_ttl_us BIGINT NOT NULL,
         expires_at_us BIGINT NOT NULL,
         state TINYINT UNSIGNED NOT NULL,
         cause TINYINT UNSIGNED NOT NULL,
         KEY due (state, expires_at_us)
       ) ENGINE = InnoDB)",
    // The queues. precedence is the bitwise complement of the priority: what sorts first goes
    // first.
    R"(CREATE TABLE IF NOT EXISTS candidacies (
         election VARBINARY(255) NOT NULL,
         session BINARY(16) NOT NULL,
         ticket BIGINT UNSIGNED NOT NULL,
         precedence INT NOT NULL,
         value VARBINARY(4096) NOT NULL,
         attempt BIGINT UNSIGNED NOT NULL,
         PRIMARY KEY (election, session),
         KEY queue (election, precedence, ticket),
         KEY by_session (session)
       ) ENGINE = InnoDB)",
    // One row per change. (lane, position) is the order in which replicas publish them.
    R"(CREATE TABLE IF NOT EXISTS events (
         election VARBINARY(255) NOT NULL,
         revision BIGINT UNSIGNED NOT NULL,
         type TINYINT UNSIGNED NOT NULL,
         cause TINYINT UNSIGNED NOT NULL,
         term BIGINT UNSIGNED NOT NULL,
         session BINARY(16) NOT NULL,
         candidate VARBINARY(255) NOT NULL,
         lease_ttl_us BIGINT NOT NULL,
         value VARBINARY(4096) NOT NULL,
         elected_at_us BIGINT NOT NULL,
         at_us BIGINT NOT NULL,
         lane TINYINT UNSIGNED NOT NULL,
         position BIGINT UNSIGNED NOT NULL,
         PRIMARY KEY (election, revision),
         KEY feed (lane, position)
       ) ENGINE = InnoDB)",
    R"(CREATE TABLE IF NOT EXISTS lanes (
         lane TINYINT UNSIGNED NOT NULL PRIMARY KEY,
         position BIGINT UNSIGNED NOT NULL
       ) ENGINE = InnoDB)",
    "INSERT IGNORE INTO lanes (lane, position) VALUES (0, 0), (1, 0), (2, 0), (3, 0)",
    // The last transaction of each connection, by which a lost commit reply is looked up.
    R"(CREATE TABLE IF NOT EXISTS writers (
         writer BINARY(16) NOT NULL PRIMARY KEY,
         transaction BIGINT UNSIGNED NOT NULL,
         at_us BIGINT NOT NULL
       ) ENGINE = InnoDB)",
};

// Views for queries in plain SQL. Names and values are bytes here, too, so that a condition on them
// uses the keys; no view shows a session id. A reader needs SELECT on the view, and nothing else.
constexpr const char* kPlainSql[] = {
    // The current leaders. A leader whose lease has expired is not shown, even if its expiry is not
    // settled yet.
    R"(CREATE SQL SECURITY DEFINER VIEW leaders AS
         SELECT e.name AS election, e.term, e.leader_candidate AS candidate,
           e.leader_value AS value,
           TIMESTAMP '1970-01-01 00:00:00.000000'
             + INTERVAL e.leader_elected_at_us MICROSECOND AS elected_at,
           e.leader_lease_ttl_us DIV 1000 AS lease_ttl_ms,
           (s.expires_at_us - TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)))
             DIV 1000 AS lease_left_ms
         FROM elections e JOIN sessions s ON s.id = e.leader_session
         WHERE s.state = 0
           AND s.expires_at_us > TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)))",
    // The waiting candidates that are alive; position 1 is elected next.
    R"(CREATE SQL SECURITY DEFINER VIEW queue AS
         SELECT c.election,
           ROW_NUMBER() OVER (PARTITION BY c.election ORDER BY c.precedence, c.ticket) AS position,
           s.candidate, -1 - c.precedence AS priority, c.ticket
         FROM candidacies c JOIN sessions s ON s.id = c.session
         WHERE s.state = 0
           AND s.expires_at_us > TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)))",
    // The leader of each term, and its beginning and end. Every event names its term's candidate
    // and beginning; the numbers are those of EventType and Cause in core/types.h.
    R"(CREATE SQL SECURITY DEFINER VIEW terms AS
         SELECT election, term, MAX(candidate) AS candidate,
           TIMESTAMP '1970-01-01 00:00:00.000000'
             + INTERVAL MAX(elected_at_us) MICROSECOND AS began_at,
           TIMESTAMP '1970-01-01 00:00:00.000000'
             + INTERVAL MAX(CASE type WHEN 3 THEN at_us END) MICROSECOND AS ended_at,
           ELT(MAX(CASE type WHEN 3 THEN cause END), 'RESIGNED', 'EXPIRED', 'DEPOSED',
             'APPOINTED_AWAY', 'SUPERSEDED', 'SESSION_CLOSED', 'DELETED') AS cause
         FROM events GROUP BY election, term)",
};

// What operators do. MySQL has no IF NOT EXISTS for columns and keys: each ALTER adds all or none.
constexpr const char* kAdministration[] = {
    // Settings and control of one election. deleted: not created (again) since. wake_at:
    // when time alone may allow a grant. history_from: events before this revision were deleted.
    R"(ALTER TABLE elections
         ADD COLUMN lock_delay_us BIGINT NOT NULL DEFAULT 0,
         ADD COLUMN min_hold_us BIGINT NOT NULL DEFAULT 0,
         ADD COLUMN lease_ttl_default_us BIGINT NOT NULL DEFAULT 0,
         ADD COLUMN lease_ttl_max_us BIGINT NOT NULL DEFAULT 0,
         ADD COLUMN queue_max BIGINT UNSIGNED NOT NULL DEFAULT 0,
         ADD COLUMN paused TINYINT UNSIGNED NOT NULL DEFAULT 0,
         ADD COLUMN deleted TINYINT UNSIGNED NOT NULL DEFAULT 0,
         ADD COLUMN vacant_until_us BIGINT NOT NULL DEFAULT 0,
         ADD COLUMN appointed_candidate VARBINARY(255) NULL,
         ADD COLUMN appointed_until_us BIGINT NULL,
         ADD COLUMN cooling_until_us BIGINT NOT NULL DEFAULT 0,
         ADD COLUMN wake_at_us BIGINT NULL,
         ADD COLUMN history_from BIGINT UNSIGNED NOT NULL DEFAULT 0,
         ADD KEY by_wake (wake_at_us))",
    R"(ALTER TABLE sessions
         ADD COLUMN opened_at_us BIGINT NOT NULL DEFAULT 0,
         ADD COLUMN lease_ttl_asked_us BIGINT NOT NULL DEFAULT 0,
         ADD COLUMN lease_ttl_since_us BIGINT NOT NULL DEFAULT 0)",
    R"(ALTER TABLE candidacies
         ADD COLUMN candidate VARBINARY(255) NOT NULL DEFAULT '',
         ADD COLUMN asked_again TINYINT UNSIGNED NOT NULL DEFAULT 0,
         ADD KEY by_candidate (election, candidate))",
    R"(UPDATE candidacies c JOIN sessions s ON s.id = c.session
         SET c.candidate = s.candidate WHERE c.candidate = '')",
    "ALTER TABLE events ADD COLUMN successor VARBINARY(255) NOT NULL DEFAULT ''",
    // Deposed candidates, and until when they are not elected.
    R"(CREATE TABLE IF NOT EXISTS cool_downs (
         election VARBINARY(255) NOT NULL,
         candidate VARBINARY(255) NOT NULL,
         until_us BIGINT NOT NULL,
         PRIMARY KEY (election, candidate),
         KEY by_end (until_us)
       ) ENGINE = InnoDB)",
    // What operators changed. The numbers are in no order that matters.
    R"(CREATE TABLE IF NOT EXISTS admin_changes (
         number BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
         election VARBINARY(255) NOT NULL,
         action TINYINT UNSIGNED NOT NULL,
         term BIGINT UNSIGNED NOT NULL,
         at_us BIGINT NOT NULL,
         detail VARBINARY(1024) NOT NULL,
         identity VARBINARY(255) NOT NULL,
         reason VARBINARY(255) NOT NULL,
         KEY by_election (election, number),
         KEY by_time (at_us)
       ) ENGINE = InnoDB)",
};

// Why and since when a seat that was held before is empty; null otherwise.
constexpr const char* kVacancies[] = {
    R"(ALTER TABLE elections
         ADD COLUMN vacant_cause TINYINT UNSIGNED NULL,
         ADD COLUMN vacant_since_us BIGINT NULL)",
};

// The identity that opened a session, by the server's policy; empty without one.
constexpr const char* kIdentities[] = {
    R"(ALTER TABLE sessions
         ADD COLUMN identity VARBINARY(64) NOT NULL DEFAULT '',
         ADD KEY by_identity (identity))",
};

// The number after which the terms and the revisions of new elections begin.
constexpr const char* kOrigin[] = {
    R"(CREATE TABLE IF NOT EXISTS origin (
         one TINYINT NOT NULL PRIMARY KEY,
         number BIGINT UNSIGNED NOT NULL
       ) ENGINE = InnoDB)",
};

// The history's epochs: core/lineage.h. The state's numbers are those of Epoch::State.
constexpr const char* kLineage[] = {
    "ALTER TABLE lanes ADD COLUMN epoch BIGINT UNSIGNED NOT NULL DEFAULT 0",
    R"(CREATE TABLE IF NOT EXISTS lineage (
         epoch BIGINT UNSIGNED NOT NULL PRIMARY KEY,
         token BIGINT UNSIGNED NOT NULL,
         server VARBINARY(255) NOT NULL,
         lossless TINYINT UNSIGNED NOT NULL,
         state TINYINT UNSIGNED NOT NULL,
         began_at_us BIGINT NOT NULL,
         repairer BIGINT UNSIGNED NOT NULL,
         repair_until_us BIGINT NOT NULL,
         joined_at_us BIGINT NOT NULL
       ) ENGINE = InnoDB)",
};

// The rows that fence guards write in clusters: see version 13.
constexpr const char* kFences[] = {
    "ALTER TABLE lineage ADD COLUMN guards_write TINYINT UNSIGNED NOT NULL DEFAULT 0",
    "ALTER TABLE elections ADD COLUMN guarded BIGINT UNSIGNED NOT NULL DEFAULT 0",
    R"(CREATE TABLE IF NOT EXISTS fences (
         election VARBINARY(255) NOT NULL,
         slot TINYINT UNSIGNED NOT NULL,
         writes BIGINT UNSIGNED NOT NULL,
         PRIMARY KEY (election, slot)
       ) ENGINE = InnoDB)",
};

// The candidate that a vacant seat is kept for after an outage of the database, and until when.
constexpr const char* kIncumbents[] = {
    R"(ALTER TABLE elections
         ADD COLUMN incumbent VARBINARY(255) NULL,
         ADD COLUMN incumbent_until_us BIGINT NULL)",
};

// The replicas that serve, and their addresses for each other.
constexpr const char* kReplicas[] = {
    R"(CREATE TABLE IF NOT EXISTS replicas (
         id BINARY(16) NOT NULL PRIMARY KEY,
         address VARBINARY(255) NOT NULL,
         seen_at_us BIGINT NOT NULL,
         KEY by_time (seen_at_us)
       ) ENGINE = InnoDB)",
};

// Session ids are derived from the only row of session_key, which is created when first needed.
// creator: the identity that created an election, by the server's policy; empty without one.
constexpr const char* kTenants[] = {
    R"(CREATE TABLE IF NOT EXISTS session_key (
         one TINYINT NOT NULL PRIMARY KEY,
         value VARBINARY(32) NOT NULL
       ) ENGINE = InnoDB)",
    R"(ALTER TABLE elections
         ADD COLUMN creator VARBINARY(64) NOT NULL DEFAULT '',
         ADD KEY by_creator (creator))",
};

// The guard of a transaction: docs/fencing.md. First refuses a term that has ended for good,
// without a lock, so that a former leader that carries on cannot hold up its successor; then takes
// the lock under which no other term is granted, and checks again.
//
// A procedure, because InnoDB locks what a function reads unless its caller is a SELECT: the row of
// the leader's session would be locked, and could not be written. For the same reason the first
// check is a SELECT INTO, and not the condition of an IF. The parameters are not named like
// columns, and are longer than any name, so that no name is cut to another one.
//
// Row locks are local to a node of a cluster, and only what transactions write is compared when
// they commit. So where `guards_write` of the epoch says so, a guard updates one of the election's
// rows in `fences`, and a grant all of them: the later commit is refused. There are several, so
// that guards do not wait for each other. The first guard of an election makes them, and writes the
// election's own row for that, as every grant does.
//
// A read-only server cannot answer: its data may be old, as on a member that a cluster has
// expelled. The guard fails as a write would there, and checks this last: had the server become
// read-only before the rows were read, it would still be. MariaDB 12 has names for the values of
// read_only.
constexpr const char* kFence[] = {
    R"(CREATE OR REPLACE PROCEDURE tenure_fence(
         of_election VARCHAR(1024) CHARACTER SET utf8mb4, of_term BIGINT UNSIGNED)
       MODIFIES SQL DATA
       SQL SECURITY DEFINER
       BEGIN
         DECLARE of_name VARBINARY(4096) DEFAULT CAST(of_election AS BINARY);
         DECLARE stands INT DEFAULT 0;
         DECLARE writing INT DEFAULT 0;
         DECLARE refusal VARCHAR(128) CHARACTER SET utf8mb4 DEFAULT CONCAT(
           'tenure_fence: term ', COALESCE(of_term, 'NULL'), ' of election ''',
           COALESCE(LEFT(of_election, 60), 'NULL'), ''' does not stand');

         SELECT COUNT(*) INTO stands
           FROM elections e LEFT JOIN sessions s ON s.id = e.leader_session
           WHERE e.name = of_name AND (e.term < of_term
             OR (e.term = of_term AND e.leader_session IS NOT NULL AND COALESCE(s.state, 0) = 0));
         IF stands = 1 THEN
           SELECT COUNT(*) INTO stands FROM elections e
             WHERE e.name = of_name AND e.term = of_term AND e.leader_session IS NOT NULL
             LOCK IN SHARE MODE;
         END IF;
         IF stands = 1 THEN
           SELECT COALESCE(MAX(guards_write), 0) INTO writing FROM lineage
             WHERE epoch = (SELECT MAX(epoch) FROM lineage);
           IF writing = 1 THEN
             UPDATE fences SET writes = writes + 1
               WHERE election = of_name AND slot = CONNECTION_ID() % 8;
             IF ROW_COUNT() = 0 THEN
               UPDATE elections SET guarded = guarded + 1 WHERE name = of_name;
               INSERT INTO fences (election, slot, writes) VALUES (of_name, 0, 1), (of_name, 1, 1),
                 (of_name, 2, 1), (of_name, 3, 1), (of_name, 4, 1), (of_name, 5, 1),
                 (of_name, 6, 1), (of_name, 7, 1) ON DUPLICATE KEY UPDATE writes = writes + 1;
             END IF;
           END IF;
         END IF;
         IF CAST(@@GLOBAL.read_only AS CHAR) NOT IN ('0', 'OFF') THEN
           SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1290, MESSAGE_TEXT =
             'tenure_fence: this server is read-only and may not be asked; ask the primary';
         ELSEIF stands = 0 THEN
           SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = refusal;
         END IF;
       END)",
};

// sessions.home: the replica that a session's renewals reach, a row of homes; 0: none. moves: how
// often the home has changed. grants: counts its grants, where several servers write.
//
// homes: one row for each run of a replica. beat: rises with each of its writes. departures: how
// many sessions have left it without its doing; departed has the last ones. witnessed: counts its
// transactions, where several servers write.
constexpr const char* kHomes[] = {
    R"(ALTER TABLE sessions
         ADD COLUMN home BIGINT UNSIGNED NOT NULL DEFAULT 0,
         ADD COLUMN moves BIGINT UNSIGNED NOT NULL DEFAULT 0,
         ADD COLUMN grants BIGINT UNSIGNED NOT NULL DEFAULT 0,
         ADD KEY by_home (state, home))",
    R"(CREATE TABLE IF NOT EXISTS homes (
         id BIGINT UNSIGNED NOT NULL PRIMARY KEY,
         beat BIGINT UNSIGNED NOT NULL,
         dead TINYINT UNSIGNED NOT NULL,
         departures BIGINT UNSIGNED NOT NULL,
         good_for_us BIGINT NOT NULL,
         began_at_us BIGINT NOT NULL,
         died_at_us BIGINT NULL,
         witnessed BIGINT UNSIGNED NOT NULL DEFAULT 0
       ) ENGINE = InnoDB)",
    R"(CREATE TABLE IF NOT EXISTS departed (
         home BIGINT UNSIGNED NOT NULL,
         number BIGINT UNSIGNED NOT NULL,
         session BINARY(16) NOT NULL,
         moves BIGINT UNSIGNED NOT NULL,
         PRIMARY KEY (home, number)
       ) ENGINE = InnoDB)",
};

// Sessions live in homes alone: no clock judges them (core/homes/kept_sessions.h). ended_at: 0
// while a session lives. homes.peer and homes.address: how other replicas reach this one.
//
// lease_left_ms of the views: the lease, while the session's home lives; once it is dead, what is
// left of it. A session of 0.1 has no home until its client renews it.
constexpr const char* kHomesAlone[] = {
    "ALTER TABLE sessions RENAME COLUMN expires_at_us TO ended_at_us",
    "UPDATE sessions SET ended_at_us = 0 WHERE state = 0",
    "ALTER TABLE elections DROP COLUMN incumbent, DROP COLUMN incumbent_until_us",
    R"(ALTER TABLE homes
         ADD COLUMN peer VARBINARY(16) NOT NULL DEFAULT '',
         ADD COLUMN address VARBINARY(255) NOT NULL DEFAULT '')",
    "DROP TABLE IF EXISTS replicas",
    R"(ALTER SQL SECURITY DEFINER VIEW leaders AS
         SELECT e.name AS election, e.term, e.leader_candidate AS candidate,
           e.leader_value AS value,
           TIMESTAMP '1970-01-01 00:00:00.000000'
             + INTERVAL e.leader_elected_at_us MICROSECOND AS elected_at,
           e.leader_lease_ttl_us DIV 1000 AS lease_ttl_ms,
           CASE h.dead WHEN 0 THEN s.lease_ttl_us
             WHEN 1 THEN GREATEST(0, s.lease_ttl_us + h.died_at_us
               - TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)))
             ELSE 0 END DIV 1000 AS lease_left_ms
         FROM elections e JOIN sessions s ON s.id = e.leader_session
           LEFT JOIN homes h ON h.id = s.home
         WHERE s.state = 0)",
    R"(ALTER SQL SECURITY DEFINER VIEW queue AS
         SELECT c.election,
           ROW_NUMBER() OVER (PARTITION BY c.election ORDER BY c.precedence, c.ticket) AS position,
           s.candidate, -1 - c.precedence AS priority, c.ticket
         FROM candidacies c JOIN sessions s ON s.id = c.session
         WHERE s.state = 0)",
    "DROP PROCEDURE IF EXISTS tenure_commit_1",
};

// Early builds of version 15 created it. It saved no time (ADR 49).
constexpr const char* kCallsEnd[] = {"DROP PROCEDURE IF EXISTS tenure_commit_2"};

constexpr Migration kMigrations[] = {
    {1, kFirstLight}, {2, kPlainSql}, {3, kAdministration}, {4, kVacancies},   {5, kIdentities},
    {6, kOrigin},     {7, kLineage},  {8, kFences},         {9, kIncumbents},  {10, kReplicas},
    {11, {}},  // created a procedure that version 15 drops
    {12, kTenants},   {13, kFence},   {14, kHomes},         {15, kHomesAlone}, {16, kCallsEnd}};

}  // namespace

std::span<const Migration> MySqlMigrations() { return kMigrations; }

}  // namespace tenure
