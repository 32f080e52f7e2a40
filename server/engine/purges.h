// Purges: removes elections that nobody uses, a page of them at a time, when an operator asks.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/law/purging.h"
#include "server/engine/feed/publisher.h"
#include "server/engine/replica_state.h"
#include "server/engine/transactions.h"
#include "server/engine/work/answers.h"
#include "server/engine/work/batcher.h"
#include "server/engine/work/scheduler.h"
#include "storage/read_store.h"

namespace tenure::engine {

struct PurgeOrder {
  Purge purge;
  std::string prefix;  // elections whose names begin with it
  std::string after;   // and come after this one
  size_t limit = 0;    // maximum number to look at
};

struct PurgePage {
  std::vector<ElectionName> purged;  // or would be, in a dry run
  std::string next;                  // continue after this; empty: that was all
};

// One page at a time, on a thread for background work, each in a bounded number of transactions, of
// a bounded size. Elections that another transaction has locked count as used. Thread-safe.
// Everything must outlive the scheduler's last task.
class Purges {
 public:
  Purges(ReplicaState& replica, Transactions& transactions, Publisher& publisher);

  // Errors: kOverloaded, kStoreUnavailable. Some may have been purged all the same.
  void Submit(PurgeOrder order, AnswerTo<PurgePage> done);

  [[nodiscard]] std::vector<QueueView> Queues() const;

 private:
  struct Pending {
    PurgeOrder order;
    AnswerTo<PurgePage> done;
  };

  [[nodiscard]] Result<PurgePage> Run(const PurgeOrder& order);
  // One transaction. Adds what is purged, and returns how many of the elections are done.
  [[nodiscard]] Result<size_t> PurgeSome(const Purge& purge, std::span<const ElectionName> names,
                                         std::vector<ElectionName>& purged);

  ReadStore& store_;
  Scheduler& scheduler_;
  Transactions& transactions_;
  Publisher& publisher_;
  Batcher<Pending> pages_;
};

}  // namespace tenure::engine
