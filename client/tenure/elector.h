// Stands for an election, and says whether this process leads.
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
// What it promises
// - It stands until it is destroyed or resigns: it campaigns, waits, and campaigns again after
//   each term and after every trouble.
// - IsLeader() is true only before this process's own deadline, which is counted from before the
//   renewal was sent that the service has answered, less a tenth of the lease for clocks that
//   drift. The service lets nobody else in before that, unless an operator intervenes. Once it was
//   false in a term, it is never true in that term again.
// - The seat is resigned when the work has ended, never before.
// - A slow renewal is not a loss. The seat is lost when the lease is, and only then.
//
// What it does not promise. A process that is paused between asking IsLeader() and acting acts too
// late. What must never be done by two leaders has to carry term(), and the resource has to refuse
// a term lower than the highest it has seen: docs/fencing.md, and tenure/fence.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "tenure/client.h"
#include "tenure/v1/election.pb.h"

namespace grpc {
class Status;
}

namespace tenure {

class Observer;

// Callbacks. Each is called once for what it tells, in the order in which it happened, on one
// thread of the client that does nothing else: a slow one delays other callbacks, and no renewal.
// They may use and destroy the elector. They must not throw.
struct ElectorOptions {
  // 1 to 255 bytes of UTF-8 without control characters. One elector for each election of a client.
  std::string election;
  // What to advertise as the leader, at most 4096 bytes.
  std::string value = {};
  // Higher is elected first. Negative: only if an operator wants it.
  int32_t priority = 0;

  // The work of a leader, on a thread of its own. It has to return soon after `stop` is requested:
  // before the lease ends, when an operator asks this process to make way, when the seat is lost,
  // and when the elector resigns. If it returns by itself, the seat is resigned; the elector stands
  // again a heartbeat later. A std::stop_callback of yours runs on the thread that renews the
  // lease: it has to return at once.
  std::function<void(const v1::Leadership&, std::stop_token stop)> lead = {};
  // How long `lead` may take to return, at most half of the lease. Without `lead`: how long what
  // was begun while IsLeader() was true may take, before the seat is resigned. Zero: a quarter of
  // the lease.
  std::chrono::milliseconds stop_grace{0};

  // This process waits, as number `position` of those who do.
  std::function<void(uint64_t position)> on_standing = {};
  // This process leads. Before `lead` begins.
  std::function<void(const v1::Leadership&)> on_elected = {};
  // The lease was not renewed for half of it. The seat is still held. Then either it is renewed
  // after all, or it is lost.
  std::function<void(const v1::Leadership&)> on_suspended = {};
  std::function<void(const v1::Leadership&)> on_resumed = {};
  // The term is over, for RESIGNED if this process gave it up, and CAUSE_UNSPECIFIED if nobody has
  // told why. IsLeader() is false already. If the lease has ended, `lead` may still have to return.
  std::function<void(const v1::Leadership&, v1::Cause)> on_lost = {};
  // Who leads the election now, this process or another; nothing if nobody does. First where it
  // stands, then every change. From a stream of its own and on a thread of its own, so in no order
  // with the other callbacks: for your information, not to act on. If the service will not tell
  // (PERMISSION_DENIED), on_trouble says so once, on that thread, and nothing is told.
  std::function<void(const std::optional<v1::Leadership>&)> on_leader_changed = {};
  // A call was not answered, or the service will not let this process stand for now: an outage, a
  // full queue. The elector goes on to try. Once until it succeeds.
  std::function<void(const grpc::Status&)> on_trouble = {};
  // The service will not let this process stand: a malformed option, or a newer session of the same
  // candidate (ABORTED). The elector does not try again.
  std::function<void(const grpc::Status&)> on_refused = {};
  // The watchdog: `lead` has not returned in time, and the seat may be another's in a moment, by
  // the lease's margin for drift. End the work by force, or the process. Not on the callbacks'
  // thread, which may be what hangs, but on the one that renews the lease: it has to return at
  // once.
  std::function<void(const v1::Leadership&)> on_overrun = {};
};

// Thread-safe, except for the destructor.
class Elector {
 public:
  // Begins to stand. Throws std::invalid_argument if an option is malformed, or if the client
  // stands in this election already.
  Elector(Client client, ElectorOptions options);
  // Asks `lead` to return and waits until it has, as std::jthread does; from within `lead` it does
  // not wait. Then the seat or the place is given up, without waiting for that. No callback is
  // called any more when it has returned; hold no lock that one of them waits for.
  ~Elector();
  Elector(const Elector&) = delete;
  Elector& operator=(const Elector&) = delete;

  // Whether this process may act as the leader now. Costs nanoseconds, and never waits.
  [[nodiscard]] bool IsLeader() const noexcept;
  // The fencing token of the term in which it leads now; 0 if it does not.
  [[nodiscard]] uint64_t term() const noexcept;

  // How long it may still act, if no renewal is answered from now on; not positive if it does not
  // lead. With each renewal it becomes nine tenths of a lease again.
  [[nodiscard]] std::chrono::nanoseconds remaining() const noexcept;

  // Advertises another value, now or as soon as this process leads. Throws std::invalid_argument if
  // it is longer than 4096 bytes.
  void Proclaim(std::string value);
  // Steps down, and stands no more. Returns at once; on_lost tells when the term is over.
  void Resign();

  class State;

 private:
  std::shared_ptr<ClientLoop> loop_;
  std::shared_ptr<State> state_;
  std::unique_ptr<Observer> observer_;  // null if nobody wants to know of other leaders
};

}  // namespace tenure
