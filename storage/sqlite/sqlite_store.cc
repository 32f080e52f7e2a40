#include "storage/sqlite/sqlite_store.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <variant>

#include "storage/changes.h"
#include "storage/schema/migrations.h"
#include "storage/sqlite/sql.h"

namespace tenure {
namespace {

namespace query = sqlite::query;

// How long one waits for the file's lock: so many pauses of this length, each a fair try. SQLite's
// own timeout pauses ever longer, and lets whoever came last go first.
constexpr auto kBusyPause = std::chrono::milliseconds(1);
constexpr int kBusyPausesMax = 8000;

// Sessions of one candidate in one election that one transaction takes notice of.
constexpr int64_t kNamedMax = 16;
// Elections that are told of one session.
constexpr int64_t kPlacesMax = 1000;
constexpr size_t kElectionsPerTrim = 1000;

// What can be bound to a parameter: nothing is NULL, bytes are a BLOB.
using Value = std::variant<std::monostate, int64_t, std::string_view>;

std::string_view Bytes(const SessionId& id) {
  return {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()};
}
int64_t Int(uint64_t value) { return static_cast<int64_t>(value); }
int64_t Int(Duration duration) { return duration.count(); }
int64_t Int(DbTime time) { return time.since_epoch.count(); }

// One connection and its prepared statements.
class Connection {
 public:
  explicit Connection(const std::string& path)
      : database_(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE) {
    sqlite3_busy_handler(database_.getHandle(), WaitForLock, nullptr);
    SQLite::Statement(database_, "PRAGMA journal_mode = WAL").executeStep();
    database_.exec("PRAGMA synchronous = FULL");
  }

  // Starts a statement, prepared once. `sql` is a literal; bytes must outlive the rows.
  SQLite::Statement& Query(const char* sql, std::initializer_list<Value> parameters = {}) {
    auto& statement = statements_[sql];
    if (statement == nullptr) statement = std::make_unique<SQLite::Statement>(database_, sql);
    statement->tryReset();
    int index = 0;
    for (const Value& value : parameters) Bind(*statement, ++index, value);
    return *statement;
  }

  void Execute(const char* sql, std::initializer_list<Value> parameters = {}) {
    SQLite::Statement& statement = Query(sql, parameters);
    while (statement.executeStep()) continue;
    statement.reset();
  }

  // How many rows the last statement that changed any has changed.
  size_t Changes() { return static_cast<size_t>(database_.getChanges()); }

  void ExecuteOnce(const char* sql) { database_.exec(sql); }

 private:
  static int WaitForLock(void*, int pauses) {
    std::this_thread::sleep_for(kBusyPause);
    return pauses < kBusyPausesMax ? 1 : 0;
  }

  static void Bind(SQLite::Statement& statement, int index, const Value& value) {
    if (const auto* number = std::get_if<int64_t>(&value)) return statement.bind(index, *number);
    if (const auto* bytes = std::get_if<std::string_view>(&value)) {
      const char* data = bytes->empty() ? "" : bytes->data();  // a null pointer would bind NULL
      return statement.bindNoCopy(index, data, static_cast<int>(bytes->size()));
    }
    statement.bind(index);
  }

