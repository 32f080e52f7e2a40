// Reports every change of elections: who leads, with which value, and why a term ended.
//
//   tenure::Observer observer({
//       .endpoints = "tenure-0:7070,tenure-1:7070",
//       .names = {"orders"},
//       .on_snapshot = [](const tenure::v1::Snapshot& snapshot) { Begin(snapshot); },
//       .on_event = [](const tenure::v1::Event& event) { Apply(event); }});
//
// What it promises
// - Each election starts with a snapshot: its state at one revision. Then follows every event once,
//   in the order of revisions, without gaps. There is no order between two elections.
// - When a stream breaks, or is silent for too long, the observer continues by itself on another
//   replica, from where it was. Elections created meanwhile start with their first event.
// - It never skips changes silently. If events are no longer available, because the service keeps
//   its history for a limited time only, a snapshot with the reason RESYNC replaces them.
//   Everything before it is void, and events continue with its revision + 1. Its revision may be
//   lower than earlier ones, after the service's database was restored from a backup.
// - At least every ten seconds the service confirms that all has been reported (on_progress).
//   Without that, the observer may be out of date; on_broken reports when it is disconnected.
//
// What it does not promise. What it reports is already past, if only by milliseconds: to act as a
// leader use an Elector, and fence your actions. And there is a limit: one observer can watch at
// most 10,000 elections. It fails with OBSERVE_TOO_WIDE once it has met more on one stream,
// counting those that were deleted. A new Observer starts again, with snapshots.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tenure/log.h"
#include "tenure/v1/election.pb.h"

namespace grpc {
class ChannelCredentials;
class Status;
}  // namespace grpc

namespace tenure {

// The callbacks are called one after the other, on the observer's own thread. A slow callback
// delays the next, but nothing is lost unless it takes longer than the service keeps its history.
// They may destroy the observer. They must not throw.
struct ObserverOptions {
  // Replicas: "host:port[,host:port...]". A host name may resolve to several addresses.
  std::string endpoints = "127.0.0.1:7070";
  // Null: a connection without TLS.
  std::shared_ptr<grpc::ChannelCredentials> credentials = nullptr;
  // As in ClientOptions.
  std::string service_id = "";
  // As in ClientOptions. Called on the observer's own thread.
  Log log = LogToStandardError;

  // Elections, whether or not they exist yet; at most 10,000. With `prefix`: name prefixes, at most
  // 64; an empty one selects all elections.
  std::vector<std::string> names = {};
  bool prefix = false;
  // The revision to start with in each election, instead of a snapshot. 1: all events that the
  // service still has.
  std::optional<uint64_t> from_revision = {};
  // The same for single elections, by name, instead of `from_revision`: for programs that store how
  // far they have come in each. {{"orders", 8}} continues after revision 7 of orders. Each must be
  // one of `names`, or begin with one of them if `prefix` is set; then names and entries together
  // are at most 10,000. After on_service_replaced, neither option applies: the revisions were those
  // of the other service.
  std::map<std::string, uint64_t> from_revisions = {};
  // A stream that is silent for this long is given up. The service sends something at least every
  // ten seconds; a shorter limit gives up healthy streams too.
  std::chrono::milliseconds silence_max{30'000};

  std::function<void(const v1::Snapshot&)> on_snapshot = {};
  std::function<void(const v1::Event&)> on_event = {};
  // Everything that the replica knew at this time has been reported. Called first when all
  // elections have started, then every few seconds.
  std::function<void(const v1::Progress&)> on_progress = {};
  // Most endpoints belong to another service now, such as after its database was created again. All
  // earlier reports are void; the elections start again, with snapshots.
  std::function<void()> on_service_replaced = {};
  // The stream broke, or could not be opened. The observer tries again, on the next replica.
  std::function<void(const grpc::Status&)> on_broken = {};
  // The service refuses this observer for good. The last callback: the observer does not try again.
  std::function<void(const grpc::Status&)> on_failed = {};
};

// Thread-safe, except for the destructor. Runs one thread of its own, besides gRPC's.
class Observer {
 public:
  // Starts to observe. Throws std::invalid_argument if an option is malformed.
  explicit Observer(ObserverOptions options);
  // Waits for a running callback, unless called from it. No callback is called after it has
  // returned. Do not hold a lock that a callback waits for.
  ~Observer();
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace tenure
