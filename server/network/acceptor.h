// Accepts connections on behalf of a server, within limits.
//
// The server never runs out of descriptors: the limits keep some for everything else. A connection
// beyond the limits is closed at once, so that its client can go to another replica, and nobody
// queues behind it.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "server/network/connections.h"
#include "server/network/listening.h"

namespace tenure::network {

// Called on the acceptor's thread.
struct AcceptorOwner {
  // Takes over a connection.
  std::function<void(Descriptor connection)> take;
  // A connection was closed instead.
  std::function<void(Refusal)> refused = [](Refusal) {};
  // The number of open connections, within a second after it has changed.
  std::function<void(size_t)> open = [](size_t) {};
};

class Acceptor {
 public:
  using Clock = std::chrono::steady_clock;

  // Accepts on a thread of its own. `now` times the sweeps for closed connections.
  Acceptor(std::vector<Descriptor> listeners, const ConnectionLimits& limits, AcceptorOwner owner,
           std::function<Clock::time_point()> now = Clock::now);
  // Stops listening. Connections that were taken over stay open.
  ~Acceptor();

  // Whether the server reacts to a new connection from this process, which the limits do not
  // affect. This side closes its sending half at once, and waits up to `patience` for a byte (an
  // HTTP/2 server speaks first) or for the end (with TLS). For one thread at a time.
  [[nodiscard]] bool Reacts(std::chrono::milliseconds patience);

 private:
  void Run();
  void AcceptAll(const Descriptor& listener);
  void MayAdd(Accepted accepted);
  [[nodiscard]] bool IsOwn(const End& peer);
  // Sweeps closed connections, unless that was done just now.
  void SweepSoon();
  // Closes a waiting connection for which only the spare descriptor is left.
  void RefuseWithoutDescriptor(const Descriptor& listener);

  const std::vector<Descriptor> listeners_;
  const AcceptorOwner owner_;
  const std::function<Clock::time_point()> now_;
  Connections connections_;
  Descriptor spare_;
  Descriptor stop_;  // readable: stop
  Clock::time_point swept_at_;
  size_t told_ = 0;

  Mutex mutex_;
  std::optional<End> own_ TENURE_GUARDED_BY(mutex_);  // the end that is about to connect
  std::thread thread_;
};

}  // namespace tenure::network
