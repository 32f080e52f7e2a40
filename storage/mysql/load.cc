#include "storage/mysql/load.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "storage/changes.h"
#include "storage/mysql/sql.h"
#include "storage/rows.h"

namespace tenure::mysql {
namespace {

using query::Patience;

// The answers to the statements of a message, in their order.
class Answers {
 public:
  explicit Answers(std::vector<Rows> all, size_t next = 0) : all_(std::move(all)), next_(next) {}

  [[nodiscard]] const Rows& Next() { return all_.at(next_++); }

 private:
  const std::vector<Rows> all_;
  size_t next_;
};

// What the law reads of queues, as statements of one message.
struct QueueReads {
  std::vector<ElectionName> cooling;
  std::vector<query::Head> heads;
  std::vector<PlaceKey> places;
  std::vector<std::pair<ElectionName, std::string>> named;

  // Cool-downs first: candidates that the heads leave out are then known to be kept out.
  [[nodiscard]] std::vector<std::string> Statements() const {
    std::vector<std::string> statements;
    if (!cooling.empty()) statements.push_back(query::LoadCoolDowns(cooling));
    if (!heads.empty()) statements.push_back(query::LoadHeads(heads));
    if (!places.empty()) statements.push_back(query::LoadPlaces(places));
    if (!named.empty()) statements.push_back(query::LoadNamed(named, kNamedMax));
    return statements;
  }

  void Add(const ElectionName& name, const LockSet::Part& part, bool cools) {
    heads.push_back({name, part.departures + 1, cools});
    for (const SessionId& session : part.sessions) places.push_back({name, session});
    for (const std::string& candidate : part.candidates) named.emplace_back(name, candidate);
  }
};

class Loader {
 public:
  Loader(Pool::Loan& loan, const LockSet& locks) : loan_(loan), locks_(locks) {}

  Loaded Run() {
    LockWhatIsKnown();
    LoadQueues();
    LockSessions();
    CheckCoolDowns();
    LoadUsage();
    LoadPasts();
    FinishLoading(transaction_);
    return std::move(loaded_);
  }

 private:
  // The elections, and the sessions that are needed in any case: leaders are known only once the
  // elections are.
  void LockWhatIsKnown() {
    std::vector<ElectionName> names;
    std::set<SessionId> sessions(locks_.sessions.begin(), locks_.sessions.end());
    for (const auto& [name, part] : locks_.elections) {
      names.push_back(name);
      sessions.insert(part.sessions.begin(), part.sessions.end());
    }
    // The writer's row is locked from the first message on: a look-up of this transaction's outcome
    // waits until it has ended, however long that takes.
    Pool::Slot& slot = loan_.slot();
    std::vector<std::string> statements = {query::kBegin,
                                           query::SaveWriter(slot.writer, ++slot.transaction)};
    if (locks_.patient) {
      loan_.connection().Run(statements);
      AddLocked(QueueFor(names));
    } else {
      const bool with_sessions = !sessions.empty() && !elections_first_;
      const QueueReads ahead = elections_first_ ? QueueReads() : ReadsAhead();
      if (!names.empty()) {
        statements.push_back(query::LockElections(names, Patience::kSkipLocked));
      }
      if (with_sessions)
        statements.push_back(query::LockSessions({sessions.begin(), sessions.end()}));
      std::ranges::move(ahead.Statements(), std::back_inserter(statements));
      Answers answers(loan_.connection().Run(statements), 2);
      if (!names.empty()) AddLocked(answers.Next());
      if (with_sessions) {
        AddSessions(answers.Next());
        asked_for_ = std::move(sessions);
      }
      AddQueues(ahead, answers);
      KeepReadAhead(ahead);
    }
    std::erase_if(names, [&](const auto& name) { return transaction_.elections.contains(name); });
    if (!names.empty()) FindMissing(std::move(names));
  }

  void LoadUsage() {
    if (!locks_.identities.empty()) {
      for (const Row& row : RunOne(loan_, query::UsageOf(locks_.identities))) {
        Usage& usage = transaction_.usage[Text(row, 0)];
        usage.sessions = row.Unsigned(1);
        usage.candidacies = row.Unsigned(2);
      }
    }
    const std::set<std::string> creators = CreatorsIn(locks_, transaction_);
    if (creators.empty()) return;
    for (const Row& row : RunOne(loan_, query::CreatedBy(creators))) {
      transaction_.usage[Text(row, 0)].elections = row.Unsigned(1);
    }
  }

  void LoadPasts() {
    std::vector<ElectionName> names;
    for (auto& [name, state] : transaction_.elections) {
      if (!locks_.elections.at(name).past) continue;
      names.push_back(name);
      state.past.emplace();
    }
    if (names.empty()) return;
    for (const Row& row : RunOne(loan_, query::Pasts(names))) {
      transaction_.elections.at(ToName(row)).past = ToPast(row);
    }
  }

