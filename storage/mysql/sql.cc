#include "storage/mysql/sql.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>

#include "base/hex.h"
#include "core/law/remembered.h"
#include "core/limits.h"
#include "storage/cells.h"
#include "storage/columns.h"

namespace tenure::mysql::query {
namespace {

constexpr char kNow[] = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";

// The time of evaluation, not of the statement's start.
constexpr char kExactNow[] = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))";

constexpr char kElectionColumns[] = TENURE_ELECTION_COLUMNS;
constexpr char kCandidacyColumns[] = "c.election, " TENURE_CANDIDACY_COLUMNS;
constexpr char kSessionColumns[] = TENURE_SESSION_COLUMNS;
constexpr char kEventColumns[] = TENURE_EVENT_COLUMNS;
constexpr char kEpochColumns[] = TENURE_EPOCH_COLUMNS;
constexpr char kHomeColumns[] = TENURE_HOME_COLUMNS;
// Maximum number of places in one answer about many sessions.
constexpr size_t kPlacesMax = 100'000;

std::string Literal(std::string_view bytes) { return "x'" + ToHex(bytes) + "'"; }

std::string_view Bytes(const SessionId& id) {
  return {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()};
}

std::string Literal(const SessionId& id) { return Literal(Bytes(id)); }
std::string Literal(const ElectionName& name) { return Literal(name.bytes); }
uint64_t Literal(HomeId home) { return home.value; }
int64_t Literal(Duration duration) { return duration.count(); }
int64_t Literal(DbTime time) { return time.since_epoch.count(); }

std::string LiteralOf(const Cell& cell) {
  if (const auto* bytes = std::get_if<std::string_view>(&cell)) return Literal(*bytes);
  if (const auto* number = std::get_if<int64_t>(&cell)) return std::to_string(*number);
  if (const auto* number = std::get_if<uint64_t>(&cell)) return std::to_string(*number);
  return "NULL";
}

// Joins what `write` makes of each item: "one, two, three".
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

// "one, two, three": the values of a row.
template <typename Cells>
std::string LiteralsOf(const Cells& cells) {
  return Join(cells, ", ", LiteralOf);
}

// Compares pairs, since MariaDB takes 160 ms to plan 500 conditions that are joined by OR. But it
// makes a subquery of a list of 1,000 values or more, and reads the whole table to delete by a list
// of one.
std::string ArePlaces(const std::vector<PlaceKey>& places) {
  constexpr size_t kPairsMax = 400;
  std::string all;
  for (size_t begin = 0; begin < places.size(); begin += kPairsMax) {
    const size_t end = std::min(places.size(), begin + kPairsMax);
    const std::span<const PlaceKey> some(places.data() + begin, end - begin);
    if (begin > 0) all += " OR ";
    all += some.size() == 1
               ? fmt::format("(election = {} AND session = {})", Literal(some[0].election),
                             Literal(some[0].session))
               : fmt::format("(election, session) IN ({})", Join(some, ", ", [](const auto& place) {
                               return fmt::format("({}, {})", Literal(place.election),
                                                  Literal(place.session));
                             }));
  }
  return all;
}

// Joins sessions s with their homes.
constexpr char kWithHomes[] =
    " LEFT JOIN (SELECT id AS home_id, dead, died_at_us FROM homes) h ON h.home_id = s.home";

// The rest of the leases of live sessions, with their homes: all of it while the home lives; once
// it is dead, the lease runs out.
std::string LeaseLeft() {
  return fmt::format(
      "CASE h.dead WHEN 0 THEN s.lease_ttl_us"
      " WHEN 1 THEN GREATEST(0, s.lease_ttl_us + h.died_at_us - {}) ELSE 0 END",
      kNow);
}

std::string ElectionViews(std::string_view where) {
  return fmt::format(
      "SELECT {}, s.id IS NOT NULL, {}, @@global.read_only FROM elections e LEFT JOIN sessions s"
      " ON s.id = e.leader_session AND s.state = 0{} WHERE {}",
      kElectionColumns, LeaseLeft(), kWithHomes, where);
}

// What the law reads of a live session, and of a plain election, except what only changes with the
// revision. As one text: servers search a list of texts by bisection, but a list of rows from its
// beginning. A value that may hold any byte comes first with a fixed length, or comes last.
constexpr char kComparedOfSession[] = "s.id, s.lease_ttl_us, s.lease_ttl_since_us";
constexpr char kComparedOfElection[] =
    "e.term, e.revision, e.next_ticket, COALESCE(e.leader_attempt, 0), e.lease_ttl_default_us,"
    " e.lease_ttl_max_us, e.queue_max, e.history_from, e.name";
constexpr char kIsPlain[] =
    "e.waiting = 0 AND e.paused = 0 AND e.deleted = 0 AND e.lock_delay_us = 0"
    " AND e.min_hold_us = 0 AND e.vacant_until_us = 0 AND e.cooling_until_us = 0"
    " AND e.wake_at_us IS NULL AND e.appointed_candidate IS NULL";

std::string ComparedOf(const Session& it) {
  return fmt::format("{}/{}/{}", Bytes(it.id), Literal(it.lease_ttl), Literal(it.lease_ttl_since));
}

