#include "server/engine/engine.h"

#include <algorithm>
#include <atomic>
#include <random>
#include <utility>

#include "server/engine/leadership_log.h"
#include "server/engine/tally.h"
#include "server/log/log.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;

// Bounds of the queues. A command carries at most one value of 4 KiB, so that a batch stays far
// below the databases' longest message.
constexpr size_t kCommandsPerBatch = 256;
constexpr size_t kCommandsWaitingMax = 20'000;
constexpr size_t kSetsPerBatch = 8;
constexpr size_t kSetsWaitingMax = 20'000;
constexpr size_t kRenewalsPerBatch = 500;
constexpr size_t kRenewalsWaitingMax = 200'000;
constexpr size_t kClosesPerBatch = 200;
constexpr size_t kClosesWaitingMax = 50'000;
// So long those before it may have waited when a new request comes.
constexpr auto kDelayMax = 1s;

// An election that another transaction has locked is tried again, ever more rarely, for so long.
constexpr auto kBusyPatience = 8s;
constexpr auto kBusyPauseMax = 50ms;

// So often it is passed by before somebody queues for it at the database.
constexpr int kTriesBeforePatience = 12;

// The search for due sessions knows of those that other replicas opened before the first of them
// can expire: it is made at least so many times in the shortest lease.
constexpr int kSearchesPerShortestLease = 4;
constexpr SteadyTime::duration kSearchPauseMax = 250ms;
constexpr size_t kDuePerSearch = 500;
constexpr size_t kMovedAtOnceMax = 500;
constexpr int kMoveTriesMax = 20;  // of sessions that others have locked

constexpr auto kStoreSilenceMax = 2s;

constexpr RetryReason kAllRetryReasons[] = {RetryReason::kDeadlock, RetryReason::kLockTimeout,
                                            RetryReason::kConflict, RetryReason::kLostConnection,
                                            RetryReason::kLostReply};

std::string NameOf(RetryReason reason) {
  switch (reason) {
    case RetryReason::kDeadlock: return "deadlock";
    case RetryReason::kLockTimeout: return "lock_timeout";
    case RetryReason::kConflict: return "conflict";
    case RetryReason::kLostConnection: return "lost_connection";
    case RetryReason::kLostReply: return "lost_reply";
  }
  return "";
}

// Nothing in this docket is decided now.
void PutOff(Docket& docket) {
  for (const auto& [name, contest] : docket.contests) docket.busy.insert(name);
  for (const auto& [id, session] : docket.sessions) docket.busy_sessions.insert(id);
  docket.contests.clear();
  docket.sessions.clear();
}

}  // namespace

Engine::Engine(Store& store, Scheduler& scheduler, Metrics& metrics, EngineOptions options)
    : store_(store),
      scheduler_(scheduler),
      metrics_(metrics),
      options_(std::move(options)),
      hub_(options_.watchers_max),
      lineage_(store, scheduler, metrics, options_.on_lost_commits, options_.seed),
      feed_(store, scheduler, hub_, metrics, lineage_, database_clock_, options_.feed_interval),
      housekeeping_(store, scheduler, metrics, options_.retention),
      commands_(scheduler, Work::kCommands, kCommandsPerBatch, kCommandsWaitingMax,
                [this](auto batch) { return RunCommands(std::move(batch)); }),
      sets_(scheduler, Work::kCommands, kSetsPerBatch, kSetsWaitingMax,
            [this](auto batch) { return RunCommands(std::move(batch)); }),
      patient_(scheduler, Work::kBackground, 1, kCommandsWaitingMax,
               [this](auto batch) { return RunCommands(std::move(batch), true); }),
      renewals_(scheduler, Work::kRenewals, kRenewalsPerBatch, kRenewalsWaitingMax,
                [this](auto batch) { return RunRenewals(std::move(batch)); }),
      reads_(store, scheduler, metrics,
             [this](const ElectionName& name, Done<Answer> done) {
               Submit(Settle{name, {}}, std::move(done));
             }),
      endings_(scheduler, Work::kBackground, kClosesPerBatch, kClosesWaitingMax,
               [this](auto batch) { return RunEndings(std::move(batch)); }),
      closes_(scheduler, Work::kBackground, kClosesPerBatch, kClosesWaitingMax,
              [this](auto batch) { return RunCloses(std::move(batch)); }),
      random_(static_cast<uint32_t>(options_.seed)) {
  Show("commands", commands_);
  Show("sets", sets_);
  Show("patient", patient_);
  Show("renewals", renewals_);
  for (QueueView& queue : reads_.Queues()) Show(queue.name, queue.max, std::move(queue.depth));
  Show("endings", endings_);
  Show("closes", closes_);
  for (const RetryReason reason : kAllRetryReasons) {
    retries_.push_back(&metrics_.transaction_retries.Add({{"reason", NameOf(reason)}}));
  }
}

