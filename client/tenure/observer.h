// Tells every change of elections: who leads, with what value, and why a term ended.
//
//   tenure::Observer observer({
//       .endpoints = "tenure-0:7070,tenure-1:7070",
//       .names = {"orders"},
//       .on_snapshot = [](const tenure::v1::Snapshot& snapshot) { Begin(snapshot); },
//       .on_event = [](const tenure::v1::Event& event) { Apply(event); }});
//
// What it promises
// - Each election begins with a snapshot: where it stood at one revision. Then comes each event,
//   once, and in the order of its revisions: no gap, no repetition. Between two elections there is
//   no order.
// - When a stream breaks, or is silent for too long, it goes on by itself on another replica, where
//   it was: also for elections that came into being meanwhile, which are told from their first
//   event.
// - Never silence: what cannot be told any more, because the service keeps its history for a
//   limited time only, is replaced by a snapshot whose reason is RESYNC. What was before it is
//   void; events go on with its revision + 1. It may be a lower one than what was told, after the
//   service's database was restored from a backup.
// - The service says at least every ten seconds that all was told. An observer that is not told so
//   knows as much as it was told last, and is told by on_broken that it waits.
//
// What it does not promise. What it tells is over by then, if only by milliseconds: act as a leader
// by an Elector, and fence what it does. And there is a limit: one observer watches at most 10,000
// elections. It fails with OBSERVE_TOO_WIDE when it has met more on one stream, those among them
// that were deleted; another Observer begins anew, with snapshots.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tenure/v1/election.pb.h"

namespace grpc {
class ChannelCredentials;
class Status;
}  // namespace grpc

namespace tenure {

// The callbacks are called one after the other, on the observer's own thread. A slow one delays the
// next, and nothing is lost by it, unless it takes longer than the service keeps its history. They
// may destroy the observer. They must not throw.
struct ObserverOptions {
  // Replicas: "host:port[,host:port...]". A host's name may have many addresses.
  std::string endpoints = "127.0.0.1:7070";
  // Null: a connection without TLS.
  std::shared_ptr<grpc::ChannelCredentials> credentials = nullptr;

  // Elections, whether or not they exist yet, at most 10,000. With `prefix`: what their names begin
  // with, at most 1000 of those; an empty one selects all elections.
  std::vector<std::string> names = {};
  bool prefix = false;
  // The first event that is wanted of each election, in place of a snapshot: 1 tells all that the
  // service still has.
  std::optional<uint64_t> from_revision = {};
  // A stream that says nothing for so long is given up. The service speaks at least every ten
  // seconds: less than that gives up healthy ones, too.
  std::chrono::milliseconds silence_max{30'000};

  std::function<void(const v1::Snapshot&)> on_snapshot = {};
  std::function<void(const v1::Event&)> on_event = {};
  // Everything has been told that the replica knew of at this time: first when all elections were
  // opened, then every few seconds.
  std::function<void(const v1::Progress&)> on_progress = {};
  // The stream broke, or could not be opened. It is tried again, on the next replica.
  std::function<void(const grpc::Status&)> on_broken = {};
  // The service will not have this observer, or not any more. The last callback: it is not tried
  // again.
  std::function<void(const grpc::Status&)> on_failed = {};
};

// Thread-safe, except for the destructor. One thread of its own, beside gRPC's.
class Observer {
 public:
  // Begins to observe. Throws std::invalid_argument if an option is malformed.
  explicit Observer(ObserverOptions options);
  // Waits for a callback that is under way, unless called from it; no callback is called any more
  // when it has returned. Hold no lock that one of them waits for.
  ~Observer();
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace tenure
