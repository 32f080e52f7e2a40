#include "storage/mysql/mysql_store.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "storage/changes.h"
#include "storage/mysql/sql.h"
#include "storage/schema/migrations.h"

namespace tenure {
namespace {

using mysql::Cell;
using mysql::Connection;
using mysql::MySqlError;
using mysql::Pool;
using mysql::Row;
using mysql::Rows;
namespace query = mysql::query;

constexpr int kTriesMax = 6;
constexpr int kLookUpTriesMax = 3;
constexpr auto kBackoffMax = std::chrono::milliseconds(20);
constexpr Duration kWriterAgeMax = std::chrono::hours(24);

template <typename Number>
Number To(const Cell& cell) {
  Number number{};
  if (cell) std::from_chars(cell->data(), cell->data() + cell->size(), number);
  return number;
}

uint64_t Unsigned(const Cell& cell) { return To<uint64_t>(cell); }
DbTime Time(const Cell& cell) { return {Duration(To<int64_t>(cell))}; }
Duration Span(const Cell& cell) { return Duration(To<int64_t>(cell)); }

SessionId Id(const Cell& cell) {
  SessionId id;
  if (cell) std::copy_n(cell->begin(), std::min(cell->size(), id.bytes.size()), id.bytes.begin());
  return id;
}

Election ToElection(const Row& row) {
  Election election;
  election.name.bytes = row[0].value();
  election.term.value = Unsigned(row[1]);
  election.revision.value = Unsigned(row[2]);
  election.next_ticket.value = Unsigned(row[3]);
  election.waiting = Unsigned(row[4]);
  if (row[5]) {
    election.leader = Leader{Id(row[5]),          row[6].value(), Span(row[7]),
                             row[8].value_or(""), Time(row[9]),   {Unsigned(row[10])}};
  }
  return election;
}

ElectionView ToView(const Row& row) {
  ElectionView view{ToElection(row)};
  view.leader_alive = !view.election.leader || row[11] != "0";
  return view;
}

Candidacy ToCandidacy(const Row& row) {
  Candidacy candidacy;
  candidacy.session = Id(row[1]);
  candidacy.ticket.value = Unsigned(row[2]);
  candidacy.priority = ~To<int32_t>(row[3]);
  candidacy.value = row[4].value_or("");
  candidacy.attempt.value = Unsigned(row[5]);
  return candidacy;
}

Event ToEvent(const Row& row) {
  Event event;
  event.election.bytes = row[0].value();
  event.revision.value = Unsigned(row[1]);
  event.type = static_cast<EventType>(Unsigned(row[2]));
  event.cause = static_cast<Cause>(Unsigned(row[3]));
  event.term.value = Unsigned(row[4]);
  event.leader =
      Leader{Id(row[5]), row[6].value_or(""), Span(row[7]), row[8].value_or(""), Time(row[9]), {}};
  event.at = Time(row[10]);
  return event;
}

template <typename Convert>
auto ConvertAll(const Rows& rows, Convert convert) {
  std::vector<std::invoke_result_t<Convert, const Row&>> all;
  all.reserve(rows.size());
  for (const Row& row : rows) all.push_back(convert(row));
  return all;
}

void Backoff(int tries) {
  thread_local std::minstd_rand random{std::random_device{}()};
  const auto longest = std::min<std::chrono::microseconds>(
      kBackoffMax, std::chrono::microseconds(500) * (1 << tries));
  std::uniform_int_distribution<int64_t> jitter(0, longest.count());
  std::this_thread::sleep_for(std::chrono::microseconds(jitter(random)));
}

// One try of one transaction.
class Attempted {
 public:
  Attempted(Pool::Loan& loan, const Agenda& agenda) : loan_(loan), agenda_(agenda) {}

  Committed Run(const std::function<void(Docket&)>& decide) {
    LockElections();
    LoadQueues();
    LockSessions();
    FinishLoading(loaded_);
    Docket decided = loaded_;
    decide(decided);
    return Save(decided);
  }

 private:
  Rows RunOne(std::string statement) {
    return std::move(loan_.connection().Run({std::move(statement)})[0]);
  }

  void LockElections() {
    std::vector<ElectionName> names;
    for (const auto& [name, item] : agenda_.elections) names.push_back(name);
    // The writer's row is locked from the first message on: whoever looks up what became of this
    // transaction waits until it has ended, however long that takes.
    Pool::Slot& slot = loan_.slot();
    std::vector<std::string> statements = {query::kBegin,
                                           query::SaveWriter(slot.writer, ++slot.transaction)};
    if (!names.empty()) statements.push_back(query::LockElections(names));
    const std::vector<Rows> results = loan_.connection().Run(statements);
    if (names.empty()) return;
    AddLocked(results.back());
    std::erase_if(names, [&](const auto& name) { return loaded_.contests.contains(name); });
    if (!names.empty()) FindMissing(std::move(names));
  }

