// Delivers every committed change to the calls on this replica that watch for it.
//
// The change feed reports each change to the hub once, in the order of revisions of each election.
// The hub never blocks and never reads the store; its watchers have queues of their own. They are
// notified in the order in which they joined. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <variant>

#include "base/mutex.h"
#include "core/error.h"
#include "core/types.h"
#include "server/engine/feed/watch.h"

namespace tenure::engine {

// Called from any thread, under the hub's lock: must return at once, and must not call the hub.
class Watcher {
 public:
  virtual ~Watcher() = default;

  // A change of an election, or of a seat of a session, that is watched.
  virtual void OnEvent(const std::shared_ptr<const Event>& event) = 0;
  // A watched session has ended.
  virtual void OnSessionEnded(const Session& session) { (void)session; }
  // Changes may have been missed, because the database was replaced or restored: read everything
  // again.
  virtual void OnReset() {}
  // This replica is shutting down.
  virtual void OnDrain() = 0;
};

class WatchHub {
 public:
  // A watcher's place in the hub. Destroying it leaves the hub; no call of the watcher begins after
  // that.
  class Membership {
   public:
    Membership() = default;
    Membership(WatchHub* hub, uint64_t number) : hub_(hub), number_(number) {}
    Membership(Membership&& other) noexcept
        : hub_(std::exchange(other.hub_, nullptr)),
          number_(other.number_),
          watches_(std::move(other.watches_)) {}
    Membership& operator=(Membership&& other) noexcept {
      std::swap(hub_, other.hub_);
      std::swap(number_, other.number_);
      std::swap(watches_, other.watches_);
      return *this;
    }
    ~Membership() { Leave(); }

    // Watching the same thing twice has no effect.
    void Add(const Watch& watch);
    void Remove(const Watch& watch);
    void Leave();

   private:
    WatchHub* hub_ = nullptr;
    uint64_t number_ = 0;
    std::set<Watch> watches_;
  };

  explicit WatchHub(size_t watchers_max) : watchers_max_(watchers_max) {}

  // Errors: kDraining, kOverloaded.
  [[nodiscard]] Result<Membership> Join(std::shared_ptr<Watcher> watcher);

  void Notify(Event event);
  void NotifySessionEnded(const Session& session);
  void NotifyReset();
  // Notifies everyone, and lets nobody join any more.
  void Drain();

  [[nodiscard]] size_t watchers() const;
  [[nodiscard]] bool draining() const;

 private:
  using Number = uint64_t;  // of members, in the order in which they joined
  using Watchers = std::map<Number, Watcher*>;

  void AddWatch(Number member, const Watch& watch);
  void RemoveWatch(Number member, const Watch& watch);
  void RemoveAll(Number member, const std::set<Watch>& watches);
  void Forget(Number member, const Watch& watch) TENURE_REQUIRES(mutex_);

  const size_t watchers_max_;
  mutable Mutex mutex_;
  bool draining_ TENURE_GUARDED_BY(mutex_) = false;
  Number joined_ TENURE_GUARDED_BY(mutex_) = 0;
  std::map<Number, std::shared_ptr<Watcher>> members_ TENURE_GUARDED_BY(mutex_);
  std::unordered_map<ElectionName, Watchers> by_election_ TENURE_GUARDED_BY(mutex_);
  std::map<std::string, Watchers, std::less<>> by_prefix_ TENURE_GUARDED_BY(mutex_);
  std::unordered_map<SessionId, Watchers> by_session_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::engine
