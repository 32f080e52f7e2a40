// Limits what peers make a replica hold before it has a request from them: handshakes, calls that
// have sent nothing, and large messages that are still arriving. These peers are not identified
// yet, so each origin has a share of each (base/fair_share.h).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

#include "base/fair_share.h"
#include "server/network/origin.h"
#include "third_party/grpc/peer_guard.h"

namespace tenure::network {

struct NewcomerLimits {
  using Share = FairShare<Origin>;

  // With TLS, a handshake takes 70 kB. Without, it is as cheap as a connection, and not counted.
  Share::Limits handshakes{.max = 512, .forgiven_per_s = 25, .forgiven_in_all_per_s = 100};
  // A call takes 17 kB, and up to 32 kB for its headers and its message.
  Share::Limits calls{.max = 2'000, .forgiven_per_s = 250, .forgiven_in_all_per_s = 1'000};
  // Of messages of 16 KB and more.
  Share::Limits message_bytes{.max = 32 << 20};
};

// The current counts.
struct NewcomerCounts {
  size_t handshakes = 0;
  size_t calls = 0;
  size_t message_bytes = 0;
};

enum class Newcomer { kHandshake, kCall, kMessage };

// Thread-safe.
class Newcomers final : public PeerGuard {
 public:
  using Clock = std::chrono::steady_clock;

  // `refused` is called with what was refused, on any thread.
  // Without `tls`, handshakes are not counted.
  explicit Newcomers(bool tls, std::function<void(Newcomer)> refused,
                     const NewcomerLimits& limits = {},
                     std::function<Clock::time_point()> now = Clock::now);

  [[nodiscard]] std::unique_ptr<Handshake> BeginHandshake(std::string_view peer) override;
  [[nodiscard]] std::unique_ptr<Connection> BeginConnection(std::string_view peer) override;

  [[nodiscard]] NewcomerCounts Count() const;

 private:
  class State;
  class UncountedHandshake;
  class CountedHandshake;
  class CountedConnection;

  const bool tls_;
  // Shared with the handshakes and connections that it returned, which may outlive it.
  const std::shared_ptr<State> state_;
};

}  // namespace tenure::network
