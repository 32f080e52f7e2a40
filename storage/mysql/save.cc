#include "storage/mysql/save.h"

#include <algorithm>
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
  Saver(Pool::Loan& loan, const CommitRules& rules, const Loaded& loaded,
        const TransactionState& decided)
      : loan_(loan), rules_(rules), loaded_(loaded), decided_(decided) {}

  std::vector<PartitionOffset> Run() {
    const Changes changes = Compare(loaded_.transaction, decided_);
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
    if (!decided_.admin_changes.empty()) {
      statements.push_back(query::SaveAdminChanges(decided_.admin_changes));
    }
    const std::vector<ElectionName> unused = Unused();
    if (!unused.empty()) statements.push_back(query::DeleteElections(unused));
    if (statements.empty() && decided_.events.empty()) {
      loan_.connection().Run({query::kRollback});
      return {};
    }

    if (loan_.connection().server().many_writers) {
      const std::set<ElectionName> granted = Granted(decided_.events);
      if (!granted.empty()) statements.push_back(query::WriteFences(granted));
    }

    const auto partitions = EventsByPartition(decided_.events);
    std::vector<size_t> position_results;
    for (const auto& [partition, events] : partitions) {
      statements.push_back(query::AdvancePartition(partition, rules_.point));
      position_results.push_back(statements.size());
      statements.emplace_back(query::kAdvancedOffset);
      statements.push_back(query::SaveEvents(partition, events));
    }
    statements.emplace_back(query::kCommit);

    std::vector<uint64_t> offsets;
    try {
      const std::vector<Rows> results = loan_.connection().Run(statements);
      for (const size_t index : position_results) {
        // COMMIT may have been answered: what became of it is looked up.
        if (results[index].size() != 1) {
          throw MySqlError(MySqlError::Kind::kAway, 0, "the answer to a commit is incomplete");
        }
        offsets.push_back(results[index][0].Unsigned(0));
      }
    } catch (const MySqlError& error) {
      if (error.code == query::kNotNull && rules_.point) {
        throw MySqlError(error.kind, error.code,
                         "the database's history is not the one that this replica knows");
      }
      const bool in_doubt =
          error.kind == MySqlError::Kind::kAway || error.kind == MySqlError::Kind::kUnfit;
      if (!in_doubt || rules_.repeatable) throw;
      offsets = LookUpCommit(partitions);
    }
    std::vector<PartitionOffset> committed;
    for (const auto& [partition, events] : partitions) {
      committed.push_back({partition, offsets.at(committed.size())});
    }
    return committed;
  }

 private:
  static std::set<ElectionName> Granted(const std::vector<Event>& events) {
    std::set<ElectionName> granted;
    for (const Event& event : events) {
      if (event.type == EventType::kElected) granted.insert(event.election);
    }
    return granted;
  }

  // Elections whose rows were made for a campaign that was then refused, or put off.
  std::vector<ElectionName> Unused() const {
    std::vector<ElectionName> unused;
    for (const ElectionName& name : loaded_.created) {
      const auto state = decided_.elections.find(name);
      const bool used = state != decided_.elections.end() && !IsPlaceholder(state->second.election);
      if (!used) unused.push_back(name);
    }
    return unused;
  }

  // Looks up, on a new connection, whether the commit whose reply was lost has happened, and
  // answers with each partition's offset. Throws kNotCommitted if it has not and never will,
  // kInDoubt if that cannot be found out.
  std::vector<uint64_t> LookUpCommit(const EventPartitions& partitions) {
    for (int tries = 1;; ++tries) {
      loan_.Drop();
      try {
        if (const auto offsets = TryLookUpCommit(partitions)) return *offsets;
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
  std::optional<std::vector<uint64_t>> TryLookUpCommit(const EventPartitions& partitions) {
    const Pool::Slot& slot = loan_.slot();
    const Rows writer =
        loan_.connection().Run({query::kBegin, query::LockWriter(slot.writer), query::kCommit})[1];
    if (writer.empty() || writer[0].Unsigned(0) != slot.transaction) return std::nullopt;
    std::vector<uint64_t> offsets;
    for (const auto& [partition, events] : partitions) {
      offsets.push_back(RunOne(loan_, query::OffsetOfEvent(*events.front())).at(0).Unsigned(0));
    }
    return offsets;
  }

  Pool::Loan& loan_;
  const CommitRules& rules_;
  const Loaded& loaded_;
  const TransactionState& decided_;
};

}  // namespace

std::vector<PartitionOffset> Save(Pool::Loan& loan, const CommitRules& rules, const Loaded& loaded,
                                  const TransactionState& decided) {
  return Saver(loan, rules, loaded, decided).Run();
}

}  // namespace tenure::mysql
