#include "storage/mysql/mysql_store.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "storage/changes.h"
#include "storage/mysql/pool.h"
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
using query::Patience;

constexpr std::string_view kCreate = "CREATE ";
constexpr int kDeadlock = 1213;
constexpr int kLockWaitTimeout = 1205;  // InnoDB rolls back the statement, not the transaction

constexpr int kTriesMax = 6;
constexpr int kLookUpTriesMax = 3;
constexpr auto kBackoffMax = std::chrono::milliseconds(20);
// Sessions of one candidate in one election that one transaction takes notice of.
constexpr size_t kNamedMax = 16;
constexpr size_t kElectionsPerTrim = 1000;
// One step of trimming takes no longer, however slow the database is; the next one goes on from
// there.
constexpr auto kTrimTimeMax = std::chrono::seconds(5);
constexpr Duration kWriterAgeMax = std::chrono::hours(24);

// Who updates the schema, and dies, is waited for as long as this; longer than a statement takes.
constexpr Duration kMigrationLease = std::chrono::minutes(2);
constexpr auto kMigrationPatience = std::chrono::seconds(30);
constexpr auto kMigrationPause = std::chrono::milliseconds(100);

template <typename Number>
Number To(const Cell& cell) {
  Number number{};
  if (cell) std::from_chars(cell->data(), cell->data() + cell->size(), number);
  return number;
}

uint64_t Unsigned(const Cell& cell) { return To<uint64_t>(cell); }
DbTime Time(const Cell& cell) { return {Duration(To<int64_t>(cell))}; }
std::optional<DbTime> OptionalTime(const Cell& cell) {
  return cell ? std::optional(Time(cell)) : std::nullopt;
}
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
  election.settings = {Span(row[11]), Span(row[12]), Span(row[13]), Span(row[14]),
                       Unsigned(row[15])};
  election.paused = Unsigned(row[16]) != 0;
  election.deleted = Unsigned(row[17]) != 0;
  election.vacant_until = Time(row[18]);
  if (row[19]) election.appointment = Appointment{*row[19], OptionalTime(row[20])};
  election.cooling_until = Time(row[21]);
  election.wake_at = OptionalTime(row[22]);
  election.history_from.value = Unsigned(row[23]);
  if (row[24]) election.vacancy = Vacancy{static_cast<Cause>(Unsigned(row[24])), Time(row[25])};
  // A program of schema 8 that grants the seat leaves the incumbent in the row.
  if (election.vacancy && row[26]) election.vacancy->incumbent = Incumbent{*row[26], Time(row[27])};
  return election;
}
constexpr size_t kElectionColumns = 28;

ElectionView ToView(const Row& row) { return {ToElection(row), Span(row[kElectionColumns])}; }

Candidacy ToCandidacy(const Row& row) {
  Candidacy candidacy;
  candidacy.session = Id(row[1]);
  candidacy.ticket.value = Unsigned(row[2]);
  candidacy.priority = ~To<int32_t>(row[3]);
  candidacy.value = row[4].value_or("");
  candidacy.attempt.value = Unsigned(row[5]);
  candidacy.candidate = row[6].value_or("");
  candidacy.asked_again = Unsigned(row[7]) != 0;
  return candidacy;
}
constexpr size_t kCandidacyColumns = 8;