  void AddLocked(const Rows& rows) {
    for (const Row& row : rows) {
      Contest contest;
      contest.election = ToElection(row);
      contest.exists = contest.election.next_ticket > Ticket{0};
      if (!contest.exists) created_.insert(contest.election.name);
      loaded_.contests.insert_or_assign(contest.election.name, std::move(contest));
    }
  }

  // What could not be locked is either held by another transaction, or not there.
  void FindMissing(std::vector<ElectionName> names) {
    for (const Row& row : RunOne(query::ExistingElections(names))) {
      loaded_.busy.insert(ElectionName{row[0].value()});
    }
    std::erase_if(names, [&](const auto& name) { return loaded_.busy.contains(name); });
    for (const ElectionName& name : names) {
      if (!agenda_.elections.at(name).create) loaded_.contests[name].election.name = name;
    }
    std::erase_if(names, [&](const auto& name) { return loaded_.contests.contains(name); });
    if (names.empty()) return;
    AddLocked(
        loan_.connection().Run({query::CreateElections(names), query::LockElections(names)})[1]);
    for (const ElectionName& name : names) {
      if (!loaded_.contests.contains(name)) loaded_.busy.insert(name);
    }
  }

  void LoadQueues() {
    std::vector<PlaceKey> places;
    std::vector<std::pair<ElectionName, size_t>> heads;
    for (const auto& [name, contest] : loaded_.contests) {
      if (contest.election.waiting == 0) continue;
      const Agenda::Item& item = agenda_.elections.at(name);
      heads.emplace_back(name, item.departures + 1);
      for (const SessionId& session : item.sessions) places.push_back({name, session});
    }
    if (heads.empty()) return;

    std::vector<std::string> statements = {query::LoadHeads(heads)};
    if (!places.empty()) statements.push_back(query::LoadPlaces(places));
    const std::vector<Rows> results = loan_.connection().Run(statements);
    AddToQueues(results[0]);
    for (const auto& [name, size] : heads) {
      Contest& contest = loaded_.contests.at(name);
      if (contest.queue.size() == size) {
        contest.horizon = *std::ranges::max_element(
            contest.queue, [](const auto& a, const auto& b) { return a.Before(b); });
      }
    }
    if (!places.empty()) AddToQueues(results[1]);
  }

  void AddToQueues(const Rows& rows) {
    for (const Row& row : rows) {
      loaded_.contests.at(ElectionName{row[0].value()}).queue.push_back(ToCandidacy(row));
    }
  }

  void LockSessions() {
    std::set<SessionId> ids(agenda_.sessions.begin(), agenda_.sessions.end());
    for (const auto& [name, contest] : loaded_.contests) ids.merge(SessionsOf(name, contest));
    std::vector<std::string> statements;
    if (!ids.empty()) statements.push_back(query::LockSessions({ids.begin(), ids.end()}));
    statements.emplace_back(query::kClock);
    const std::vector<Rows> results = loan_.connection().Run(statements);
    loaded_.now = Time(results.back().at(0).at(0));
    if (ids.empty()) return;
    for (const Row& row : results[0]) {
      const SessionId id = Id(row[0]);
      loaded_.sessions.emplace(id, Session{id, row[1].value(), Span(row[2]), Time(row[3]),
                                           static_cast<Cause>(Unsigned(row[4]))});
      ids.erase(id);
    }
    if (!ids.empty()) PassByBusySessions({ids.begin(), ids.end()});
  }

  [[nodiscard]] std::set<SessionId> SessionsOf(const ElectionName& name,
                                               const Contest& contest) const {
    const Agenda::Item& item = agenda_.elections.at(name);
    std::set<SessionId> ids(item.sessions.begin(), item.sessions.end());
    if (contest.election.leader) ids.insert(contest.election.leader->session);
    for (const Candidacy& candidacy : contest.queue) ids.insert(candidacy.session);
    return ids;
  }

