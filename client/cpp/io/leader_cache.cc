#include "tenure/leader_cache.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/mutex.h"
#include "client/cpp/io/holder_clock.h"

namespace tenure {
namespace {

constexpr std::chrono::milliseconds kLongestTimeout = std::chrono::hours(24);

CachedSeat ToSeat(const v1::Snapshot& snapshot) {
  CachedSeat seat{.known = true, .term = snapshot.term(), .revision = snapshot.revision()};
  if (snapshot.has_leader()) seat.leader = snapshot.leader();
  return seat;
}

CachedSeat ToSeat(const v1::Event& event) {
  CachedSeat seat{.known = true, .term = event.leadership().term(), .revision = event.revision()};
  if (event.type() != v1::Event::TYPE_VACATED) seat.leader = event.leadership();
  return seat;
}

}  // namespace

// Shared by the cache and its observer's callbacks.
class LeaderCache::State {
 public:
  explicit State(LeaderCacheOptions options) : options_(std::move(options)) {}

  static ObserverOptions Observing(const std::shared_ptr<State>& state) {
    const LeaderCacheOptions& options = state->options_;
    return {.endpoints = options.endpoints,
            .credentials = options.credentials,
            .service_id = options.service_id,
            .log = options.log,
            .names = options.names,
            .prefix = options.prefix,
            .silence_max = options.silence_max,
            .on_snapshot = [state](const auto& it) { state->Keep(it.election(), ToSeat(it)); },
            .on_event = [state](const auto& it) { state->Keep(it.election(), ToSeat(it)); },
            .on_progress = [state](const auto&) { state->Progress(); },
            .on_service_replaced = [state] { state->Clear(); },
            .on_failed = [state](const auto& status) { state->Fail(status); }};
  }

  [[nodiscard]] CachedSeat Get(const std::string& election) const {
    const MutexLock lock(mutex_);
    const auto found = seats_.find(election);
    if (found != seats_.end()) return found->second;
    const bool none = ready_ && options_.prefix &&
                      std::ranges::any_of(options_.names, [&](const std::string& prefix) {
                        return election.starts_with(prefix);
                      });
    return {.known = none};
  }

  [[nodiscard]] bool WaitUntilReady(std::chrono::milliseconds timeout) const {
    MutexLock lock(mutex_);
    const auto until = std::chrono::steady_clock::now() + std::min(timeout, kLongestTimeout);
    while (!ready_ && !failed_ && changed_.WaitUntil(lock, until)) continue;
    return ready_;
  }

  [[nodiscard]] std::chrono::milliseconds age() const {
    const MutexLock lock(mutex_);
    return std::chrono::duration_cast<std::chrono::milliseconds>(HolderNow() - told_at_);
  }

 private:
  // All of these run on the observer's thread.

  void Keep(const std::string& election, const CachedSeat& seat) {
    {
      const MutexLock lock(mutex_);
      told_at_ = HolderNow();
      seats_[election] = seat;
    }
    if (options_.on_change) options_.on_change(election, seat);
  }

  void Clear() {
    const MutexLock lock(mutex_);
    seats_.clear();
  }

  void Progress() {
    const MutexLock lock(mutex_);
    told_at_ = HolderNow();
    ready_ = true;
    changed_.NotifyAll();
  }

  void Fail(const grpc::Status& status) {
    {
      const MutexLock lock(mutex_);
      failed_ = true;
      changed_.NotifyAll();
    }
    if (options_.on_failed) options_.on_failed(status);
  }

  const LeaderCacheOptions options_;
  mutable Mutex mutex_;
  mutable ConditionVariable changed_;
  Lease::Time told_at_ TENURE_GUARDED_BY(mutex_) = HolderNow();
  bool ready_ TENURE_GUARDED_BY(mutex_) = false;
  bool failed_ TENURE_GUARDED_BY(mutex_) = false;
  std::map<std::string, CachedSeat> seats_ TENURE_GUARDED_BY(mutex_);
};

LeaderCache::LeaderCache(LeaderCacheOptions options)
    : state_(std::make_shared<State>(std::move(options))) {
  observer_.emplace(State::Observing(state_));
}

LeaderCache::~LeaderCache() = default;

CachedSeat LeaderCache::Get(const std::string& election) const { return state_->Get(election); }

bool LeaderCache::WaitUntilReady(std::chrono::milliseconds timeout) const {
  return state_->WaitUntilReady(timeout);
}

std::chrono::milliseconds LeaderCache::age() const { return state_->age(); }

}  // namespace tenure