  SQLite::Database database_;
  std::map<const char*, std::unique_ptr<SQLite::Statement>> statements_;
};

// Rolls back unless committed.
class Transaction {
 public:
  Transaction(Connection& connection, const char* begin) : connection_(connection) {
    connection_.Execute(begin);
  }
  ~Transaction() {
    if (open_) try {
        connection_.Execute(query::kRollback);
      } catch (const SQLite::Exception&) {  // SQLite has rolled back by itself
      }
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void Commit() {
    connection_.Execute(query::kCommit);
    open_ = false;
  }

 private:
  Connection& connection_;
  bool open_ = true;
};

std::string Blob(const SQLite::Statement& row, int column) {
  const SQLite::Column cell = const_cast<SQLite::Statement&>(row).getColumn(column);
  return cell.getBytes() == 0 ? std::string()
                              : std::string(static_cast<const char*>(cell.getBlob()),
                                            static_cast<size_t>(cell.getBytes()));
}

int64_t Number(SQLite::Statement& row, int column) { return row.getColumn(column).getInt64(); }

SessionId ToSessionId(const std::string& bytes) {
  SessionId id;
  std::copy_n(bytes.begin(), std::min(bytes.size(), id.bytes.size()), id.bytes.begin());
  return id;
}

uint64_t Unsigned(SQLite::Statement& row, int column) {
  return static_cast<uint64_t>(Number(row, column));
}
DbTime Time(SQLite::Statement& row, int column) { return {Duration(Number(row, column))}; }
std::optional<DbTime> OptionalTime(SQLite::Statement& row, int column) {
  return row.isColumnNull(column) ? std::nullopt : std::optional(Time(row, column));
}
Duration Span(SQLite::Statement& row, int column) { return Duration(Number(row, column)); }
ElectionName ToName(SQLite::Statement& row) { return {Blob(row, 0)}; }

Election ToElection(SQLite::Statement& row) {
  Election election;
  election.name = ToName(row);
  election.term.value = Unsigned(row, 1);
  election.revision.value = Unsigned(row, 2);
  election.next_ticket.value = Unsigned(row, 3);
  election.waiting = Unsigned(row, 4);
  if (!row.isColumnNull(5)) {
    election.leader =
        Leader{ToSessionId(Blob(row, 5)), Blob(row, 6), Span(row, 7), Blob(row, 8), Time(row, 9),
               Attempt{Unsigned(row, 10)}};
  }
  election.settings = {Span(row, 11), Span(row, 12), Span(row, 13), Span(row, 14),
                       Unsigned(row, 15)};
  election.paused = Number(row, 16) != 0;
  election.deleted = Number(row, 17) != 0;
  election.vacant_until = Time(row, 18);
  if (!row.isColumnNull(19)) {
    election.appointment = Appointment{Blob(row, 19), OptionalTime(row, 20)};
  }
  election.cooling_until = Time(row, 21);
  election.wake_at = OptionalTime(row, 22);
  election.history_from.value = Unsigned(row, 23);
  if (!row.isColumnNull(24)) {
    election.vacancy = Vacancy{static_cast<Cause>(Number(row, 24)), Time(row, 25)};
  }
  // A program of schema 8 that grants the seat leaves the incumbent in the row.
  if (election.vacancy && !row.isColumnNull(26)) {
    election.vacancy->incumbent = Incumbent{Blob(row, 26), Time(row, 27)};
  }
  return election;
}
constexpr int kElectionColumns = 28;

ElectionView ToView(SQLite::Statement& row) {
  return {ToElection(row), Span(row, kElectionColumns)};
}

Candidacy ToCandidacy(SQLite::Statement& row) {
  Candidacy candidacy;
  candidacy.session = ToSessionId(Blob(row, 0));
  candidacy.ticket.value = Unsigned(row, 1);
  candidacy.priority = ~static_cast<int32_t>(Number(row, 2));
  candidacy.value = Blob(row, 3);
  candidacy.attempt.value = Unsigned(row, 4);
  candidacy.candidate = Blob(row, 5);
  candidacy.asked_again = Number(row, 6) != 0;
  return candidacy;
}
constexpr int kCandidacyColumns = 7;

Session ToSession(SQLite::Statement& row) {
  Session session{ToSessionId(Blob(row, 0)), Blob(row, 1), Span(row, 2), Time(row, 3)};
  session.ended = static_cast<Cause>(Number(row, 4));
  session.opened_at = Time(row, 5);
  session.lease_ttl_asked = Span(row, 6);
  session.lease_ttl_since = Time(row, 7);
  session.identity = Blob(row, 8);
  return session;
}
constexpr int kSessionColumns = 9;

Event ToEvent(SQLite::Statement& row) {
  Event event;
  event.election.bytes = Blob(row, 0);
  event.revision.value = static_cast<uint64_t>(Number(row, 1));
  event.type = static_cast<EventType>(Number(row, 2));
  event.cause = static_cast<Cause>(Number(row, 3));
  event.term.value = static_cast<uint64_t>(Number(row, 4));
  event.leader = Leader{ToSessionId(Blob(row, 5)),        Blob(row, 6),
                        Duration(Number(row, 7)),         Blob(row, 8),
                        DbTime{Duration(Number(row, 9))}, {}};
  event.at = Time(row, 10);
  event.successor = Blob(row, 11);
  return event;
}
constexpr int kEventColumns = 12;

template <typename Convert>
std::vector<std::invoke_result_t<Convert, SQLite::Statement&>> Collect(SQLite::Statement& rows,
                                                                       Convert convert) {
  std::vector<std::invoke_result_t<Convert, SQLite::Statement&>> all;
  while (rows.executeStep()) all.push_back(convert(rows));
  rows.reset();
  return all;
}

// Says that the connection is in use, for so long.
class InUse {
 public:
  explicit InUse(std::atomic<bool>& flag) : flag_(flag) { flag_ = true; }
  ~InUse() { flag_ = false; }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;

