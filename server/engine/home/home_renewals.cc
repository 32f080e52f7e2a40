// HomeKeeper's work on renewals: answers them from memory, adopts sessions, or lets the renewals
// wait.
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "core/law/law.h"
#include "server/engine/home/home_keeper.h"

namespace tenure::engine {
namespace {

constexpr size_t kWaitingMax = 200'000;

}  // namespace

std::optional<Result<Session>> HomeKeeper::RenewNow(const SessionId& session,
                                                    const Principal& principal) {
  if (draining_) return std::nullopt;
  auto renewed = TryToRenew(session, principal);
  auto* const answer = std::get_if<Result<Session>>(&renewed);
  if (answer == nullptr) return std::nullopt;
  if (*answer) metrics_.renewals.Increment();
  return std::move(*answer);
}

void HomeKeeper::Renew(const SessionId& session, Principal principal, AnswerTo<Session> done,
                       Wanted wanted) {
  Submit({session, std::move(principal), std::move(done), std::move(wanted),
          Patience(scheduler_.Now())});
}

std::variant<Result<Session>, HomeState::Unanswered> HomeKeeper::TryToRenew(
    const SessionId& session, const Principal& principal) {
  auto renewed = state_.Renew(session, principal);
  if (const auto* unanswered = std::get_if<HomeState::Unanswered>(&renewed)) return *unanswered;
  auto& answer = std::get<Result<KeptSessions::Renewal>>(renewed);
  if (answer) ObserveMargin(*answer);
  return std::move(answer).map([](KeptSessions::Renewal it) { return std::move(it.session); });
}

void HomeKeeper::Submit(Pending pending) {
  if (draining_) {
    return Answer(std::move(pending), Fail(Reason::kDraining, "this replica is shutting down"));
  }
  auto renewed = TryToRenew(pending.session, pending.principal);
  if (auto* const answer = std::get_if<Result<Session>>(&renewed)) {
    return Answer(std::move(pending), std::move(*answer));
  }
  const bool elsewhere =
      std::get<HomeState::Unanswered>(renewed) == HomeState::Unanswered::kElsewhere;
  {
    const MutexLock lock(mutex_);
    std::vector<Pending>& queue = elsewhere ? to_adopt_ : waiting_;
    if (queue.size() < kWaitingMax) {
      queue.push_back(std::move(pending));
      return elsewhere ? WakeLocked() : void();
    }
  }
  Answer(std::move(pending), tl::unexpected(transactions_.WhyFull()));
}

void HomeKeeper::Answer(Pending pending, Result<Session> session) {
  if (session) metrics_.renewals.Increment();
  scheduler_.Post(Work::kRenewals,
                  [done = std::move(pending.done), session = std::move(session)]() mutable {
                    done(std::move(session));
                  });
}

void HomeKeeper::ObserveMargin(const KeptSessions::Renewal& renewal) {
  const double share = std::chrono::duration<double>(renewal.lease_left) /
                       std::chrono::duration<double>(renewal.session.lease_ttl);
  metrics_.renewal_margin_ratio.Observe(std::clamp(share, 0.0, 1.0));
}

std::vector<QueueView> HomeKeeper::Queues() const {
  const auto view = [this](const char* name, const std::vector<Pending>* queue) {
    return QueueView{name, kWaitingMax, [this, queue] {
                       const MutexLock lock(mutex_);
                       return queue->size();
                     }};
  };
  return {view("waiting_renewals", &waiting_), view("adoptions", &to_adopt_)};
}

// A client that is not answered in time asks another replica. Adopting for the call that it has
// left would take the session away from the replica that serves it now.
void HomeKeeper::AdoptBatch(std::vector<Pending> batch) {
  std::erase_if(batch, [](const Pending& it) { return !it.IsWanted(); });
  if (batch.empty()) return;
  if (draining_) {
    for (Pending& pending : batch) Submit(std::move(pending));
    return;
  }
  const auto write = state_.BeginWrite();
  if (!write) return Wait(std::move(batch));
  LockSet locks;
  for (const Pending& pending : batch) locks.sessions.push_back(pending.session);
  const HomeState::Moment begun = state_.Now();
  std::map<SessionId, Session> adopted;
  std::vector<std::optional<Result<Session>>> answers;  // nothing for busy sessions
  const auto committed = transactions_.RunForHome(locks, write, [&](TransactionState& transaction) {
    adopted.clear();
    answers.clear();
    for (const Pending& pending : batch) {
      const SessionId& id = pending.session;
      if (transaction.busy_sessions.contains(id)) {
        answers.emplace_back();
      } else if (const auto found = adopted.find(id);
                 found != adopted.end() && found->second.MayBeUsedBy(pending.principal)) {
        answers.emplace_back(found->second);
      } else {
        answers.emplace_back(Adopt(transaction, id, pending.principal));
        if (*answers.back()) adopted.insert_or_assign(id, **answers.back());
      }
    }
  });
  if (!committed) {
    // It may have been committed. The waiting renewals find out after the next beat.
    state_.OnUnknown(*write);
    state_.Doubt();
    adoption_in_doubt_ = true;
    return Wait(std::move(batch));
  }
  state_.OnNumbered(*write);
  adopted_at_ = scheduler_.HomeNow();
  metrics_.adoptions.Increment(static_cast<double>(adopted.size()));
  for (const auto& [id, session] : adopted) state_.Adopted(session, begun);
  publisher_.Publish(*committed);
  for (size_t i = 0; i < batch.size(); ++i) {
    if (!answers[i]) {
      busy_.TryAgain(std::move(batch[i]));
    } else {
      Answer(std::move(batch[i]), *std::move(answers[i]));
    }
  }
}

void HomeKeeper::Wait(std::vector<Pending> batch) {
  const MutexLock lock(mutex_);
  std::ranges::move(batch, std::back_inserter(waiting_));
}

void HomeKeeper::ReleaseWaiting(bool good) {
  std::vector<Pending> released;
  const SteadyTime now = scheduler_.Now();
  {
    const MutexLock lock(mutex_);
    for (std::vector<Pending>* queue : {&waiting_, &to_adopt_}) {
      if (good && queue == &to_adopt_) continue;
      const auto stays = [&](const Pending& it) { return !good && now < it.patience.ends; };
      const auto end = std::stable_partition(queue->begin(), queue->end(), stays);
      std::move(end, queue->end(), std::back_inserter(released));
      queue->erase(end, queue->end());
    }
  }
  for (Pending& pending : released) {
    if (good) {
      Submit(std::move(pending));
    } else {
      Answer(std::move(pending),
             Fail(Reason::kStoreUnavailable, "this replica cannot write to the database"));
    }
  }
}

}  // namespace tenure::engine
