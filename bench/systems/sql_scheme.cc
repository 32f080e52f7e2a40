#include "bench/systems/sql_scheme.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace tenure::bench {
namespace {

using namespace std::chrono_literals;

// From "Leader election using MySQL" (code.openark.org, 2015), with one row for each election. As
// in the article, times are whole seconds.
SqlScheme HeartbeatRow(int seconds) {
  const std::string limit = std::to_string(seconds);
  const std::vector<std::string> heartbeat = {
      "INSERT IGNORE INTO service_election (election, holder, last_seen)"
      " VALUES ('{election}', '{candidate}', NOW()) ON DUPLICATE KEY UPDATE"
      " holder = IF(last_seen < NOW() - INTERVAL " +
          limit +
          " SECOND, VALUES(holder), holder),"
          " last_seen = IF(holder = VALUES(holder), VALUES(last_seen), last_seen)",
      "SELECT COUNT(*) FROM service_election"
      " WHERE election = '{election}' AND holder = '{candidate}'"};
  return {
      .key = "heartbeat-" + limit,
      .name = "heartbeat row, " + limit + " s",
      .table =
          "CREATE TABLE service_election (election VARCHAR(64) NOT NULL PRIMARY KEY,"
          " holder VARCHAR(64) NOT NULL, last_seen TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP)",
      .seed = "",
      .first = "",
      .attempt = heartbeat,
      .renew = heartbeat,
      .release =
          "DELETE FROM service_election"
          " WHERE election = '{election}' AND holder = '{candidate}'",
      .attempt_every = 1s,
      .renew_every = 1s};
}

SqlScheme LockRow() {
  const std::vector<std::string> take = {
      "UPDATE locks SET holder = '{candidate}', expires = NOW(3) + INTERVAL 10 SECOND"
      " WHERE name = '{election}' AND (holder = '{candidate}' OR expires < NOW(3))"};
  return {.key = "lock-row",
          .name = "lock row, 10 s",
          .table =
              "CREATE TABLE locks (name VARCHAR(64) NOT NULL PRIMARY KEY,"
              " holder VARCHAR(64) NOT NULL, expires DATETIME(3) NOT NULL)",
          .seed = "INSERT INTO locks VALUES ('{election}', '', '2000-01-01')",
          .first = "",
          .attempt = take,
          .renew = take,
          .release =
              "UPDATE locks SET expires = NOW(3) - INTERVAL 1 SECOND"
              " WHERE name = '{election}' AND holder = '{candidate}'",
          .attempt_every = 1s,
          .renew_every = 3333ms};
}

SqlScheme NamedLock() {
  return {.key = "get-lock",
          .name = "GET_LOCK",
          .table = "",
          .seed = "",
          .first = "",
          .attempt = {"SELECT GET_LOCK('{election}', 3600)"},
          .renew = {"SELECT IS_USED_LOCK('{election}') = CONNECTION_ID()"},
          .release = "SELECT RELEASE_LOCK('{election}')",
          .attempt_every = 1s,
          .renew_every = 1s,
          .held_by_connection = true};
}

// Equivalent to ShedLock 7's MySqlServerTimeStatementsSource, which `usingDbTime` selects, with
// its KeepAliveLockProvider: lockAtMostFor 10 s, lockAtLeastFor 0. Each process tries to insert the
// row once.
SqlScheme ShedLock() {
  return {.key = "shedlock",
          .name = "ShedLock, 10 s",
          .table =
              "CREATE TABLE shedlock (name VARCHAR(64) NOT NULL PRIMARY KEY,"
              " lock_until TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),"
              " locked_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),"
              " locked_by VARCHAR(255) NOT NULL)",
          .seed = "",
          .first =
              "INSERT IGNORE INTO shedlock (name, lock_until, locked_at, locked_by) VALUES"
              " ('{election}', TIMESTAMPADD(MICROSECOND, 10000000, UTC_TIMESTAMP(3)),"
              " UTC_TIMESTAMP(3), '{candidate}')",
          .attempt = {"UPDATE shedlock SET"
                      " lock_until = TIMESTAMPADD(MICROSECOND, 10000000, UTC_TIMESTAMP(3)),"
                      " locked_at = UTC_TIMESTAMP(3), locked_by = '{candidate}'"
                      " WHERE name = '{election}' AND lock_until <= UTC_TIMESTAMP(3)"},
          .renew = {"UPDATE shedlock SET"
                    " lock_until = TIMESTAMPADD(MICROSECOND, 10000000, UTC_TIMESTAMP(3))"
                    " WHERE name = '{election}' AND locked_by = '{candidate}'"
                    " AND lock_until > UTC_TIMESTAMP(3)"},
          .release =
              "UPDATE shedlock SET lock_until = UTC_TIMESTAMP(3)"
              " WHERE name = '{election}' AND locked_by = '{candidate}'",
          .attempt_every = 1s,
          .renew_every = 5s};
}

}  // namespace

const std::vector<SqlScheme>& SqlSchemes() {
  static const std::vector<SqlScheme> schemes = {HeartbeatRow(20), HeartbeatRow(2), LockRow(),
                                                 NamedLock(), ShedLock()};
  return schemes;
}

const SqlScheme& SqlSchemeOf(const std::string& key) {
  const auto found = std::ranges::find(SqlSchemes(), key, &SqlScheme::key);
  if (found == SqlSchemes().end()) throw std::invalid_argument("there is no scheme " + key);
  return *found;
}

std::string Filled(const std::string& statement, const std::string& election,
                   const std::string& candidate) {
  return fmt::format(fmt::runtime(statement), fmt::arg("election", election),
                     fmt::arg("candidate", candidate));
}

}  // namespace tenure::bench
