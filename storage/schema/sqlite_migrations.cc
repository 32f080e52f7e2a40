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

constexpr Migration kMigrations[] = {{1, kFirstLight}};

}  // namespace

std::span<const Migration> SqliteMigrations() { return kMigrations; }

}  // namespace tenure
