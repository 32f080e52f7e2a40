// Renewals of leases: one transaction for all that wait, on threads of their own.
#pragma once

#include <functional>
#include <vector>

#include "core/types.h"
#include "metrics/metrics.h"
#include "server/engine/answers.h"
#include "server/engine/batcher.h"
#include "server/engine/busy_rows.h"
#include "server/engine/publisher.h"
#include "server/engine/scheduler.h"
#include "server/engine/transactions.h"

namespace tenure::engine {

// Thread-safe. Each is answered once, as a task of the scheduler. Everything must outlive the
// scheduler's last task.
class Renewals {
 public:
  Renewals(Scheduler& scheduler, Metrics& metrics, Transactions& transactions,
           Publisher& publisher);

  // Renewals for waiting calls arrive in bursts, so they have a queue of their own.
  enum class For { kHolder, kWaiter };

  // `principal`: the caller. Errors: kSessionNotFound, kSessionEnded, kOverloaded,
  // kStoreUnavailable.
  void Submit(const SessionId& session, Principal principal, For whom, AnswerTo<Session> done);

  [[nodiscard]] std::vector<QueueView> Queues() const {
    return {of_holders_.View("renewals"), of_waiters_.View("waiting_renewals")};
  }

 private:
  struct Pending {
    SessionId session;
    Principal principal;
    For whom;
    AnswerTo<Session> done;
    Patience patience;
  };

  void Enqueue(Pending pending);
  // Returns what answers the batch.
  std::function<void()> Run(std::vector<Pending> batch);

  Scheduler& scheduler_;
  Metrics& metrics_;
  Transactions& transactions_;
  Publisher& publisher_;
  BusyRows<Pending> busy_;
  Batcher<Pending> of_holders_;
  Batcher<Pending> of_waiters_;
};

}  // namespace tenure::engine
