#include "server/engine/session_endings.h"

#include <map>
#include <memory>
#include <utility>

#include "core/law/law.h"
#include "server/engine/feed/transaction_metrics.h"

namespace tenure::engine {
namespace {

constexpr size_t kClosesPerBatch = 200;
constexpr size_t kClosesWaitingMax = 50'000;

}  // namespace

SessionEndings::SessionEndings(ReplicaState& replica, Commands& commands,
                               Transactions& transactions, Publisher& publisher)
    : store_(replica.store),
      scheduler_(replica.scheduler),
      metrics_(replica.metrics),
      hub_(replica.hub),
      commands_(commands),
      transactions_(transactions),
      publisher_(publisher),
      busy_(replica.scheduler, replica.metrics, Work::kBackground,
            [this](Pending pending) { Enqueue(std::move(pending)); }),
      closes_(replica.scheduler, Work::kBackground, kClosesPerBatch, kClosesWaitingMax,
              [this](auto batch) { return RunCloses(std::move(batch)); }),
      endings_(replica.scheduler, Work::kBackground, kClosesPerBatch, kClosesWaitingMax,
               [this](auto batch) { return MarkSettled(std::move(batch)); }) {}

void SessionEndings::Close(const SessionId& session, ClosedBy whom, AnswerTo<Closed> done,
                           std::string trace) {
  Enqueue(
      {session, std::move(whom), std::move(done), std::move(trace), Patience(scheduler_.Now())});
}

void SessionEndings::Settle(const std::vector<SessionId>& sessions) {
  std::vector<Ending> endings;
  for (const SessionId& id : sessions) endings.push_back({id});
  Settle(std::move(endings));
}

bool SessionEndings::Settling(const SessionId& session) const {
  const MutexLock lock(settling_mutex_);
  return settling_.contains(session);
}

std::vector<QueueView> SessionEndings::Queues() const {
  return {endings_.View("endings"), closes_.View("closes")};
}

void SessionEndings::Enqueue(Pending pending) {
  if (!closes_.Add(pending)) Refuse(scheduler_, std::move(pending.done), transactions_.WhyFull());
}

std::function<void()> SessionEndings::RunCloses(std::vector<Pending> batch) {
  LockSet locks;
  for (const Pending& pending : batch) locks.sessions.push_back(pending.session);
  // Nothing for those whose session is busy.
  std::vector<std::optional<Result<Closed>>> answers;
  auto committed = transactions_.Run(locks, [&](TransactionState& transaction) {
    answers.clear();
    for (const Pending& pending : batch) {
      if (transaction.busy_sessions.contains(pending.session)) {
        answers.emplace_back();
        continue;
      }
      const size_t changes_before = transaction.admin_changes.size();
      const auto* author = std::get_if<Author>(&pending.whom);
      const auto ended = author != nullptr
                             ? DeposeSession(transaction, pending.session, *author)
                             : EndSession(transaction, pending.session, Cause::kSessionClosed,
                                          std::get<Principal>(pending.whom));
      answers.emplace_back(ended.map([&](const Session& session) {
        return Closed{session, transaction.admin_changes.size() > changes_before};
      }));
    }
  });
  if (!committed) return FailAll(std::move(batch), committed.error());
  // Settled here, to answer when that has ended; again for a session that had ended before.
  CountEndedSessions(metrics_, committed->transaction);
  committed->transaction.ended.clear();
  std::vector<Ending> endings;
  for (size_t i = 0; i < batch.size(); ++i) {
    if (!answers[i]) {
      busy_.TryAgain(std::move(batch[i]));
      continue;
    }
    if (!*answers[i]) {
      batch[i].done(*std::move(answers[i]));
      continue;
    }
    const Closed& closed = **answers[i];
    hub_.NotifySessionEnded(closed.session);
    endings.push_back({closed.session.id,
                       [closed, done = std::move(batch[i].done)](const Result<void>& settled) {
                         done(settled.map([&] { return closed; }));
                       },
                       std::move(batch[i].trace)});
  }
  publisher_.Publish(*committed);
  Settle(std::move(endings));
  return nullptr;
}

void SessionEndings::Settle(std::vector<Ending> endings) {
  {
    const MutexLock lock(settling_mutex_);
    for (const Ending& ending : endings) settling_.insert(ending.session);
  }
  scheduler_.Post(Work::kBackground, [this, endings = std::move(endings)] {
    std::vector<SessionId> ids;
    for (const Ending& ending : endings) ids.push_back(ending.session);
    const auto places = store_.FindPlaces(ids);
    std::map<SessionId, std::vector<ElectionName>> elections;
    if (places) {
      for (const PlaceKey& place : *places) elections[place.session].push_back(place.election);
    }
    for (const Ending& ending : endings) {
      if (places) {
        GiveUpPlaces(ending, elections[ending.session]);
      } else {
        Finish(ending, tl::unexpected(places.error()));
      }
    }
  });
}

void SessionEndings::GiveUpPlaces(Ending ending, const std::vector<ElectionName>& elections) {
  struct Progress {
    Mutex mutex;
    size_t left;
    std::optional<Error> error;
    Ending ending;
  };
  const auto progress = std::make_shared<Progress>();
  progress->left = elections.size() + 1;
  progress->ending = std::move(ending);
  const auto one_done = [this, progress](const Result<Answer>& settled) {
    {
      const MutexLock lock(progress->mutex);
      if (!settled) progress->error = settled.error();
      if (--progress->left > 0) return;
    }
    if (progress->error) return Finish(progress->ending, tl::unexpected(*progress->error));
    const Ending kept = progress->ending;
    if (!endings_.Add(progress->ending)) Finish(kept, tl::unexpected(transactions_.WhyFull()));
  };
  for (const ElectionName& election : elections) {
    commands_.Submit(Reconcile{election, progress->ending.session}, one_done, nullptr,
                     progress->ending.trace);
  }
  one_done(Answer(Done{}));
}

std::function<void()> SessionEndings::MarkSettled(std::vector<Ending> batch) {
  std::vector<SessionId> ids;
  for (const Ending& ending : batch) ids.push_back(ending.session);
  const auto marked = store_.MarkSettled(ids);
  for (const Ending& ending : batch) Finish(ending, marked);
  return nullptr;
}

void SessionEndings::Finish(const Ending& ending, Result<void> settled) {
  {
    const MutexLock lock(settling_mutex_);
    settling_.erase(ending.session);
  }
  if (ending.done) ending.done(std::move(settled));
}

}  // namespace tenure::engine
