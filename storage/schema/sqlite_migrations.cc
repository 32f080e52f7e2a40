// The shape is that of mysql_migrations.cc, which says what each column means.
#include "storage/schema/migrations.h"

namespace tenure {
namespace {

constexpr const char* kFirstLight[] = {
    R"(CREATE TABLE IF NOT EXISTS elections (
         name BLOB NOT NULL PRIMARY KEY,
         term INTEGER NOT NULL,
         revision INTEGER NOT NULL,
         next_ticket INTEGER NOT NULL,
         waiting INTEGER NOT NULL,
         leader_session BLOB,
         leader_candidate BLOB,
         leader_lease_ttl_us INTEGER,
         leader_value BLOB,
         leader_elected_at_us INTEGER,
         leader_attempt INTEGER
       ) WITHOUT ROWID)",
    "CREATE INDEX IF NOT EXISTS elections_by_leader_session ON elections (leader_session)",
    R"(CREATE TABLE IF NOT EXISTS sessions (
         id BLOB NOT NULL PRIMARY KEY,
         candidate BLOB NOT NULL,
         lease_ttl_us INTEGER NOT NULL,
         expires_at_us INTEGER NOT NULL,
         state INTEGER NOT NULL,
         cause INTEGER NOT NULL
       ) WITHOUT ROWID)",
    "CREATE INDEX IF NOT EXISTS sessions_due ON sessions (state, expires_at_us)",
    R"(CREATE TABLE IF NOT EXISTS candidacies (
         election BLOB NOT NULL,
         session BLOB NOT NULL,
         ticket INTEGER NOT NULL,
         precedence INTEGER NOT NULL,
         value BLOB NOT NULL,
         attempt INTEGER NOT NULL,
         PRIMARY KEY (election, session)
       ) WITHOUT ROWID)",
    "CREATE INDEX IF NOT EXISTS candidacies_queue ON candidacies (election, precedence, ticket)",
    "CREATE INDEX IF NOT EXISTS candidacies_by_session ON candidacies (session)",
    R"(CREATE TABLE IF NOT EXISTS events (
         election BLOB NOT NULL,
         revision INTEGER NOT NULL,
         type INTEGER NOT NULL,
         cause INTEGER NOT NULL,
         term INTEGER NOT NULL,
         session BLOB NOT NULL,
         candidate BLOB NOT NULL,
         lease_ttl_us INTEGER NOT NULL,
         value BLOB NOT NULL,
         elected_at_us INTEGER NOT NULL,
         at_us INTEGER NOT NULL,
         lane INTEGER NOT NULL,
         position INTEGER NOT NULL,
         PRIMARY KEY (election, revision)
       ) WITHOUT ROWID)",
    "CREATE INDEX IF NOT EXISTS events_feed ON events (lane, position)",
    R"(CREATE TABLE IF NOT EXISTS lanes (
         lane INTEGER NOT NULL PRIMARY KEY,
         position INTEGER NOT NULL
       ))",
    "INSERT OR IGNORE INTO lanes (lane, position) VALUES (0, 0), (1, 0), (2, 0), (3, 0)",
};

// The views of mysql_migrations.cc. Names are TEXT in them, because SQLite never finds a BLOB equal
// to a literal; moments are text, as MySQL writes them. The clock is SQLite's own, in milliseconds,
// which is the store's unless another was given to it. (unixepoch('subsec') needs SQLite 3.42.)
// There is no tenure_fence: a write transaction locks the whole file.
constexpr const char* kPlainSql[] = {
    R"(CREATE VIEW IF NOT EXISTS leaders AS
         SELECT CAST(e.name AS TEXT) AS election, e.term,
           CAST(e.leader_candidate AS TEXT) AS candidate, e.leader_value AS value,
           strftime('%Y-%m-%d %H:%M:%S', e.leader_elected_at_us / 1000000, 'unixepoch')
             || printf('.%06d', e.leader_elected_at_us % 1000000) AS elected_at,
           e.leader_lease_ttl_us / 1000 AS lease_ttl_ms,
           (s.expires_at_us - CAST((julianday('now') - 2440587.5) * 86400e6 AS INTEGER))
             / 1000 AS lease_left_ms
         FROM elections e JOIN sessions s ON s.id = e.leader_session
         WHERE s.state = 0
           AND s.expires_at_us > CAST((julianday('now') - 2440587.5) * 86400e6 AS INTEGER))",
    R"(CREATE VIEW IF NOT EXISTS queue AS
         SELECT CAST(c.election AS TEXT) AS election,
           ROW_NUMBER() OVER (PARTITION BY c.election ORDER BY c.precedence, c.ticket) AS position,
           CAST(s.candidate AS TEXT) AS candidate, -1 - c.precedence AS priority, c.ticket
         FROM candidacies c JOIN sessions s ON s.id = c.session
         WHERE s.state = 0
           AND s.expires_at_us > CAST((julianday('now') - 2440587.5) * 86400e6 AS INTEGER))",
    R"(CREATE VIEW IF NOT EXISTS terms AS
         SELECT CAST(election AS TEXT) AS election, term, CAST(MAX(candidate) AS TEXT) AS candidate,
           strftime('%Y-%m-%d %H:%M:%S', MAX(elected_at_us) / 1000000, 'unixepoch')
             || printf('.%06d', MAX(elected_at_us) % 1000000) AS began_at,
           strftime('%Y-%m-%d %H:%M:%S', MAX(CASE type WHEN 3 THEN at_us END) / 1000000,
             'unixepoch')
             || printf('.%06d', MAX(CASE type WHEN 3 THEN at_us END) % 1000000) AS ended_at,
           CASE MAX(CASE type WHEN 3 THEN cause END) WHEN 1 THEN 'RESIGNED' WHEN 2 THEN 'EXPIRED'
             WHEN 3 THEN 'DEPOSED' WHEN 4 THEN 'APPOINTED_AWAY' WHEN 5 THEN 'SUPERSEDED'
             WHEN 6 THEN 'SESSION_CLOSED' WHEN 7 THEN 'DELETED' END AS cause
         FROM events GROUP BY election, term)",
};

