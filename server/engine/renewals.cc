#include "server/engine/renewals.h"

#include <optional>
#include <utility>

#include "core/law.h"
#include "server/engine/transaction_metrics.h"

namespace tenure::engine {
namespace {

constexpr size_t kRenewalsPerBatch = 500;
constexpr size_t kRenewalsWaitingMax = 200'000;

}  // namespace

Renewals::Renewals(Scheduler& scheduler, Metrics& metrics, Transactions& transactions,
                   Publisher& publisher)
    : scheduler_(scheduler),
      metrics_(metrics),
      transactions_(transactions),
      publisher_(publisher),
      busy_(scheduler, metrics, Work::kRenewals,
            [this](Pending pending) { Enqueue(std::move(pending)); }),
      of_holders_(scheduler, Work::kRenewals, kRenewalsPerBatch, kRenewalsWaitingMax,
                  [this](auto batch) { return Run(std::move(batch)); }),
      of_waiters_(scheduler, Work::kRenewals, kRenewalsPerBatch, kRenewalsWaitingMax,
                  [this](auto batch) { return Run(std::move(batch)); }) {}

void Renewals::Submit(const SessionId& session, Principal principal, For whom,
                      AnswerTo<Session> done) {
  Enqueue({session, std::move(principal), whom, std::move(done), Patience(scheduler_.Now())});
}

void Renewals::Enqueue(Pending pending) {
  Batcher<Pending>& batcher = pending.whom == For::kHolder ? of_holders_ : of_waiters_;
  if (!batcher.Add(pending)) Refuse(scheduler_, std::move(pending.done), transactions_.WhyFull());
}

std::function<void()> Renewals::Run(std::vector<Pending> batch) {
  LockSet locks;
  for (const Pending& pending : batch) locks.sessions.push_back(pending.session);
  // Nothing for those whose session is busy.
  std::vector<std::optional<Result<Session>>> answers;
  std::vector<double> margins;  // of those that were renewed
  const auto committed = transactions_.RunRepeatable(locks, [&](TransactionState& transaction) {
    answers.clear();
    margins.clear();
    for (const Pending& pending : batch) {
      const SessionId& id = pending.session;
      if (transaction.busy_sessions.contains(id)) {
        answers.emplace_back();
        continue;
      }
      const auto session = transaction.sessions.find(id);
      const double margin = session == transaction.sessions.end()
                                ? 0
                                : LeaseShareLeft(session->second, transaction.now);
      answers.emplace_back(Renew(transaction, id, pending.principal));
      if (*answers.back()) margins.push_back(margin);
    }
  });
  if (!committed) return FailAll(std::move(batch), committed.error());
  metrics_.renewals.Increment(static_cast<double>(margins.size()));
  for (const double margin : margins) metrics_.renewal_margin_ratio.Observe(margin);
  publisher_.Publish(*committed);
  return busy_.AnswerAll(std::move(batch), std::move(answers), committed->transaction.put_off);
}

}  // namespace tenure::engine
