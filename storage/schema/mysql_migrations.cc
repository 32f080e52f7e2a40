// Common SQL of MySQL 8+ and MariaDB 10.6+. Names and values are bytes (VARBINARY), so that no
// collation has a say; moments and durations are microseconds in BIGINT, so that no time zone has.
#include "storage/schema/migrations.h"

namespace tenure {
namespace {

constexpr const char* kFirstLight[] = {
    // One row per election, for ever: the term must not restart. `leader_*` are null while vacant.
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
    // The only row that a heartbeat touches. state: 0 alive, 1 ended, 2 ended and settled.
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
    // One row per change. (lane, position) is the order in which replicas tell each other.
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

constexpr Migration kMigrations[] = {{1, kFirstLight}};

}  // namespace

std::span<const Migration> MySqlMigrations() { return kMigrations; }

}  // namespace tenure