constexpr const char* kAdministration[] = {
    "ALTER TABLE elections ADD COLUMN lock_delay_us INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE elections ADD COLUMN min_hold_us INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE elections ADD COLUMN lease_ttl_default_us INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE elections ADD COLUMN lease_ttl_max_us INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE elections ADD COLUMN queue_max INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE elections ADD COLUMN paused INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE elections ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE elections ADD COLUMN vacant_until_us INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE elections ADD COLUMN appointed_candidate BLOB",
    "ALTER TABLE elections ADD COLUMN appointed_until_us INTEGER",
    "ALTER TABLE elections ADD COLUMN cooling_until_us INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE elections ADD COLUMN wake_at_us INTEGER",
    "ALTER TABLE elections ADD COLUMN history_from INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX IF NOT EXISTS elections_by_wake ON elections (wake_at_us)",
    "ALTER TABLE sessions ADD COLUMN opened_at_us INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE sessions ADD COLUMN lease_ttl_asked_us INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE sessions ADD COLUMN lease_ttl_since_us INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE candidacies ADD COLUMN candidate BLOB NOT NULL DEFAULT x''",
    "ALTER TABLE candidacies ADD COLUMN asked_again INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX IF NOT EXISTS candidacies_by_candidate ON candidacies (election, candidate)",
    R"(UPDATE candidacies SET candidate =
         COALESCE((SELECT s.candidate FROM sessions s WHERE s.id = candidacies.session), x''))",
    "ALTER TABLE events ADD COLUMN successor BLOB NOT NULL DEFAULT x''",
    R"(CREATE TABLE IF NOT EXISTS cool_downs (
         election BLOB NOT NULL,
         candidate BLOB NOT NULL,
         until_us INTEGER NOT NULL,
         PRIMARY KEY (election, candidate)
       ) WITHOUT ROWID)",
    R"(CREATE TABLE IF NOT EXISTS admin_changes (
         number INTEGER PRIMARY KEY AUTOINCREMENT,
         election BLOB NOT NULL,
         action INTEGER NOT NULL,
         term INTEGER NOT NULL,
         at_us INTEGER NOT NULL,
         detail BLOB NOT NULL,
         identity BLOB NOT NULL,
         reason BLOB NOT NULL
       ))",
    "CREATE INDEX IF NOT EXISTS admin_changes_by_election ON admin_changes (election, number)",
};

constexpr const char* kVacancies[] = {
    "ALTER TABLE elections ADD COLUMN vacant_cause INTEGER",
    "ALTER TABLE elections ADD COLUMN vacant_since_us INTEGER",
};

constexpr const char* kIdentities[] = {
    "ALTER TABLE sessions ADD COLUMN identity BLOB NOT NULL DEFAULT x''",
    "CREATE INDEX IF NOT EXISTS sessions_by_identity ON sessions (identity)"
    " WHERE identity != x''",
};

constexpr const char* kOrigin[] = {
    R"(CREATE TABLE IF NOT EXISTS origin (
         one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
         number INTEGER NOT NULL
       ))",
};

constexpr const char* kLineage[] = {
    "ALTER TABLE lanes ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0",
    R"(CREATE TABLE IF NOT EXISTS lineage (
         epoch INTEGER NOT NULL PRIMARY KEY,
         token INTEGER NOT NULL,
         server BLOB NOT NULL,
         lossless INTEGER NOT NULL,
         state INTEGER NOT NULL,
         began_at_us INTEGER NOT NULL,
         repairer INTEGER NOT NULL,
         repair_until_us INTEGER NOT NULL,
         joined_at_us INTEGER NOT NULL
       ))",
};