std::string ComparedOf(const Election& it) {
  return fmt::format("{}/{}/{}/{}/{}/{}/{}/{}/{}", it.term.value, it.revision.value,
                     it.next_ticket.value, it.leader ? it.leader->call_id.value : 0,
                     Literal(it.settings.lease_ttl_default), Literal(it.settings.lease_ttl_max),
                     it.settings.queue_max, it.history_from.value, it.name.bytes);
}

std::string ClockIsNear(DbTime now) {
  return fmt::format("ABS({} - {}) <= {}", kExactNow, Literal(now),
                     Literal(kRememberedClockTolerance));
}

// `session` returns the session of an item.
template <typename Items, typename SessionOf>
std::string AreAsRemembered(const Items& sessions, SessionOf session) {
  const auto ids = Join(sessions, ", ", [&](const auto& it) { return Literal(session(it)->id); });
  const auto rows =
      Join(sessions, ", ", [&](const auto& it) { return Literal(ComparedOf(*session(it))); });
  return fmt::format("s.id IN ({}) AND CONCAT_WS('/', {}) IN ({}) AND s.state = 0", ids,
                     kComparedOfSession, rows);
}

std::string Stands(HomeId home, uint64_t acknowledged) {
  return fmt::format("id = {} AND dead = 0 AND beat >= {}", Literal(home), acknowledged);
}

std::string NumberHome(HomeId home, uint64_t number, uint64_t acknowledged) {
  return fmt::format("UPDATE homes SET beat = {0} WHERE {1} AND beat < {0}", number,
                     Stands(home, acknowledged));
}

// Fails with kStale unless the witness is true, and keeps it so until the transaction has ended.
std::vector<std::string> Prove(const HomeWitness& witness, bool writes) {
  const std::string stands = Stands(witness.home, witness.acknowledged);
  // Without the row, the difference is negative, and so out of range.
  if (!witness.number && !writes) {
    return {
        fmt::format("SELECT CAST(COUNT(*) AS UNSIGNED) - 1 FROM homes WHERE {}"
                    " LOCK IN SHARE MODE",
                    stands)};
  }
  const std::string write =
      witness.number ? NumberHome(witness.home, *witness.number, witness.acknowledged)
                     : fmt::format("UPDATE homes SET witnessed = witnessed + 1 WHERE {}", stands);
  return {write, "SELECT CAST(ROW_COUNT() AS UNSIGNED) - 1"};
}

// What `write` makes of each column of "a, b".
template <typename Write>
std::string ForEachColumn(std::string_view columns, Write write) {
  std::string all;
  while (!columns.empty()) {
    const size_t comma = columns.find(", ");
    all += (all.empty() ? "" : ", ") + write(columns.substr(0, comma));
    columns.remove_prefix(comma == columns.npos ? columns.size() : comma + 2);
  }
  return all;
}

// "a = VALUES(a), b = VALUES(b)" of "a, b".
std::string Overwrite(std::string_view columns) {
  return ForEachColumn(columns, [](auto it) { return fmt::format("{0} = VALUES({0})", it); });
}

struct Field {
  std::string_view name;
  bool of_seat;
};
#define TENURE_FIELD(column, of_seat) {#column, of_seat},
constexpr Field kElectionFields[] = {TENURE_ELECTION_FIELDS(TENURE_FIELD, TENURE_FIELD)};

// Those columns of elections that are `wanted`.
template <typename Wanted>
std::string SaveElections(const std::vector<const Election*>& elections, Wanted wanted) {
  std::string columns;
  for (const Field& field : kElectionFields) {
    if (wanted(field)) columns += (columns.empty() ? "" : ", ") + std::string(field.name);
  }
  const auto row = [&](const Election* it) {
    std::string values = "(" + Literal(it->name);
    const auto cells = CellsOf(*it);
    static_assert(std::size(kElectionFields) == std::tuple_size_v<decltype(cells)>);
    for (size_t i = 0; i < cells.size(); ++i) {
      if (wanted(kElectionFields[i])) values += ", " + LiteralOf(cells[i]);
    }
    return values + ")";
  };
  return fmt::format("INSERT INTO elections (name, {}) VALUES {} ON DUPLICATE KEY UPDATE {}",
                     columns, Join(elections, ", ", row), Overwrite(columns));
}

// "s.a, s.b" of "a, b".
std::string OfTable(char alias, std::string_view columns) {
  return ForEachColumn(columns, [&](auto it) { return fmt::format("{}.{}", alias, it); });
}

}  // namespace

std::string LockElections(const std::vector<ElectionName>& names, Patience patience) {
  return fmt::format("SELECT {} FROM elections e WHERE e.name IN ({}) ORDER BY e.name FOR UPDATE{}",
                     kElectionColumns, Literals(names),
                     patience == Patience::kWait ? "" : " SKIP LOCKED");
}

std::string ExistingElections(const std::vector<ElectionName>& names) {
  return fmt::format("SELECT name FROM elections WHERE name IN ({})", Literals(names));
}

std::string CreateElections(const std::vector<ElectionName>& names) {
  return "INSERT IGNORE INTO elections (name, deleted) VALUES " +
         Join(names, ", ", [](const auto& name) { return fmt::format("({}, 1)", Literal(name)); });
}

std::string DeleteElections(const std::vector<ElectionName>& names) {
  return fmt::format("DELETE FROM elections WHERE name IN ({})", Literals(names));
}

std::string LoadPlaces(const std::vector<PlaceKey>& places) {
  return fmt::format("SELECT {} FROM candidacies c WHERE {}", kCandidacyColumns, ArePlaces(places));
}

