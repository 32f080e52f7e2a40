// Who leads which election, from memory: for routers, clients and dashboards that ask often.
//
//   tenure::LeaderCache leaders(
//       {.endpoints = "tenure:7070", .names = {"shards/"}, .prefix = true});
//   if (!leaders.WaitUntilReady(5s)) ...
//   const auto seat = leaders.Get("shards/7");
//   if (seat.leader) SendTo(seat.leader->value(), seat.term);
//
// It stores what an Observer reports (tenure/observer.h), and recovers by itself from every
// failure.
//
// What it does not promise
// - It may be late: by milliseconds normally, and by at least age() while the service cannot be
//   reached. It keeps naming the last leader it knew; the caller decides how old is too old.
// - So the leader it names may no longer lead. Send the term with your request to a leader, and
//   let the leader, or the resource it writes to, refuse other terms: tenure/fence.h. To know for
//   certain, call Leader; to lead, use an Elector.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tenure/observer.h"
#include "tenure/v1/election.pb.h"

namespace tenure {

// What is known of one election.
struct CachedSeat {
  // False: the election is not among those asked for, or its state has not arrived yet. Then ignore
  // the rest.
  bool known = false;
  std::optional<v1::Leadership> leader = {};  // none: the seat is vacant
  uint64_t term = 0;                          // the highest ever granted; 0: nobody has ever led
  uint64_t revision = 0;                      // the latest one; 0: nobody has ever campaigned
};

struct LeaderCacheOptions {
  // As in ObserverOptions.
  std::string endpoints = "127.0.0.1:7070";
  std::shared_ptr<grpc::ChannelCredentials> credentials = nullptr;
  std::string service_id = "";
  Log log = LogToStandardError;
  std::vector<std::string> names = {};
  bool prefix = false;
  std::chrono::milliseconds silence_max{30'000};

  // Callbacks, on the cache's own thread. They may use and destroy the cache. They must not throw.

  // The state of an election has changed. Get already returns this state or a later one.
  std::function<void(const std::string& election, const CachedSeat&)> on_change = {};
  // As in ObserverOptions. The cache keeps its contents, which grow older.
  std::function<void(const grpc::Status&)> on_failed = {};
};

// Thread-safe, except for the destructor. Costs one Observer and the memory for its contents.
class LeaderCache {
 public:
  // Starts to observe. Throws std::invalid_argument if an option is malformed.
  explicit LeaderCache(LeaderCacheOptions options);
  // As ~Observer().
  ~LeaderCache();
  LeaderCache(const LeaderCache&) = delete;
  LeaderCache& operator=(const LeaderCache&) = delete;

  // Never waits for the service. With `prefix`, once the cache is ready, an unreported election
  // with that prefix counts as known: nobody has campaigned in it.
  [[nodiscard]] CachedSeat Get(const std::string& election) const;
  // Waits until the state of every requested election has arrived; from then on the cache stays
  // ready. False if that takes longer than `timeout`, or has failed. Do not call it from a
  // callback.
  [[nodiscard]] bool WaitUntilReady(std::chrono::milliseconds timeout) const;
  // Time since the last message from the service, or since the cache was made if there was none.
  // While the service can be reached, a message comes at least every ten seconds. Also counts the
  // time that the machine sleeps.
  [[nodiscard]] std::chrono::milliseconds age() const;

 private:
  class State;
  std::shared_ptr<State> state_;
  std::optional<Observer> observer_;
};

}  // namespace tenure