  // Of the sessions that could not be locked, those that exist are held by another transaction; the
  // elections that need them are put off.
  void PassByBusySessions(const std::vector<SessionId>& missing) {
    for (const Row& row : RunOne(query::ExistingSessions(missing))) {
      loaded_.busy_sessions.insert(Id(row[0]));
    }
    if (loaded_.busy_sessions.empty()) return;
    std::erase_if(loaded_.contests, [&](const auto& entry) {
      const auto& [name, contest] = entry;
      const bool busy = std::ranges::any_of(SessionsOf(name, contest), [&](const SessionId& id) {
        return loaded_.busy_sessions.contains(id);
      });
      if (busy) loaded_.busy.insert(name);
      return busy;
    });
  }

  Committed Save(const Docket& decided) {
    const Changes changes = Compare(loaded_, decided);
    std::vector<std::string> statements;
    if (!changes.elections.empty()) statements.push_back(query::SaveElections(changes.elections));
    if (!changes.opened.empty()) statements.push_back(query::OpenSessions(changes.opened));
    if (!changes.sessions.empty()) statements.push_back(query::SaveSessions(changes.sessions));
    if (!changes.departed.empty()) statements.push_back(query::DeletePlaces(changes.departed));
    if (!changes.candidacies.empty()) statements.push_back(query::SavePlaces(changes.candidacies));
    const std::vector<ElectionName> unused = Unused(decided);
    if (!unused.empty()) statements.push_back(query::DeleteElections(unused));
    if (statements.empty() && decided.events.empty()) {
      loan_.connection().Run({query::kRollback});
      return std::nullopt;
    }

    std::optional<size_t> position_result;
    if (!decided.events.empty()) {
      const int lane = LaneOf(decided.events.front().election);
      statements.push_back(query::AdvanceLane(lane));
      statements.push_back(query::SaveEvents(lane, decided.events));
      position_result = statements.size();
      statements.emplace_back(query::kLastInsertId);
    }
    statements.emplace_back(query::kCommit);

    uint64_t position = 0;
    try {
      const std::vector<Rows> results = loan_.connection().Run(statements);
      if (position_result) position = Unsigned(results[*position_result].at(0).at(0));
    } catch (const MySqlError& error) {
      if (error.kind != MySqlError::Kind::kAway) throw;
      position = LookUpCommit(decided.events);
    }
    if (decided.events.empty()) return std::nullopt;
    return LanePosition{LaneOf(decided.events.front().election), position};
  }

  // Elections whose rows were made for a campaign that was then refused.
  std::vector<ElectionName> Unused(const Docket& decided) const {
    std::vector<ElectionName> unused;
    for (const ElectionName& name : created_) {
      const auto contest = decided.contests.find(name);
      if (contest != decided.contests.end() && !contest->second.exists) unused.push_back(name);
    }
    return unused;
  }

  // Looks up, on a new connection, whether the commit whose reply was lost has happened, and
  // answers with the events' position. Throws kConflict if it has not and never will, kInDoubt if
  // that cannot be found out.
  uint64_t LookUpCommit(const std::vector<Event>& events) {
    for (int tries = 1;; ++tries) {
      loan_.Drop();
      try {
        if (const auto position = TryLookUpCommit(events)) return *position;
        break;
      } catch (const MySqlError& error) {
        if (tries == kLookUpTriesMax) {
          throw MySqlError(MySqlError::Kind::kInDoubt, error.code,
                           std::string("the reply to a commit was lost: ") + error.what());
        }
      }
      Backoff(tries);
    }
    throw MySqlError(MySqlError::Kind::kConflict, 0, "the connection broke before the commit");
  }

  // Nothing if it did not happen. Waits for a transaction that has not ended yet; throws if that
  // takes too long.
  std::optional<uint64_t> TryLookUpCommit(const std::vector<Event>& events) {
    const Pool::Slot& slot = loan_.slot();
    const Rows writer =
        loan_.connection().Run({query::kBegin, query::LockWriter(slot.writer), query::kCommit})[1];
    if (writer.empty() || Unsigned(writer[0][0]) != slot.transaction) return std::nullopt;
    if (events.empty()) return 0;
    return Unsigned(RunOne(query::EventPosition(events.front())).at(0).at(0));
  }

  Pool::Loan& loan_;
  const Agenda& agenda_;
  Docket loaded_;
  std::set<ElectionName> created_;  // whose rows have never held a campaign
};

class MySqlStore final : public Store {
 public:
  explicit MySqlStore(mysql::Config config) : pool_(std::move(config)) {}

  Result<Committed> Transact(const Agenda& agenda,
                             const std::function<void(Docket&)>& decide) override {
    return WithConnection([&](Pool::Loan& loan) { return Attempted(loan, agenda).Run(decide); });
  }

