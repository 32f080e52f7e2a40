// The events and effects of open calls.
//
// An open call is a machine: `Step(event, now)` takes an event, and returns the effects to carry
// out. It is pure: no I/O, no clock, no threads, no gRPC. `Call` (call.h) runs it on the engine;
// the tests and the simulation run the same machines.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/law/law.h"
#include "core/types.h"
#include "server/engine/feed/watch.h"
#include "server/engine/place.h"
#include "server/engine/work/steady_time.h"

namespace tenure::calls {

using engine::SteadyTime;

// Events from the engine and the hub. Each machine gets those that concern it.

// The first event.
struct Begun {};
// Answers a Submit.
struct Answered {
  Result<Answer> answer;
};
// Answers a Renew.
struct Renewed {
  size_t index;
  Result<Session> session;
};
// Answers a ReadPlace.
struct PlaceRead {
  bool with_position;
  Result<engine::Place> place;
};
// Answers ReadSeats.
struct SeatsRead {
  Result<std::vector<Leadership>> seats;
};
// Answers ReadNames.
struct NamesRead {
  Result<std::vector<ElectionName>> names;
};
// Answers ReadElection.
struct ElectionRead {
  ElectionName name;
  Result<std::optional<Election>> election;
};
// Answers ReadEvents.
struct EventsRead {
  ElectionName name;
  Result<std::vector<Event>> events;
};
// Answers WatchSessions: the sessions are watched.
struct Watched {};
// A watched change was committed.
struct Changed {
  std::shared_ptr<const Event> event;
};
struct SessionOver {
  Session session;
};
// Changes may have been missed, because the database was replaced or restored.
struct HistoryReset {};
// This replica is shutting down.
struct Drained {};

// Events from the caller.

struct Cancelled {};
// The last message written has been sent, or never will be.
struct Written {
  bool ok;
};
// It sends nothing more.
struct ReadsDone {};

enum class TimerId { kNoAnswer, kWaitOver, kRenewal, kRetry, kProgress };
inline constexpr size_t kTimers = 5;
struct Due {
  TimerId timer;
};

// Effects, to be carried out in this order. Several of a kind may be under way, if their events
// tell them apart.

// Dropped if the machine finishes before it is applied.
struct Submit {
  Command command;
};
// Nobody waits for the answer.
struct WithdrawPlace {
  Withdraw command;
};
struct Renew {
  SessionId session;
  Principal owner;
  size_t index = 0;  // of several at a time
};
struct ReadPlace {
  PlaceKey place;
  bool with_position;
};
struct ReadSeats {
  SeatPage page;
};
// A page. The last one has fewer than `limit`.
struct ReadNames {
  std::string prefix;
  std::string after;
  size_t limit;
};
struct ReadElection {
  ElectionName name;
};
struct ReadEvents {
  ElectionName name;
  Revision from;
  size_t limit;
};
// Only in response to a message from the caller.
struct WatchSessions {
  std::vector<SessionId> add;
  std::vector<SessionId> remove;
};
// A timer has one setting: the last.
struct SetTimer {
  TimerId timer;
  SteadyTime at;
};
struct StopTimer {
  TimerId timer;
};
// A candidate was elected after this wait.
struct CountWait {
  SteadyTime::duration waited;
};
// An observer starts over with a snapshot, because events are gone.
struct CountResync {};

// Messages to the caller. One of the first four is a machine's last message.

// The end of a unary call.
template <typename T>
struct Reply {
  Result<T> reply;
};
// The end of a stream, when all is said or because of an error.
struct Finish {};
struct BreakOff {
  Error error;
};
// The end for a caller that is gone.
struct HangUp {};
// One at a time: the next one after `Written`.
template <typename T>
struct Write {
  T message;
};
// Wants the next request.
struct ReadRequest {};

// How long a call waits for its answer. After that it fails: the database did not answer.
inline constexpr SteadyTime::duration kAnswerPatience = std::chrono::seconds(10);

// The latest time to answer a call whose deadline is this far away.
[[nodiscard]] inline SteadyTime AnswerBy(SteadyTime now, SteadyTime::duration left) {
  constexpr SteadyTime::duration kMargin = std::chrono::milliseconds(100);
  return now + left - std::min(kMargin, left / 4);
}

[[nodiscard]] inline Error AnswerTookTooLong() {
  return {Reason::kStoreUnavailable, "the database did not answer in time"};
}

}  // namespace tenure::calls