std::string LoadHeads(const std::vector<Head>& heads) {
  const std::string all = Join(heads, " UNION ALL ", [](const Head& head) {
    const std::string kept_out = fmt::format(
        " AND NOT EXISTS (SELECT 1 FROM cool_downs d WHERE d.election = c.election"
        " AND d.candidate = c.candidate AND d.until_us > {})",
        kNow);
    return fmt::format(
        "(SELECT {} FROM candidacies c FORCE INDEX (queue) STRAIGHT_JOIN sessions s FORCE INDEX "
        "(PRIMARY)"
        " ON s.id = c.session WHERE c.election = {} AND c.precedence < 0"
        " AND s.state = 0{} ORDER BY c.precedence, c.ticket LIMIT {})",
        kCandidacyColumns, Literal(head.election), head.cooling ? kept_out : "", head.size);
  });
  // Only rows of the outer SELECT are locked, in the order in which it names the tables. A session
  // that another transaction holds appears as NULLs. If another transaction holds the election, its
  // sessions are not locked either.
  return fmt::format(
      "SELECT STRAIGHT_JOIN c.*, {}, {} FROM ({}) c"
      " JOIN elections e FORCE INDEX (PRIMARY) ON e.name = c.election"
      " LEFT JOIN sessions s FORCE INDEX (PRIMARY) ON s.id = c.session FOR UPDATE SKIP LOCKED",
      OfTable('s', kSessionColumns), kExactNow, all);
}

std::string LoadNamed(const std::vector<std::pair<ElectionName, std::string>>& candidates,
                      size_t limit) {
  return Join(candidates, " UNION ALL ", [&](const auto& it) {
    return fmt::format(
        "(SELECT {} FROM candidacies c FORCE INDEX (by_candidate) STRAIGHT_JOIN sessions s"
        " FORCE INDEX (PRIMARY) ON s.id = c.session WHERE c.election = {} AND c.candidate = {}"
        " AND s.state = 0 ORDER BY c.precedence, c.ticket LIMIT {})",
        kCandidacyColumns, Literal(it.first), Literal(it.second), limit);
  });
}

std::string LoadCoolDowns(const std::vector<ElectionName>& names) {
  return fmt::format(
      "SELECT election, candidate, until_us FROM cool_downs WHERE election IN ({}) AND until_us >"
      " {}",
      Literals(names), kNow);
}

std::string LockSessions(const std::vector<SessionId>& ids) {
  return fmt::format(
      "SELECT {}, {} FROM sessions WHERE id IN ({}) ORDER BY id FOR UPDATE SKIP LOCKED",
      kSessionColumns, kExactNow, Literals(ids));
}

std::string ExistingSessions(const std::vector<SessionId>& ids) {
  return fmt::format("SELECT id FROM sessions WHERE id IN ({})", Literals(ids));
}

std::vector<std::string> Hold(const TransactionState& remembered, const TransactionState& decided) {
  std::vector<std::pair<const Election*, const Session*>> pairs;
  std::vector<const Election*> elections;
  std::map<SessionId, const Session*> sessions;
  for (const auto& [id, session] : remembered.sessions) sessions.emplace(id, &session);
  for (const auto& [name, state] : remembered.elections) {
    const auto& leader =
        state.election.leader ? state.election.leader : decided.elections.at(name).election.leader;
    const auto session =
        leader ? remembered.sessions.find(leader->session) : remembered.sessions.end();
    if (session == remembered.sessions.end()) {
      elections.push_back(&state.election);
    } else {
      pairs.emplace_back(&state.election, &session->second);
      sessions.erase(session->first);
    }
  }
  std::vector<std::string> statements;
  const auto add = [&](size_t count, std::string_view from, const std::string& where) {
    // With fewer rows, the difference is negative, and so out of range.
    statements.push_back(fmt::format(
        "SELECT CAST(COUNT(*) AS UNSIGNED) - {} FROM {} WHERE {} AND {} FOR UPDATE SKIP LOCKED",
        count, from, where, ClockIsNear(remembered.now)));
  };
  if (!pairs.empty()) {
    const auto names = Join(pairs, ", ", [](const auto& it) { return Literal(it.first->name); });
    const auto ids = Join(pairs, ", ", [](const auto& it) { return Literal(it.second->id); });
    const auto rows = Join(pairs, ", ", [](const auto& it) {
      return Literal(ComparedOf(*it.second) + "/" + ComparedOf(*it.first));
    });
    add(pairs.size(),
        fmt::format("elections e STRAIGHT_JOIN sessions s ON s.id = ELT(FIELD(e.name, {}), {})",
                    names, ids),
        fmt::format("e.name IN ({}) AND CONCAT_WS('/', {}, {}) IN ({}) AND {} AND s.state = 0",
                    names, kComparedOfSession, kComparedOfElection, rows, kIsPlain));
  }
  if (!elections.empty()) {
    const auto names = Join(elections, ", ", [](const auto* it) { return Literal(it->name); });
    const auto rows =
        Join(elections, ", ", [](const auto* it) { return Literal(ComparedOf(*it)); });
    add(elections.size(), "elections e",
        fmt::format("e.name IN ({}) AND CONCAT_WS('/', {}) IN ({}) AND {}", names,
                    kComparedOfElection, rows, kIsPlain));
  }
  if (!sessions.empty()) {
    add(sessions.size(), "sessions s",
        AreAsRemembered(sessions, [](const auto& it) { return it.second; }));
  }
  return statements;
}