Session ToSession(const Row& row) {
  Session session{Id(row[0]), row[1].value(), Span(row[2]), Time(row[3])};
  session.ended = static_cast<Cause>(Unsigned(row[4]));
  session.opened_at = Time(row[5]);
  session.lease_ttl_asked = Span(row[6]);
  session.lease_ttl_since = Time(row[7]);
  session.identity = row[8].value_or("");
  return session;
}
constexpr size_t kSessionColumns = 9;

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
  event.successor = row[11].value_or("");
  return event;
}
constexpr size_t kEventColumns = 12;

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
    LockWhatIsKnown();
    LoadQueues();
    LockSessions();
    CheckCoolDowns();
    if (!agenda_.identities.empty()) LoadUsage();
    FinishLoading(loaded_);
    Docket decided = loaded_;
    decide(decided);
    return Save(decided);
  }

 private:
  Rows RunOne(std::string statement) {
    return std::move(loan_.connection().Run({std::move(statement)})[0]);
  }

  // The elections, and the sessions that are needed in any case: leaders and successors are known
  // only when the elections are.
  void LockWhatIsKnown() {
    std::vector<ElectionName> names;
    std::set<SessionId> sessions(agenda_.sessions.begin(), agenda_.sessions.end());
    for (const auto& [name, item] : agenda_.elections) {
      names.push_back(name);
      sessions.insert(item.sessions.begin(), item.sessions.end());
    }
    std::vector<std::string> statements = {query::kBegin};
    if (!agenda_.repeatable) {
      // The writer's row is locked from the first message on: whoever looks up what became of this
      // transaction waits until it has ended, however long that takes.
      Pool::Slot& slot = loan_.slot();
      statements.push_back(query::SaveWriter(slot.writer, ++slot.transaction));
    }
    if (agenda_.patient) {
      loan_.connection().Run(statements);
      AddLocked(QueueFor(names));
    } else {
      const bool with_sessions = !sessions.empty() && !elections_first_;
      if (!names.empty()) {
        statements.push_back(query::LockElections(names, Patience::kSkipLocked));
      }
      if (with_sessions)
        statements.push_back(query::LockSessions({sessions.begin(), sessions.end()}));
      const std::vector<Rows> results = loan_.connection().Run(statements);
      if (with_sessions) {
        AddSessions(results.back());
        asked_for_ = std::move(sessions);
      }
      if (!names.empty()) AddLocked(results[results.size() - (with_sessions ? 2 : 1)]);
    }
    std::erase_if(names, [&](const auto& name) { return loaded_.contests.contains(name); });
    if (!names.empty()) FindMissing(std::move(names));
  }

  void LoadUsage() {
    for (const Row& row : RunOne(query::UsageOf(agenda_.identities))) {
      loaded_.usage[row[0].value_or("")] = {Unsigned(row[1]), Unsigned(row[2])};
    }
  }

  // Nothing if others have held them for all the time that a lock may be waited for.
  Rows QueueFor(const std::vector<ElectionName>& names) {
    try {
      return RunOne(query::LockElections(names, Patience::kWait));
    } catch (const MySqlError& error) {
      if (error.code != kLockWaitTimeout) throw;
      return {};
    }
  }

  void AddLocked(const Rows& rows) {
    for (const Row& row : rows) {
      Contest contest;
      contest.election = ToElection(row);
      contest.exists = !contest.election.deleted;
      if (IsPlaceholder(contest.election)) created_.insert(contest.election.name);
      loaded_.contests.insert_or_assign(contest.election.name, std::move(contest));
    }
  }

  // Deleted, but by nobody: made for a campaign.
  static bool IsPlaceholder(const Election& election) {
    return election.deleted && election.history_from == Revision{0};
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
    if (!asked_for_.empty()) return StartAgain();
    AddLocked(loan_.connection().Run(
        {query::CreateElections(names), query::LockElections(names, Patience::kSkipLocked)})[1]);
    for (const ElectionName& name : names) {
      if (!loaded_.contests.contains(name)) loaded_.busy.insert(name);
    }
  }

  // To create an election may mean to wait for another transaction that creates it. No session is
  // locked meanwhile, or it could not be renewed; and the clock is read when the wait is over.
  void StartAgain() {
    loan_.connection().Run({query::kRollback});
    loaded_ = Docket();
    created_.clear();
    asked_for_.clear();
    elections_first_ = true;
    LockWhatIsKnown();
  }

  void LoadQueues() {
    std::vector<PlaceKey> places;
    std::vector<query::Head> heads;
    std::vector<std::pair<ElectionName, std::string>> named;
    std::vector<ElectionName> cooling;
    for (const auto& [name, contest] : loaded_.contests) {
      const Election& election = contest.election;
      const bool cools = election.cooling_until > DbTime{};
      if (cools) cooling.push_back(name);
      if (election.waiting == 0) continue;
      const Agenda::Item& item = agenda_.elections.at(name);
      heads.push_back({name, item.departures + 1, cools});
      for (const SessionId& session : item.sessions) places.push_back({name, session});
      for (const std::string& candidate : item.candidates) named.emplace_back(name, candidate);
      if (election.appointment) named.emplace_back(name, election.appointment->candidate);
      if (const Incumbent* incumbent = IncumbentOf(election)) {
        named.emplace_back(name, incumbent->candidate);
      }
    }

    // Cool-downs first: whoever is kept out of the heads is known to be.
    std::vector<std::string> statements;
    if (!cooling.empty()) statements.push_back(query::LoadCoolDowns(cooling));
    if (!heads.empty()) statements.push_back(query::LoadHeads(heads));
    if (!places.empty()) statements.push_back(query::LoadPlaces(places));
    if (!named.empty()) statements.push_back(query::LoadNamed(named, kNamedMax));
    if (statements.empty()) return;
    const std::vector<Rows> results = loan_.connection().Run(statements);
    size_t next = 0;
    if (!cooling.empty()) AddCoolDowns(results[next++]);
    if (!heads.empty()) {
      AddToQueues(results[next++]);
      SetHorizons(heads);
    }
    if (!places.empty()) AddToQueues(results[next++]);
    if (!named.empty()) AddToQueues(results[next]);
  }

  void SetHorizons(const std::vector<query::Head>& heads) {
    for (const query::Head& head : heads) {
      Contest& contest = loaded_.contests.at(head.election);
      if (contest.queue.size() < head.size) continue;
      contest.horizon = *std::ranges::max_element(
          contest.queue, [](const auto& a, const auto& b) { return a.Before(b); });
    }
  }

  void AddCoolDowns(const Rows& rows) {
    for (const Row& row : rows) {
      loaded_.contests.at(ElectionName{row[0].value()}).cool_downs[row[1].value()] = Time(row[2]);
    }
  }

  void AddToQueues(const Rows& rows) {
    for (const Row& row : rows) {
      loaded_.contests.at(ElectionName{row[0].value()}).queue.push_back(ToCandidacy(row));
    }
  }

  // Those that were not asked for yet. The clock is read after the last lock.
  void LockSessions() {
    std::set<SessionId> needed(agenda_.sessions.begin(), agenda_.sessions.end());
    for (const auto& [name, contest] : loaded_.contests) needed.merge(SessionsOf(name, contest));
    std::vector<SessionId> more;
    std::ranges::set_difference(needed, asked_for_, std::back_inserter(more));
    if (!more.empty()) AddSessions(RunOne(query::LockSessions(more)));

    std::erase_if(needed, [&](const SessionId& id) { return loaded_.sessions.contains(id); });
    std::vector<std::string> statements;
    if (!needed.empty())
      statements.push_back(query::ExistingSessions({needed.begin(), needed.end()}));
    const bool cools = std::ranges::any_of(
        loaded_.contests, [](const auto& it) { return !it.second.cool_downs.empty(); });
    if (!needed.empty() || loaded_.sessions.empty() || cools) {
      statements.emplace_back(query::kClock);
    }
    if (statements.empty()) return;
    const std::vector<Rows> results = loan_.connection().Run(statements);
    loaded_.now = Time(results.back().at(0).at(0));
    if (!needed.empty()) PassByBusySessions(results[0]);
  }

  void AddSessions(const Rows& rows) {
    for (const Row& row : rows) {
      const Session session = ToSession(row);
      loaded_.sessions.emplace(session.id, session);
      loaded_.now = std::max(loaded_.now, Time(row[kSessionColumns]));
    }
  }

  // A candidate whose cool-down has ended since the heads were read may be missing from them.
  void CheckCoolDowns() const {
    for (const auto& [name, contest] : loaded_.contests) {
      for (const auto& [candidate, until] : contest.cool_downs) {
        if (until > loaded_.now) continue;
        throw MySqlError(MySqlError::Kind::kConflict, 0, "a cool-down ended during a transaction");
      }
    }
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
  void PassByBusySessions(const Rows& existing) {
    for (const Row& row : existing) loaded_.busy_sessions.insert(Id(row[0]));
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
    if (!changes.emptied.empty()) {
      std::ranges::move(query::EmptyElections(changes.emptied), std::back_inserter(statements));
    }
    if (!changes.departed.empty()) statements.push_back(query::DeletePlaces(changes.departed));
    if (!changes.candidacies.empty()) statements.push_back(query::SavePlaces(changes.candidacies));
    if (!changes.cool_downs.empty()) statements.push_back(query::SaveCoolDowns(changes.cool_downs));
    if (!decided.admin_changes.empty()) {
      statements.push_back(query::SaveAdminChanges(decided.admin_changes));
    }
    const std::vector<ElectionName> unused = Unused(decided);
    if (!unused.empty()) statements.push_back(query::DeleteElections(unused));
    if (statements.empty() && decided.events.empty()) {
      loan_.connection().Run({query::kRollback});
      return {};
    }

    if (loan_.connection().server().many_writers) {
      const std::set<ElectionName> granted = Granted(decided.events);
      if (!granted.empty()) statements.push_back(query::WriteFences(granted));
    }

    const auto lanes = EventsByLane(decided.events);
    std::vector<size_t> position_results;
    for (const auto& [lane, events] : lanes) {
      statements.push_back(query::AdvanceLane(lane, agenda_.stand));
      position_results.push_back(statements.size());
      statements.emplace_back(query::kAdvancedPosition);
      statements.push_back(query::SaveEvents(lane, events));
    }
    statements.emplace_back(query::kCommit);

    std::vector<uint64_t> positions;
    try {
      const std::vector<Rows> results = loan_.connection().Run(statements);
      for (const size_t index : position_results) {
        // COMMIT may have been answered: what became of it is looked up.
        if (results[index].size() != 1) {
          throw MySqlError(MySqlError::Kind::kAway, 0, "the answer to a commit is incomplete");
        }
        positions.push_back(Unsigned(results[index][0].at(0)));
      }
    } catch (const MySqlError& error) {
      if (error.code == query::kNotNull && agenda_.stand) {
        throw MySqlError(error.kind, error.code,
                         "the database's history is not the one that this replica knows");
      }
      const bool in_doubt =
          error.kind == MySqlError::Kind::kAway || error.kind == MySqlError::Kind::kUnfit;
      if (!in_doubt || agenda_.repeatable) throw;
      positions = LookUpCommit(lanes);
    }
    Committed committed;
    for (const auto& [lane, events] : lanes) {
      committed.push_back({lane, positions.at(committed.size())});
    }
    return committed;
  }

  static std::set<ElectionName> Granted(const std::vector<Event>& events) {
    std::set<ElectionName> granted;
    for (const Event& event : events) {
      if (event.type == EventType::kElected) granted.insert(event.election);
    }
    return granted;
  }

  // Elections whose rows were made for a campaign that was then refused, or put off.
  std::vector<ElectionName> Unused(const Docket& decided) const {
    std::vector<ElectionName> unused;
    for (const ElectionName& name : created_) {
      const auto contest = decided.contests.find(name);
      const bool used =
          contest != decided.contests.end() && !IsPlaceholder(contest->second.election);
      if (!used) unused.push_back(name);
    }
    return unused;
  }

  using Lanes = std::map<int, std::vector<const Event*>>;

  // Looks up, on a new connection, whether the commit whose reply was lost has happened, and
  // answers with each lane's position. Throws kNotCommitted if it has not and never will, kInDoubt
  // if that cannot be found out.
  std::vector<uint64_t> LookUpCommit(const Lanes& lanes) {
    for (int tries = 1;; ++tries) {
      loan_.Drop();
      try {
        if (const auto positions = TryLookUpCommit(lanes)) return *positions;
        break;
      } catch (const MySqlError& error) {
        if (tries == kLookUpTriesMax) {
          throw MySqlError(MySqlError::Kind::kInDoubt, error.code,
                           std::string("the reply to a commit was lost: ") + error.what());
        }
      }
      Backoff(tries);
    }
    throw MySqlError(MySqlError::Kind::kNotCommitted, 0, "the connection broke before the commit");
  }

  // Nothing if it did not happen. Waits for a transaction that has not ended yet; throws if that
  // takes too long.
  std::optional<std::vector<uint64_t>> TryLookUpCommit(const Lanes& lanes) {
    const Pool::Slot& slot = loan_.slot();
    const Rows writer =
        loan_.connection().Run({query::kBegin, query::LockWriter(slot.writer), query::kCommit})[1];
    if (writer.empty() || Unsigned(writer[0][0]) != slot.transaction) return std::nullopt;
    std::vector<uint64_t> positions;
    for (const auto& [lane, events] : lanes) {
      positions.push_back(Unsigned(RunOne(query::EventPosition(*events.front())).at(0).at(0)));
    }
    return positions;
  }

  Pool::Loan& loan_;
  const Agenda& agenda_;
  Docket loaded_;
  std::set<ElectionName> created_;  // whose rows have never held a campaign
  std::set<SessionId> asked_for_;   // sessions that were locked, passed by or not there
  bool elections_first_ = false;    // lock them before any session
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
    return WithConnection([&](Pool::Loan& loan) {
      std::map<ElectionName, ElectionView> views;
      const Rows rows = loan.connection().Run({query::ViewElections(names)})[0];
      for (const Row& row : rows) {
        Connection::CheckWritable(row[kElectionColumns + 1]);
        views.emplace(ElectionName{row[0].value()}, ToView(row));
      }
      if (views.empty()) loan.connection().CheckWritable();
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
      return ConvertAll(rows, [](const Row& row) { return LeadershipOf(ToElection(row)).value(); });
    });
  }

  Result<std::vector<Event>> ReadEvents(const ElectionName& election, Revision from,
                                        size_t limit) override {
    return Read(query::Events(election, from, limit),
                [](const Rows& rows) { return ConvertAll(rows, ToEvent); });
  }

  Result<Lanes> ReadLanes() override {
    return Read(query::kLanes, [](const Rows& rows) {
      Lanes lanes;
      for (const Row& row : rows) {
        lanes.positions.at(Unsigned(row[0])) = Unsigned(row[1]);
        lanes.epoch = Unsigned(row[2]);
        Connection::CheckWritable(row[3]);
      }
      return lanes;
    });
  }

  Result<std::vector<FeedEntry>> ReadFeed(int lane, uint64_t after, uint64_t until) override {
    return Read(query::Feed(lane, after, until), [](const Rows& rows) {
      return ConvertAll(rows, [](const Row& row) {
        return FeedEntry{Unsigned(row[kEventColumns]), ToEvent(row)};
      });
    });
  }

  Result<DueWork> FindDueWork(size_t limit) override {
    return WithConnection([&](Pool::Loan& loan) {
      // What is due next is read first: whatever falls due meanwhile is told once at least.
      const std::vector<Rows> results =
          loan.connection().Run({query::kClock, query::NextDue(), query::ExpiredSessions(limit),
                                 query::UnsettledSessions(limit), query::DueElections(limit)});
      const auto to_id = [](const Row& row) { return Id(row[0]); };
      DueWork due;
      due.now = Time(results[0].at(0).at(0));
      due.next = OptionalTime(results[1].at(0).at(0));
      due.expired = ConvertAll(results[2], to_id);
      due.unsettled = ConvertAll(results[3], to_id);
      due.elections = ConvertAll(results[4], ToName);
      return due;
    });
  }

  Result<std::vector<SessionId>> ListUnended(const SessionId& after, size_t limit) override {
    return Read(query::UnendedSessions(after, limit), [](const Rows& rows) {
      return ConvertAll(rows, [](const Row& row) { return Id(row[0]); });
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
      return To<size_t>(results[2].at(0).at(0));
    });
  }

  Result<Trimmed> TrimHistory(const Retention& retention, const ElectionName& after,
                              size_t limit) override {
    return WithConnection([&](Pool::Loan& loan) {
      Connection& connection = loan.connection();
      const bool first = after.bytes.empty();
      std::vector<std::string> statements = {query::kClock,
                                             query::OldestEvents(after, kElectionsPerTrim)};
      if (first) {
        const Duration age = std::max(retention.age_max, retention.age_min);
        statements.push_back(query::TrimAdminChanges(age, limit));
        statements.push_back(query::TrimCoolDowns(limit));
      }
      const std::vector<Rows> results = connection.Run(statements);
      const HistoryTrimmer trimmer(retention, Time(results[0].at(0).at(0)));

      Trimmed trimmed{0, after};
      const auto end = std::chrono::steady_clock::now() + kTrimTimeMax;
      for (const Row& row : results[1]) {
        if (trimmed.deleted >= limit || std::chrono::steady_clock::now() > end) return trimmed;
        const ElectionName name = ToName(row);
        const Revision latest{Unsigned(row[1])};
        const Revision oldest{Unsigned(row[3])};
        const auto cut =
            row[3] ? trimmer.CutOf(latest, {Unsigned(row[2])}, oldest, Time(row[4])) : std::nullopt;
        if (cut) {
          const Revision step_end = HistoryTrimmer::EndOfStep(latest, oldest, limit);
          const std::vector<Rows> trim =
              connection.Run({query::TrimEvents(name, step_end, cut->below, cut->before,
                                                cut->protected_from, limit),
                              query::kRowCount});
          const auto deleted = To<size_t>(trim[1].at(0).at(0));
          trimmed.deleted += deleted;
          if (deleted == limit) return trimmed;  // there may be more of this one
        }
        trimmed.last = name;
      }
      if (results[1].size() < kElectionsPerTrim) trimmed.last = {};
      return trimmed;
    });
  }

  Result<std::vector<QueueEntry>> ReadQueue(const ElectionName& election, size_t skip,
                                            size_t limit) override {
    return Read(query::Queue(election, skip, limit), [](const Rows& rows) {
      return ConvertAll(rows, [](const Row& row) {
        QueueEntry entry{ToCandidacy(row), Span(row[kCandidacyColumns + 1]),
                         OptionalTime(row[kCandidacyColumns + 2])};
        entry.candidacy.lease_ttl = Span(row[kCandidacyColumns]);
        return entry;
      });
    });
  }

  Result<std::vector<TermRecord>> ReadTerms(const ElectionName& election, Term before,
                                            size_t limit) override {
    return Read(query::Terms(election, before, limit), [](const Rows& rows) {
      return ConvertAll(rows, [](const Row& row) {
        return TermRecord{{Unsigned(row[0])},
                          row[1].value(),
                          Time(row[2]),
                          OptionalTime(row[3]),
                          static_cast<Cause>(Unsigned(row[4]))};
      });
    });
  }

  Result<std::vector<AdminRecord>> ReadAdminChanges(const std::optional<ElectionName>& election,
                                                    uint64_t before, size_t limit) override {
    return Read(query::AdminChanges(election, before, limit), [](const Rows& rows) {
      return ConvertAll(rows, [](const Row& row) {
        return AdminRecord{Unsigned(row[0]),
                           {ElectionName{row[1].value()},
                            static_cast<AdminAction>(Unsigned(row[2])),
                            {Unsigned(row[3])},
                            Time(row[4]),
                            row[5].value(),
                            {row[6].value(), row[7].value()}}};
      });
    });
  }

  Result<std::vector<SessionView>> ReadSessions(std::string_view candidate_prefix,
                                                const SessionId& after, size_t limit) override {
    return WithConnection([&](Pool::Loan& loan) {
      Connection& connection = loan.connection();
      std::vector<SessionView> sessions;
      std::vector<SessionId> ids;
      std::map<SessionId, SessionView*> by_id;
      const Rows live = connection.Run({query::LiveSessions(candidate_prefix, after, limit)})[0];
      for (const Row& row : live) {
        sessions.push_back({ToSession(row), Span(row[kSessionColumns]), {}, {}});
        ids.push_back(sessions.back().session.id);
      }
      if (ids.empty()) return sessions;
      for (SessionView& session : sessions) by_id[session.session.id] = &session;
      const std::vector<Rows> places =
          connection.Run({query::SessionsLead(ids), query::SessionsWait(ids)});
      for (const Row& row : places[0]) by_id.at(Id(row[1]))->leads.push_back(ToName(row));
      for (const Row& row : places[1]) by_id.at(Id(row[1]))->waits.push_back(ToName(row));
      return sessions;
    });
  }

  Result<std::optional<SessionId>> FindSession(std::string_view handle) override {
    const auto [first, last] = SessionIdsOf(handle);
    return Read(query::FindSession(first, last), [](const Rows& rows) {
      return rows.empty() ? std::nullopt : std::optional(Id(rows[0][0]));
    });
  }

  Result<Census> TakeCensus() override {
    return WithConnection([&](Pool::Loan& loan) {
      const std::vector<Rows> results =
          loan.connection().Run({query::kCountLed, query::kCountEmpty, query::CountLapsed(),
                                 query::kCountCandidates, query::CountSessions()});
      const auto count = [&](size_t result, size_t column = 0) {
        return Unsigned(results[result].at(0).at(column));
      };
      return Census{.elections = count(0) + count(1, 0),
                    .leaderless = count(1, 2) + count(2),
                    .vacant = count(1, 1),
                    .candidates = count(3),
                    .sessions = count(4)};
    });
  }

  Result<HistorySight> AgreeOnHistory(
      uint64_t remembered,
      const std::function<std::optional<Epoch>(const HistorySight&)>& decide) override {
    return Anywhere([&](Pool::Loan& loan) {
      Connection& connection = loan.connection();
      connection.AskAgain();
      const std::vector<Rows> results = connection.Run(
          {query::kBegin, query::kLockLanes, query::LatestEpoch(), query::FindEpoch(remembered),
           query::kLastRepaired, query::kLongestLease, query::kClock});
      const mysql::Server& server = connection.server();
      HistorySight sight;
      sight.server = {loan.slot().choice, server.name,         server.history,
                      server.lossless,    server.many_writers, server.warnings};
      for (const Row& row : results[1]) sight.positions.at(Unsigned(row[0])) = Unsigned(row[1]);
      sight.latest = ToEpoch(results[2]);
      sight.remembered = ToEpoch(results[3]);
      sight.repaired = Unsigned(results[4].at(0).at(0));
      sight.longest_lease = Span(results[5].at(0).at(0));
      sight.now = Time(results[6].at(0).at(0));
      const std::optional<Epoch> epoch = decide(sight);
      std::vector<std::string> statements;
      if (epoch) statements = query::SaveEpoch(*epoch);
      if (!epoch && sight.latest) statements.push_back(query::JoinEpoch(sight.latest->number));
      statements.emplace_back(query::kCommit);
      connection.Run(statements);
      return sight;
    });
  }

  void StayOn(uint64_t server) override { pool_.StayOn(server); }

  Result<uint64_t> ReadOrigin() override {
    return Read(query::kOrigin, [](const Rows& rows) { return Unsigned(rows.at(0).at(0)); });
  }

  Result<uint64_t> RaiseOrigin() override {
    return WithConnection([&](Pool::Loan& loan) {
      const auto results = loan.connection().Run({query::RaiseOrigin(), query::kOrigin});
      return Unsigned(results.at(1).at(0).at(0));
    });
  }

  StoreActivity Activity() const override {
    StoreActivity activity = pool_.Activity();
    std::ranges::copy(retries_, activity.retries.begin());
    return activity;
  }

  Result<void> Ping() override {
    return WithConnection([&](Pool::Loan& loan) {
      loan.connection().Run({query::kPing});
      loan.connection().CheckWritable();
    });
  }

  Result<SchemaState> CheckSchema() override {
    return Anywhere([&](Pool::Loan& loan) {
      const int version = Version(loan.connection());
      const int latest = LatestVersion(MySqlMigrations());
      return version == latest  ? SchemaState::kCurrent
             : version < latest ? SchemaState::kTooOld
                                : SchemaState::kTooNew;
    });
  }

  Result<void> Migrate() override {
    return Anywhere([&](Pool::Loan& loan) {
      Connection& connection = loan.connection();
      const std::string& holder = loan.slot().writer;
      Create(connection, query::kCreateSchemaVersion);
      Create(connection, query::kCreateMigrationLock);
      connection.Run({query::kAddMigrationLock});
      WaitForMigrationLock(connection, holder);
      const MigrationTurn turn{connection, holder};
      const int version = Version(connection);
      for (const Migration& migration : MySqlMigrations()) {
        if (migration.version <= version) continue;
        for (const char* statement : migration.statements) {
          if (!TakeMigrationLock(connection, holder)) throw MigrationIsLocked();
          Create(connection, statement);
        }
        connection.Run({query::SetSchemaVersion(migration.version)});
      }
      CheckFence(connection);
    });
  }

 private:
  static ElectionName ToName(const Row& row) { return {row[0].value()}; }
  static PlaceKey ToPlace(const Row& row) { return {ElectionName{row[0].value()}, Id(row[1])}; }

  static std::optional<Epoch> ToEpoch(const Rows& rows) {
    if (rows.empty()) return std::nullopt;
    const Row& row = rows[0];
    return Epoch{.number = Unsigned(row.at(0)),
                 .token = Unsigned(row.at(1)),
                 .server = row.at(2).value(),
                 .lossless = Unsigned(row.at(3)) != 0,
                 .state = static_cast<Epoch::State>(Unsigned(row.at(4))),
                 .began_at = Time(row.at(5)),
                 .repairer = Unsigned(row.at(6)),
                 .repair_until = Time(row.at(7)),
                 .guards_write = Unsigned(row.at(8)) != 0};
  }

  // One statement of a migration. What it makes may be there: another run made it.
  static void Create(Connection& connection, std::string statement) {
    try {
      const size_t replace = statement.find(query::kOrReplace);
      if (replace == kCreate.size() && !connection.server().mariadb) {
        statement.erase(replace, query::kOrReplace.size());
        connection.Run({query::kDropFence});
      }
      connection.Run({statement});
    } catch (const MySqlError& error) {
      switch (error.code) {
        case 1050:  // the view
        case 1060:  // the columns
        case 1304:  // the procedure
          return;
        case 1044:
        case 1142:
        case 1370:  // denied
          throw MySqlError(
              error.kind, error.code,
              std::string("cannot update the schema: ") + error.what() +
                  ". This needs the privileges CREATE, ALTER, INDEX, CREATE VIEW, CREATE ROUTINE, "
                  "ALTER ROUTINE and EXECUTE; a user who has them can run: tenured migrate");
        default: throw;
      }
    }
  }

  // The server gives the definer of a procedure the right to execute it only where it was created:
  // not on the other nodes of Galera, and not where a dump was restored.
  static void CheckFence(Connection& connection) {
    try {
      connection.Run({query::kTryFence});
    } catch (const MySqlError& error) {
      if (error.code == query::kSignal) return;  // no term stands
      throw MySqlError(error.kind, error.code,
                       std::string("tenure_fence cannot be called: ") + error.what() +
                           ". Its definer needs EXECUTE, SELECT, INSERT and UPDATE on the schema");
    }
  }

  // Statements that define something are not transactions, and two at once on different nodes of
  // Galera can stop the cluster. So who migrates has a row.
  static bool TakeMigrationLock(Connection& connection, const std::string& holder) {
    const std::vector<Rows> results =
        connection.Run({query::TakeMigrationLock(holder, kMigrationLease), query::kRowCount});
    return Unsigned(results[1].at(0).at(0)) == 1;
  }

  // Gives the row back, however the migration ends.
  struct MigrationTurn {
    Connection& connection;
    const std::string& holder;
    ~MigrationTurn() {
      try {
        connection.Run({query::FreeMigrationLock(holder)});
      } catch (const MySqlError&) {  // its time will be over
      }
    }
  };

  static void WaitForMigrationLock(Connection& connection, const std::string& holder) {
    const auto end = std::chrono::steady_clock::now() + kMigrationPatience;
    while (!TakeMigrationLock(connection, holder)) {
      if (std::chrono::steady_clock::now() > end) throw MigrationIsLocked();
      std::this_thread::sleep_for(kMigrationPause);
    }
  }

  static MySqlError MigrationIsLocked() {
    return {MySqlError::Kind::kOther, 0, "another process is updating the schema"};
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

  // Also on a server that the store is not to stay on.
  template <typename Work>
  auto Anywhere(Work work) -> Result<std::invoke_result_t<Work, Pool::Loan&>> {
    return WithConnection(std::move(work), Pool::Where::kAnywhere);
  }

  // Runs `work` on a connection, again after a conflict, and on a new connection after the old one
  // broke. Only a broken *new* connection means that the database is away.
  template <typename Work>
  auto WithConnection(Work work, Pool::Where where = Pool::Where::kStaying)
      -> Result<std::invoke_result_t<Work, Pool::Loan&>> {
    for (int tries = 1;; ++tries) {
      bool fresh = true;
      try {
        Pool::Loan loan = pool_.Borrow(where);
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
        const bool again =
            error.kind == MySqlError::Kind::kConflict ||
            error.kind == MySqlError::Kind::kNotCommitted ||
            ((error.kind == MySqlError::Kind::kAway || error.kind == MySqlError::Kind::kUnfit) &&
             !fresh);
        if (!again || tries == kTriesMax) return Fail(Reason::kStoreUnavailable, error.what());
        ++retries_[static_cast<size_t>(ReasonOf(error))];
      }
      Backoff(tries);
    }
  }

  // The tables hold what no tenured wrote.
  static MySqlError Malformed(Pool::Loan& loan) {
    loan.Drop();
    return {MySqlError::Kind::kOther, 0, "the tables hold data that no tenured wrote"};
  }

  static void CleanUp(Pool::Loan& loan, const MySqlError& error) {
    if (error.kind == MySqlError::Kind::kUnfit) loan.LeaveServer();
    if (error.kind != MySqlError::Kind::kConflict && error.kind != MySqlError::Kind::kOther) {
      return loan.Drop();
    }
    try {
      loan.connection().Run({query::kRollback});
    } catch (const MySqlError&) {
      loan.Drop();
    }
  }

  // REQUIRES: the work is to be done again.
  static RetryReason ReasonOf(const MySqlError& error) {
    if (error.kind == MySqlError::Kind::kAway || error.kind == MySqlError::Kind::kUnfit) {
      return RetryReason::kLostConnection;
    }
    if (error.kind == MySqlError::Kind::kNotCommitted) return RetryReason::kLostReply;
    if (error.code == kDeadlock) return RetryReason::kDeadlock;
    return error.code == kLockWaitTimeout ? RetryReason::kLockTimeout : RetryReason::kConflict;
  }

  Pool pool_;
  std::array<std::atomic<uint64_t>, kRetryReasons> retries_{};
};

}  // namespace

std::vector<ServerReport> CheckMySqlServers(const mysql::Config& config) {
  std::vector<ServerReport> reports;
  for (const mysql::Address& address : config.addresses) {
    ServerReport report{address.host + ":" + std::to_string(address.port), "", "", {}};
    try {
      const mysql::Server server = Connection(config, address).server();
      report.name = server.name;
      report.refusal = server.refusal;
      report.warnings = server.warnings;
    } catch (const MySqlError& error) {
      report.refusal = error.what();
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

std::unique_ptr<Store> OpenMySqlStore(mysql::Config config) {
  return std::make_unique<MySqlStore>(std::move(config));
}

}  // namespace tenure