  // Nothing if others have held them for the whole lock wait timeout.
  Rows QueueFor(const std::vector<ElectionName>& names) {
    try {
      return RunOne(loan_, query::LockElections(names, Patience::kWait));
    } catch (const MySqlError& error) {
      if (error.code != query::kLockWaitTimeout) throw;
      return {};
    }
  }

  void AddLocked(const Rows& rows) {
    for (const Row& row : rows) {
      ElectionState state;
      state.election = ToElection(row);
      state.exists = !state.election.deleted;
      if (IsPlaceholder(state.election)) loaded_.created.insert(state.election.name);
      transaction_.elections.insert_or_assign(state.election.name, std::move(state));
    }
  }

  // An election that could not be locked is either held by another transaction or missing.
  void FindMissing(std::vector<ElectionName> names) {
    for (const Row& row : RunOne(loan_, query::ExistingElections(names))) {
      transaction_.busy.insert(ToName(row));
    }
    std::erase_if(names, [&](const auto& name) { return transaction_.busy.contains(name); });
    for (const ElectionName& name : names) {
      if (!locks_.elections.at(name).create) transaction_.elections[name].election.name = name;
    }
    std::erase_if(names, [&](const auto& name) { return transaction_.elections.contains(name); });
    if (names.empty()) return;
    if (!asked_for_.empty()) return StartAgain();
    const std::vector<Rows> results = loan_.connection().Run(
        {query::CreateElections(names), query::LockElections(names, Patience::kSkipLocked),
         query::kOrigin});
    AddLocked(results[1]);
    // The origin is read after the rows exist: by then it is above every purged election of this
    // name.
    for (const ElectionName& name : loaded_.created) {
      Election& election = transaction_.elections.at(name).election;
      election.term.value = election.revision.value = results[2].at(0).Unsigned(0);
    }
    for (const ElectionName& name : names) {
      if (!transaction_.elections.contains(name)) transaction_.busy.insert(name);
    }
  }

  // Creating an election may mean waiting for another transaction that creates it. No session is
  // locked meanwhile, or it could not move or end; and the clock is read after the wait.
  void StartAgain() {
    loan_.connection().Run({query::kRollback});
    loaded_ = {};
    asked_for_.clear();
    read_ahead_.clear();
    elections_first_ = true;
    LockWhatIsKnown();
  }

  // Where a term may end, candidates probably wait: these queues are read in the first message.
  [[nodiscard]] QueueReads ReadsAhead() const {
    QueueReads reads;
    for (const auto& [name, part] : locks_.elections) {
      if (part.departures > 0) reads.Add(name, part, false);
    }
    return reads;
  }

  void LoadQueues() {
    QueueReads reads;
    for (const auto& [name, state] : transaction_.elections) {
      if (read_ahead_.contains(name)) continue;
      const Election& election = state.election;
      const bool cools = election.cooling_until > DbTime{};
      if (cools) reads.cooling.push_back(name);
      if (election.waiting == 0) continue;
      reads.Add(name, locks_.elections.at(name), cools);
      if (election.appointment) reads.named.emplace_back(name, election.appointment->candidate);
    }
    const std::vector<std::string> statements = reads.Statements();
    if (statements.empty()) return;
    Answers answers(loan_.connection().Run(statements));
    AddQueues(reads, answers);
  }

  void AddQueues(const QueueReads& reads, Answers& answers) {
    if (!reads.cooling.empty()) AddCoolDowns(answers.Next());
    if (!reads.heads.empty()) {
      AddHeads(answers.Next());
      SetHorizons(reads.heads);
    }
    if (!reads.places.empty()) AddToQueues(answers.Next());
    if (!reads.named.empty()) AddToQueues(answers.Next());
  }

  // Keeps a queue that was read ahead, unless the locked row shows that more must be read:
  // cool-downs, or the places of an appointed candidate.
  void KeepReadAhead(const QueueReads& reads) {
    for (const query::Head& head : reads.heads) {
      const auto found = transaction_.elections.find(head.election);
      if (found == transaction_.elections.end()) continue;
      ElectionState& state = found->second;
      if (state.election.cooling_until > DbTime{} || state.election.appointment) {
        state.queue.clear();
        state.horizon.reset();
      } else {
        read_ahead_.insert(head.election);
      }
    }
  }

  void AddHeads(const Rows& rows) {
    AddToQueues(rows);
    for (const Row& row : rows) {
      asked_for_.insert(Id(row, 1));
      constexpr size_t kSession = 1 + kCandidacyColumns;
      if (!row.IsNull(kSession)) AddSession(row, kSession);
    }
  }