std::string SaveSeats(const std::vector<const Election*>& elections) {
  return SaveElections(elections, [](const Field& field) { return field.of_seat; });
}

std::string SaveElections(const std::vector<const Election*>& elections) {
  return SaveElections(elections, [](const Field&) { return true; });
}

std::string OpenSessions(const std::vector<const Session*>& sessions) {
  const auto row = [](const Session* it) { return "(" + LiteralsOf(CellsOf(*it)) + ")"; };
  return fmt::format("INSERT INTO sessions ({}, state) VALUES {}", kSessionColumns,
                     Join(sessions, ", ", row));
}

std::string UsageOf(const std::set<std::string>& identities) {
  return fmt::format(
      "SELECT s.identity, COUNT(*), SUM("
      "(SELECT COUNT(*) FROM candidacies c WHERE c.session = s.id)"
      " + (SELECT COUNT(*) FROM elections e WHERE e.leader_session = s.id))"
      " FROM sessions s FORCE INDEX (by_identity)"
      " WHERE s.identity IN ({}) AND s.state = 0 GROUP BY s.identity",
      Literals(identities));
}

std::string CreatedBy(const std::set<std::string>& identities) {
  return fmt::format(
      "SELECT creator, COUNT(*) FROM elections FORCE INDEX (by_creator) WHERE creator IN ({})"
      " GROUP BY creator",
      Literals(identities));
}

std::string Pasts(const std::vector<ElectionName>& names) {
  return fmt::format(
      "SELECT x.name,"
      " (SELECT e.revision FROM events e FORCE INDEX (PRIMARY) WHERE e.election = x.name"
      " ORDER BY e.election, e.revision LIMIT 1),"
      " (SELECT e.at_us FROM events e FORCE INDEX (PRIMARY) WHERE e.election = x.name"
      " ORDER BY e.election DESC, e.revision DESC LIMIT 1),"
      " (SELECT MAX(c.at_us) FROM admin_changes c WHERE c.election = x.name)"
      " FROM elections x WHERE x.name IN ({})",
      Literals(names));
}

std::string SaveSessions(const std::vector<const Session*>& sessions) {
  return OpenSessions(sessions) + " ON DUPLICATE KEY UPDATE " +
         Overwrite("ended_at_us, state, cause, lease_ttl_us, lease_ttl_since_us, home, moves");
}

std::vector<std::string> EmptyElections(const std::vector<const ElectionName*>& names) {
  const std::string all = Join(names, ", ", [](const auto* name) { return Literal(*name); });
  return {fmt::format("DELETE FROM candidacies WHERE election IN ({})", all),
          fmt::format("DELETE FROM cool_downs WHERE election IN ({})", all)};
}

std::vector<std::string> PurgeElections(const std::vector<const ElectionName*>& names) {
  const std::string all = Join(names, ", ", [](const auto* name) { return Literal(*name); });
  return {fmt::format("DELETE FROM events WHERE election IN ({})", all),
          fmt::format("DELETE FROM cool_downs WHERE election IN ({})", all),
          fmt::format("DELETE FROM fences WHERE election IN ({})", all),
          fmt::format("DELETE FROM elections WHERE name IN ({})", all)};
}

std::string ForgetEvents(const ElectionName& election, Revision before) {
  return fmt::format("DELETE FROM events WHERE election = {} AND revision < {}", Literal(election),
                     before.value);
}

std::string DeletePlaces(const std::vector<PlaceKey>& places) {
  return "DELETE FROM candidacies WHERE " + ArePlaces(places);
}

std::string SavePlaces(
    const std::vector<std::pair<const ElectionName*, const Candidacy*>>& candidacies) {
  const auto row = [](const auto& it) {
    return fmt::format("({}, {})", Literal(*it.first), LiteralsOf(CellsOf(*it.second)));
  };
  return fmt::format(
      "INSERT INTO candidacies (election, session, ticket, precedence, value, attempt, candidate,"
      " asked_again) VALUES {} ON DUPLICATE KEY UPDATE {}",
      Join(candidacies, ", ", row), Overwrite("ticket, precedence, value, attempt, asked_again"));
}

std::string SaveCoolDowns(const std::vector<CoolDown>& cool_downs) {
  const auto row = [](const CoolDown& it) {
    return fmt::format("({}, {}, {})", Literal(*it.election), Literal(*it.candidate),
                       Literal(it.until));
  };
  return fmt::format(
      "INSERT INTO cool_downs (election, candidate, until_us) VALUES {} ON DUPLICATE KEY UPDATE {}",
      Join(cool_downs, ", ", row), Overwrite("until_us"));
}

std::string SaveAdminChanges(const std::vector<AdminChange>& changes) {
  const auto row = [](const AdminChange& it) {
    return fmt::format("({}, {}, {}, {}, {}, {}, {})", Literal(it.election),
                       static_cast<int>(it.action), it.term.value, Literal(it.at),
                       Literal(it.detail), Literal(it.author.identity), Literal(it.author.reason));
  };
  return "INSERT INTO admin_changes (election, action, term, at_us, detail, identity, reason)"
         " VALUES " +
         Join(changes, ", ", row);
}