 private:
  std::atomic<bool>& flag_;
};

class SqliteStore final : public Store {
 public:
  SqliteStore(const std::string& path, DbClock clock)
      : clock_(std::move(clock)), connection_(path) {}

  Result<Committed> Transact(const Agenda& agenda,
                             const std::function<void(Docket&)>& decide) override {
    return Guarded([&]() -> Committed {
      Transaction transaction(connection_, query::kBegin);
      const Docket loaded = Load(agenda);
      Docket decided = loaded;
      decide(decided);
      const Committed committed = Save(loaded, decided, agenda.stand);
      transaction.Commit();
      return committed;
    });
  }

  Result<std::map<ElectionName, ElectionView>> ReadElections(
      const std::vector<ElectionName>& names) override {
    return Guarded([&] {
      Transaction transaction(connection_, query::kBeginRead);
      const int64_t now = Int(clock_());
      std::map<ElectionName, ElectionView> views;
      for (const ElectionName& name : names) {
        SQLite::Statement& row = connection_.Query(query::kViewElection, {name.bytes, now});
        if (row.executeStep()) views.emplace(name, ToView(row));
        row.reset();
      }
      return views;
    });
  }

  Result<std::vector<ElectionView>> ListElections(std::string_view prefix, std::string_view after,
                                                  size_t limit) override {
    return Guarded([&] {
      const std::string end = PrefixEnd(prefix);
      return Collect(
          connection_.Query(query::kListElections, {Int(clock_()), prefix, end, after, Int(limit)}),
          ToView);
    });
  }

  Result<std::map<PlaceKey, uint64_t>> ReadPositions(const std::vector<PlaceKey>& places) override {
    return Guarded([&] {
      std::map<PlaceKey, uint64_t> positions;
      for (const PlaceKey& place : places) {
        SQLite::Statement& row =
            connection_.Query(query::kPosition, {place.election.bytes, Bytes(place.session)});
        row.executeStep();
        const auto position = static_cast<uint64_t>(Number(row, 0));
        if (position > 0) positions.emplace(place, position);
        row.reset();
      }
      return positions;
    });
  }

  Result<std::vector<PlaceKey>> FilterWaiting(const std::vector<PlaceKey>& places) override {
    return Guarded([&] {
      std::vector<PlaceKey> waiting;
      for (const PlaceKey& place : places) {
        SQLite::Statement& row =
            connection_.Query(query::kLoadPlace, {place.election.bytes, Bytes(place.session)});
        if (row.executeStep()) waiting.push_back(place);
        row.reset();
      }
      return waiting;
    });
  }

  Result<std::vector<Leadership>> ReadSeats(const std::vector<SessionId>& sessions) override {
    return Guarded([&] {
      std::vector<Leadership> seats;
      for (const SessionId& session : sessions) {
        const auto led = Collect(connection_.Query(query::kSeats, {Bytes(session)}), ToElection);
        for (const Election& election : led) seats.push_back(*LeadershipOf(election));
      }
      return seats;
    });
  }

  Result<std::vector<Event>> ReadEvents(const ElectionName& election, Revision from,
                                        size_t limit) override {
    return Guarded([&] {
      return Collect(
          connection_.Query(query::kEvents, {election.bytes, Int(from.value), Int(limit)}),
          ToEvent);
    });
  }

  Result<Lanes> ReadLanes() override {
    return Guarded([&] { return LoadLanes(); });
  }

  Result<std::vector<FeedEntry>> ReadFeed(int lane, uint64_t after, uint64_t until) override {
    return Guarded([&] {
      return Collect(connection_.Query(query::kFeed, {int64_t{lane}, Int(after), Int(until)}),
                     [](SQLite::Statement& row) {
                       return FeedEntry{Unsigned(row, kEventColumns), ToEvent(row)};
                     });
    });
  }

  Result<DueWork> FindDueWork(size_t limit) override {
    return Guarded([&] {
      const auto to_id = [](SQLite::Statement& row) { return ToSessionId(Blob(row, 0)); };
      DueWork due;
      due.now = clock_();
      due.expired = Collect(connection_.Query(query::kExpired, {Int(due.now), Int(limit)}), to_id);
      due.unsettled = Collect(connection_.Query(query::kUnsettled, {Int(limit)}), to_id);
      due.elections =
          Collect(connection_.Query(query::kDueElections, {Int(due.now), Int(limit)}), ToName);
      SQLite::Statement& next = connection_.Query(query::kNextDue, {Int(due.now)});
      if (next.executeStep()) due.next = OptionalTime(next, 0);
      next.reset();
      return due;
    });
  }