Result<void> Engine::Start() {
  const auto joined = lineage_.Join();
  if (!joined) return joined;
  const auto started = feed_.Start();
  if (!started) return started;
  started_ = true;
  scheduler_.Post(Work::kBackground, [this] { SearchDueWork(); });
  housekeeping_.Start();
  return {};
}

Result<void> Engine::AdmitCampaign() {
  if (std::max(commands_.Delay(), sets_.Delay()) > kDelayMax) return tl::unexpected(Overloaded());
  return {};
}

Result<void> Engine::AdmitRead() {
  if (reads_.Late()) return tl::unexpected(Overloaded());
  return {};
}

void Engine::Submit(Command command, Done<Answer> done, Wanted wanted, std::string trace) {
  if (const auto closed = WhyClosed()) return Refuse(scheduler_, std::move(done), *closed);
  Enqueue(PendingCommand{std::move(command), std::move(done), std::move(wanted), std::move(trace),
                         scheduler_.Now() + kBusyPatience});
}

void Engine::Renew(const SessionId& session, Done<Session> done) {
  if (const auto closed = WhyClosed()) return Refuse(scheduler_, std::move(done), *closed);
  Enqueue(PendingRenewal{session, std::move(done), scheduler_.Now() + kBusyPatience});
}

void Engine::CloseSession(const SessionId& session, Done<Session> done, std::string trace) {
  if (const auto closed = WhyClosed()) return Refuse(scheduler_, std::move(done), *closed);
  const auto answer = [done = std::move(done)](const Result<Closed>& closed) {
    done(closed.map([](const Closed& it) { return it.session; }));
  };
  Enqueue(PendingClose{session, std::nullopt, answer, std::move(trace),
                       scheduler_.Now() + kBusyPatience});
}

void Engine::DeposeSession(const SessionId& session, Asker asker, Done<Closed> done,
                           std::string trace) {
  if (const auto closed = WhyClosed()) return Refuse(scheduler_, std::move(done), *closed);
  Enqueue(PendingClose{session, std::move(asker), std::move(done), std::move(trace),
                       scheduler_.Now() + kBusyPatience});
}

void Engine::ReadElection(const ElectionName& name, bool stale_ok,
                          Done<std::optional<Election>> done) {
  if (const auto closed = WhyClosed()) return Refuse(scheduler_, std::move(done), *closed);
  reads_.ReadElection(name, stale_ok, std::move(done));
}

void Engine::ReadPlace(const PlaceKey& key, bool with_position, Done<Place> done) {
  if (const auto closed = WhyClosed()) return Refuse(scheduler_, std::move(done), *closed);
  reads_.ReadPlace(key, with_position, std::move(done));
}

void Engine::ReadSeats(std::vector<SessionId> sessions, Done<std::vector<Leadership>> done) {
  if (const auto closed = WhyClosed()) return Refuse(scheduler_, std::move(done), *closed);
  reads_.ReadSeats(std::move(sessions), std::move(done));
}

void Engine::ReadEvents(const ElectionName& name, Revision from, size_t limit,
                        Done<std::vector<Event>> done) {
  if (const auto closed = WhyClosed()) return Refuse(scheduler_, std::move(done), *closed);
  reads_.ReadEvents(name, from, limit, std::move(done));
}

void Engine::ReadNames(std::string prefix, size_t limit, Done<std::vector<ElectionName>> done) {
  if (const auto closed = WhyClosed()) return Refuse(scheduler_, std::move(done), *closed);
  reads_.ReadNames(std::move(prefix), limit, std::move(done));
}

