// Broadcasts the latest state of something. Each listener has at most one message in flight; later
// changes go into the next one.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "server/wire/server_call.h"

namespace tenure::wire {

// Must outlive the server and its queues. Thread-safe.
template <typename Message>
class Broadcast {
 public:
  using Counted = std::function<void(size_t)>;

  // `counted` gets the number of listeners whenever it changes. It runs under a lock, and must not
  // call back.
  explicit Broadcast(
      Message first, Counted counted = [](size_t) {})
      : counted_(std::move(counted)), latest_(std::move(first)) {}

  // Serves the call, beginning with the latest message. Releases `place` when the call has ended.
  // False if the broadcast has ended.
  bool Join(ServerCall& call, std::shared_ptr<void> place = nullptr) {
    auto listener = std::make_shared<Listener>(*this, call, std::move(place));
    std::optional<grpc::Status> ended;
    {
      const MutexLock lock(mutex_);
      ended = ended_;
      if (!ended) {
        listeners_.insert(listener);
        counted_(listeners_.size());
      }
    }
    if (ended) {
      call.Finish(*ended);
      return false;
    }
    call.ServeWith(listener);
    listener->Look();
    return true;
  }

  void Update(const std::function<void(Message&)>& change) {
    std::vector<std::shared_ptr<Listener>> listeners;
    {
      const MutexLock lock(mutex_);
      change(latest_);
      ++version_;
      listeners.assign(listeners_.begin(), listeners_.end());
    }
    for (const auto& listener : listeners) listener->Look();
  }

  // Ends all calls, and every call that joins from now on.
  void End(const grpc::Status& why) {
    std::vector<std::shared_ptr<Listener>> listeners;
    {
      const MutexLock lock(mutex_);
      ended_ = why;
      listeners.assign(listeners_.begin(), listeners_.end());
    }
    for (const auto& listener : listeners) listener->End(why);
  }

 private:
  class Listener final : public CallHandler, public std::enable_shared_from_this<Listener> {
   public:
    Listener(Broadcast& broadcast, ServerCall& call, std::shared_ptr<void> place)
        : broadcast_(broadcast), call_(call), place_(std::move(place)) {}

    // Writes the latest state if it is news; during a write, afterwards.
    void Look() {
      const MutexLock lock(mutex_);
      LookLocked();
    }
    void End(const grpc::Status& why) {
      const MutexLock lock(mutex_);
      if (!std::exchange(finished_, true)) call_.Finish(why);
    }

    void OnWritten(bool ok) override {
      if (!ok) return End(grpc::Status::CANCELLED);
      const MutexLock lock(mutex_);
      writing_ = false;
      LookLocked();
    }
    void OnCancelled() override { End(grpc::Status::CANCELLED); }
    void OnEnd() override { broadcast_.Leave(this->shared_from_this()); }

   private:
    void LookLocked() TENURE_REQUIRES(mutex_) {
      if (finished_ || writing_) return;
      const auto news = broadcast_.NewsAfter(version_);
      if (!news) return;
      version_ = news->first;
      writing_ = true;
      call_.Write(news->second);
    }

    Broadcast& broadcast_;
    ServerCall& call_;  // valid until it has ended
    const std::shared_ptr<void> place_;
    Mutex mutex_;
    uint64_t version_ TENURE_GUARDED_BY(mutex_) = 0;  // of the last message written
    bool writing_ TENURE_GUARDED_BY(mutex_) = false;
    bool finished_ TENURE_GUARDED_BY(mutex_) = false;
  };

  [[nodiscard]] std::optional<std::pair<uint64_t, Message>> NewsAfter(uint64_t version) {
    const MutexLock lock(mutex_);
    if (version == version_) return std::nullopt;
    return std::pair(version_, latest_);
  }
  void Leave(const std::shared_ptr<Listener>& listener) {
    const MutexLock lock(mutex_);
    listeners_.erase(listener);
    counted_(listeners_.size());
  }

  const Counted counted_;
  Mutex mutex_;
  Message latest_ TENURE_GUARDED_BY(mutex_);
  uint64_t version_ TENURE_GUARDED_BY(mutex_) = 1;
  std::optional<grpc::Status> ended_ TENURE_GUARDED_BY(mutex_);
  std::set<std::shared_ptr<Listener>> listeners_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::wire
