// A wire between a store and its MySQL or MariaDB server that breaks at a message, when a test says
// so: before the server has the message, or before its reply comes back.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace tenure::testing {

// Passes on what comes to its own port of 127.0.0.1, and what is answered. The connections must not
// be encrypted. Thread-safe.
class SqlRelay {
 private:
  class Wire;

 public:
  // A message that the server does not have yet. Its client gets nothing more. Lives as long as
  // the relay.
  class Held {
   public:
    // The server gets it.
    void Deliver() const;
    // Tells the server that the client is gone, and waits until it has done what it was asked.
    void HangUp() const;

   private:
    friend class Wire;
    Held(Wire& wire, std::string message) : wire_(wire), message_(std::move(message)) {}

    Wire& wire_;
    const std::string message_;
  };
  using Then = std::function<void(const Held&)>;

  explicit SqlRelay(int server_port);
  ~SqlRelay();
  SqlRelay(const SqlRelay&) = delete;
  SqlRelay& operator=(const SqlRelay&) = delete;

  [[nodiscard]] int port() const;

  // Calls `then` with the next message that contains `text`, and afterwards breaks its client's
  // connection. Later messages pass.
  void BreakAt(std::string text, Then then);
  // The server does what the message asks, but the connection breaks instead of its reply.
  void LoseReplyTo(std::string text);
  // Whether the message that was to break its connection has come, if there is one, and its `then`
  // has returned.
  [[nodiscard]] bool broke() const;

 private:
  void Accept();
  // What to do with a message; empty: pass it on.
  [[nodiscard]] Then Take(const std::string& message);
  void Broke();

  const int server_port_;
  const int listener_;
  mutable std::mutex mutex_;
  std::string text_;                        // guarded by mutex_
  Then then_;                               // guarded by mutex_; empty: nothing is to break
  bool broke_ = true;                       // guarded by mutex_
  std::list<std::unique_ptr<Wire>> wires_;  // guarded by mutex_
  std::thread accepting_;
};

}  // namespace tenure::testing