bool Engine::StoreAnswers() const {
  return started_ && lineage_.open() &&
         scheduler_.Now() - feed_.outages().last_answer() < kStoreSilenceMax;
}

template <typename Item>
void Engine::Show(const char* queue, const Batcher<Item>& batcher) {
  Show(queue, batcher.queue_max(), [&batcher] { return batcher.Waiting(); });
}

void Engine::Show(const char* queue, size_t max, std::function<size_t()> depth) {
  const prometheus::Labels labels = {{"queue", queue}};
  metrics_.queue_max.Add(labels).Set(static_cast<double>(max));
  queues_.push_back({&metrics_.queue_depth.Add(labels), std::move(depth)});
}

std::string Engine::ExposeMetrics() {
  const MutexLock lock(exposing_mutex_);
  metrics_.watchers.Set(static_cast<double>(hub_.watchers()));
  metrics_.store_up.Set(StoreAnswers() ? 1 : 0);
  metrics_.ready.Set(Ready() ? 1 : 0);
  for (const ShownQueue& queue : queues_) queue.gauge->Set(static_cast<double>(queue.depth()));
  const StoreActivity activity = store_.Activity();
  metrics_.store_connections_busy.Set(static_cast<double>(activity.connections_busy));
  metrics_.store_connections_idle.Set(static_cast<double>(activity.connections_idle));
  metrics_.store_connections_max.Set(static_cast<double>(activity.connections_max));
  for (size_t i = 0; i < retries_.size(); ++i) {
    retries_[i]->Increment(static_cast<double>(activity.retries[i]) - retries_[i]->Value());
  }
  if (const auto database_now = database_clock_.At(scheduler_.Now())) {
    const auto offset =
        database_now->since_epoch - std::chrono::system_clock::now().time_since_epoch();
    metrics_.database_clock_offset_seconds.Set(std::chrono::duration<double>(offset).count());
  }
  return metrics_.Expose();
}

void Engine::Enqueue(PendingCommand pending) {
  Batcher<PendingCommand>& batcher = NeedsOf(pending.command).elections.size() > 1 ? sets_
                                     : pending.tries >= kTriesBeforePatience       ? patient_
                                                                                   : commands_;
  if (!batcher.Add(pending)) Refuse(scheduler_, std::move(pending.done), Overloaded());
}

void Engine::Enqueue(PendingRenewal pending) {
  if (!renewals_.Add(pending)) Refuse(scheduler_, std::move(pending.done), Overloaded());
}

void Engine::Enqueue(PendingClose pending) {
  if (!closes_.Add(pending)) Refuse(scheduler_, std::move(pending.done), Overloaded());
}

template <typename Pending>
void Engine::TryAgain(Work work, Pending pending) {
  if (scheduler_.Now() >= pending.give_up_at) {
    return pending.done(
        Fail(Reason::kOverloaded, "another transaction has locked the election or session"));
  }
  metrics_.commands_busy.Increment();
  const auto pause =
      std::min<SteadyTime::duration>(kBusyPauseMax, 1ms * (1 << std::min(pending.tries, 6)));
  ++pending.tries;
  scheduler_.PostAt(work, scheduler_.Now() + pause,
                    [this, pending = std::move(pending)] { Enqueue(pending); });
}

template <typename Pending, typename T>
Engine::After Engine::AnswerAll(Work work, std::vector<Pending> batch,
                                std::vector<std::optional<Result<T>>> answers) {
  return [this, work, batch = std::move(batch), answers = std::move(answers)]() mutable {
    for (size_t i = 0; i < batch.size(); ++i) {
      if (answers[i]) {
        batch[i].done(*std::move(answers[i]));
      } else {
        TryAgain(work, std::move(batch[i]));
      }
    }
  };
}