  Result<std::map<ElectionName, ElectionView>> ReadElections(
      const std::vector<ElectionName>& names) override {
    if (names.empty()) return std::map<ElectionName, ElectionView>();
    return Read(query::ViewElections(names), [](const Rows& rows) {
      std::map<ElectionName, ElectionView> views;
      for (const Row& row : rows) views.emplace(ElectionName{row[0].value()}, ToView(row));
      return views;
    });
  }

  Result<std::vector<ElectionView>> ListElections(std::string_view prefix, std::string_view after,
                                                  size_t limit) override {
    return Read(query::ListElections(prefix, after, limit),
                [](const Rows& rows) { return ConvertAll(rows, ToView); });
  }

  Result<std::map<PlaceKey, uint64_t>> ReadPositions(const std::vector<PlaceKey>& places) override {
    if (places.empty()) return std::map<PlaceKey, uint64_t>();
    return Read(query::Positions(places), [](const Rows& rows) {
      std::map<PlaceKey, uint64_t> positions;
      for (const Row& row : rows) positions[ToPlace(row)] = Unsigned(row[2]);
      return positions;
    });
  }

  Result<std::vector<PlaceKey>> FilterWaiting(const std::vector<PlaceKey>& places) override {
    if (places.empty()) return std::vector<PlaceKey>();
    return Read(query::LoadPlaces(places),
                [](const Rows& rows) { return ConvertAll(rows, ToPlace); });
  }

  Result<std::vector<Leadership>> ReadSeats(const std::vector<SessionId>& sessions) override {
    if (sessions.empty()) return std::vector<Leadership>();
    return Read(query::Seats(sessions), [](const Rows& rows) {
      return ConvertAll(rows, [](const Row& row) {
        const Election election = ToElection(row);
        return Leadership{election.name, election.term, election.leader.value()};
      });
    });
  }

  Result<std::vector<Event>> ReadEvents(const ElectionName& election, Revision from,
                                        size_t limit) override {
    return Read(query::Events(election, from, limit),
                [](const Rows& rows) { return ConvertAll(rows, ToEvent); });
  }

  Result<LanePositions> ReadLanePositions() override {
    return Read(query::kLanePositions, [](const Rows& rows) {
      LanePositions positions{};
      for (const Row& row : rows) positions.at(Unsigned(row[0])) = Unsigned(row[1]);
      return positions;
    });
  }

  Result<std::vector<FeedEntry>> ReadFeed(int lane, uint64_t after, uint64_t until) override {
    return Read(query::Feed(lane, after, until), [](const Rows& rows) {
      return ConvertAll(rows, [](const Row& row) {
        return FeedEntry{Unsigned(row[11]), ToEvent(row)};
      });
    });
  }

  Result<DueSessions> FindDueSessions(size_t limit) override {
    return WithConnection([&](Pool::Loan& loan) {
      const std::vector<Rows> results =
          loan.connection().Run({query::kClock, query::ExpiredSessions(limit),
                                 query::UnsettledSessions(limit), query::NextExpiry()});
      const auto to_id = [](const Row& row) { return Id(row[0]); };
      DueSessions due;
      due.now = Time(results[0].at(0).at(0));
      due.expired = ConvertAll(results[1], to_id);
      due.unsettled = ConvertAll(results[2], to_id);
      const Cell& next = results[3].at(0).at(0);
      if (next) due.next_expiry = Time(next);
      return due;
    });
  }

  Result<std::vector<PlaceKey>> FindPlaces(const std::vector<SessionId>& sessions) override {
    if (sessions.empty()) return std::vector<PlaceKey>();
    return Read(query::Places(sessions),
                [](const Rows& rows) { return ConvertAll(rows, ToPlace); });
  }

  Result<void> MarkSettled(const std::vector<SessionId>& sessions) override {
    if (sessions.empty()) return {};
    return WithConnection(
        [&](Pool::Loan& loan) { loan.connection().Run({query::MarkSettled(sessions)}); });
  }

  Result<size_t> ForgetSessions(Duration age, size_t limit) override {
    return WithConnection([&](Pool::Loan& loan) {
      const std::vector<Rows> results =
          loan.connection().Run({query::ForgetWriters(kWriterAgeMax, limit),
                                 query::ForgetSessions(age, limit), query::kRowCount});
      return static_cast<size_t>(Unsigned(results[2].at(0).at(0)));
    });
  }

