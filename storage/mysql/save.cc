#include "storage/mysql/save.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "storage/changes.h"
#include "storage/mysql/runner.h"
#include "storage/mysql/sql.h"

namespace tenure::mysql {
namespace {

constexpr int kLookUpTriesMax = 3;

using EventPartitions = std::map<int, std::vector<const Event*>>;

class Saver {
 public:
  // `base` is the loaded or the remembered state.
  Saver(Pool::Loan& loan, const CommitRules& rules, const TransactionState& base,
        const TransactionState& decided)
      : loan_(loan),
        rules_(rules),
        base_(base),
        decided_(decided),
        changes_(Compare(base, decided)) {}

  // Completes the transaction that `Load` began.
  std::vector<PartitionOffset> Run(const std::set<ElectionName>& created) {
    std::vector<std::string> statements = Changed(query::SaveElections);
    const std::vector<ElectionName> unused = Unused(created);
    if (!unused.empty()) statements.push_back(query::DeleteElections(unused));
    const bool numbered = rules_.witness && rules_.witness->number;
    if (statements.empty() && decided_.events.empty() && !numbered) {
      loan_.connection().Run({query::kRollback});
      return {};
    }
    return Commit(std::move(statements), [this] { return WriterHasCommitted(); });
  }

  // Begins a transaction, and checks what is remembered. Nothing if it does not hold.
  std::optional<std::vector<PartitionOffset>> RunIfUnchanged() {
    from_memory_ = true;
    std::vector<std::string> statements = {query::kBegin};
    std::ranges::move(query::Hold(base_, decided_), std::back_inserter(statements));
    std::ranges::move(Changed(query::SaveSeats), std::back_inserter(statements));
    try {
      return Commit(std::move(statements), [this] { return EventIsThere(); });
    } catch (const MySqlError& error) {
      if (error.code != query::kStale) throw;
      loan_.connection().Run({query::kRollback});
      return std::nullopt;
    }
  }

 private:
  // The statements that change rows, except those for the order of changes.
  template <typename SaveElections>
  [[nodiscard]] std::vector<std::string> Changed(SaveElections save_elections) const {
    std::vector<std::string> statements;
    if (!changes_.elections.empty()) statements.push_back(save_elections(changes_.elections));
    if (!changes_.opened.empty()) statements.push_back(query::OpenSessions(changes_.opened));
    if (!changes_.sessions.empty()) {
      statements.push_back(query::SaveSessions(changes_.sessions));
    }
    if (!changes_.emptied.empty()) {
      std::ranges::move(query::EmptyElections(changes_.emptied), std::back_inserter(statements));
    }
    if (!changes_.departed.empty()) statements.push_back(query::DeletePlaces(changes_.departed));
    if (!changes_.candidacies.empty())
      statements.push_back(query::SavePlaces(changes_.candidacies));
    if (!changes_.cool_downs.empty())
      statements.push_back(query::SaveCoolDowns(changes_.cool_downs));
    if (!decided_.admin_changes.empty()) {
      statements.push_back(query::SaveAdminChanges(decided_.admin_changes));
    }
    if (decided_.origin_min > 0) statements.push_back(query::RaiseOriginTo(decided_.origin_min));
    if (!changes_.purged.empty()) {
      std::ranges::move(query::PurgeElections(changes_.purged), std::back_inserter(statements));
    }
    for (const auto& [election, before] : changes_.forgotten) {
      statements.push_back(query::ForgetEvents(*election, before));
    }
    return statements;
  }

  std::vector<PartitionOffset> Commit(std::vector<std::string> statements,
                                      const std::function<bool()>& was_committed) {
    if (loan_.connection().server().many_writers) {
      const std::set<ElectionName> granted = Granted(decided_.events);
      if (!granted.empty()) statements.push_back(query::WriteFences(granted));
    }

    AddHomes(statements);
    const EventPartitions events = EventsByPartition(decided_);
    std::vector<int> partitions;
    for (const auto& [partition, of_partition] : events) partitions.push_back(partition);
    size_t offsets_at = 0;  // the statement that returns them
    if (!partitions.empty()) {
      std::ranges::move(query::AdvancePartitions(partitions, rules_.point),
                        std::back_inserter(statements));
      offsets_at = statements.size() - 1;
      if (!decided_.events.empty()) statements.push_back(query::SaveEvents(events));
    }
    statements.emplace_back(query::kCommit);

    const std::vector<uint64_t> offsets = Settle(statements, events, offsets_at, was_committed);
    std::vector<PartitionOffset> committed;
    for (size_t i = 0; i < partitions.size(); ++i) {
      if (offsets.at(i) > 0) committed.push_back({partitions[i], offsets[i]});
    }
    return committed;
  }

  // Throws kAway if the offsets are missing: the commit may have succeeded, and is looked up.
  static std::vector<uint64_t> OffsetsIn(const Rows& answer, size_t count) {
    if (answer.size() != 1) {
      throw MySqlError(MySqlError::Kind::kAway, 0, "the answer to a commit is incomplete");
    }
    std::vector<uint64_t> offsets;
    for (size_t i = 0; i < count; ++i) offsets.push_back(answer[0].Unsigned(i));
    return offsets;
  }