// One partition's offset comes back as LAST_INSERT_ID(). Several are read into variables: a
// statement for each would take more of the database's time than all of their events.
std::vector<std::string> AdvancePartitions(const std::vector<int>& partitions,
                                           const std::optional<HistoryPoint>& point) {
  const std::string lanes = fmt::format("{}", fmt::join(partitions, ", "));
  const auto join = [&](std::string_view separator, std::string_view format) {
    return Join(partitions, separator,
                [&](int partition) { return fmt::format(fmt::runtime(format), partition); });
  };
  std::string next = "position + 1";
  if (point) {
    next = fmt::format("CASE WHEN epoch = {} AND position >= CASE lane {} END THEN {} END",
                       point->epoch,
                       Join(partitions, " ",
                            [&](int partition) {
                              return fmt::format("WHEN {} THEN {}", partition,
                                                 point->seen[static_cast<size_t>(partition)]);
                            }),
                       next);
  }
  if (partitions.size() == 1) {
    return {
        fmt::format("UPDATE lanes SET position = LAST_INSERT_ID({}) WHERE lane = {}", next, lanes),
        "SELECT LAST_INSERT_ID()"};
  }
  return {fmt::format("UPDATE lanes SET position = {} WHERE lane IN ({})", next, lanes),
          fmt::format("SELECT {} INTO {} FROM lanes WHERE lane IN ({})",
                      join(", ", "MAX(CASE lane WHEN {} THEN position END)"),
                      join(", ", "@offset_{}"), lanes),
          "SELECT " + join(", ", "@offset_{}")};
}

