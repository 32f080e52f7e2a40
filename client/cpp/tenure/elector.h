// Stands for an election, and tells whether this process leads.
//
//   tenure::Client client({.endpoints = "tenure:7070", .candidate = "host-7:4242"});
//   tenure::Elector elector(client, {.election = "orders"});
//   ...
//   if (elector.IsLeader()) ...
//
// or, with work that runs as long as this process leads:
//
//   tenure::Elector elector(client, {
//       .election = "orders",
//       .lead = [](const tenure::v1::Leadership& seat, std::stop_token stop) {
//         while (!stop.stop_requested()) ShipTheNextOrder(seat.term());
//       }});
//
// Several elections, all or none: `.elections = {"stock/7", "stock/9"}`. A set has no place in any
// queue: it takes its seats when all of them are free, and candidates that wait for one go first.
// Its terms begin together, when a renewal has confirmed that all are held. If one of them ends, or
// an operator wants another leader for one, all end: `lead` is asked to stop, then the other seats
// are resigned. IsLeader() is about all of them, and term() about the first one; on_elected reports
// each.
//
// What it promises
// - It stands until it is destroyed or resigns: it campaigns, waits, and campaigns again after each
//   term (unless `one_term` is set) and after every failure.
// - IsLeader() is true only until this process's own deadline. The deadline is counted from before
//   the last answered renewal was sent, minus a tenth of the lease for clock drift. The service
//   elects nobody else before then, unless an operator intervenes. Once IsLeader() was false in a
//   term, it is never true in that term again.
// - The seat is resigned when the work has ended, never before.
// - A slow renewal is not a loss: the seat is lost only with the lease.
//
// What it does not promise. A process that is paused between asking IsLeader() and acting acts too
// late. Whatever must never be done by two leaders must carry term(), and the resource must refuse
// any term lower than the highest it has seen: see docs/fencing.md and tenure/fence.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "tenure/client.h"
#include "tenure/v1/election.pb.h"

namespace grpc {
class Status;
}

namespace tenure {

class Observer;

// A place in an election's queue.
struct QueuePlace {
  uint64_t position;  // 1 is the next leader
  // Who leads now, and in which term; nothing if nobody does.
  std::optional<v1::Leadership> leader;

  // So that a callback may take the position alone.
  operator uint64_t() const { return position; }
};

// Callbacks are called once per occurrence, in order, on a thread of the client that does nothing
// else: a slow callback delays other callbacks, but no renewals. They may use and destroy the
// elector. They must not throw.
struct ElectorOptions {
  // 1 to 255 bytes of UTF-8 without control characters. A client can have one elector per election.
  std::string election = {};
  // Instead of `election`: 1 to 32 elections to lead together, all or none. Of one alone: as
  // `election`, but the term begins only when a renewal has confirmed it.
  std::vector<std::string> elections = {};
  // The value to publish while leading, at most 4096 bytes.
  std::string value = {};
  // Higher priorities are elected first. Negative: elected only if an operator appoints it. Without
  // effect on several elections.
  int32_t priority = 0;

  // The leader's work, on a thread of its own. It must return soon after `stop` is requested:
  // before the lease ends, when an operator asks this process to make way, when the seat is lost,
  // and when the elector resigns; asked before its turn came, because callbacks took long, it is
  // not called in that term. If it returns by itself, the seat is resigned, and the elector stands
  // again a heartbeat later. An exception that leaves it counts as its return, as does a failure to
  // start its thread; both are logged. Your std::stop_callbacks run on
  // the thread that renews the lease: they must return at once. For a set it is called once, with
  // the seat of the first election.
  std::function<void(const v1::Leadership&, std::stop_token stop)> lead = {};
  // How long `lead` may take to return, at most half the lease. Without `lead`: how long to wait
  // for work begun while IsLeader() was true, before the seat is resigned. Zero: a quarter of the
  // lease.
  std::chrono::milliseconds stop_grace{0};
  // Stand until this process has led once, and not again after that term, as after Resign().
  bool one_term = false;

