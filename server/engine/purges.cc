#include "server/engine/purges.h"

#include <algorithm>
#include <utility>

namespace tenure::engine {
namespace {

constexpr size_t kPagesWaitingMax = 100;
// Bounds of one transaction, and of one page.
constexpr size_t kElectionsPerTransaction = 100;
constexpr uint64_t kEventsPerTransaction = 1'000;
constexpr size_t kTransactionsPerPage = 10;

// Comes before every name: none holds a control character.
constexpr char kBeforeAll[] = "\x01";

}  // namespace

Purges::Purges(ReplicaState& replica, Transactions& transactions, Publisher& publisher)
    : store_(replica.store),
      scheduler_(replica.scheduler),
      transactions_(transactions),
      publisher_(publisher),
      pages_(replica.scheduler, Work::kBackground, 1, kPagesWaitingMax, [this](auto batch) {
        for (const Pending& pending : batch) pending.done(Run(pending.order));
        return nullptr;
      }) {}

void Purges::Submit(PurgeOrder order, AnswerTo<PurgePage> done) {
  Pending pending{std::move(order), std::move(done)};
  if (!pages_.Add(pending)) Refuse(scheduler_, std::move(pending.done), transactions_.WhyFull());
}

std::vector<QueueView> Purges::Queues() const { return {pages_.View("purges")}; }

Result<PurgePage> Purges::Run(const PurgeOrder& order) {
  auto views = store_.ListElections(order.prefix, order.after, order.limit + 1);
  if (!views) return tl::unexpected(views.error());
  PurgePage page;
  if (views->size() > order.limit) {
    views->resize(order.limit);
    page.next = views->back().election.name.bytes;
  }
  std::vector<ElectionName> names;
  for (const ElectionView& view : *views) {
    if (MayBeUnused(view.election)) names.push_back(view.election.name);
  }

  size_t done = 0;
  for (size_t i = 0; done < names.size(); ++i) {
    if (i == kTransactionsPerPage) {
      const std::string& start = order.after.empty() ? kBeforeAll : order.after;
      page.next = done > 0 ? names[done - 1].bytes : start;
      break;
    }
    const auto rest = std::span(names).subspan(done);
    const auto more = PurgeSome(
        order.purge, rest.first(std::min(rest.size(), kElectionsPerTransaction)), page.purged);
    if (!more) return tl::unexpected(more.error());
    done += *more;
  }
  return page;
}

Result<size_t> Purges::PurgeSome(const Purge& purge, std::span<const ElectionName> names,
                                 std::vector<ElectionName>& purged) {
  LockSet locks;
  for (const ElectionName& name : names) locks.elections[name].past = true;
  size_t done = 0;
  std::vector<ElectionName> gone;
  const auto committed = transactions_.Run(locks, [&](TransactionState& transaction) {
    uint64_t events_max = kEventsPerTransaction;
    gone.clear();
    for (done = 0; done < names.size(); ++done) {
      const ElectionName& name = names[done];
      if (!transaction.elections.contains(name)) continue;  // it is busy
      const Purged outcome = Apply(transaction, purge, name, events_max);
      if (outcome == Purged::kPartly) return;
      if (outcome == Purged::kYes) gone.push_back(name);
    }
  });
  if (!committed) return tl::unexpected(committed.error());
  publisher_.Publish(*committed);
  purged.insert(purged.end(), gone.begin(), gone.end());
  return done;
}

}  // namespace tenure::engine
