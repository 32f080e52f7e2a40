// Tenure in memory, for tests of your own code: without a server, and with a clock that the test
// moves. Link tenure::testing.
//
//   tenure::FakeTenure fake;
//   tenure::Client client(fake.Options("host-1"));
//   tenure::Elector elector(client, {.election = "orders"});
//   fake.Settle();
//   EXPECT_TRUE(elector.IsLeader());
//
//   fake.Cut({"host-1"});  // it cannot reach the service any more
//   fake.Advance(9s);      // its deadline: a tenth less than its lease
//   EXPECT_FALSE(elector.IsLeader());
//
// What it promises
// - Clients and electors are the library's own, with all that they decide. The service applies the
//   law that tenured applies: queues, priorities, sets of elections, `supersede`, handovers, terms
//   that rise, and the same errors.
// - Time stands still until Advance, however long the test takes. No lease ends and no renewal is
//   sent by itself. Random pauses are the same in each run.
// - When Settle, Advance, Depose or Appoint returns, the clients have done all that is due: answers
//   have been heard, IsLeader() is up to date, and callbacks have returned, unless one takes longer
//   than a second. Work (`lead`) ends on its own thread; if a seat passes only then, AwaitLeader.
//
// What it does not promise. It is no service for production, and no proof that a program survives
// one. It has no settings, policies, limits, TLS or trimmed history, and it answers only the calls
// that the library makes. Observers and caches use its endpoint, and see its changes within moments
// of real time. What ends (Close, and destructors) takes real time, too, as always.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tenure/client.h"
#include "tenure/v1/election.pb.h"

namespace tenure {

// Its methods are for one thread at a time, which is none of a client's: do not call them from a
// callback. It may be destroyed before its clients, which then cannot reach it any more.
class FakeTenure {
 public:
  // Nobody has ever campaigned. Throws std::runtime_error if it cannot listen on 127.0.0.1.
  FakeTenure();
  ~FakeTenure();
  FakeTenure(const FakeTenure&) = delete;
  FakeTenure& operator=(const FakeTenure&) = delete;

  // Of a client that goes by this clock. Change what you like, but not `endpoints`. Nothing is
  // logged unless you set `log`.
  [[nodiscard]] ClientOptions Options(const std::string& candidate) const;
  // For observers and caches: "127.0.0.1:port".
  [[nodiscard]] std::string endpoint() const;

  // Waits until the clients have done all that is due now. Throws std::runtime_error, as the
  // methods below do, if one does not come to rest within ten seconds of real time.
  void Settle();
  // Lets time pass. Renewals are sent and leases end on the way, in their order. Throws
  // std::invalid_argument if it is negative.
  void Advance(std::chrono::nanoseconds time);

  // These candidates cannot reach the service any more, until Restore: their calls fail at once.
  // Without names: nobody can, and observers cannot either.
  void Cut(const std::vector<std::string>& candidates = {});
  // Ends a Cut of these candidates; without names, of all. Clients try again when the time for
  // their next attempt has come: Advance.
  void Restore(const std::vector<std::string>& candidates = {});

  // Ends the leader's term at once, as `tenure depose` does. False if nobody leads.
  bool Depose(const std::string& election);
  // Asks the leader to make way for a candidate that waits, as `tenure appoint` does. False if the
  // candidate does not wait.
  bool Appoint(const std::string& election, const std::string& candidate);

  // Who leads, as the service knows. The leader itself may have stopped before.
  [[nodiscard]] std::optional<v1::Leadership> Leader(const std::string& election) const;
  // The candidates that wait, the next leader first.
  [[nodiscard]] std::vector<std::string> Queue(const std::string& election) const;
  // Waits, for at most ten seconds of real time, until this candidate leads; answers with its term.
  // Throws std::runtime_error if it does not.
  uint64_t AwaitLeader(const std::string& election, const std::string& candidate);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace tenure
