// What operators see, in addition to callers. Lists are read in pages: at most `limit`, beginning
// after the last item read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/types.h"
#include "storage/read_store.h"

namespace tenure {

// A waiting candidate as operators see it.
struct QueueEntry {
  Candidacy candidacy;
  Duration lease_left{0};
  std::optional<DbTime> cools_down_until;
};

// One term, according to its events.
struct TermRecord {
  Term term;
  std::string candidate;
  DbTime began_at;
  std::optional<DbTime> ended_at;
  Cause cause = Cause::kNone;
};

// A change that an operator made, and its number among all of them.
struct AdminRecord {
  uint64_t number = 0;
  AdminChange change;
};

// A live session, and where it stands.
struct SessionView {
  Session session;
  Duration lease_left{0};
  std::vector<ElectionName> leads;
  std::vector<ElectionName> waits;
};

// Counts of what the database holds.
struct Statistics {
  uint64_t elections = 0;
  uint64_t led = 0;  // have a leader
  // Not paused, and either without a leader although an eligible candidate waits, or with a leader
  // whose session has ended.
  uint64_t leaderless = 0;
  uint64_t vacant = 0;      // no leader and no candidates
  uint64_t candidates = 0;  // waiting in queues
  uint64_t sessions = 0;    // live ones

  bool operator==(const Statistics&) const = default;
};

// Thread-safe, like all of a store.
class OperatorStore : public ReadStore {
 public:
  // A part of an election's queue, in its order, without the first `skip`.
  virtual Result<std::vector<QueueEntry>> ReadQueue(const ElectionName& election, size_t skip,
                                                    size_t limit) = 0;
  // An election's terms before a term, the latest first.
  virtual Result<std::vector<TermRecord>> ReadTerms(const ElectionName& election, Term before,
                                                    size_t limit) = 0;
  // Operators' changes with numbers below `before`, the latest first; in one election, or all.
  virtual Result<std::vector<AdminRecord>> ReadAdminChanges(
      const std::optional<ElectionName>& election, uint64_t before, size_t limit) = 0;
  // Live sessions of candidates whose names begin with the prefix, by id.
  virtual Result<std::vector<SessionView>> ReadSessions(std::string_view candidate_prefix,
                                                        const SessionId& after, size_t limit) = 0;
  // The session of a public handle, alive or not.
  virtual Result<std::optional<SessionId>> FindSession(std::string_view handle) = 0;

  // Counts, all as of about the same time. The cost grows with the number of elections without a
  // leader; those with one are only counted.
  virtual Result<Statistics> ReadStatistics() = 0;
};

}  // namespace tenure