Engine::After Engine::RunCommands(std::vector<PendingCommand> batch, bool patient) {
  std::erase_if(batch, [](const auto& pending) { return pending.wanted && !pending.wanted(); });
  if (batch.empty()) return nullptr;
  std::vector<const Command*> commands;
  for (const PendingCommand& pending : batch) commands.push_back(&pending.command);
  metrics_.batch_commands.Observe(static_cast<double>(batch.size()));

  // Nothing for those whose election is busy.
  std::vector<std::optional<Result<Answer>>> answers;
  std::vector<std::string> traces;  // of the docket's events
  Agenda agenda = AgendaFor(commands);
  agenda.patient = patient;
  auto committed = Transact(agenda, [&](Docket& docket) {
    answers.clear();
    traces.clear();
    for (const PendingCommand& pending : batch) {
      const bool busy =
          std::ranges::any_of(NeedsOf(pending.command).elections,
                              [&](const ElectionName& name) { return docket.busy.contains(name); });
      answers.push_back(busy ? std::nullopt
                             : std::optional(Apply(docket, options_.limits, pending.command)));
      traces.resize(docket.events.size(), pending.trace);
    }
  });

  if (!committed) return FailAll(std::move(batch), committed.error());
  // Told before the next batch runs, whose positions follow.
  Follow(*committed, traces);
  return AnswerAll(Work::kCommands, std::move(batch), std::move(answers));
}

Engine::After Engine::RunRenewals(std::vector<PendingRenewal> batch) {
  Agenda agenda;
  agenda.repeatable = true;
  for (const PendingRenewal& pending : batch) agenda.sessions.push_back(pending.session);
  // Nothing for those whose session is busy.
  std::vector<std::optional<Result<Session>>> answers;
  std::vector<double> margins;  // of those that were renewed
  auto committed = Transact(agenda, [&](Docket& docket) {
    answers.clear();
    margins.clear();
    for (const SessionId& id : agenda.sessions) {
      if (docket.busy_sessions.contains(id)) {
        answers.emplace_back();
        continue;
      }
      const auto session = docket.sessions.find(id);
      const double margin =
          session == docket.sessions.end() ? 0 : LeaseShareLeft(session->second, docket.now);
      answers.emplace_back(tenure::Renew(docket, id));
      if (*answers.back()) margins.push_back(margin);
    }
  });
  if (!committed) return FailAll(std::move(batch), committed.error());
  metrics_.renewals.Increment(static_cast<double>(margins.size()));
  for (const double margin : margins) metrics_.renewal_margin_ratio.Observe(margin);
  Follow(*committed);
  return AnswerAll(Work::kRenewals, std::move(batch), std::move(answers));
}

Engine::After Engine::RunCloses(std::vector<PendingClose> batch) {
  Agenda agenda;
  for (const PendingClose& pending : batch) agenda.sessions.push_back(pending.session);
  // Nothing for those whose session is busy.
  std::vector<std::optional<Result<Closed>>> answers;
  auto committed = Transact(agenda, [&](Docket& docket) {
    answers.clear();
    for (const PendingClose& pending : batch) {
      if (docket.busy_sessions.contains(pending.session)) {
        answers.emplace_back();
        continue;
      }
      const size_t changes_before = docket.admin_changes.size();
      const auto ended = pending.asker
                             ? tenure::DeposeSession(docket, pending.session, *pending.asker)
                             : EndSession(docket, pending.session, Cause::kSessionClosed);
      if (ended) {
        answers.emplace_back(Closed{*ended, docket.admin_changes.size() > changes_before});
      } else {
        answers.emplace_back(tl::unexpected(ended.error()));
      }
    }
  });
  if (!committed) return FailAll(std::move(batch), committed.error());
  // Settled here, so as to answer when that is over; again for a session that had ended before.
  TallyEndedSessions(metrics_, committed->docket);
  committed->docket.ended.clear();
  std::vector<Ending> endings;
  for (size_t i = 0; i < batch.size(); ++i) {
    if (!answers[i]) {
      TryAgain(Work::kBackground, std::move(batch[i]));
      continue;
    }
    if (!*answers[i]) {
      batch[i].done(*std::move(answers[i]));
      continue;
    }
    const Closed& closed = **answers[i];
    hub_.TellSessionEnded(closed.session);
    endings.push_back({closed.session.id,
                       [closed, done = std::move(batch[i].done)](const Result<void>& settled) {
                         done(settled ? Result<Closed>(closed) : tl::unexpected(settled.error()));
                       },
                       std::move(batch[i].trace)});
  }
  Follow(*committed);
  SettleSessions(std::move(endings));
  return nullptr;
}

