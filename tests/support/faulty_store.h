// A store between the program and a real one, which can be made to fail, to roll back what was
// decided, to lose replies, to find elections and sessions locked, and to become another database.
//
// Thread-safe, if the faults are planted before the calls. The calls are known by their names:
// "Transact", "ReadFeed".
#pragma once

#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/delegating_store.h"

namespace tenure::testing {

class FaultyStore final : public DelegatingStore {
 public:
  using Hook = std::function<void(const std::string& call)>;

  explicit FaultyStore(Store& store) : DelegatingStore(store), store_(&store) {}

  // --- Faults ---

  // The next calls fail before they reach the store; those of one name only, if it is given.
  void FailNext(int calls, const std::string& name = "") { Plant(failures_, calls, name); }
  // The next transactions are decided, and then rolled back: their commits fail.
  void FailCommits(int transactions) { Plant(uncommitted_, transactions, "Transact"); }
  // The next calls do their work, and then fail as if their reply had been lost.
  void LoseReplies(int calls, const std::string& name = "") { Plant(lost_, calls, name); }
  // The database is away until it is healed.
  void FailAll() { FailNext(kForever); }
  void Heal() {
    const std::lock_guard lock(mutex_);
    failures_.clear();
    uncommitted_.clear();
    lost_.clear();
  }
  // Another transaction holds the lock of the election, or of the session.
  void Lock(const ElectionName& name) {
    const std::lock_guard lock(mutex_);
    locked_.insert(name);
  }
  void LockSession(const SessionId& session) {
    const std::lock_guard lock(mutex_);
    locked_sessions_.insert(session);
  }
  void Unlock(const ElectionName& name) {
    const std::lock_guard lock(mutex_);
    locked_.erase(name);
  }
  void UnlockSession(const SessionId& session) {
    const std::lock_guard lock(mutex_);
    locked_sessions_.erase(session);
  }
  // Adds retries that did not happen.
  void CountRetries(RetryReason reason, uint64_t times) {
    const std::lock_guard lock(mutex_);
    retries_[static_cast<size_t>(reason)] += times;
  }
  // The database is another one from now on.
  void Become(Store& store) {
    const std::lock_guard lock(mutex_);
    store_ = &store;
  }
  // Changes what the server says of itself.
  void Describe(std::function<void(ServerIdentity&)> change) { describe_ = std::move(change); }
  // Called before each call, and after the store has answered it. Empty: no more.
  void Before(Hook hook) { before_ = std::move(hook); }
  void After(Hook hook) { after_ = std::move(hook); }

  // How often a call was made.
  [[nodiscard]] int Calls(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(name);
    return found == calls_.end() ? 0 : found->second;
  }

  // --- Store ---

  Result<Committed> Transact(const LockSet& locks, const CommitRules& rules,
                             const Decide& decide) override {
    LockSet free = locks;
    std::set<ElectionName> busy;
    std::set<SessionId> busy_sessions;
    {
      const std::lock_guard lock(mutex_);
      for (const ElectionName& name : locked_) {
        if (free.elections.erase(name) > 0) busy.insert(name);
      }
      for (const SessionId& session : locked_sessions_) {
        if (std::erase(free.sessions, session) > 0) busy_sessions.insert(session);
      }
    }
    CommitRules held = rules;
    // Somebody else holds what it is about.
    if (!busy.empty() || !busy_sessions.empty()) held.remembered = nullptr;
    return Do("Transact", [&](Store& store) -> Result<Committed> {
      const bool commit_fails = TakeFailingCommit();
      try {
        return store.Transact(free, held, [&](TransactionState& transaction) {
          transaction.busy.insert(busy.begin(), busy.end());
          transaction.busy_sessions.insert(busy_sessions.begin(), busy_sessions.end());
          decide(transaction);
          if (commit_fails) throw RolledBack();
        });
      } catch (const RolledBack&) {
        return Fail(Reason::kStoreUnavailable, "planted: the commit failed");
      }
    });
  }
  Result<HistoryReading> AgreeOnHistory(uint64_t remembered,
                                        const DecideOnHistory& decide) override {
    const DecideOnHistory changed = [&](const HistoryReading& seen) {
      HistoryReading reading = seen;
      if (describe_) describe_(reading.server);
      return decide(reading);
    };
    return Do("AgreeOnHistory", [&](Store& store) {
      auto reading = store.AgreeOnHistory(remembered, changed);
      if (reading && describe_) describe_(reading->server);
      return reading;
    });
  }
  StoreActivity Activity() const override {
    const std::lock_guard lock(mutex_);
    StoreActivity activity = store_->Activity();
    for (size_t i = 0; i < kRetryReasons; ++i) activity.retries[i] += retries_[i];
    return activity;
  }

 private:
  static constexpr int kForever = 1'000'000'000;

  using Faults = std::map<std::string, int>;  // by the name of the call; empty: any

  struct RolledBack {};

  void Plant(Faults& faults, int calls, const std::string& name) {
    const std::lock_guard lock(mutex_);
    faults[name] = calls;
  }
  // REQUIRES: the lock.
  static bool Take(Faults& faults, const std::string& name) {
    for (const std::string& key : {name, std::string()}) {
      const auto found = faults.find(key);
      if (found == faults.end() || found->second == 0) continue;
      --found->second;
      return true;
    }
    return false;
  }

  bool TakeFailingCommit() {
    const std::lock_guard lock(mutex_);
    return Take(uncommitted_, "Transact");
  }

  [[nodiscard]] Store& next() const override {
    const std::lock_guard lock(mutex_);
    return *store_;
  }
  std::optional<Error> Around(const char* name, const std::function<void(Store&)>& work) override {
    // Copied: a hook may replace itself.
    if (const Hook hook = before_) hook(name);
    Store* store = nullptr;
    bool lose = false;
    {
      const std::lock_guard lock(mutex_);
      ++calls_[name];
      if (Take(failures_, name)) {
        return Error{Reason::kStoreUnavailable, std::string("planted: ") + name};
      }
      lose = Take(lost_, name);
      store = store_;
    }
    work(*store);
    if (const Hook hook = after_) hook(name);
    if (!lose) return std::nullopt;
    return Error{Reason::kStoreUnavailable, std::string("planted: the reply was lost: ") + name};
  }

  std::function<void(ServerIdentity&)> describe_;
  Hook before_;
  Hook after_;
  mutable std::mutex mutex_;
  Store* store_;                                   // guarded by mutex_
  Faults failures_;                                // guarded by mutex_
  Faults uncommitted_;                             // guarded by mutex_
  Faults lost_;                                    // guarded by mutex_
  std::set<ElectionName> locked_;                  // guarded by mutex_
  std::set<SessionId> locked_sessions_;            // guarded by mutex_
  std::map<std::string, int> calls_;               // guarded by mutex_
  std::array<uint64_t, kRetryReasons> retries_{};  // guarded by mutex_
};

}  // namespace tenure::testing