std::string SaveEvents(const std::map<int, std::vector<const Event*>>& events) {
  const auto row = [&](const Event* it, int partition, std::string_view offset) {
    return fmt::format("({}, {}, {})", LiteralsOf(CellsOf(*it)), partition, offset);
  };
  std::vector<std::string> rows;
  for (const auto& [partition, of_partition] : events) {
    const std::string offset =
        events.size() == 1 ? "LAST_INSERT_ID()" : fmt::format("@offset_{}", partition);
    for (const Event* event : of_partition) rows.push_back(row(event, partition, offset));
  }
  return fmt::format("INSERT INTO events ({}, lane, position) VALUES {}", kEventColumns,
                     fmt::join(rows, ", "));
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

std::string SpendTicket(const ElectionName& election) {
  return fmt::format("UPDATE elections SET next_ticket = next_ticket + 1 WHERE name = {}",
                     Literal(election));
}

std::string CountEvent(const Event& event) {
  return fmt::format(
      "SELECT COUNT(*) FROM events WHERE election = {} AND revision = {} AND type = {}"
      " AND term = {} AND session = {} AND at_us = {}",
      Literal(event.election), event.revision.value, static_cast<int>(event.type), event.term.value,
      Literal(event.leader.session), Literal(event.at));
}

std::string OffsetOfEvent(const Event& event) {
  return fmt::format("SELECT position FROM events WHERE election = {} AND revision = {}",
                     Literal(event.election), event.revision.value);
}

std::string ViewElections(const std::vector<ElectionName>& names) {
  return ElectionViews(fmt::format("e.name IN ({})", Literals(names)));
}

std::string Attendance(HomeId home, size_t unsettled_max) {
  return fmt::format(
      "SELECT lane, position, epoch, @@global.read_only, 0, '', '', {} FROM lanes UNION ALL"
      " SELECT {}, {} FROM homes h WHERE h.id = {} UNION ALL"
      " (SELECT 0, 0, 0, 0, 0, id, '', {} FROM sessions WHERE state = 1 LIMIT {})",
      kPartitionRow, kHomeColumns, kHomeRow, Literal(home), kUnsettledRow, unsettled_max);
}

std::string ListElections(std::string_view prefix, std::string_view after, size_t limit) {
  return ElectionViews(
      fmt::format("e.name >= {} AND e.name < {} AND e.name > {}"
                  " ORDER BY e.name LIMIT {}",
                  Literal(prefix), Literal(PrefixEnd(prefix)), Literal(after), limit));
}

std::string Positions(const std::vector<PlaceKey>& places) {
  std::set<ElectionName> elections;
  for (const PlaceKey& place : places) elections.insert(place.election);
  return fmt::format(
      "SELECT election, session, position FROM (SELECT election, session, ROW_NUMBER() OVER"
      " (PARTITION BY election ORDER BY precedence, ticket) AS position FROM candidacies"
      " WHERE election IN ({})) queues WHERE {}",
      Literals(elections), ArePlaces(places));
}

std::string Seats(const SeatPage& page) {
  return fmt::format(
      "SELECT {} FROM elections e WHERE e.leader_session IN ({})"
      " AND (e.leader_session <> {} OR e.name > {}) ORDER BY e.leader_session, e.name LIMIT {}",
      kElectionColumns, Literals(page.sessions), Literal(page.sessions.front()),
      Literal(page.after), page.limit);
}

std::string Events(const ElectionName& election, Revision from, size_t limit) {
  return fmt::format(
      "SELECT {0} FROM events WHERE election = {1} AND revision >= GREATEST({2}, COALESCE("
      "(SELECT history_from FROM elections WHERE name = {1}), 0)) ORDER BY revision LIMIT {3}",
      kEventColumns, Literal(election), from.value, limit);
}

std::string Feed(int partition, uint64_t after, uint64_t until) {
  return fmt::format(
      "SELECT {}, position FROM events WHERE lane = {} AND position > {} AND position <= {}"
      " ORDER BY position, election, revision",
      kEventColumns, partition, after, until);
}

std::vector<std::string> SaveDepartures(const std::vector<Departure>& departures,
                                        const std::optional<HomeWitness>& witness, bool writes) {
  std::map<HomeId, std::vector<const Departure*>> by_home;
  for (const Departure& it : departures) by_home[it.home].push_back(&it);
  if (witness) by_home[witness->home];
  std::vector<std::string> statements;
  for (const auto& [home, left] : by_home) {
    if (witness && witness->home == home) {
      std::ranges::move(Prove(*witness, writes), std::back_inserter(statements));
    }
    if (!left.empty()) {
      statements.push_back(
          fmt::format("UPDATE homes SET departures = departures + {} WHERE id = {} AND dead = 0",
                      left.size(), Literal(home)));
      size_t later = left.size();
      const auto row = [&](const Departure* it) {
        return fmt::format(
            "SELECT id, departures - {}, {}, {} FROM homes WHERE id = {} AND dead = 0", --later,
            Literal(it->session), it->moves, Literal(it->home));
      };
      statements.push_back("INSERT INTO departed (home, number, session, moves) " +
                           Join(left, " UNION ALL ", row));
    }
  }
  return statements;
}

std::string WriteSessions(const std::set<SessionId>& ids) {
  return fmt::format("UPDATE sessions SET grants = grants + 1 WHERE id IN ({})", Literals(ids));
}

std::string BeginHome(const HomeRow& home) {
  return fmt::format(
      "INSERT IGNORE INTO homes (id, beat, dead, departures, good_for_us, peer, address,"
      " began_at_us) VALUES ({}, {}, 0, {}, {}, {}, {}, {})",
      Literal(home.id), home.beat, home.departures, Literal(home.good_for), Literal(home.peer.id),
      Literal(home.peer.address), kNow);
}

std::string Beat(const BeatOrder& order) {
  return NumberHome(order.home, order.number, order.acknowledged);
}

// The index by_home is read from one home to the next, not session by session: MySQL and MariaDB do
// that only if all of its columns are named.
std::string HomesAfterBeat(HomeId own) {
  return fmt::format(
      "SELECT {}, ROW_COUNT() FROM homes h WHERE h.dead = 0 OR h.id = {} UNION ALL"
      " SELECT s.home, 0, {}, 0, 0, '', '', 0 FROM"
      " (SELECT DISTINCT state, home FROM sessions WHERE state = 0) s"
      " LEFT JOIN homes h ON h.id = s.home WHERE h.id IS NULL OR h.dead = 1",
      kHomeColumns, Literal(own), kGone);
}

std::string DeclareDead(HomeId home, uint64_t beat) {
  return fmt::format(
      "UPDATE homes SET dead = 1, died_at_us = {} WHERE id = {} AND beat = {} AND dead = 0", kNow,
      Literal(home), beat);
}

std::string FindHome(HomeId home) {
  return fmt::format("SELECT {} FROM homes h WHERE h.id = {}", kHomeColumns, Literal(home));
}

std::string ReadDepartures(HomeId home, uint64_t after, size_t limit) {
  return fmt::format(
      "SELECT number, session, moves FROM departed WHERE home = {} AND number > {}"
      " ORDER BY number LIMIT {}",
      Literal(home), after, limit);
}

std::string ForgetDepartures(HomeId home, uint64_t until) {
  return fmt::format("DELETE FROM departed WHERE home = {} AND number <= {}", Literal(home), until);
}

std::string KeptSessions(HomeId home, const SessionId& after, size_t limit) {
  return fmt::format(
      "SELECT {} FROM sessions WHERE state = 0 AND home = {} AND id > {} ORDER BY id LIMIT {}",
      kSessionColumns, Literal(home), Literal(after), limit);
}

std::string Orphans(HomeId home, Duration lease_max, size_t limit) {
  return fmt::format(
      "SELECT id FROM sessions WHERE state = 0 AND home = {} AND lease_ttl_us <= {} LIMIT {}",
      Literal(home), Literal(lease_max), limit);
}

std::vector<std::string> ForgetHomes(Duration age, size_t limit) {
  return {"DELETE d FROM departed d JOIN homes h ON h.id = d.home WHERE h.dead = 1",
          fmt::format("DELETE FROM homes WHERE dead = 1 AND died_at_us < {} - {}"
                      " AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.state = 0"
                      " AND s.home = homes.id) LIMIT {}",
                      kNow, Literal(age), limit)};
}

std::string WriteFences(const std::set<ElectionName>& names) {
  return fmt::format("UPDATE fences SET writes = writes + 1 WHERE election IN ({})",
                     Literals(names));
}

std::string LatestEpoch() {
  return fmt::format("SELECT {} FROM lineage ORDER BY epoch DESC LIMIT 1", kEpochColumns);
}

std::string FindEpoch(uint64_t number) {
  return fmt::format("SELECT {} FROM lineage WHERE epoch = {}", kEpochColumns, number);
}

std::vector<std::string> SaveEpoch(const Epoch& epoch) {
  return {fmt::format("REPLACE INTO lineage (epoch, token, server, lossless, state, began_at_us,"
                      " repairer, repair_until_us, joined_at_us, guards_write)"
                      " VALUES ({}, {}, {}, {}, {}, {}, {}, {}, {}, {})",
                      epoch.number, epoch.token, Literal(epoch.server), epoch.lossless ? 1 : 0,
                      static_cast<int>(epoch.state), Literal(epoch.began_at), epoch.repairer,
                      Literal(epoch.repair_until), kNow, epoch.guards_write ? 1 : 0),
          fmt::format("UPDATE lanes SET epoch = {}", epoch.number)};
}

std::string JoinEpoch(uint64_t number) {
  return fmt::format("UPDATE lineage SET joined_at_us = {} WHERE epoch = {}", kNow, number);
}

std::string FindDueWork(size_t limit) {
  return fmt::format(
      "SELECT {2}, '', {0}, 0, 0, 0 UNION ALL SELECT {3}, '', MIN(due.at_us), 0, 0, 0 FROM"
      " (SELECT MIN(wake_at_us) AS at_us FROM elections WHERE wake_at_us > {0}) due"
      " UNION ALL SELECT {6}, '', NULL, lane, position, epoch FROM lanes"
      " UNION ALL (SELECT {4}, id, NULL, 0, 0, 0 FROM sessions WHERE state = 1 LIMIT {1})"
      " UNION ALL (SELECT {5}, name, NULL, 0, 0, 0 FROM elections WHERE wake_at_us <= {0}"
      " ORDER BY wake_at_us LIMIT {1})",
      kNow, limit, static_cast<int>(Due::kNow), static_cast<int>(Due::kNext),
      static_cast<int>(Due::kUnsettled), static_cast<int>(Due::kElection),
      static_cast<int>(Due::kPartition));
}

std::string Queue(const ElectionName& election, size_t skip, size_t limit) {
  return fmt::format(
      "SELECT {}, s.lease_ttl_us, CASE s.state WHEN 0 THEN {} ELSE 0 END, d.until_us"
      " FROM candidacies c FORCE INDEX (queue) JOIN sessions s ON s.id = c.session"
      "{} LEFT JOIN cool_downs d ON d.election = c.election AND d.candidate = c.candidate"
      " AND d.until_us > {} WHERE c.election = {} ORDER BY c.precedence, c.ticket LIMIT {}, {}",
      kCandidacyColumns, LeaseLeft(), kWithHomes, kNow, Literal(election), skip, limit);
}

std::string Terms(const ElectionName& election, Term before, size_t limit) {
  return fmt::format(
      "SELECT term, MAX(candidate), MAX(elected_at_us), MAX(CASE type WHEN 3 THEN at_us END),"
      " MAX(CASE type WHEN 3 THEN cause END) FROM events WHERE election = {0} AND term < {1}"
      " AND revision >= (SELECT history_from FROM elections WHERE name = {0})"
      " GROUP BY term ORDER BY term DESC LIMIT {2}",
      Literal(election), before.value, limit);
}

std::string AdminChanges(const std::optional<ElectionName>& election, uint64_t before,
                         size_t limit) {
  return fmt::format("SELECT " TENURE_ADMIN_COLUMNS
                     " FROM admin_changes"
                     " WHERE number < {}{} ORDER BY number DESC LIMIT {}",
                     before, election ? " AND election = " + Literal(*election) : "", limit);
}

std::string LiveSessions(std::string_view candidate_prefix, const SessionId& after, size_t limit) {
  return fmt::format(
      "SELECT {}, {} FROM sessions s{} WHERE s.state = 0"
      " AND s.candidate >= {} AND s.candidate < {} AND s.id > {} ORDER BY s.id LIMIT {}",
      kSessionColumns, LeaseLeft(), kWithHomes, Literal(candidate_prefix),
      Literal(PrefixEnd(candidate_prefix)), Literal(after), limit);
}

std::string SessionsLead(const std::vector<SessionId>& sessions) {
  return fmt::format(
      "SELECT name, leader_session FROM elections WHERE leader_session IN ({}) ORDER BY name LIMIT"
      " {}",
      Literals(sessions), kPlacesMax);
}

std::string SessionsWait(const std::vector<SessionId>& sessions) {
  return fmt::format(
      "SELECT election, session FROM candidacies WHERE session IN ({}) ORDER BY election LIMIT {}",
      Literals(sessions), kPlacesMax);
}

std::string FindSession(const SessionId& first, const SessionId& last) {
  return fmt::format("SELECT id FROM sessions WHERE id >= {} AND id <= {} LIMIT 1", Literal(first),
                     Literal(last));
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
  return fmt::format("DELETE FROM sessions WHERE state = 2 AND ended_at_us < {} - {} LIMIT {}",
                     kNow, Literal(age), limit);
}

std::string ForgetWriters(Duration age, size_t limit) {
  return fmt::format("DELETE FROM writers WHERE at_us < {} - {} LIMIT {}", kNow, Literal(age),
                     limit);
}

std::string OldestEvents(const ElectionName& after, size_t limit) {
  return fmt::format(
      "SELECT x.name, x.revision, x.history_from,"
      " (SELECT e.revision FROM events e FORCE INDEX (PRIMARY) WHERE e.election = x.name"
      " ORDER BY e.election, e.revision LIMIT 1),"
      " (SELECT e.at_us FROM events e FORCE INDEX (PRIMARY) WHERE e.election = x.name"
      " ORDER BY e.election, e.revision LIMIT 1)"
      " FROM elections x WHERE x.name > {} ORDER BY x.name LIMIT {}",
      Literal(after), limit);
}

std::string LastToTrim(const ElectionName& election, Revision end, const HistoryTrimmer::Cut& cut) {
  return fmt::format(
      "SELECT COALESCE(MAX(revision), 0) FROM events WHERE election = {} AND revision < {}"
      " AND (revision < {} OR at_us < {}) AND at_us < {}",
      Literal(election), end.value, cut.below.value, Literal(cut.before),
      Literal(cut.protected_from));
}

std::string TrimEvents(const ElectionName& election, Revision last, size_t limit) {
  return fmt::format(
      "DELETE FROM events WHERE election = {} AND revision <= {} ORDER BY revision LIMIT {}",
      Literal(election), last.value, limit);
}

std::string TrimAdminChanges(Duration age, size_t limit) {
  return fmt::format("DELETE FROM admin_changes WHERE at_us < {} - {} LIMIT {}", kNow, Literal(age),
                     limit);
}

std::string TrimCoolDowns(size_t limit) {
  return fmt::format("DELETE FROM cool_downs WHERE until_us < {} LIMIT {}", kNow, limit);
}

std::string RaiseOrigin() {
  return fmt::format(
      "INSERT INTO origin (one, number) VALUES (1, GREATEST({0}, {1}))"
      " ON DUPLICATE KEY UPDATE number = GREATEST(number + {0}, {1})",
      kBumpMin, kNow);
}

std::string RaiseOriginTo(uint64_t number) {
  return fmt::format(
      "INSERT INTO origin (one, number) VALUES (1, {})"
      " ON DUPLICATE KEY UPDATE number = GREATEST(number, VALUES(number))",
      number);
}

std::string AddSessionKey(std::string_view key) {
  return fmt::format("INSERT IGNORE INTO session_key (one, value) VALUES (1, {})", Literal(key));
}

std::string TakeMigrationLock(std::string_view holder, Duration lease) {
  return fmt::format(
      "UPDATE migration_lock SET holder = {0}, until_us = GREATEST(until_us + 1, {1} + {2})"
      " WHERE one = 1 AND (holder = {0} OR until_us < {1})",
      Literal(holder), kNow, Literal(lease));
}

std::string FreeMigrationLock(std::string_view holder) {
  return fmt::format("UPDATE migration_lock SET until_us = 0 WHERE holder = {}", Literal(holder));
}

std::string SetSchemaVersion(int version) {
  return fmt::format("REPLACE INTO schema_version (one, version) VALUES (1, {})", version);
}

std::vector<Trial> TrialsOfMigration() {
  return {{"CREATE", "CREATE TABLE tenure_trial SELECT * FROM tenure_nothing"},
          {"ALTER", "ALTER TABLE tenure_nothing ADD COLUMN x INT"},
          {"INDEX", "CREATE INDEX x ON tenure_nothing (x)"},
          {"CREATE VIEW", "CREATE VIEW tenure_trial AS SELECT * FROM tenure_nothing"},
          {"DROP", "DROP TABLE tenure_nothing"}};
}

std::string HasRight(std::string_view right) {
  // 'user'@'host'; only the host has no '@'.
  constexpr char kGrantee[] =
      "CONCAT(QUOTE(LEFT(CURRENT_USER(), CHAR_LENGTH(CURRENT_USER()) - 1 -"
      " CHAR_LENGTH(SUBSTRING_INDEX(CURRENT_USER(), '@', -1)))), '@',"
      " QUOTE(SUBSTRING_INDEX(CURRENT_USER(), '@', -1)))";
  return fmt::format(
      "SELECT COALESCE(CURRENT_ROLE(), 'NONE') <> 'NONE'"
      " OR EXISTS (SELECT 1 FROM information_schema.user_privileges"
      " WHERE grantee = {0} AND privilege_type = '{1}')"
      " OR EXISTS (SELECT 1 FROM information_schema.schema_privileges"
      " WHERE grantee = {0} AND privilege_type = '{1}' AND DATABASE() LIKE table_schema)",
      kGrantee, right);
}

std::vector<Trial> TrialsOfUse() {
  struct Use {
    const char* table;
    const char* updates = nullptr;  // a column
    bool deletes = true;
    bool inserts = true;
  };
  constexpr Use kUses[] = {
      {"elections", "term"},
      {"sessions", "candidate"},
      {"candidacies", "value"},
      {"events"},
      {"lanes", "position"},
      {"lineage", "state"},
      {"admin_changes"},
      {"cool_downs", "until_us"},
      {"writers", "transaction"},
      {"homes", "beat"},
      {"departed"},
      {"fences", "writes", true, false},  // tenure_fence inserts, with the rights of its definer
      {"origin", "number", false},
      {"session_key", nullptr, false}};
  std::vector<Trial> trials;
  for (const Use& use : kUses) {
    const std::string name(use.table);
    trials.push_back({"SELECT on " + name, "SELECT 1 FROM " + name + " WHERE FALSE"});
    if (use.inserts) {
      trials.push_back(
          {"INSERT on " + name, "INSERT INTO " + name + " SELECT * FROM " + name + " WHERE FALSE"});
    }
    if (use.deletes)
      trials.push_back({"DELETE on " + name, "DELETE FROM " + name + " WHERE FALSE"});
    if (use.updates == nullptr) continue;
    trials.push_back({"UPDATE on " + name,
                      fmt::format("UPDATE {0} SET {1} = {1} WHERE FALSE", name, use.updates)});
  }
  return trials;
}

}  // namespace tenure::mysql::query
