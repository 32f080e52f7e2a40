// What a server counts of its peers before it has a request of theirs, so that it can refuse what
// is too much: handshakes, calls that have sent nothing, and messages that have not arrived.
//
// hostile-http2.patch makes gRPC's HTTP/2 server call this, if it finds one in the channel argument
// kPeerGuardArgument. Without the patch, nothing calls it. A guard must be thread-safe, and outlive
// the server; what it returns may be destroyed later than the guard. One handshake or connection is
// used by one thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace tenure {

class PeerGuard {
 public:
  virtual ~PeerGuard() = default;

  // Destroyed when the peer's SETTINGS have arrived, or never will.
  class Handshake {
   public:
    virtual ~Handshake() = default;
    virtual void Succeeded() = 0;
  };

  // Destroyed when the connection has no more calls.
  class Connection {
   public:
    virtual ~Connection() = default;

    // A call. False: it is refused with REFUSED_STREAM, which clients send again, and is not
    // counted.
    [[nodiscard]] virtual bool BeginCall() = 0;
    // Its first message has arrived as a whole.
    virtual void FirstMessage() = 0;
    // It is freed. `had_message`: FirstMessage was called for it.
    virtual void EndCall(bool had_message) = 0;

    // A message of that many bytes has begun to arrive. False: it may not, and its call is ended
    // with RESOURCE_EXHAUSTED.
    [[nodiscard]] virtual bool BeginMessage(size_t bytes) = 0;
    // It has arrived, or never will.
    virtual void EndMessage(size_t bytes) = 0;
  };

  // `peer` is an address as gRPC writes it, such as "ipv4:127.0.0.1:7070". Null: the connection is
  // closed.
  [[nodiscard]] virtual std::unique_ptr<Handshake> BeginHandshake(std::string_view peer) = 0;
  [[nodiscard]] virtual std::unique_ptr<Connection> BeginConnection(std::string_view peer) = 0;
};

// A pointer to a PeerGuard.
inline constexpr char kPeerGuardArgument[] = "tenure.peer_guard";

}  // namespace tenure
