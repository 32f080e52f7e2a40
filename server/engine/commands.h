// Commands: each is applied to its election in a transaction, together with all others that wait.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/law/law.h"
#include "core/limits.h"
#include "metrics/metrics.h"
#include "server/engine/feed/publisher.h"
#include "server/engine/replica_state.h"
#include "server/engine/transactions.h"
#include "server/engine/work/answers.h"
#include "server/engine/work/batcher.h"
#include "server/engine/work/busy_rows.h"
#include "server/engine/work/scheduler.h"

namespace tenure::engine {

// Thread-safe. Each command is answered once, as a task of the scheduler. Everything must outlive
// the scheduler's last task.
class Commands {
 public:
  Commands(ReplicaState& replica, const Limits& limits, Transactions& transactions,
           Publisher& publisher);

  // Whether a new command would be answered too late.
  [[nodiscard]] bool Late() const;
  // Errors: those of the law, kOverloaded, kStoreUnavailable. A command that is no longer wanted
  // when it is decided, or tried again, is dropped, and its `done` with it.
  void Submit(Command command, AnswerTo<Answer> done, Wanted wanted = nullptr,
              std::string trace = {});

  [[nodiscard]] std::vector<QueueView> Queues() const;

 private:
  struct Pending {
    [[nodiscard]] bool IsWanted() const { return !wanted || wanted(); }

    Command command;
    AnswerTo<Answer> done;
    Wanted wanted;
    std::string trace;
    Patience patience;
  };

  void Enqueue(Pending pending);
  // Returns the function that answers the batch. `patient`: waits for a locked election.
  std::function<void()> Run(std::vector<Pending> batch, bool patient = false);

  Scheduler& scheduler_;
  Metrics& metrics_;
  const Limits& limits_;
  Transactions& transactions_;
  Publisher& publisher_;
  BusyRows<Pending> busy_;
  Batcher<Pending> commands_;
  Batcher<Pending> sets_;     // commands for several elections
  Batcher<Pending> patient_;  // commands whose election has long been busy, one by one
};

}  // namespace tenure::engine
