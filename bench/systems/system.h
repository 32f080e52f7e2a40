// The systems that are compared: services that elect leaders, as seen by their users.
//
// Operations are asynchronous, so that one program with few threads can have many under way, and
// uses little of the machine itself. An error ends the run: figures with errors would be worthless.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>

namespace tenure::bench {

using Clock = std::chrono::steady_clock;

struct CandidateOptions {
  std::string name;
  std::chrono::seconds lease{60};
  // Whether it has its own connection, as a separate process would. Otherwise it may share one.
  bool own_connection = true;
};

// Gets an empty text, or why the operation failed. Called once, on a thread of the client; it may
// begin the next operation.
using Done = std::function<void(const std::string& error)>;

// One candidate: a session with the service that stands in one election at a time. It has one
// operation at a time.
class Candidate {
 public:
  // Ends the session. A candidate that still waits in Stand is not notified any more; all other
  // operations must have ended.
  virtual ~Candidate() = default;

  // Stands; done when it leads.
  virtual void Campaign(const std::string& election, Done done) = 0;
  // The same, for a candidate that will wait: returns at once, or when it has a place. Keeps the
  // session alive until it leads. May throw std::runtime_error.
  virtual void Stand(const std::string& election, Done told) = 0;
  // Gives up the seat. REQUIRES: it leads.
  virtual void Resign(Done done) = 0;
  // Renews the lease. REQUIRES: it leads, or has led.
  virtual void KeepAlive(Done done) = 0;
  // Asks who leads, and sees every change acknowledged before. It is an error if nobody leads.
  virtual void AskLeader(const std::string& election, Done done) = 0;
};

// How long Await waits for an operation.
inline constexpr auto kAwaitPatience = std::chrono::seconds(60);

// Waits for an operation: `begin(done)`. Throws std::runtime_error if it fails.
template <typename Begin>
void Await(const Begin& begin) {
  const auto ended = std::make_shared<std::promise<std::string>>();
  begin([ended](const std::string& error) { ended->set_value(error); });
  auto answer = ended->get_future();
  if (answer.wait_for(kAwaitPatience) != std::future_status::ready) {
    throw std::runtime_error("an operation does not end");
  }
  const std::string error = answer.get();
  if (!error.empty()) throw std::runtime_error(error);
}

// The client of one running service. Thread-safe. It outlives its candidates.
class System {
 public:
  virtual ~System() = default;

  virtual std::unique_ptr<Candidate> NewCandidate(const CandidateOptions& options) = 0;
  // The number of candidates in an election, including the leader. For preparations: not measured.
  virtual uint64_t CountStanding(const std::string& election) = 0;
};

}  // namespace tenure::bench