  Result<void> Ping() override {
    return WithConnection([&](Pool::Loan& loan) {
      loan.connection().Run({query::kPing});
      if (loan.connection().ReadOnly()) {
        throw MySqlError(MySqlError::Kind::kAway, 1290, "the database is read-only");
      }
    });
  }

  Result<SchemaState> CheckSchema() override {
    return WithConnection([&](Pool::Loan& loan) {
      const int version = Version(loan.connection());
      const int latest = LatestVersion(MySqlMigrations());
      return version == latest  ? SchemaState::kCurrent
             : version < latest ? SchemaState::kTooOld
                                : SchemaState::kTooNew;
    });
  }

  Result<void> Migrate() override {
    return WithConnection([&](Pool::Loan& loan) {
      Connection& connection = loan.connection();
      connection.Run({query::kCreateSchemaVersion});
      const int version = Version(connection);
      for (const Migration& migration : MySqlMigrations()) {
        if (migration.version <= version) continue;
        for (const char* statement : migration.statements) Create(connection, statement);
        connection.Run({query::SetSchemaVersion(migration.version)});
      }
    });
  }

 private:
  static PlaceKey ToPlace(const Row& row) { return {ElectionName{row[0].value()}, Id(row[1])}; }

  // One statement of a migration. What it makes may be there: another run made it.
  static void Create(Connection& connection, const char* statement) {
    try {
      connection.Run({statement});
    } catch (const MySqlError& error) {
      switch (error.code) {
        case 1050:  // the view
        case 1304:  // the procedure
          return;
        case 1044:
        case 1142:
        case 1370:  // denied
          throw MySqlError(
              error.kind, error.code,
              std::string("the schema cannot be brought up to date: ") + error.what() +
                  ". This needs the rights CREATE, CREATE VIEW and CREATE ROUTINE; another user"
                  " that has them may run: tenured migrate");
        default: throw;
      }
    }
  }

  static int Version(Connection& connection) {
    if (connection.Run({query::kHasSchemaVersion})[0].at(0).at(0) == "0") return 0;
    const Rows rows = connection.Run({query::kSchemaVersion})[0];
    return rows.empty() ? 0 : To<int>(rows[0][0]);
  }

  template <typename Convert>
  auto Read(const std::string& statement, Convert convert)
      -> Result<std::invoke_result_t<Convert, const Rows&>> {
    return WithConnection(
        [&](Pool::Loan& loan) { return convert(loan.connection().Run({statement})[0]); });
  }

  // Runs `work` on a connection, again after a conflict, and on a new connection after the old one
  // broke. Only a broken *new* connection means that the database is away.
  template <typename Work>
  auto WithConnection(Work work) -> Result<std::invoke_result_t<Work, Pool::Loan&>> {
    for (int tries = 1;; ++tries) {
      bool fresh = true;
      try {
        Pool::Loan loan = pool_.Borrow();
        fresh = loan.slot().connection == nullptr;
        try {
          if constexpr (std::is_void_v<std::invoke_result_t<Work, Pool::Loan&>>) {
            work(loan);
            return {};
          } else {
            return work(loan);
          }
        } catch (const MySqlError& error) {
          CleanUp(loan, error);
          throw;
        } catch (const std::out_of_range&) {
          throw Malformed(loan);
        } catch (const std::bad_optional_access&) {
          throw Malformed(loan);
        } catch (...) {  // of `decide`: leave no transaction open
          loan.Drop();
          throw;
        }
      } catch (const MySqlError& error) {
        const bool again = error.kind == MySqlError::Kind::kConflict ||
                           (error.kind == MySqlError::Kind::kAway && !fresh);
        if (!again || tries == kTriesMax) return Fail(Reason::kStoreUnavailable, error.what());
      }
      Backoff(tries);
    }
  }

  // The tables hold what no tenured wrote.
  static MySqlError Malformed(Pool::Loan& loan) {
    loan.Drop();
    return {MySqlError::Kind::kOther, 0, "the tables hold what no tenured wrote"};
  }

  static void CleanUp(Pool::Loan& loan, const MySqlError& error) {
    const bool broken =
        error.kind == MySqlError::Kind::kAway || error.kind == MySqlError::Kind::kInDoubt;
    if (broken) return loan.Drop();
    try {
      loan.connection().Run({query::kRollback});
    } catch (const MySqlError&) {
      loan.Drop();
    }
  }

  Pool pool_;
};

}  // namespace

std::unique_ptr<Store> OpenMySqlStore(mysql::Config config) {
  return std::make_unique<MySqlStore>(std::move(config));
}

}  // namespace tenure
