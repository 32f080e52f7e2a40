// Vocabulary for the engine's tests: a world of one database and several replicas, in which a test
// moves time; watchers that record their notifications; and answers that tests inspect without
// waiting.
//
// Names stand for candidates and sessions as in core/law/law_testing.h.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/law/law_testing.h"
#include "metrics/metrics.h"
#include "server/engine/engine.h"
#include "server/engine/work/manual_scheduler.h"
#include "storage/sqlite/open.h"
#include "tests/support/faulty_store.h"

namespace tenure::testing {

// The other end of a `done`. Copies share the answer.
template <typename T>
class Reply {
 public:
  void operator()(Result<T> result) const { told_->push_back(std::move(result)); }

  [[nodiscard]] size_t count() const { return told_->size(); }
  [[nodiscard]] bool arrived() const { return count() > 0; }
  // Fails the test if there is not exactly one.
  [[nodiscard]] Result<T> get() const {
    EXPECT_EQ(count(), 1u);
    if (!arrived()) return Fail(Reason::kStoreUnavailable, "no answer has arrived");
    return told_->front();
  }

 private:
  std::shared_ptr<std::vector<Result<T>>> told_ = std::make_shared<std::vector<Result<T>>>();
};

// Records its notifications, one line each: "orders 1 ELECTED a term 1".
class Recorder final : public engine::Watcher {
 public:
  void OnEvent(const std::shared_ptr<const Event>& event) override {
    const std::string cause = event->cause == Cause::kNone
                                  ? event->leader.value.empty() ? "" : " " + event->leader.value
                                  : " " + std::string(CauseName(event->cause));
    lines.push_back(event->election.bytes + " " + std::to_string(event->revision.value) + " " +
                    std::string(EventTypeName(event->type)) + " " + event->leader.candidate +
                    " term " + std::to_string(event->term.value) + cause);
  }
  void OnSessionEnded(const Session& session) override {
    lines.push_back("ended " + session.candidate + " " + std::string(CauseName(session.ended)));
  }
  void OnReset() override { lines.push_back("reset"); }
  void OnDrain() override { lines.push_back("drain"); }

  std::vector<std::string> lines;
};

// A recorder, and its place in a hub.
struct Watching {
  Watching(engine::WatchHub& hub, std::vector<engine::Watch> watches)
      : recorder(std::make_shared<Recorder>()) {
    auto joined = hub.Join(recorder);
    if (!joined) return;
    membership = std::move(*joined);
    for (engine::Watch& watch : watches) membership.Add(std::move(watch));
  }

  [[nodiscard]] const std::vector<std::string>& lines() const { return recorder->lines; }

  std::shared_ptr<Recorder> recorder;
  engine::WatchHub::Membership membership;
};

// A database in memory, and its clock.
class Database {
 public:
  explicit Database(const engine::Scheduler& time)
      : time_(time), store_(sqlite::OpenSqliteStore(":memory:", [this] { return Now(); }).value()) {
    EXPECT_TRUE(store_->Migrate());
  }

  [[nodiscard]] DbTime Now() const {
    return kNow + std::chrono::duration_cast<Duration>(time_.Now() - ManualScheduler::kStart) +
           stepped_;
  }
  // Sets the clock forward or back, and nothing else.
  void StepClock(Duration by) { stepped_ += by; }
  [[nodiscard]] Store& store() { return *store_; }

 private:
  const engine::Scheduler& time_;
  Duration stepped_{0};
  std::unique_ptr<Store> store_;
};

// One process of the service.
struct Replica {
  explicit Replica(Store& database, engine::EngineOptions options = {})
      : store(database), engine(store, scheduler, metrics, Polling(std::move(options))) {}

  // Replicas do not announce commits here: by default they poll often instead.
  static engine::EngineOptions Polling(engine::EngineOptions options) {
    const bool by_default = options.feed_interval == engine::EngineOptions().feed_interval;
    if (by_default) options.feed_interval = std::chrono::milliseconds(10);
    return options;
  }

  // Runs what is due.
  void Run() { scheduler.RunReady(); }

  // Each submits one thing, and runs what is due.
  Result<Answer> Do(Command command) {
    return Ask<Answer>([&](auto reply) { engine.Submit(std::move(command), reply); });
  }
  Result<Session> Renew(const SessionId& session, const Principal& owner = {}) {
    return Ask<Session>([&](auto reply) { engine.Renew(session, owner, reply); });
  }
  Result<Session> Close(const SessionId& session, const Principal& owner = {}) {
    return Ask<Session>([&](auto reply) { engine.CloseSession(session, owner, reply); });
  }
  Result<std::optional<Election>> Read(const ElectionName& name, bool stale_ok = false) {
    return Ask<std::optional<Election>>(
        [&](auto reply) { engine.ReadElection(name, stale_ok, reply); });
  }
  template <typename T, typename Submit>
  Result<T> Ask(Submit submit) {
    const Reply<T> reply;
    submit(reply);
    Run();
    return reply.get();
  }

  ManualScheduler scheduler;
  FaultyStore store;
  Metrics metrics;
  engine::Engine engine;
};

// One database and the replicas on it, which share one time.
class World {
 public:
  // A replica that has not been started.
  Replica& Add(engine::EngineOptions options = {}) {
    replicas_.push_back(std::make_unique<Replica>(database_.store(), std::move(options)));
    replicas_.back()->scheduler.SetNow(time_.Now());
    return *replicas_.back();
  }
  Replica& Start() {
    Replica& replica = Add();
    EXPECT_TRUE(replica.engine.Start());
    replica.Run();
    return replica;
  }

  // The database's clock moves with the replicas'.
  void Advance(engine::SteadyTime::duration duration) {
    std::vector<ManualScheduler*> all = {&time_};
    for (const auto& replica : replicas_) all.push_back(&replica->scheduler);
    AdvanceTogether(all, duration);
  }

  [[nodiscard]] Database& database() { return database_; }
  [[nodiscard]] Store& store() { return database_.store(); }

 private:
  ManualScheduler time_;
  Database database_{time_};
  std::vector<std::unique_ptr<Replica>> replicas_;
};

// Commands of candidates who have, or open, the session Id(name).
inline Campaign Stand(const std::string& election, const std::string& name,
                      Duration lease_ttl = kLease) {
  return {{election}, Id(name), Campaign::Opening{name, lease_ttl}, {}, "", 0, {}};
}
inline Proclaim Say(const std::string& election, const std::string& name, Term term,
                    const std::string& value) {
  return {{election}, Id(name), term, value};
}
inline Resign Leave(const std::string& election, const std::string& name) {
  return {{election}, Id(name), {}};
}

}  // namespace tenure::testing
