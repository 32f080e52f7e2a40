// The calls of one queue that have begun. One that sends no message for too long is cancelled.
#pragma once

#include <grpcpp/alarm.h>

#include <chrono>
#include <functional>
#include <list>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "server/wire/queue.h"

namespace tenure::wire {

class ServerCall;

// Used on the queue's thread only, except Cancel and Stop.
class QueueCalls final : private Job {
 public:
  using Calls = std::list<ServerCall*>;
  struct Place {
    Calls::iterator begun;
    std::optional<Calls::iterator> silent;  // until its first message has come
  };
  using Which = std::function<bool(const ServerCall&)>;

  QueueCalls(Queue& queue, std::chrono::milliseconds patience)
      : queue_(queue), patience_(patience) {}
  QueueCalls(const QueueCalls&) = delete;
  QueueCalls& operator=(const QueueCalls&) = delete;

  [[nodiscard]] Queue& queue() { return queue_; }

  // The call has begun.
  [[nodiscard]] Place Join(ServerCall& call);
  // Its first message has come.
  void Speak(Place& place);
  void Leave(Place& place);

  // Soon cancels the open calls for which `which` is true. Thread-safe.
  void Cancel(Which which);
  // Call when no call is left, and none will join. From any thread.
  void Stop() { alarm_.Cancel(); }

 private:
  void Run() override;
  void Look(bool ok);
  // Looks again when the oldest silent call has had its time.
  void LookLater();

  Queue& queue_;
  const std::chrono::milliseconds patience_;
  Calls begun_;
  Calls silent_;  // the oldest first
  grpc::Alarm alarm_;
  TagOf<QueueCalls> look_{*this, &QueueCalls::Look};
  bool looks_later_ = false;

  Mutex mutex_;
  std::vector<Which> to_cancel_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::wire
