#include "storage/mysql/sql.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

namespace tenure::mysql::query {
namespace {

constexpr char kNow[] = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";

constexpr char kElectionColumns[] =
    "e.name, e.term, e.revision, e.next_ticket, e.waiting, e.leader_session, e.leader_candidate,"
    " e.leader_lease_ttl_us, e.leader_value, e.leader_elected_at_us, e.leader_attempt";
constexpr char kCandidacyColumns[] =
    "c.election, c.session, c.ticket, c.precedence, c.value, c.attempt";
constexpr char kEventColumns[] =
    "election, revision, type, cause, term, session, candidate, lease_ttl_us, value,"
    " elected_at_us, at_us";

std::string Literal(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string literal = "x'";
  literal.reserve(3 + 2 * bytes.size());
  for (const char c : bytes) {
    literal.push_back(kDigits[static_cast<uint8_t>(c) >> 4]);
    literal.push_back(kDigits[static_cast<uint8_t>(c) & 15]);
  }
  literal.push_back('\'');
  return literal;
}

std::string Literal(const SessionId& id) {
  return Literal(std::string_view(reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()));
}
std::string Literal(const ElectionName& name) { return Literal(name.bytes); }
int64_t Literal(Duration duration) { return duration.count(); }
int64_t Literal(DbTime time) { return time.since_epoch.count(); }

// "one, two, three" of what `write` makes of each item.
template <typename Items, typename Write>
std::string Join(const Items& items, std::string_view separator, Write write) {
  std::string joined;
  for (const auto& item : items) {
    if (!joined.empty()) joined += separator;
    joined += write(item);
  }
  return joined;
}

template <typename Items>
std::string Literals(const Items& items) {
  return Join(items, ", ", [](const auto& item) { return Literal(item); });
}

std::string IsPlace(const PlaceKey& place) {
  return fmt::format("(election = {} AND session = {})", Literal(place.election),
                     Literal(place.session));
}

// Joins the leader's session only while it is alive: `s.id IS NOT NULL` says that it is.
std::string ElectionViews(std::string_view where) {
  return fmt::format(
      "SELECT {}, s.id IS NOT NULL FROM elections e LEFT JOIN sessions s"
      " ON s.id = e.leader_session AND s.state = 0 AND s.expires_at_us > {} WHERE {}",
      kElectionColumns, kNow, where);
}

std::string LeaderValues(const std::optional<Leader>& leader) {
  if (!leader) return "NULL, NULL, NULL, NULL, NULL, NULL";
  return fmt::format("{}, {}, {}, {}, {}, {}", Literal(leader->session), Literal(leader->candidate),
                     Literal(leader->lease_ttl), Literal(leader->value),
                     Literal(leader->elected_at), leader->attempt.value);
}

}  // namespace

std::vector<std::string> SetUpSession() {
  return {"SET SESSION time_zone = '+00:00'",
          "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
          "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
          "SET SESSION innodb_lock_wait_timeout = 1", "SET SESSION lock_wait_timeout = 3",
          // A replica that freezes in the middle of a transaction loses its locks after so long.
          "SET SESSION wait_timeout = 5"};
}

std::string LockElections(const std::vector<ElectionName>& names) {
  return fmt::format(
      "SELECT {} FROM elections e WHERE e.name IN ({}) ORDER BY e.name FOR UPDATE SKIP LOCKED",
      kElectionColumns, Literals(names));
}

std::string ExistingElections(const std::vector<ElectionName>& names) {
  return fmt::format("SELECT name FROM elections WHERE name IN ({})", Literals(names));
}

std::string CreateElections(const std::vector<ElectionName>& names) {
  return "INSERT IGNORE INTO elections (name) VALUES " +
         Join(names, ", ", [](const auto& name) { return "(" + Literal(name) + ")"; });
}

std::string DeleteElections(const std::vector<ElectionName>& names) {
  return fmt::format("DELETE FROM elections WHERE name IN ({})", Literals(names));
}

std::string LoadPlaces(const std::vector<PlaceKey>& places) {
  return fmt::format("SELECT {} FROM candidacies c WHERE {}", kCandidacyColumns,
                     Join(places, " OR ", IsPlace));
}

std::string LoadHeads(const std::vector<std::pair<ElectionName, size_t>>& heads) {
  return Join(heads, " UNION ALL ", [](const auto& head) {
    return fmt::format(
        "(SELECT {} FROM candidacies c FORCE INDEX (queue) STRAIGHT_JOIN sessions s FORCE INDEX "
        "(PRIMARY)"
        " ON s.id = c.session WHERE c.election = {}"
        " AND s.state = 0 AND s.expires_at_us > {} ORDER BY c.precedence, c.ticket LIMIT {})",
        kCandidacyColumns, Literal(head.first), kNow, head.second);
  });
}

std::string LockSessions(const std::vector<SessionId>& ids) {
  return fmt::format(
      "SELECT id, candidate, lease_ttl_us, expires_at_us, cause FROM sessions WHERE id IN ({})"
      " ORDER BY id FOR UPDATE SKIP LOCKED",
      Literals(ids));
}

std::string ExistingSessions(const std::vector<SessionId>& ids) {
  return fmt::format("SELECT id FROM sessions WHERE id IN ({})", Literals(ids));
}

std::string SaveElections(const std::vector<const Election*>& elections) {
  const auto row = [](const Election* it) {
    return fmt::format("({}, {}, {}, {}, {}, {})", Literal(it->name), it->term.value,
                       it->revision.value, it->next_ticket.value, it->waiting,
                       LeaderValues(it->leader));
  };
  return fmt::format(
      "INSERT INTO elections (name, term, revision, next_ticket, waiting, leader_session,"
      " leader_candidate, leader_lease_ttl_us, leader_value, leader_elected_at_us, leader_attempt)"
      " VALUES {} ON DUPLICATE KEY UPDATE term = VALUES(term), revision = VALUES(revision),"
      " next_ticket = VALUES(next_ticket), waiting = VALUES(waiting),"
      " leader_session = VALUES(leader_session), leader_candidate = VALUES(leader_candidate),"
      " leader_lease_ttl_us = VALUES(leader_lease_ttl_us), leader_value = VALUES(leader_value),"
      " leader_elected_at_us = VALUES(leader_elected_at_us),"
      " leader_attempt = VALUES(leader_attempt)",
      Join(elections, ", ", row));
}

std::string OpenSessions(const std::vector<const Session*>& sessions) {
  const auto row = [](const Session* it) {
    return fmt::format("({}, {}, {}, {}, {}, {})", Literal(it->id), Literal(it->candidate),
                       Literal(it->lease_ttl), Literal(it->expires_at),
                       it->ended == Cause::kNone ? 0 : 1, static_cast<int>(it->ended));
  };
  return "INSERT INTO sessions (id, candidate, lease_ttl_us, expires_at_us, state, cause) VALUES " +
         Join(sessions, ", ", row);
}

std::string SaveSessions(const std::vector<const Session*>& sessions) {
  return OpenSessions(sessions) +
         " ON DUPLICATE KEY UPDATE expires_at_us = VALUES(expires_at_us), state = VALUES(state),"
         " cause = VALUES(cause)";
}

std::string DeletePlaces(const std::vector<PlaceKey>& places) {
  return "DELETE FROM candidacies WHERE " + Join(places, " OR ", IsPlace);
}

std::string SavePlaces(
    const std::vector<std::pair<const ElectionName*, const Candidacy*>>& candidacies) {
  const auto row = [](const auto& it) {
    const Candidacy& candidacy = *it.second;
    return fmt::format("({}, {}, {}, {}, {}, {})", Literal(*it.first), Literal(candidacy.session),
                       candidacy.ticket.value, ~candidacy.priority, Literal(candidacy.value),
                       candidacy.attempt.value);
  };
  return fmt::format(
      "INSERT INTO candidacies (election, session, ticket, precedence, value, attempt) VALUES {}"
      " ON DUPLICATE KEY UPDATE ticket = VALUES(ticket), precedence = VALUES(precedence),"
      " value = VALUES(value), attempt = VALUES(attempt)",
      Join(candidacies, ", ", row));
}

std::string AdvanceLane(int lane) {
  return fmt::format("UPDATE lanes SET position = LAST_INSERT_ID(position + 1) WHERE lane = {}",
                     lane);
}

std::string SaveEvents(int lane, const std::vector<Event>& events) {
  const auto row = [&](const Event& it) {
    const Leader& leader = it.leader;
    return fmt::format("({}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, LAST_INSERT_ID())",
                       Literal(it.election), it.revision.value, static_cast<int>(it.type),
                       static_cast<int>(it.cause), it.term.value, Literal(leader.session),
                       Literal(leader.candidate), Literal(leader.lease_ttl), Literal(leader.value),
                       Literal(leader.elected_at), Literal(it.at), lane);
  };
  return fmt::format("INSERT INTO events ({}, lane, position) VALUES {}", kEventColumns,
                     Join(events, ", ", row));
}

std::string SaveWriter(std::string_view writer, uint64_t transaction) {
  return fmt::format(
      "INSERT INTO writers (writer, transaction, at_us) VALUES ({}, {}, {})"
      " ON DUPLICATE KEY UPDATE transaction = VALUES(transaction), at_us = VALUES(at_us)",
      Literal(writer), transaction, kNow);
}

std::string LockWriter(std::string_view writer) {
  return fmt::format("SELECT transaction FROM writers WHERE writer = {} FOR UPDATE",
                     Literal(writer));
}

std::string EventPosition(const Event& event) {
  return fmt::format("SELECT position FROM events WHERE election = {} AND revision = {}",
                     Literal(event.election), event.revision.value);
}

std::string ViewElections(const std::vector<ElectionName>& names) {
  return ElectionViews(fmt::format("e.name IN ({})", Literals(names)));
}

std::string ListElections(std::string_view prefix, std::string_view after, size_t limit) {
  return ElectionViews(
      fmt::format("e.name >= {} AND e.name < {} AND e.name > {}"
                  " ORDER BY e.name LIMIT {}",
                  Literal(prefix), Literal(PrefixEnd(prefix)), Literal(after), limit));
}

std::string Positions(const std::vector<PlaceKey>& places) {
  return Join(places, " UNION ALL ", [](const PlaceKey& place) {
    return fmt::format(
        "SELECT me.election, me.session, COUNT(*) FROM candidacies me JOIN candidacies c"
        " ON c.election = me.election AND (c.precedence < me.precedence"
        " OR (c.precedence = me.precedence AND c.ticket <= me.ticket))"
        " WHERE me.election = {} AND me.session = {} GROUP BY me.election, me.session",
        Literal(place.election), Literal(place.session));
  });
}

std::string Seats(const std::vector<SessionId>& sessions) {
  return fmt::format("SELECT {} FROM elections e WHERE e.leader_session IN ({}) ORDER BY e.name",
                     kElectionColumns, Literals(sessions));
}

std::string Events(const ElectionName& election, Revision from, size_t limit) {
  return fmt::format(
      "SELECT {} FROM events WHERE election = {} AND revision >= {} ORDER BY revision LIMIT {}",
      kEventColumns, Literal(election), from.value, limit);
}

std::string Feed(int lane, uint64_t after, uint64_t until) {
  return fmt::format(
      "SELECT {}, position FROM events WHERE lane = {} AND position > {} AND position <= {}"
      " ORDER BY position, election, revision",
      kEventColumns, lane, after, until);
}

std::string ExpiredSessions(size_t limit) {
  return fmt::format(
      "SELECT id FROM sessions WHERE state = 0 AND expires_at_us <= {}"
      " ORDER BY expires_at_us LIMIT {}",
      kNow, limit);
}

std::string UnsettledSessions(size_t limit) {
  return fmt::format("SELECT id FROM sessions WHERE state = 1 LIMIT {}", limit);
}

std::string NextExpiry() {
  return fmt::format(
      "SELECT MIN(expires_at_us) FROM sessions WHERE state = 0"
      " AND expires_at_us > {}",
      kNow);
}

std::string Places(const std::vector<SessionId>& sessions) {
  return fmt::format(
      "SELECT name, leader_session FROM elections WHERE leader_session IN ({0})"
      " UNION SELECT election, session FROM candidacies WHERE session IN ({0})",
      Literals(sessions));
}

std::string MarkSettled(const std::vector<SessionId>& sessions) {
  return fmt::format(
      "UPDATE sessions s SET s.state = 2 WHERE s.id IN ({}) AND s.state = 1"
      " AND NOT EXISTS (SELECT 1 FROM elections e WHERE e.leader_session = s.id)"
      " AND NOT EXISTS (SELECT 1 FROM candidacies c WHERE c.session = s.id)",
      Literals(sessions));
}

std::string ForgetSessions(Duration age, size_t limit) {
  return fmt::format("DELETE FROM sessions WHERE state = 2 AND expires_at_us < {} - {} LIMIT {}",
                     kNow, Literal(age), limit);
}

std::string ForgetWriters(Duration age, size_t limit) {
  return fmt::format("DELETE FROM writers WHERE at_us < {} - {} LIMIT {}", kNow, Literal(age),
                     limit);
}

std::string SetSchemaVersion(int version) {
  return fmt::format("REPLACE INTO schema_version (one, version) VALUES (1, {})", version);
}

}  // namespace tenure::mysql::query
