// Accepts connections for somebody else, as many as there may be.
//
// The server behind it need not survive running out of descriptors, since that never happens: the
// limits keep some for everything else. A connection beyond the limits is closed at once, so
// that its client can go to another replica, and nobody waits behind it.
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
  // Takes a connection over.
  std::function<void(Descriptor connection)> take;
  // One was closed instead.
  std::function<void(Refusal)> refused = [](Refusal) {};
  // So many are open; told within a second, if that has changed.
  std::function<void(size_t)> open = [](size_t) {};
};

class Acceptor {
 public:
  using Clock = std::chrono::steady_clock;

  // Accepts on a thread of its own. `now` says when it may look again which connections have gone.
  Acceptor(std::vector<Descriptor> listeners, const ConnectionLimits& limits, AcceptorOwner owner,
           std::function<Clock::time_point()> now = Clock::now);
  // Listens no more. Connections that were taken over stay.
  ~Acceptor();

  // Whether the server behind it reacts to a new connection from here, which the limits do not
  // stop. This side closes its sending half at once, and waits this long for a byte (an HTTP/2
  // server speaks first) or for the end (with TLS). For one thread at a time.
  [[nodiscard]] bool Reacts(std::chrono::milliseconds patience);

 private:
  void Run();
  void AcceptAll(const Descriptor& listener);
  void MayAdd(Accepted accepted);
  [[nodiscard]] bool IsOwn(const End& peer);
  // Looks which are still open, if that was not done just now.
  void SweepSoon();
  // Closes a waiting connection for which only the spare descriptor is left.
  void RefuseWithoutDescriptor(const Descriptor& listener);

  const std::vector<Descriptor> listeners_;
  const AcceptorOwner owner_;
  const std::function<Clock::time_point()> now_;
  Connections connections_;
  Descriptor spare_;
  Descriptor stop_;  // readable: end
  Clock::time_point swept_at_;
  size_t told_ = 0;

  Mutex mutex_;
  std::optional<End> own_ TENURE_GUARDED_BY(mutex_);  // the end that is about to connect
  std::thread thread_;
};

}  // namespace tenure::network
