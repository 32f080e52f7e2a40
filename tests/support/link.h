// A wire between two programs on which anything may happen: bytes go through, come late, or do not
// come at all, in one direction or both, and connections break off. Of any protocol.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

namespace tenure::testing {

// Listens on an address of its own, and leads to a server's port of 127.0.0.1. Thread-safe.
class Link {
 public:
  enum class State : uint8_t {
    kWhole,
    kSlow,  // all that the server says comes late
    kMute,  // the server gets everything, and nothing that it sends arrives
    kDeaf,  // the server gets nothing
    kDark,  // nothing comes either way
    kHeld,  // what the server says is held until this state ends
    // Clients see the end of the connection, and the server does not.
    kHalfClosed,
  };

  // Sees everything that a client has sent, and what the server sends just before it goes on to the
  // client. Called on the threads of the connection, which has this number.
  using Tap = std::function<void(uint64_t connection, bool from_server, std::string_view bytes)>;

  explicit Link(int server_port, Tap tap = {});
  // On a bound socket, which it closes in the end. Connections are refused until it is open.
  Link(int server_port, Tap tap, int listener);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  [[nodiscard]] int port() const;
  // REQUIRES: it is not open. Not thread-safe.
  void Open();
  // When it is whole again, and something may have been lost meanwhile, all connections break off.
  void Become(State state, std::chrono::milliseconds delay = {});
  // All connections break off. Others may be made at once.
  void Cut();

 private:
  struct Wire {
    uint64_t number;
    int near;  // to the client
    int far;   // to the server
    std::atomic<bool> over = false;
    std::thread up;
    std::thread down;
  };

  void Accept();
  // Passes on what comes from one side, until there is no more, or something of it was lost: what
  // comes after a gap never arrives on a real connection.
  void Pass(Wire& wire, int from, int to, bool from_server);
  static void Break(Wire& wire);
  // REQUIRES: it breaks, or is broken.
  static void Close(Wire& wire);

  const int server_port_;
  const Tap tap_;
  const int listener_;
  std::atomic<State> state_ = State::kWhole;
  std::atomic<std::chrono::milliseconds> delay_{};
  std::atomic<bool> may_have_lost_ = false;  // since it was whole
  std::mutex mutex_;
  std::vector<std::unique_ptr<Wire>> wires_;  // guarded by mutex_
  std::thread accepting_;
};

}  // namespace tenure::testing
