// What a transaction has to write: how a decided transaction differs from the one that was loaded.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/law/lock_set.h"
#include "core/law/transaction_state.h"
#include "storage/store.h"

namespace tenure {

struct CoolDown {
  const ElectionName* election;
  const std::string* candidate;
  DbTime until;
};

struct Changes {
  std::vector<const Election*> elections;
  std::vector<const Session*> opened;    // new ones
  std::vector<const Session*> sessions;  // existing ones that changed
  std::vector<std::pair<const ElectionName*, const Candidacy*>> candidacies;
  std::vector<PlaceKey> departed;  // candidacies to delete
  std::vector<const ElectionName*>
      emptied;                       // all their candidacies and cool-downs are deleted first
  std::vector<CoolDown> cool_downs;  // new or changed
  std::vector<const ElectionName*> purged;
  // Events of lower revisions are deleted.
  std::vector<std::pair<const ElectionName*, Revision>> forgotten;
};

// The answer points into `decided`, which has to outlive it. Pure.
[[nodiscard]] Changes Compare(const TransactionState& loaded, const TransactionState& decided);

// The partitions that the transaction advances, and the events in each. A purge has none: the
// offset alone tells other replicas that something has happened.
[[nodiscard]] std::map<int, std::vector<const Event*>> EventsByPartition(
    const TransactionState& decided);

// The first and the last session id of a public handle. REQUIRES: 16 hexadecimal digits.
[[nodiscard]] std::pair<SessionId, SessionId> SessionIdsOf(std::string_view handle);

// Maximum number of one candidate's sessions in one election that a transaction considers.
inline constexpr size_t kNamedMax = 16;

// The identities whose created elections must be counted, because they may create a missing one.
[[nodiscard]] std::set<std::string> CreatorsIn(const LockSet& locks,
                                               const TransactionState& loaded);

// Completes a loaded transaction: candidacies get their sessions' leases, and queues their order.
void FinishLoading(TransactionState& transaction);

}  // namespace tenure
