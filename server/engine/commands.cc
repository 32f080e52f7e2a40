#include "server/engine/commands.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace tenure::engine {
namespace {

using namespace std::chrono_literals;

// Bounds of the queues. A command carries at most one value of 4 KiB, so that a batch stays far
// below the databases' longest message.
constexpr size_t kCommandsPerBatch = 256;
constexpr size_t kCommandsWaitingMax = 20'000;
constexpr size_t kSetsPerBatch = 8;
constexpr size_t kSetsWaitingMax = 20'000;
// Queueing delay above which new campaigns are refused.
constexpr auto kDelayMax = 1s;

// Skipped attempts before a command waits for the row lock.
constexpr int kTriesBeforePatience = 12;

bool IsBusy(const TransactionState& transaction, const Command& command) {
  return std::ranges::any_of(ElectionsOf(command), [&](const ElectionName& name) {
    return transaction.busy.contains(name);
  });
}

// Moves withdrawals to the front, so that a seat is not granted to a candidate whose caller is
// gone; but not past a campaign of the same session, which is a later call, and must be applied
// first to keep the place. Returns how many the batch begins with.
template <typename Pending>
size_t MoveWithdrawalsForward(std::vector<Pending>& batch) {
  std::set<SessionId> campaigning;
  auto next = batch.begin();
  for (auto it = batch.begin(); it != batch.end(); ++it) {
    if (const auto* campaign = std::get_if<Campaign>(&it->command)) {
      campaigning.insert(campaign->session);
    }
    const auto* withdraw = std::get_if<Withdraw>(&it->command);
    if (withdraw == nullptr || campaigning.contains(withdraw->session)) continue;
    std::rotate(next, it, std::next(it));
    ++next;
  }
  return static_cast<size_t>(next - batch.begin());
}

}  // namespace

Commands::Commands(ReplicaState& replica, const Limits& limits, Transactions& transactions,
                   Publisher& publisher)
    : scheduler_(replica.scheduler),
      metrics_(replica.metrics),
      limits_(limits),
      transactions_(transactions),
      publisher_(publisher),
      busy_(replica.scheduler, replica.metrics, Work::kCommands,
            [this](Pending pending) { Enqueue(std::move(pending)); }),
      commands_(replica.scheduler, Work::kCommands, kCommandsPerBatch, kCommandsWaitingMax,
                [this](auto batch) { return Run(std::move(batch)); }),
      sets_(replica.scheduler, Work::kCommands, kSetsPerBatch, kSetsWaitingMax,
            [this](auto batch) { return Run(std::move(batch)); }),
      patient_(replica.scheduler, Work::kBackground, 1, kCommandsWaitingMax,
               [this](auto batch) { return Run(std::move(batch), true); }) {}

bool Commands::Late() const { return std::max(commands_.Delay(), sets_.Delay()) > kDelayMax; }

void Commands::Submit(Command command, AnswerTo<Answer> done, Wanted wanted, std::string trace) {
  Enqueue({std::move(command), std::move(done), std::move(wanted), std::move(trace),
           Patience(scheduler_.Now())});
}

std::vector<QueueView> Commands::Queues() const {
  return {commands_.View("commands"), sets_.View("sets"), patient_.View("patient")};
}

void Commands::Enqueue(Pending pending) {
  Batcher<Pending>& batcher = ElectionsOf(pending.command).size() > 1          ? sets_
                              : pending.patience.tries >= kTriesBeforePatience ? patient_
                                                                               : commands_;
  if (!batcher.Add(pending)) Refuse(scheduler_, std::move(pending.done), transactions_.WhyFull());
}

std::function<void()> Commands::Run(std::vector<Pending> batch, bool patient) {
  std::erase_if(batch, [](const Pending& it) { return !it.IsWanted(); });
  if (batch.empty()) return nullptr;
  const size_t withdrawals = MoveWithdrawalsForward(batch);
  std::vector<const Command*> commands;
  for (const Pending& pending : batch) commands.push_back(&pending.command);
  metrics_.batch_commands.Observe(static_cast<double>(batch.size()));

  // Nothing for commands whose election is busy.
  std::vector<std::optional<Result<Answer>>> answers;
  std::vector<std::string> traces;  // of the transaction's events
  std::vector<bool> unwanted;       // no longer wanted after locking, which may take long
  LockSet locks = LockSetOf(commands);
  locks.patient = patient;
  const auto committed = transactions_.Run(locks, [&](TransactionState& transaction) {
    answers.clear();
    traces.clear();
    unwanted.clear();
    for (size_t i = 0; i < withdrawals; ++i) {
      const auto& withdraw = std::get<Withdraw>(batch[i].command);
      if (!transaction.busy.contains(withdraw.election)) WithdrawPlace(transaction, withdraw);
    }
    for (const Pending& pending : batch) {
      unwanted.push_back(!pending.IsWanted());
      const bool left_out = unwanted.back() || IsBusy(transaction, pending.command);
      answers.push_back(left_out ? std::nullopt
                                 : std::optional(Apply(transaction, limits_, pending.command)));
      traces.resize(transaction.events.size(), pending.trace);
    }
  });
  if (!committed) return FailAll(std::move(batch), committed.error());
  publisher_.Publish(*committed, traces);
  for (auto i = static_cast<ptrdiff_t>(batch.size()) - 1; i >= 0; --i) {
    if (!unwanted[i]) continue;
    batch.erase(batch.begin() + i);
    answers.erase(answers.begin() + i);
  }
  return busy_.AnswerAll(std::move(batch), std::move(answers));
}

}  // namespace tenure::engine
