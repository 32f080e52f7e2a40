// The elections of a FakeTenure: the law that ships, and the only home of sessions, with all state
// in memory. No I/O, no clock.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/homes/kept_sessions.h"
#include "core/law/law.h"

namespace tenure {

// Leases keep the requested length, so that a test can rely on it.
inline constexpr Limits kFakeLimits{.adaptive_leases = false};

// Not thread-safe.
class FakeElections {
 public:
  FakeElections() { state_.home = {1}; }

  // Ends what has expired by then. REQUIRES: `now` is not earlier than before.
  void PassTo(DbTime now);
  // When something may next end by itself; DbTime{Duration::max()}: never.
  [[nodiscard]] DbTime NextDue() const;

  // A campaign renews its session.
  [[nodiscard]] Result<Answer> Apply(const Command& command);
  [[nodiscard]] Result<Session> Renew(const SessionId& id);
  // The session gives up all its seats and places.
  [[nodiscard]] Result<Session> Close(const SessionId& id);

  // Null: there is none.
  [[nodiscard]] const Session* Find(const SessionId& id) const;
  [[nodiscard]] const ElectionState* Find(const std::string& election) const;
  [[nodiscard]] std::vector<Leadership> SeatsOf(const SessionId& id) const;
  [[nodiscard]] const std::map<ElectionName, ElectionState>& all() const {
    return state_.elections;
  }
  // All events of the election so far, in order.
  [[nodiscard]] const std::vector<Event>& HistoryOf(const ElectionName& name) const;

  // What has happened since the last call.
  [[nodiscard]] std::vector<Event> TakeEvents() { return std::exchange(events_, {}); }
  [[nodiscard]] std::vector<Session> TakeEnded() { return std::exchange(ended_, {}); }

 private:
  [[nodiscard]] ServiceTime Now() const { return {state_.now.since_epoch}; }
  // Removes ended sessions from seats and queues, and records the events.
  void Settle();

  KeptSessions kept_;
  TransactionState state_;  // all there is, as if every transaction had read everything
  std::map<ElectionName, std::vector<Event>> histories_;
  std::vector<Event> events_;
  std::vector<Session> ended_;
};

}  // namespace tenure