  Result<std::vector<SessionId>> ListUnended(const SessionId& after, size_t limit) override {
    return Guarded([&] {
      return Collect(connection_.Query(query::kUnended, {Bytes(after), Int(limit)}),
                     [](SQLite::Statement& row) { return ToSessionId(Blob(row, 0)); });
    });
  }

  Result<std::vector<PlaceKey>> FindPlaces(const std::vector<SessionId>& sessions) override {
    return Guarded([&] {
      std::vector<PlaceKey> places;
      for (const SessionId& id : sessions) {
        SQLite::Statement& row = connection_.Query(query::kPlaces, {Bytes(id)});
        while (row.executeStep()) places.push_back({ElectionName{Blob(row, 0)}, id});
        row.reset();
      }
      return places;
    });
  }

  Result<void> MarkSettled(const std::vector<SessionId>& sessions) override {
    return Guarded([&] {
      Transaction transaction(connection_, query::kBegin);
      for (const SessionId& id : sessions) connection_.Execute(query::kMarkSettled, {Bytes(id)});
      transaction.Commit();
    });
  }

  Result<size_t> ForgetSessions(Duration age, size_t limit) override {
    return Guarded([&] {
      connection_.Execute(query::kForgetSessions, {Int(clock_().since_epoch - age), Int(limit)});
      return connection_.Changes();
    });
  }

  Result<Trimmed> TrimHistory(const Retention& retention, const ElectionName& after,
                              size_t limit) override {
    return Guarded([&] {
      Transaction transaction(connection_, query::kBegin);
      const DbTime now = clock_();
      if (after.bytes.empty()) {
        const Duration age = std::max(retention.age_max, retention.age_min);
        connection_.Execute(query::kTrimAdminChanges, {Int(now.since_epoch - age), Int(limit)});
        connection_.Execute(query::kTrimCoolDowns, {Int(now)});
      }
      const Trimmed trimmed = TrimEvents(HistoryTrimmer(retention, now), after, limit);
      transaction.Commit();
      return trimmed;
    });
  }

  Result<std::vector<QueueEntry>> ReadQueue(const ElectionName& election, size_t skip,
                                            size_t limit) override {
    return Guarded([&] {
      return Collect(
          connection_.Query(query::kQueue, {election.bytes, Int(clock_()), Int(skip), Int(limit)}),
          [](SQLite::Statement& row) {
            QueueEntry entry{ToCandidacy(row), Span(row, kCandidacyColumns + 1),
                             OptionalTime(row, kCandidacyColumns + 2)};
            entry.candidacy.lease_ttl = Span(row, kCandidacyColumns);
            return entry;
          });
    });
  }

  Result<std::vector<TermRecord>> ReadTerms(const ElectionName& election, Term before,
                                            size_t limit) override {
    return Guarded([&] {
      return Collect(
          connection_.Query(query::kTerms, {election.bytes, Int(before.value), Int(limit)}),
          [](SQLite::Statement& row) {
            return TermRecord{{Unsigned(row, 0)},
                              Blob(row, 1),
                              Time(row, 2),
                              OptionalTime(row, 3),
                              static_cast<Cause>(Number(row, 4))};
          });
    });
  }

  Result<std::vector<AdminRecord>> ReadAdminChanges(const std::optional<ElectionName>& election,
                                                    uint64_t before, size_t limit) override {
    return Guarded([&] {
      SQLite::Statement& rows =
          election ? connection_.Query(query::kAdminChangesOf,
                                       {Int(before), election->bytes, Int(limit)})
                   : connection_.Query(query::kAdminChanges, {Int(before), Int(limit)});
      return Collect(rows, [](SQLite::Statement& row) {
        return AdminRecord{Unsigned(row, 0),
                           {ElectionName{Blob(row, 1)},
                            static_cast<AdminAction>(Number(row, 2)),
                            {Unsigned(row, 3)},
                            Time(row, 4),
                            Blob(row, 5),
                            {Blob(row, 6), Blob(row, 7)}}};
      });
    });
  }

  Result<std::vector<SessionView>> ReadSessions(std::string_view candidate_prefix,
                                                const SessionId& after, size_t limit) override {
    return Guarded([&] {
      const std::string end = PrefixEnd(candidate_prefix);
      auto sessions = Collect(
          connection_.Query(query::kLiveSessions,
                            {Int(clock_()), candidate_prefix, end, Bytes(after), Int(limit)}),
          [](SQLite::Statement& row) {
            return SessionView{ToSession(row), Span(row, kSessionColumns), {}, {}};
          });
      for (SessionView& view : sessions) {
        const std::string_view id = Bytes(view.session.id);
        view.leads = Collect(connection_.Query(query::kSessionLeads, {id, kPlacesMax}), ToName);
        view.waits = Collect(connection_.Query(query::kSessionWaits, {id, kPlacesMax}), ToName);
      }
      return sessions;
    });
  }

