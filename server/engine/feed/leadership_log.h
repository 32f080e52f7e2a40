// Logs each change of leadership that a committed transaction made, one line each.
#pragma once

#include <string>
#include <vector>

#include "core/law/transaction_state.h"
#include "server/log/log.h"

namespace tenure::engine {

// One change. Empty names stand for nobody.
struct LeadershipChange {
  std::string election;
  uint64_t term = 0;  // that began, or else that ended
  std::string from;
  std::string to;
  std::string cause;              // of the end of the term before; empty: there was none
  double leaderless_seconds = 0;  // by the database's clock
  std::string session;            // the handle of the leader's, or the last leader's, session
  std::string trace;

  bool operator==(const LeadershipChange&) const = default;
};

// `traces` has, for each event, the trace of the call that caused it; missing entries mean none. A
// seat that changes hands in one transaction is one change.
[[nodiscard]] std::vector<LeadershipChange> LeadershipChanges(
    const TransactionState& transaction, const std::vector<std::string>& traces);

void LogLeadership(const TransactionState& transaction, const std::vector<std::string>& traces);

}  // namespace tenure::engine