Result<Committed> Engine::Transact(Agenda& agenda, const std::function<void(Docket&)>& decide) {
  return TransactByAnyClock(agenda, [&](Docket& docket) {
    const SteadyTime now = scheduler_.Now();
    if (database_clock_.IsAhead(docket.now, now)) PutOff(docket);
    if (const auto outage = feed_.outages().LastUntil(now)) {
      const auto at = [&](SteadyTime when) {
        return docket.now + -std::chrono::duration_cast<Duration>(now - when);
      };
      docket.outage = Outage{at(outage->began), at(outage->ended), options_.incumbent_wait};
    }
    decide(docket);
  });
}

Result<Committed> Engine::TransactByAnyClock(Agenda& agenda,
                                             const std::function<void(Docket&)>& decide) {
  agenda.stand = lineage_.stand();
  if (!agenda.stand) {
    return Fail(Reason::kStoreUnavailable, "the database lost commits, and is being repaired");
  }
  const SteadyTime begun = scheduler_.Now();
  auto committed = store_.Transact(agenda, decide);
  ObserveSeconds(metrics_.database_seconds[Operation::kTransaction], scheduler_.Now() - begun);
  (committed ? metrics_.transactions : metrics_.transactions_failed).Increment();
  if (committed) lineage_.Saw(committed->positions, agenda.stand->epoch);
  return committed;
}

void Engine::Follow(const Committed& committed, const std::vector<std::string>& traces) {
  const Docket& docket = committed.docket;
  Tally(metrics_, docket);
  Duration longest_lease{0};
  for (const auto& [id, session] : docket.sessions) {
    longest_lease = std::max(longest_lease, session.lease_ttl);
  }
  lineage_.SawLease(longest_lease);
  LogLeadership(docket, traces);
  Log(docket.admin_changes);
  for (const SessionId& id : docket.ended) hub_.TellSessionEnded(docket.sessions.at(id));
  if (!docket.ended.empty()) SettleSessions(docket.ended);
  for (const ElectionName& name : docket.unsettled) {
    Submit(Settle{name, {}}, [](Result<Answer>) {});
  }
  for (const LanePosition& at : committed.positions) {
    std::vector<Event> events;
    for (const Event& event : docket.events) {
      if (LaneOf(event.election) == at.lane) events.push_back(event);
    }
    feed_.OnCommitted(at, std::move(events));
  }
}

void Engine::Log(const std::vector<AdminChange>& changes) {
  for (const AdminChange& change : changes) {
    LogInfo("operator change", {{"action", std::string(AdminActionName(change.action))},
                                {"election", change.election.bytes},
                                {"term", change.term.value},
                                {"detail", change.detail},
                                {"by", change.asker.identity},
                                {"reason", change.asker.reason}});
  }
}

void Engine::SettleSessions(std::vector<Ending> endings) {
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
        SettlePlaces(ending, elections[ending.session]);
      } else {
        FinishEnding(ending, tl::unexpected(places.error()));
      }
    }
  });
}

void Engine::SettlePlaces(Ending ending, const std::vector<ElectionName>& elections) {
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
    if (progress->error) return FinishEnding(progress->ending, tl::unexpected(*progress->error));
    const Ending kept = progress->ending;
    if (!endings_.Add(progress->ending)) FinishEnding(kept, tl::unexpected(Overloaded()));
  };
  for (const ElectionName& election : elections) {
    Submit(Settle{election, progress->ending.session}, one_done, nullptr, progress->ending.trace);
  }
  one_done(Answer(tenure::Done{}));
}

Engine::After Engine::RunEndings(std::vector<Ending> batch) {
  std::vector<SessionId> ids;
  for (const Ending& ending : batch) ids.push_back(ending.session);
  const auto marked = store_.MarkSettled(ids);
  for (const Ending& ending : batch) FinishEnding(ending, marked);
  return nullptr;
}

void Engine::FinishEnding(const Ending& ending, Result<void> settled) {
  {
    const MutexLock lock(settling_mutex_);
    settling_.erase(ending.session);
  }
  if (ending.done) ending.done(std::move(settled));
}

void Engine::SettleSessions(const std::vector<SessionId>& sessions) {
  std::vector<Ending> endings;
  for (const SessionId& id : sessions) endings.push_back({id, nullptr});
  SettleSessions(std::move(endings));
}