  Result<std::optional<SessionId>> FindSession(std::string_view handle) override {
    return Guarded([&]() -> std::optional<SessionId> {
      const auto [first, last] = SessionIdsOf(handle);
      const auto found =
          Collect(connection_.Query(query::kFindSession, {Bytes(first), Bytes(last)}),
                  [](SQLite::Statement& row) { return ToSessionId(Blob(row, 0)); });
      return found.empty() ? std::nullopt : std::optional(found.front());
    });
  }

  Result<Census> TakeCensus() override {
    return Guarded([&] {
      Transaction transaction(connection_, query::kBeginRead);
      const int64_t now = Int(clock_());
      SQLite::Statement& empty = connection_.Query(query::kCountEmpty);
      empty.executeStep();
      Census census{.elections = Unsigned(empty, 0),
                    .leaderless = Unsigned(empty, 2),
                    .vacant = Unsigned(empty, 1)};
      empty.reset();
      census.elections += ReadNumber(query::kCountLed);
      census.leaderless += ReadNumber(query::kCountLapsed, {now});
      census.candidates = ReadNumber(query::kCountCandidates);
      census.sessions = ReadNumber(query::kCountSessions, {now});
      return census;
    });
  }

  Result<HistorySight> AgreeOnHistory(
      uint64_t remembered,
      const std::function<std::optional<Epoch>(const HistorySight&)>& decide) override {
    return Guarded([&] {
      Transaction transaction(connection_, query::kBegin);
      HistorySight sight;
      sight.server = {.number = 1, .name = "SQLite " SQLITE_VERSION, .history = "SQLite"};
      sight.positions = LoadLanes().positions;
      sight.latest = LoadEpoch(query::kLatestEpoch);
      sight.remembered = LoadEpoch(query::kFindEpoch, {Int(remembered)});
      sight.repaired = ReadNumber(query::kLastRepaired);
      sight.longest_lease = Duration(static_cast<int64_t>(ReadNumber(query::kLongestLease)));
      sight.now = clock_();
      if (const std::optional<Epoch> epoch = decide(sight)) {
        connection_.Execute(
            query::kSaveEpoch,
            {Int(epoch->number), Int(epoch->token), epoch->server, int64_t{epoch->lossless},
             static_cast<int64_t>(epoch->state), Int(epoch->began_at), Int(epoch->repairer),
             Int(epoch->repair_until), Int(sight.now), int64_t{epoch->guards_write}});
        connection_.Execute(query::kSaveLanesEpoch, {Int(epoch->number)});
      } else if (sight.latest) {
        connection_.Execute(query::kJoinEpoch, {Int(sight.now), Int(sight.latest->number)});
      }
      transaction.Commit();
      return sight;
    });
  }

  void StayOn(uint64_t) override {}  // there is only one

  Result<uint64_t> ReadOrigin() override {
    return Guarded([&] { return ReadNumber(query::kOrigin); });
  }

  Result<uint64_t> RaiseOrigin() override {
    return Guarded([&] {
      const auto now = static_cast<uint64_t>(Int(clock_()));
      const uint64_t raised = std::max(ReadNumber(query::kOrigin) + kBumpMin, now);
      connection_.Execute(query::kSaveOrigin, {Int(raised)});
      return raised;
    });
  }

  StoreActivity Activity() const override {
    const size_t busy = busy_ ? 1 : 0;
    return {.connections_busy = busy, .connections_idle = 1 - busy, .connections_max = 1};
  }

  Result<void> Ping() override {
    return Guarded([&] {
      Transaction transaction(connection_, query::kBegin);
      transaction.Commit();
    });
  }

  Result<SchemaState> CheckSchema() override {
    return Guarded([&] {
      const int latest = LatestVersion(SqliteMigrations());
      const int version = Version();
      return version == latest  ? SchemaState::kCurrent
             : version < latest ? SchemaState::kTooOld
                                : SchemaState::kTooNew;
    });
  }

