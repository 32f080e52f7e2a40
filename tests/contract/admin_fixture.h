// Shared by the suites about administration: operators' commands, and their effects as another
// replica sees them.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/contract/raw_sql.h"
#include "tests/contract/store_contract.h"

namespace tenure::testing {

inline const Author kAsker{"olga", "drill"};
inline constexpr uint64_t kNumberMax = std::numeric_limits<int64_t>::max();

class AdminFixture : public StoreContract {
 protected:
  // The store of another replica.
  Store& Replica() {
    if (GetParam() == Kind::kSqliteMemory) return *store_;
    if (!replica_) replica_ = Open();
    return *replica_;
  }

  std::vector<std::string> Query(const std::string& sql) { return QueryRows(url_, sql); }

  // Everything in the tables.
  std::vector<std::string> Dump() {
    std::vector<std::string> all;
    for (const std::string table : {"elections", "sessions", "candidacies", "cool_downs", "events",
                                    "admin_changes", "lanes"}) {
      for (std::string& row : Query("SELECT * FROM " + table + " ORDER BY 1, 2")) {
        all.push_back(table + ": " + std::move(row));
      }
    }
    return all;
  }

  // What a transaction of another replica loads of an election.
  ElectionState Load(const std::string& election, LockSet::Part item = {}) {
    LockSet locks;
    locks.elections[{election}] = std::move(item);
    return Replica()
        .Transact(locks, {}, [](TransactionState&) {})
        .value()
        .transaction.elections.at({election});
  }

  static LockSet::Part Needing(std::vector<SessionId> sessions, size_t departures = 0) {
    return {std::move(sessions), {}, departures, false};
  }

  // Applies the commands as if it were earlier or later by the database's clock.
  void RunAt(Duration offset, const std::vector<Command>& commands) {
    const auto committed =
        store_->Transact(LockSetOf(commands), {}, [&](TransactionState& transaction) {
          transaction.now = transaction.now + offset;
          for (const Command& command : commands) EXPECT_TRUE(Apply(transaction, limits_, command));
        });
    ASSERT_TRUE(committed) << committed.error().message;
  }

  AdminAnswer Administer(const Command& command) {
    const auto answer = Run(command);
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? std::get<AdminAnswer>(*answer) : AdminAnswer{};
  }

  static Campaign CampaignOf(const std::string& election, const SessionId& session,
                             const std::string& candidate, Duration ttl = std::chrono::hours(24)) {
    return {{election}, session, Campaign::Opening{candidate, ttl}, {}, "v", 0, {7}};
  }

  static Appoint Appointing(const std::string& election, Term term, const std::string& candidate) {
    return {{election}, term, candidate, false, {}, kAsker};
  }

  static Configure Creating(const std::string& election) {
    Configure configure;
    configure.election = {election};
    configure.create = true;
    configure.author = kAsker;
    return configure;
  }

  std::string LeaderOf(const std::string& election) {
    const auto views = Replica().ReadElections({{election}}).value();
    const auto& leader = views.at({election}).election.leader;
    return leader ? leader->candidate : "";
  }

  std::vector<std::string> QueueOf(const std::string& election) {
    std::vector<std::string> candidates;
    const auto queue = Replica().ReadQueue({election}, 0, 1000).value();
    for (const QueueEntry& entry : queue) {
      candidates.push_back(entry.candidacy.candidate);
    }
    return candidates;
  }

  std::vector<AdminRecord> AdminChanges(const std::optional<ElectionName>& election = {}) {
    return Replica().ReadAdminChanges(election, kNumberMax, 1000).value();
  }

  std::unique_ptr<Store> replica_;
};

}  // namespace tenure::testing
