// A wire between gRPC clients and a server that loses answers, or breaks, when a test says so.
#pragma once

#include <chrono>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace tenure::testing {

// Passes on what comes to its own port of 127.0.0.1, and what is answered. Thread-safe.
class Relay {
 public:
  // `server` is "127.0.0.1:port", like all endpoints here. `delay` is added to everything it sends.
  explicit Relay(const std::string& server, std::chrono::milliseconds delay = {});
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  [[nodiscard]] std::string endpoint() const;

  // From now on nothing that belongs to a call comes back. The connections live on: to a client the
  // server is merely slow.
  void LoseAnswers();
  // The same from the end of the next answer on: what a client must hear before it calls still
  // arrives.
  void LoseTheNextEnd();
  void WaitUntilAnAnswerIsLost();
  // The same, but only of the connections that are open now.
  void SilenceOpenConnections();
  // Waits until the server has noticed. Later connections lead to `server`, and lose nothing.
  void BreakAndLeadTo(const std::string& server);

 private:
  class Wire;

  void Accept();
  // Whether a frame is to be passed on.
  [[nodiscard]] bool Passes(const std::string& frame);

  const int listener_;
  const std::chrono::milliseconds delay_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string server_;                      // guarded by mutex_
  bool losing_ = false;                     // guarded by mutex_
  bool losing_from_an_end_ = false;         // guarded by mutex_
  bool lost_an_answer_ = false;             // guarded by mutex_
  std::list<std::unique_ptr<Wire>> wires_;  // guarded by mutex_
  std::thread accepting_;
};

}  // namespace tenure::testing
