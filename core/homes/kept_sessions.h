// The sessions whose home is this replica: a cache of the rows with `home = me`, which answers
// renewals from memory and knows which sessions have fallen silent. Pure: time is an argument, by
// the service clock of `OwnRow`.
//
// ZooKeeper's and Chubby's servers keep sessions in this way: the server that a client is connected
// to takes its signs of life, and only the end of a session is written. Here, too, nothing is
// written while a session lives; unlike there, a session may move to another server at any time,
// and what the rows say decides. So all that is learned about a session is ordered by its `moves`:
// a row with more of them is newer.
//
//   1. A session is kept until its end begins (`TakeSilent`), it has departed, or it is uncertain.
//   2. Once its end begins, only a row with more `moves` brings it back. So an end that arrives
//      late finds other `moves`, and changes nothing.
//   3. A silent session has to end until its end is committed or void, it has departed, or it is
//      kept again. An end that fails is due again.
//   4. A reply may be processed late: after the departure or the end of the session that it says is
//      kept. So both are remembered for `kReplyMax`.
//
// A renewal takes constant time: it notes the sign of life, and leaves the index of due times as it
// is. The index holds each session under a time that is no later than when it is due, and is
// corrected when that time comes.
//
// Not safe to use from two threads at once.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/homes/service_clock.h"
#include "core/types.h"

namespace tenure {

class KeptSessions {
 public:
  // Maximum age of a transaction or a read whose result is passed on by `Opened`, `Adopted` or
  // `Found`, from before it was sent. Drop an older one: the next renewal or sweep finds the
  // session.
  static constexpr Duration kReplyMax = std::chrono::minutes(1);

  // A session whose end is to be made, on the condition that its row still says `home = me` and
  // these `moves`.
  struct Silent {
    SessionId id;
    uint64_t moves = 0;

    bool operator==(const Silent&) const = default;
  };

  // This replica's own transaction has opened the session. Silence counts from now.
  // REQUIRES: the home is this incarnation.
  void Opened(const Session& session, ServiceTime now);
  // This replica's own transaction has adopted the session. Silence counts from `grace` later:
  // renewals may have reached its former home until the beat of that was no longer good. A session
  // that is kept already with the same or higher `moves` only gets a sign of life.
  // REQUIRES: the home is this incarnation.
  void Adopted(const Session& session, ServiceTime now, Duration grace);
  // The sweep has found the session's row. Like `Adopted`, but no sign of life: a session that is
  // kept already stays as it is.
  // REQUIRES: the home is this incarnation.
  void Found(const Session& session, ServiceTime now, Duration grace);

  // A renewal of a session that is kept.
  struct Renewal {
    Session session;
    Duration lease_left;  // before it; negative if it was late
  };
  // The answer to a renewal, if the beat is good: the lease that counts from now, which is shorter
  // than the row's after a calm time (core/law/adaptive_lease.h). A sign of life in any case: a
  // session whose lease has passed lives on if its end has not begun. Nothing: it is not kept.
  [[nodiscard]] std::optional<Renewal> Renew(const SessionId& id, ServiceTime now);
  [[nodiscard]] bool Keeps(const SessionId& id) const { return Find(id) != nullptr; }
  // The session's row, if it is kept. Valid until the next change.
  [[nodiscard]] const Session* Find(const SessionId& id) const;

  // The session's fate is uncertain, or it has ended: stops keeping it. If it stays silent, it is
  // ended, which is void if it had ended before. A renewal adopts it, with more moves.
  void Forget(const SessionId& id);
  // Another replica has adopted the session, or somebody has ended it: not kept with fewer `moves`.
  void Departed(const SessionId& id, uint64_t moves);
  // Forgets everything: the next incarnation has another service clock.
  void Clear();

  // The sessions whose lease has passed without a sign of life, and whose ends are not under way:
  // at most `limit`, the oldest first. Their ends begin: each is followed by `Ended` or `NotEnded`.
  [[nodiscard]] std::vector<Silent> TakeSilent(ServiceTime now, size_t limit);
  // The end was committed, or found to be void. Also called when this replica's own transaction has
  // ended it for another cause.
  void Ended(const Silent& silent);
  // The end failed, or may have: due again at once.
  void NotEnded(const Silent& silent);

  // When to call `TakeSilent` next. It may find nothing then.
  [[nodiscard]] std::optional<ServiceTime> NextDue() const;
  // When the oldest outstanding end became due: one that is under way, or was due at the latest
  // `now` that any function above has seen.
  [[nodiscard]] std::optional<ServiceTime> OldestDue() const;

  // How many are kept, or have to end.
  [[nodiscard]] size_t size() const { return entries_.size(); }

 private:
  enum class State : uint8_t {
    kKept,
    kForgotten,  // not kept, and to be ended if it stays silent
    kEnding,     // its end is under way
  };
  struct Entry {
    Session session;
    State state = State::kKept;
    ServiceTime since;
    ServiceTime due;      // end of the longest lease promised so far, by an answer or the row
    ServiceTime indexed;  // under this time it is in `waiting_`, or in `ending_` if it is ending
  };
  struct Indexed {
    ServiceTime at;
    SessionId id;

    auto operator<=>(const Indexed&) const = default;
  };
  // The lowest `moves` with which a session that was removed may still be kept.
  using Removed = std::unordered_map<SessionId, uint64_t>;

  void Pass(ServiceTime now);
  [[nodiscard]] bool IsOld(const Session& session) const;
  [[nodiscard]] Entry* FindKept(const SessionId& id);
  // Removes the session if it has fewer `moves`. From now on, rows with fewer are ignored.
  void RemoveBelow(const SessionId& id, uint64_t moves);
  [[nodiscard]] std::set<Indexed>& IndexOf(const Entry& entry) {
    return entry.state == State::kEnding ? ending_ : waiting_;
  }

  std::unordered_map<SessionId, Entry> entries_;
  std::set<Indexed> waiting_;  // no later than they are due
  std::set<Indexed> ending_;   // by when they were due

  ServiceTime latest_;
  // Two generations: the older one is dropped when the younger one is `kReplyMax` old.
  Removed removed_;
  Removed removed_before_;
  ServiceTime removed_from_;
};

}  // namespace tenure