  void SetHorizons(const std::vector<query::Head>& heads) {
    for (const query::Head& head : heads) {
      const auto found = transaction_.elections.find(head.election);
      if (found == transaction_.elections.end()) continue;
      ElectionState& state = found->second;
      if (state.queue.size() < head.size) continue;
      state.horizon = *std::ranges::max_element(
          state.queue, [](const auto& a, const auto& b) { return a.Before(b); });
    }
  }

  void AddCoolDowns(const Rows& rows) {
    for (const Row& row : rows) {
      transaction_.elections.at(ToName(row)).cool_downs[Text(row, 1)] = Time(row, 2);
    }
  }

  // Ignores rows of elections that could not be locked.
  void AddToQueues(const Rows& rows) {
    for (const Row& row : rows) {
      const auto found = transaction_.elections.find(ToName(row));
      if (found != transaction_.elections.end()) {
        found->second.queue.push_back(ToCandidacy(row, 1));
      }
    }
  }

  // Locks sessions that were not asked for yet. The clock is read after the last lock.
  void LockSessions() {
    std::set<SessionId> needed(locks_.sessions.begin(), locks_.sessions.end());
    for (const auto& [name, state] : transaction_.elections) needed.merge(SessionsOf(name, state));
    std::vector<SessionId> more;
    std::ranges::set_difference(needed, asked_for_, std::back_inserter(more));
    if (!more.empty()) AddSessions(RunOne(loan_, query::LockSessions(more)));

    std::erase_if(needed, [&](const SessionId& id) { return transaction_.sessions.contains(id); });
    std::vector<std::string> statements;
    if (!needed.empty())
      statements.push_back(query::ExistingSessions({needed.begin(), needed.end()}));
    const bool cools = std::ranges::any_of(
        transaction_.elections, [](const auto& it) { return !it.second.cool_downs.empty(); });
    if (!needed.empty() || transaction_.sessions.empty() || cools) {
      statements.emplace_back(query::kClock);
    }
    if (statements.empty()) return;
    const std::vector<Rows> results = loan_.connection().Run(statements);
    transaction_.now = Time(results.back().at(0), 0);
    if (!needed.empty()) SkipBusySessions(results[0]);
  }

  void AddSessions(const Rows& rows) {
    for (const Row& row : rows) AddSession(row);
  }

  // `first` is the session's first column; the time follows the session.
  void AddSession(const Row& row, size_t first = 0) {
    const Session session = ToSession(row, first);
    transaction_.sessions.emplace(session.id, session);
    transaction_.now = std::max(transaction_.now, Time(row, first + kSessionColumns));
  }

  // A candidate whose cool-down has ended since the heads were read may be missing from them.
  void CheckCoolDowns() const {
    for (const auto& [name, state] : transaction_.elections) {
      for (const auto& [candidate, until] : state.cool_downs) {
        if (until > transaction_.now) continue;
        throw MySqlError(MySqlError::Kind::kConflict, 0, "a cool-down ended during a transaction");
      }
    }
  }

  [[nodiscard]] std::set<SessionId> SessionsOf(const ElectionName& name,
                                               const ElectionState& state) const {
    const LockSet::Part& part = locks_.elections.at(name);
    std::set<SessionId> ids(part.sessions.begin(), part.sessions.end());
    if (state.election.leader) ids.insert(state.election.leader->session);
    for (const Candidacy& candidacy : state.queue) ids.insert(candidacy.session);
    return ids;
  }

  // Of the sessions that could not be locked, those that exist are held by another transaction; the
  // elections that need them are deferred.
  void SkipBusySessions(const Rows& existing) {
    for (const Row& row : existing) transaction_.busy_sessions.insert(Id(row, 0));
    if (transaction_.busy_sessions.empty()) return;
    std::erase_if(transaction_.elections, [&](const auto& entry) {
      const auto& [name, state] = entry;
      const bool busy = std::ranges::any_of(SessionsOf(name, state), [&](const SessionId& id) {
        return transaction_.busy_sessions.contains(id);
      });
      if (busy) transaction_.busy.insert(name);
      return busy;
    });
  }

  Pool::Loan& loan_;
  const LockSet& locks_;
  Loaded loaded_;
  TransactionState& transaction_ = loaded_.transaction;
  std::set<SessionId> asked_for_;      // sessions that were locked, skipped or missing
  std::set<ElectionName> read_ahead_;  // their queues have been read
  bool elections_first_ = false;       // lock them before any session
};

}  // namespace

Loaded Load(Pool::Loan& loan, const LockSet& locks) { return Loader(loan, locks).Run(); }

}  // namespace tenure::mysql