// SQLite has no clusters.
constexpr const char* kClusterFence[] = {
    "ALTER TABLE lineage ADD COLUMN guards_write INTEGER NOT NULL DEFAULT 0",
};

constexpr const char* kIncumbents[] = {
    "ALTER TABLE elections ADD COLUMN incumbent BLOB",
    "ALTER TABLE elections ADD COLUMN incumbent_until_us INTEGER",
};

constexpr const char* kReplicas[] = {
    R"(CREATE TABLE IF NOT EXISTS replicas (
         id BLOB NOT NULL PRIMARY KEY,
         address BLOB NOT NULL,
         seen_at_us INTEGER NOT NULL
       ) WITHOUT ROWID)",
};

constexpr const char* kTenants[] = {
    R"(CREATE TABLE IF NOT EXISTS session_key (
         one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
         value BLOB NOT NULL
       ))",
    "ALTER TABLE elections ADD COLUMN creator BLOB NOT NULL DEFAULT x''",
    "CREATE INDEX IF NOT EXISTS elections_by_creator ON elections (creator) WHERE creator != x''",
};

constexpr const char* kHomes[] = {
    "ALTER TABLE sessions ADD COLUMN home INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE sessions ADD COLUMN moves INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX IF NOT EXISTS sessions_by_home ON sessions (state, home)",
    R"(CREATE TABLE IF NOT EXISTS homes (
         id INTEGER NOT NULL PRIMARY KEY,
         beat INTEGER NOT NULL,
         dead INTEGER NOT NULL,
         departures INTEGER NOT NULL,
         good_for_us INTEGER NOT NULL,
         began_at_us INTEGER NOT NULL,
         died_at_us INTEGER
       ))",
    R"(CREATE TABLE IF NOT EXISTS departed (
         home INTEGER NOT NULL,
         number INTEGER NOT NULL,
         session BLOB NOT NULL,
         moves INTEGER NOT NULL,
         PRIMARY KEY (home, number)
       ) WITHOUT ROWID)",
};

constexpr const char* kHomesAlone[] = {
    "DROP VIEW IF EXISTS leaders",
    "DROP VIEW IF EXISTS queue",
    "ALTER TABLE sessions RENAME COLUMN expires_at_us TO ended_at_us",
    "UPDATE sessions SET ended_at_us = 0 WHERE state = 0",
    "ALTER TABLE elections DROP COLUMN incumbent",
    "ALTER TABLE elections DROP COLUMN incumbent_until_us",
    "ALTER TABLE homes ADD COLUMN peer BLOB NOT NULL DEFAULT x''",
    "ALTER TABLE homes ADD COLUMN address BLOB NOT NULL DEFAULT x''",
    "DROP TABLE IF EXISTS replicas",
    R"(CREATE VIEW IF NOT EXISTS leaders AS
         SELECT CAST(e.name AS TEXT) AS election, e.term,
           CAST(e.leader_candidate AS TEXT) AS candidate, e.leader_value AS value,
           strftime('%Y-%m-%d %H:%M:%S', e.leader_elected_at_us / 1000000, 'unixepoch')
             || printf('.%06d', e.leader_elected_at_us % 1000000) AS elected_at,
           e.leader_lease_ttl_us / 1000 AS lease_ttl_ms,
           CASE h.dead WHEN 0 THEN s.lease_ttl_us
             WHEN 1 THEN MAX(0, s.lease_ttl_us + h.died_at_us
               - CAST((julianday('now') - 2440587.5) * 86400e6 AS INTEGER))
             ELSE 0 END / 1000 AS lease_left_ms
         FROM elections e JOIN sessions s ON s.id = e.leader_session
           LEFT JOIN homes h ON h.id = s.home
         WHERE s.state = 0)",
    R"(CREATE VIEW IF NOT EXISTS queue AS
         SELECT CAST(c.election AS TEXT) AS election,
           ROW_NUMBER() OVER (PARTITION BY c.election ORDER BY c.precedence, c.ticket) AS position,
           CAST(s.candidate AS TEXT) AS candidate, -1 - c.precedence AS priority, c.ticket
         FROM candidacies c JOIN sessions s ON s.id = c.session
         WHERE s.state = 0)",
};

// SQLite has no procedures: versions 11, 13 and 16 add nothing.
constexpr Migration kMigrations[] = {{1, kFirstLight}, {2, kPlainSql},     {3, kAdministration},
                                     {4, kVacancies},  {5, kIdentities},   {6, kOrigin},
                                     {7, kLineage},    {8, kClusterFence}, {9, kIncumbents},
                                     {10, kReplicas},  {11, {}},           {12, kTenants},
                                     {13, {}},         {14, kHomes},       {15, kHomesAlone},
                                     {16, {}}};

}  // namespace

std::span<const Migration> SqliteMigrations() { return kMigrations; }

}  // namespace tenure