  Result<void> Migrate() override {
    return Guarded([&] {
      Transaction transaction(connection_, query::kBegin);
      const int version = Version();
      connection_.ExecuteOnce(query::kCreateSchemaVersion);
      for (const Migration& migration : SqliteMigrations()) {
        if (migration.version <= version) continue;
        for (const char* statement : migration.statements) connection_.ExecuteOnce(statement);
        connection_.Execute(query::kSetSchemaVersion, {int64_t{migration.version}});
      }
      transaction.Commit();
    });
  }

 private:
  // Runs `work` alone, and turns SQLite's exceptions into values.
  template <typename Work>
  auto Guarded(Work work) -> Result<decltype(work())> {
    const std::lock_guard lock(mutex_);
    const InUse in_use(busy_);
    try {
      if constexpr (std::is_void_v<decltype(work())>) {
        work();
        return {};
      } else {
        return work();
      }
    } catch (const SQLite::Exception& error) {
      return Fail(Reason::kStoreUnavailable, std::string("SQLite: ") + error.what());
    } catch (const std::out_of_range&) {
      return Fail(Reason::kStoreUnavailable, "SQLite: the tables hold data that no tenured wrote");
    }
  }

  uint64_t ReadNumber(const char* sql, std::initializer_list<Value> parameters = {}) {
    SQLite::Statement& row = connection_.Query(sql, parameters);
    row.executeStep();
    const uint64_t number = Unsigned(row, 0);
    row.reset();
    return number;
  }

  int Version() {
    if (!HasVersionTable()) return 0;
    SQLite::Statement& row = connection_.Query(query::kSchemaVersion);
    const int version = row.executeStep() ? static_cast<int>(Number(row, 0)) : 0;
    row.reset();
    return version;
  }

  bool HasVersionTable() {
    SQLite::Statement& row = connection_.Query(query::kHasSchemaVersion);
    row.executeStep();
    const bool has = Number(row, 0) != 0;
    row.reset();
    return has;
  }

  Docket Load(const Agenda& agenda) {
    Docket docket;
    docket.now = clock_();
    std::set<SessionId> sessions(agenda.sessions.begin(), agenda.sessions.end());
    for (const auto& [name, item] : agenda.elections) {
      Contest& contest =
          docket.contests.emplace(name, LoadContest(name, item, docket.now)).first->second;
      sessions.insert(item.sessions.begin(), item.sessions.end());
      if (contest.election.leader) sessions.insert(contest.election.leader->session);
      for (const Candidacy& candidacy : contest.queue) sessions.insert(candidacy.session);
    }
    for (const SessionId& id : sessions) {
      SQLite::Statement& row = connection_.Query(query::kLoadSession, {Bytes(id)});
      if (row.executeStep()) {
        docket.sessions.emplace(id, ToSession(row));
      }
      row.reset();
    }
    for (const std::string& identity : agenda.identities) {
      SQLite::Statement& row = connection_.Query(query::kUsage, {identity, Int(docket.now)});
      row.executeStep();
      docket.usage[identity] = {Unsigned(row, 0), Unsigned(row, 1)};
      row.reset();
    }
    FinishLoading(docket);
    return docket;
  }

  Contest LoadContest(const ElectionName& name, const Agenda::Item& item, DbTime now) {
    Contest contest;
    contest.election.name = name;
    SQLite::Statement& row = connection_.Query(query::kLoadElection, {name.bytes});
    if (row.executeStep()) {
      contest.election = ToElection(row);
      contest.exists = !contest.election.deleted;
    } else {
      contest.election.term.value = contest.election.revision.value = ReadNumber(query::kOrigin);
    }
    row.reset();
    const Election& election = contest.election;
    if (election.cooling_until > DbTime{}) contest.cool_downs = LoadCoolDowns(name, now);
    if (election.waiting == 0) return contest;

    const size_t head_size = item.departures + 1;
    contest.queue = Collect(
        connection_.Query(query::kLoadHead, {name.bytes, Int(now), Int(head_size)}), ToCandidacy);
    if (contest.queue.size() == head_size) contest.horizon = contest.queue.back();
    for (const SessionId& session : item.sessions) {
      auto place =
          Collect(connection_.Query(query::kLoadPlace, {name.bytes, Bytes(session)}), ToCandidacy);
      std::ranges::move(place, std::back_inserter(contest.queue));
    }
    std::set<std::string> named = item.candidates;
    if (election.appointment) named.insert(election.appointment->candidate);
    if (const Incumbent* incumbent = IncumbentOf(election)) named.insert(incumbent->candidate);
    for (const std::string& candidate : named) {
      auto places = Collect(
          connection_.Query(query::kLoadNamed, {name.bytes, candidate, Int(now), kNamedMax}),
          ToCandidacy);
      std::ranges::move(places, std::back_inserter(contest.queue));
    }
    return contest;
  }