  // This process waits in the queue. The callback may also take the position alone, a uint64_t.
  std::function<void(const QueuePlace&)> on_standing = {};
  // Instead, for several elections: these are not free. Called once until the set is won.
  std::function<void(const std::vector<std::string>& elections)> on_blocked = {};
  // This process leads. Called before `lead`; for a set, once for each election, in their order.
  std::function<void(const v1::Leadership&)> on_elected = {};
  // Half the lease passed without a renewal. The seat is still held. Next, the lease is either
  // renewed after all (on_resumed), or lost (on_lost).
  std::function<void(const v1::Leadership&)> on_suspended = {};
  std::function<void(const v1::Leadership&)> on_resumed = {};
  // An operator asks this process to make way for the candidate `successor`. `lead` has been asked
  // to stop, and on_lost follows with RESIGNED. Resign(), unless the elector is to stand again a
  // heartbeat after the seat is resigned.
  std::function<void(const v1::Leadership&, const std::string& successor)> on_step_down = {};
  // The term has ended. The cause is RESIGNED if this process gave the seat up, also because it
  // lost another one of the set, and CAUSE_UNSPECIFIED if it is unknown. IsLeader() is already
  // false. If the lease ran out, `lead` may not have returned yet.
  std::function<void(const v1::Leadership&, v1::Cause)> on_lost = {};
  // The current leader of the election, this process or another; no value if there is none. Called
  // with the current state first, then for every change. It comes from a separate stream and on a
  // separate thread, so its order relative to the other callbacks is undefined: use it for
  // information, not to act on. If the service does not allow it (PERMISSION_DENIED), on_trouble is
  // called once, on that thread, and on_leader_changed never. Not for several elections.
  std::function<void(const std::optional<v1::Leadership>&)> on_leader_changed = {};
  // A call failed, or the service does not let this process stand for now: an outage, a full queue.
  // The elector keeps trying. Until it succeeds, called once for what goes unanswered, and again
  // when that turns into a refusal or back.
  std::function<void(const grpc::Status&)> on_trouble = {};
  // The service does not let this process stand: an option is malformed, or there is a newer
  // session of the same candidate (ABORTED). The elector does not try again.
  std::function<void(const grpc::Status&)> on_refused = {};
  // The watchdog: `lead` has not returned in time, and another candidate may soon hold the seat,
  // after the lease's margin for drift. End the work or the process by force. Called on the thread
  // that renews the lease, since the callbacks' thread may be the one that hangs: it must return at
  // once.
  std::function<void(const v1::Leadership&)> on_overrun = {};
};

// Thread-safe, except for the destructor.
class Elector {
 public:
  // Starts to stand. Throws std::invalid_argument if an option is malformed, or if the client
  // already has an elector for one of the elections.
  Elector(Client client, ElectorOptions options);
  // Asks `lead` to return, and waits until it has, as std::jthread does; it does not wait if called
  // from `lead`. Then gives up the seat or the place, without waiting for the service. No callback
  // is called after it has returned. Do not hold a lock that a callback waits for.
  ~Elector();
  Elector(const Elector&) = delete;
  Elector& operator=(const Elector&) = delete;

  // Whether this process may act as the leader now, in all elections of the set. Takes nanoseconds,
  // and never waits.
  [[nodiscard]] bool IsLeader() const noexcept;
  // The fencing token: the term in which this process leads now; 0 if it does not lead. Of a set:
  // that of the first election.
  [[nodiscard]] uint64_t term() const noexcept;

  // How long this process may still act as the leader if no further renewal is answered; zero or
  // negative if it does not lead. Each renewal raises it to nine tenths of the lease again.
  [[nodiscard]] std::chrono::nanoseconds remaining() const noexcept;

  // Publishes another value, now or as soon as this process leads. Throws std::invalid_argument if
  // it is longer than 4096 bytes.
  void Proclaim(std::string value);
  // Steps down, and does not stand again. Returns at once; on_lost reports the end of the term.
  void Resign();

  class State;

 private:
  std::shared_ptr<ClientLoop> loop_;
  std::shared_ptr<State> state_;
  std::unique_ptr<Observer> observer_;  // null without on_leader_changed
};

}  // namespace tenure
