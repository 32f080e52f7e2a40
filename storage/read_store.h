// What callers ask: who leads, who waits, what happened. Nothing here takes a lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/homes/home_row.h"
#include "core/lineage.h"
#include "core/types.h"

namespace tenure {

// An election as it was read, without a lock.
struct ElectionView {
  Election election;
  // Whether the leader's session has not ended. If it has, the end of its term must be committed
  // before any answer names a leader.
  bool session_alive = false;
  // That session's lease while its home lives; once its home is dead, the rest of the lease.
  Duration lease_left{0};

  [[nodiscard]] bool LeaderAlive() const { return !election.leader || session_alive; }
};

struct PlaceKey {
  ElectionName election;
  SessionId session;

  auto operator<=>(const PlaceKey&) const = default;
};

// The first `limit` seats of some sessions; of the first session, only those after `after`.
struct SeatPage {
  std::vector<SessionId> sessions;  // in order, each once
  ElectionName after = {};
  size_t limit = 250;
};

// Where the partitions stand.
struct Partitions {
  PartitionOffsets offsets{};
  uint64_t epoch = 0;
};

// Shows whether remembered elections are still up to date.
struct Attendance {
  static constexpr size_t kUnsettledMax = 100;

  // Sessions that have ended, and may still hold seats and places: all of them, if fewer than
  // `kUnsettledMax`.
  std::set<SessionId> unsettled;
  Partitions partitions;
  std::optional<HomeRow> own;  // of the home that was asked for
};

// One transaction's events, as another replica reads them.
struct FeedEntry {
  uint64_t offset = 0;
  Event event;
};

// The first bytes that sort after every name that begins with `prefix`: no UTF-8 text holds 0xff.
[[nodiscard]] inline std::string PrefixEnd(std::string_view prefix) {
  return std::string(prefix) + '\xff';
}

// Thread-safe, like all of a store.
class ReadStore {
 public:
  virtual ~ReadStore() = default;

  // Elections by name; those that do not exist are not in the answer. One consistent read.
  virtual Result<std::map<ElectionName, ElectionView>> ReadElections(
      const std::vector<ElectionName>& names) = 0;
  // Elections whose names begin with `prefix` and come after `after`, by name; deleted ones too.
  virtual Result<std::vector<ElectionView>> ListElections(std::string_view prefix,
                                                          std::string_view after, size_t limit) = 0;
  // For each place that is in its election's queue: how many live or dead candidacies are before
  // it, plus one.
  virtual Result<std::map<PlaceKey, uint64_t>> ReadPositions(
      const std::vector<PlaceKey>& places) = 0;
  // Which of the places are in their queues. Cheaper than their positions.
  virtual Result<std::vector<PlaceKey>> FilterWaiting(const std::vector<PlaceKey>& places) = 0;
  // The seats that sessions hold, by session, then by election.
  virtual Result<std::vector<Leadership>> ReadSeats(const SeatPage& page) = 0;

  // An election's events from a revision on, in order, at most `limit`.
  virtual Result<std::vector<Event>> ReadEvents(const ElectionName& election, Revision from,
                                                size_t limit) = 0;
  virtual Result<Partitions> ReadPartitions() = 0;
  // Which sessions have ended and are not settled, and then where the partitions stand: if nothing
  // has happened in an election by then, and its leader's session is not among them, that leader
  // led when they were read. Also reads the row of a home.
  virtual Result<Attendance> ReadAttendance(HomeId home) = 0;
  // The events of a partition's offsets after `after`, up to and including `until`, in order.
  virtual Result<std::vector<FeedEntry>> ReadFeed(int partition, uint64_t after,
                                                  uint64_t until) = 0;
};

}  // namespace tenure