  std::map<std::string, DbTime> LoadCoolDowns(const ElectionName& name, DbTime now) {
    std::map<std::string, DbTime> cool_downs;
    SQLite::Statement& row = connection_.Query(query::kLoadCoolDowns, {name.bytes, Int(now)});
    while (row.executeStep()) cool_downs.emplace(Blob(row, 0), Time(row, 1));
    row.reset();
    return cool_downs;
  }

  Trimmed TrimEvents(const HistoryTrimmer& trimmer, const ElectionName& after, size_t limit) {
    struct Oldest {
      ElectionName name;
      Revision end;
      std::optional<HistoryTrimmer::Cut> cut;
    };
    const auto page =
        Collect(connection_.Query(query::kOldestEvents, {after.bytes, Int(kElectionsPerTrim)}),
                [&](SQLite::Statement& row) {
                  Oldest oldest{ToName(row), {}, {}};
                  if (row.isColumnNull(3)) return oldest;
                  const Revision latest{Unsigned(row, 1)};
                  const Revision first{Unsigned(row, 3)};
                  oldest.end = HistoryTrimmer::EndOfStep(latest, first, limit);
                  oldest.cut = trimmer.CutOf(latest, {Unsigned(row, 2)}, first, Time(row, 4));
                  return oldest;
                });
    Trimmed trimmed{0, after};
    for (const Oldest& oldest : page) {
      if (trimmed.deleted >= limit) return trimmed;
      if (oldest.cut) {
        connection_.Execute(query::kTrimEvents,
                            {oldest.name.bytes, Int(oldest.end.value), Int(oldest.cut->below.value),
                             Int(oldest.cut->before), Int(oldest.cut->protected_from), Int(limit)});
        const size_t deleted = connection_.Changes();
        trimmed.deleted += deleted;
        if (deleted == limit) return trimmed;  // there may be more of this one
      }
      trimmed.last = oldest.name;
    }
    if (page.size() < kElectionsPerTrim) trimmed.last = {};
    return trimmed;
  }

  Committed Save(const Docket& loaded, const Docket& decided, const std::optional<Stand>& stand) {
    const Changes changes = Compare(loaded, decided);
    for (const Election* election : changes.elections) SaveElection(*election);
    for (const Session* session : changes.opened) SaveSession(*session);
    for (const Session* session : changes.sessions) SaveSession(*session);
    for (const ElectionName* name : changes.emptied) {
      connection_.Execute(query::kEmptyQueue, {name->bytes});
      connection_.Execute(query::kEmptyCoolDowns, {name->bytes});
    }
    for (const PlaceKey& place : changes.departed) {
      connection_.Execute(query::kDeletePlace, {place.election.bytes, Bytes(place.session)});
    }
    for (const auto& [election, candidacy] : changes.candidacies) {
      connection_.Execute(
          query::kSavePlace,
          {election->bytes, Bytes(candidacy->session), Int(candidacy->ticket.value),
           int64_t{~candidacy->priority}, candidacy->value, Int(candidacy->attempt.value),
           candidacy->candidate, int64_t{candidacy->asked_again}});
    }
    for (const CoolDown& cool_down : changes.cool_downs) {
      connection_.Execute(query::kSaveCoolDown,
                          {cool_down.election->bytes, *cool_down.candidate, Int(cool_down.until)});
    }
    for (const AdminChange& change : decided.admin_changes) {
      connection_.Execute(
          query::kSaveAdminChange,
          {change.election.bytes, static_cast<int64_t>(change.action), Int(change.term.value),
           Int(change.at), change.detail, change.asker.identity, change.asker.reason});
    }
    return SaveEvents(decided.events, stand);
  }

  void SaveSession(const Session& session) {
    connection_.Execute(
        query::kSaveSession,
        {Bytes(session.id), session.candidate, Int(session.lease_ttl), Int(session.expires_at),
         static_cast<int64_t>(session.ended), Int(session.opened_at), Int(session.lease_ttl_asked),
         Int(session.lease_ttl_since), session.identity,
         int64_t{session.ended == Cause::kNone ? 0 : 1}});
  }