  // Runs the statements. One of them returns the offset in each partition. If the reply is lost,
  // asks `was_committed` on a new connection.
  std::vector<uint64_t> Settle(const std::vector<std::string>& statements,
                               const EventPartitions& partitions, size_t offsets_at,
                               const std::function<bool()>& was_committed) {
    try {
      const std::vector<Rows> results = loan_.connection().Run(statements);
      if (partitions.empty()) return {};
      return OffsetsIn(results[offsets_at], partitions.size());
    } catch (const MySqlError& error) {
      if (error.code == query::kNotNull && rules_.point) {
        throw MySqlError(error.kind, error.code,
                         "the database's history is not the one that this replica knows");
      }
      if (error.code == query::kStale && !from_memory_) {
        throw MySqlError(error.kind, error.code, kHomeDoesNotStand);
      }
      const bool unfit = error.kind == MySqlError::Kind::kUnfit;
      if (error.kind != MySqlError::Kind::kAway && !unfit) throw;
      const uint64_t refusing = loan_.slot().choice;
      try {
        return LookUpCommit(partitions, was_committed);
      } catch (const MySqlError&) {
        if (unfit) loan_.LeaveServer(refusing);
        throw;
      }
    }
  }

  // Departures for other homes, and the proof that this replica's own home stands.
  void AddHomes(std::vector<std::string>& statements) const {
    const bool compared = loan_.connection().server().many_writers;
    if (rules_.witness && compared) {
      const std::set<SessionId> placed = Placed();
      if (!placed.empty()) statements.push_back(query::WriteSessions(placed));
    }
    std::ranges::move(query::SaveDepartures(decided_.departures, rules_.witness,
                                            compared && !changes_.opened.empty()),
                      std::back_inserter(statements));
  }

  // Existing sessions that get a seat or a place.
  [[nodiscard]] std::set<SessionId> Placed() const {
    std::set<SessionId> placed;
    for (const Event& event : decided_.events) {
      if (event.type == EventType::kElected) placed.insert(event.leader.session);
    }
    for (const auto& [election, candidacy] : changes_.candidacies)
      placed.insert(candidacy->session);
    for (const Session* session : changes_.opened) placed.erase(session->id);
    return placed;
  }

  static std::set<ElectionName> Granted(const std::vector<Event>& events) {
    std::set<ElectionName> granted;
    for (const Event& event : events) {
      if (event.type == EventType::kElected) granted.insert(event.election);
    }
    return granted;
  }

  // Elections whose rows were made for a campaign that was then refused, or deferred.
  [[nodiscard]] std::vector<ElectionName> Unused(const std::set<ElectionName>& created) const {
    std::vector<ElectionName> unused;
    for (const ElectionName& name : created) {
      const auto state = decided_.elections.find(name);
      const bool used = state != decided_.elections.end() && !IsPlaceholder(state->second.election);
      if (!used) unused.push_back(name);
    }
    return unused;
  }

  // Looks up, on a new connection, whether the commit whose reply was lost has happened, and
  // returns each partition's offset. Throws kNotCommitted if it has not and never will, kInDoubt if
  // that cannot be found out.
  std::vector<uint64_t> LookUpCommit(const EventPartitions& partitions,
                                     const std::function<bool()>& was_committed) {
    for (int tries = 1;; ++tries) {
      loan_.Drop();
      try {
        if (!was_committed()) break;
        return OffsetsOf(partitions);
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

  // 0 for a partition without events: nothing shows its offset.
  std::vector<uint64_t> OffsetsOf(const EventPartitions& partitions) {
    std::vector<uint64_t> offsets;
    for (const auto& [partition, events] : partitions) {
      if (events.empty()) {
        offsets.push_back(0);
        continue;
      }
      offsets.push_back(RunOne(loan_, query::OffsetOfEvent(*events.front())).at(0).Unsigned(0));
    }
    return offsets;
  }

  // These wait for a transaction that has not ended yet, and throw if that takes too long.

  bool WriterHasCommitted() {
    const Pool::Slot& slot = loan_.slot();
    const Rows writer =
        loan_.connection().Run({query::kBegin, query::LockWriter(slot.writer), query::kCommit})[1];
    return !writer.empty() && writer[0].Unsigned(0) == slot.transaction;
  }

  // Spends a ticket, so that the lost message finds its state stale if it arrives late.
  bool EventIsThere() {
    const Event& event = decided_.events.front();
    return loan_.connection()
               .Run({query::kBegin, query::SpendTicket(event.election), query::CountEvent(event),
                     query::kCommit})[2]
               .at(0)
               .Unsigned(0) == 1;
  }

  Pool::Loan& loan_;
  const CommitRules& rules_;
  const TransactionState& base_;
  const TransactionState& decided_;
  const Changes changes_;  // from `base_` to `decided_`
  bool from_memory_ = false;
};

}  // namespace

std::vector<PartitionOffset> Save(Pool::Loan& loan, const CommitRules& rules, const Loaded& loaded,
                                  const TransactionState& decided) {
  return Saver(loan, rules, loaded.transaction, decided).Run(loaded.created);
}

std::optional<std::vector<PartitionOffset>> SaveIfUnchanged(Pool::Loan& loan,
                                                            const CommitRules& rules,
                                                            const TransactionState& remembered,
                                                            const TransactionState& decided) {
  return Saver(loan, rules, remembered, decided).RunIfUnchanged();
}

}  // namespace tenure::mysql
