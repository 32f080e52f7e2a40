// What is compared: services that elect leaders, as the programs that use them see them.
//
// Operations are begun, and tell when they have ended: so one program with few threads can have
// many under way, and itself takes little of the machine. An error ends the run: a figure that was
// made with errors would be no figure.
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
  // A connection of its own, as a process of its own has. Otherwise it may share one with others.
  bool own_connection = true;
};

// Empty, or why it failed. Comes once, on a thread of the client, and may begin the next operation.
using Done = std::function<void(const std::string& error)>;

// One candidate: a session with the service, that stands in one election at a time. It has one
// operation at a time.
class Candidate {
 public:
  // Ends the session. A candidate that still waits in Stand is not told any more; every other
  // operation has to have ended.
  virtual ~Candidate() = default;

  // Stands; done when it leads.
  virtual void Campaign(const std::string& election, Done done) = 0;
  // The same, for one that will wait: returns at once or when it has a place. Until it is notified,
  // the session is kept alive. May throw std::runtime_error.
  virtual void Stand(const std::string& election, Done told) = 0;
  // Gives up the seat. REQUIRES: it leads.
  virtual void Resign(Done done) = 0;
  // Renews the lease. REQUIRES: it leads, or has led.
  virtual void KeepAlive(Done done) = 0;
  // Asks who leads: every change that was acknowledged before is taken into account. It is an error
  // that nobody does.
  virtual void AskLeader(const std::string& election, Done done) = 0;
};

// How long an operation may take that is waited for.
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
  // How many stand in an election, the leader among them. For preparations: it is not measured.
  virtual uint64_t CountStanding(const std::string& election) = 0;
};

}  // namespace tenure::bench