  void SaveElection(const Election& election) {
    const auto& leader = election.leader;
    const Settings& settings = election.settings;
    const auto& appointment = election.appointment;
    const auto& vacancy = election.vacancy;
    const auto incumbent = vacancy ? vacancy->incumbent : std::nullopt;
    const auto null = std::monostate();
    const auto time_or_null = [&](const std::optional<DbTime>& time) {
      return time ? Value(Int(*time)) : null;
    };
    connection_.Execute(query::kSaveElection,
                        {election.name.bytes,
                         Int(election.term.value),
                         Int(election.revision.value),
                         Int(election.next_ticket.value),
                         Int(election.waiting),
                         leader ? Value(Bytes(leader->session)) : null,
                         leader ? Value(leader->candidate) : null,
                         leader ? Value(Int(leader->lease_ttl)) : null,
                         leader ? Value(leader->value) : null,
                         leader ? Value(Int(leader->elected_at)) : null,
                         leader ? Value(Int(leader->attempt.value)) : null,
                         Int(settings.lock_delay),
                         Int(settings.min_hold),
                         Int(settings.lease_ttl_default),
                         Int(settings.lease_ttl_max),
                         Int(settings.queue_max),
                         int64_t{election.paused},
                         int64_t{election.deleted},
                         Int(election.vacant_until),
                         appointment ? Value(appointment->candidate) : null,
                         appointment ? time_or_null(appointment->until) : null,
                         Int(election.cooling_until),
                         time_or_null(election.wake_at),
                         Int(election.history_from.value),
                         vacancy ? Value(static_cast<int64_t>(vacancy->cause)) : null,
                         vacancy ? Value(Int(vacancy->since)) : null,
                         incumbent ? Value(incumbent->candidate) : null,
                         incumbent ? Value(Int(incumbent->until)) : null});
  }

  Committed SaveEvents(const std::vector<Event>& all, const std::optional<Stand>& stand) {
    Committed committed;
    for (const auto& [lane, events] : EventsByLane(all)) {
      SQLite::Statement& row = connection_.Query(query::kLane, {int64_t{lane}});
      row.executeStep();
      const uint64_t position = Unsigned(row, 0) + 1;
      const uint64_t epoch = Unsigned(row, 1);
      row.reset();
      if (stand && (epoch != stand->epoch || position <= stand->seen[static_cast<size_t>(lane)])) {
        throw SQLite::Exception("the database's history is not the one that this replica knows");
      }
      connection_.Execute(query::kAdvanceLane, {int64_t{lane}});
      for (const Event* event : events) SaveEvent(*event, lane, position);
      committed.push_back({lane, position});
    }
    return committed;
  }

  Lanes LoadLanes() {
    Lanes lanes;
    SQLite::Statement& row = connection_.Query(query::kLanes);
    while (row.executeStep()) {
      lanes.positions.at(static_cast<size_t>(Number(row, 0))) = Unsigned(row, 1);
      lanes.epoch = Unsigned(row, 2);
    }
    row.reset();
    return lanes;
  }

  std::optional<Epoch> LoadEpoch(const char* sql, std::initializer_list<Value> parameters = {}) {
    const auto found = Collect(connection_.Query(sql, parameters), [](SQLite::Statement& row) {
      return Epoch{.number = Unsigned(row, 0),
                   .token = Unsigned(row, 1),
                   .server = Blob(row, 2),
                   .lossless = Number(row, 3) != 0,
                   .state = static_cast<Epoch::State>(Number(row, 4)),
                   .began_at = Time(row, 5),
                   .repairer = Unsigned(row, 6),
                   .repair_until = Time(row, 7),
                   .guards_write = Number(row, 8) != 0};
    });
    return found.empty() ? std::nullopt : std::optional(found.front());
  }

  void SaveEvent(const Event& event, int lane, uint64_t position) {
    const Leader& leader = event.leader;
    connection_.Execute(
        query::kSaveEvent,
        {event.election.bytes, Int(event.revision.value), static_cast<int64_t>(event.type),
         static_cast<int64_t>(event.cause), Int(event.term.value), Bytes(leader.session),
         leader.candidate, Int(leader.lease_ttl), leader.value, Int(leader.elected_at),
         Int(event.at), event.successor, int64_t{lane}, Int(position)});
  }

  const DbClock clock_;
  std::mutex mutex_;
  std::atomic<bool> busy_ = false;
  Connection connection_;  // guarded by mutex_
};

}  // namespace

DbTime SystemDbTime() {
  return {
      std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch())};
}

Result<std::unique_ptr<Store>> OpenSqliteStore(const std::string& path, DbClock clock) {
  try {
    return std::make_unique<SqliteStore>(path, std::move(clock));
  } catch (const SQLite::Exception& error) {
    return Fail(Reason::kStoreUnavailable,
                "cannot open SQLite file '" + path + "': " + error.what());
  }
}

}  // namespace tenure
