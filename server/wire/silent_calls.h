// Calls that have sent no message yet, of one queue. One that sends nothing for too long is
// cancelled.
#pragma once

#include <grpcpp/alarm.h>

#include <chrono>
#include <list>

#include "server/wire/queue.h"

namespace tenure::wire {

class ServerCall;

// Used on the queue's thread only.
class SilentCalls {
 public:
  using Place = std::list<ServerCall*>::iterator;

  SilentCalls(Queue& queue, std::chrono::milliseconds patience)
      : queue_(queue), patience_(patience) {}
  SilentCalls(const SilentCalls&) = delete;
  SilentCalls& operator=(const SilentCalls&) = delete;

  [[nodiscard]] Queue& queue() { return queue_; }

  // The call has begun. It leaves when its first message has come, or it ends.
  [[nodiscard]] Place Join(ServerCall& call);
  void Leave(Place place);
  // No call joins any more, and none is left. From any thread.
  void Stop() { alarm_.Cancel(); }

 private:
  void Look(bool ok);
  // Looks again when the oldest one has had its time.
  void LookLater();

  Queue& queue_;
  const std::chrono::milliseconds patience_;
  std::list<ServerCall*> calls_;  // the oldest first
  grpc::Alarm alarm_;
  TagOf<SilentCalls> look_{*this, &SilentCalls::Look};
  bool looks_later_ = false;
};

}  // namespace tenure::wire
