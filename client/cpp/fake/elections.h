// The elections of a FakeTenure: the law that ships, and its only home of sessions, on a state in
// memory. No I/O, no clock.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/homes/kept_sessions.h"
#include "core/law/law.h"

namespace tenure {

// Leases stay as long as they were asked for, so that a test can count on it.
inline constexpr Limits kFakeLimits{.adaptive_leases = false};

// Not thread-safe.
class FakeElections {
 public:
  FakeElections() { state_.home = {1}; }

  // Ends what is over by then. REQUIRES: not earlier than before.
  void PassTo(DbTime now);
  // When something may end by itself next; DbTime{Duration::max()} if nothing does.
  [[nodiscard]] DbTime NextDue() const;

  // A campaign renews its session.
  [[nodiscard]] Result<Answer> Apply(const Command& command);
  [[nodiscard]] Result<Session> Renew(const SessionId& id);
  // The session gives up all that it has.
  [[nodiscard]] Result<Session> Close(const SessionId& id);

  // Null: there is none.
  [[nodiscard]] const Session* Find(const SessionId& id) const;
  [[nodiscard]] const ElectionState* Find(const std::string& election) const;
  [[nodiscard]] std::vector<Leadership> SeatsOf(const SessionId& id) const;
  [[nodiscard]] const std::map<ElectionName, ElectionState>& all() const {
    return state_.elections;
  }
  // All that ever happened there, in order.
  [[nodiscard]] const std::vector<Event>& HistoryOf(const ElectionName& name) const;

  // What has happened since this was asked last.
  [[nodiscard]] std::vector<Event> TakeEvents() { return std::exchange(events_, {}); }
  [[nodiscard]] std::vector<Session> TakeEnded() { return std::exchange(ended_, {}); }

 private:
  [[nodiscard]] ServiceTime Now() const { return {state_.now.since_epoch}; }
  // Gives up what ended sessions had, and notes what has happened.
  void Settle();

  KeptSessions kept_;
  TransactionState state_;  // all there is, as if each transaction had read everything
  std::map<ElectionName, std::vector<Event>> histories_;
  std::vector<Event> events_;
  std::vector<Session> ended_;
};

}  // namespace tenure