void Engine::SearchDueWork() {
  scheduler_.PostAt(Work::kBackground, FindAndDoDueWork(), [this] { SearchDueWork(); });
}

SteadyTime Engine::FindAndDoDueWork() {
  const SteadyTime asked = scheduler_.Now();
  const SteadyTime latest =
      asked + std::min<SteadyTime::duration>(
                  kSearchPauseMax, options_.limits.lease_ttl_min / kSearchesPerShortestLease);
  auto due = store_.FindDueWork(kDuePerSearch);
  const SteadyTime answered = scheduler_.Now();
  ObserveSeconds(metrics_.database_seconds[Operation::kSearch], answered - asked);
  if (!due) return latest;
  if (!FollowClock(due->now, asked, answered)) return latest;
  const auto marked = MarkExpired(due->expired);
  {
    const MutexLock lock(settling_mutex_);
    std::erase_if(due->unsettled, [&](const SessionId& id) TENURE_REQUIRES(settling_mutex_) {
      return settling_.contains(id);
    });
  }
  if (!due->unsettled.empty()) SettleSessions(due->unsettled);
  for (const ElectionName& name : due->elections) Submit(Settle{name, {}}, [](Result<Answer>) {});
  if (marked && due->expired.size() == kDuePerSearch) return scheduler_.Now();
  if (!due->next) return latest;
  return std::min(latest, scheduler_.Now() + (*due->next - due->now) +
                              std::chrono::milliseconds(jitter_(random_)));
}

bool Engine::FollowClock(DbTime now, SteadyTime asked, SteadyTime answered) {
  if (const auto jump = database_clock_.JumpTo(now, asked, answered)) {
    if (const auto moved = MoveLeases(); !moved) {
      LogWarning("cannot move leases along with the database's clock",
                 {{"error", moved.error().message}});
      return false;
    }
    metrics_.database_clock_jumps.Increment();
    LogWarning("the database's clock jumped",
               {{"seconds", std::chrono::duration<double>(*jump).count()}});
  }
  database_clock_.Saw(now, asked, answered);
  return true;
}

Result<void> Engine::MoveLeases() {
  std::vector<SessionId> busy;
  for (SessionId after;;) {
    const auto page = store_.ListUnended(after, kMovedAtOnceMax);
    if (!page) return tl::unexpected(page.error());
    if (page->empty()) break;
    after = page->back();
    if (const auto moved = MoveLeases(*page, busy); !moved) return moved;
  }
  for (int tries = 0; !busy.empty() && tries < kMoveTriesMax; ++tries) {
    if (const auto moved = MoveLeases(std::exchange(busy, {}), busy); !moved) return moved;
  }
  if (!busy.empty()) return Fail(Reason::kOverloaded, "another transaction has locked sessions");
  return {};
}

Result<void> Engine::MoveLeases(const std::vector<SessionId>& sessions,
                                std::vector<SessionId>& busy) {
  Agenda agenda{{}, sessions};
  const auto committed = TransactByAnyClock(agenda, [&](Docket& docket) {
    // As far as it is now: it may have jumped again.
    const Duration by = docket.now - database_clock_.At(scheduler_.Now()).value_or(docket.now);
    for (const SessionId& id : sessions) tenure::FollowClock(docket, id, by);
  });
  if (!committed) return tl::unexpected(committed.error());
  const std::set<SessionId>& passed_by = committed->docket.busy_sessions;
  busy.insert(busy.end(), passed_by.begin(), passed_by.end());
  return {};
}

Result<void> Engine::MarkExpired(const std::vector<SessionId>& sessions) {
  if (sessions.empty()) return {};
  Agenda agenda{{}, sessions};
  auto committed = Transact(agenda, [&](Docket& docket) {
    for (const SessionId& id : sessions) ExpireIfDue(docket, id);  // busy ones: by the next search
  });
  if (!committed) return tl::unexpected(committed.error());
  Follow(*committed);
  return {};
}

std::optional<Error> Engine::WhyClosed() const {
  if (started_ && lineage_.open()) return std::nullopt;
  return Error{Reason::kStoreUnavailable,
               started_ ? "the database lost commits; nothing is served until all terms were raised"
                        : "this replica is still waiting for its database"};
}

}  // namespace tenure
