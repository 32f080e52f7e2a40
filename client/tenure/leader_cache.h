// Who leads which election, from memory: for routers, clients and dashboards that ask often.
//
//   tenure::LeaderCache leaders({.endpoints = "tenure:7070", .names = {"shards/"}, .prefix =
//   true}); if (!leaders.WaitUntilReady(5s)) ... const auto seat = leaders.Get("shards/7"); if
//   (seat.leader) SendTo(seat.leader->value(), seat.term);
//
// It keeps what an Observer tells (tenure/observer.h), and goes on by itself after every trouble.
//
// What it does not promise
// - It may be late: by milliseconds while all goes well, and by age() at least, while the service
//   cannot be reached. It goes on to name the leader that it knew last; the limit is the caller's.
// - So whoever it names may lead no more. Send the term with what you ask of a leader, and let the
//   leader, or what it writes to, refuse another term: tenure/fence.h. Who must know for certain
//   calls Leader; who wants to lead asks an Elector.
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
  // False: it was not asked for, or nothing is known of it yet. Then the rest means nothing.
  bool known = false;
  std::optional<v1::Leadership> leader = {};  // none: the seat is vacant
  uint64_t term = 0;      // the highest that was ever granted; 0: nobody has ever led
  uint64_t revision = 0;  // the latest change; 0: nobody has ever stood
};

struct LeaderCacheOptions {
  // As an observer's.
  std::string endpoints = "127.0.0.1:7070";
  std::shared_ptr<grpc::ChannelCredentials> credentials = nullptr;
  std::vector<std::string> names = {};
  bool prefix = false;
  std::chrono::milliseconds silence_max{30'000};

  // Callbacks, on the cache's own thread. They may use and destroy the cache. They must not throw.

  // What is known of an election has changed: Get answers this already, or what came after it.
  std::function<void(const std::string& election, const CachedSeat&)> on_change = {};
  // As an observer's. What is known stays, and becomes older.
  std::function<void(const grpc::Status&)> on_failed = {};
};

// Thread-safe, except for the destructor. Costs an Observer, and what it knows.
class LeaderCache {
 public:
  // Begins to observe. Throws std::invalid_argument if an option is malformed.
  explicit LeaderCache(LeaderCacheOptions options);
  // As an observer's.
  ~LeaderCache();
  LeaderCache(const LeaderCache&) = delete;
  LeaderCache& operator=(const LeaderCache&) = delete;

  // Never waits for the service. With `prefix`, once the cache is ready, an election that begins
  // with it and was not told of is known: nobody has stood for it.
  [[nodiscard]] CachedSeat Get(const std::string& election) const;
  // Waits until every election that was asked for has been told once; it stays ready from then on.
  // False if that takes longer, or has failed. Not to be called from a callback.
  [[nodiscard]] bool WaitUntilReady(std::chrono::milliseconds timeout) const;
  // How long ago the service said anything; since the cache was made, if it never has. While the
  // service can be reached, it says something at least every ten seconds. Counts also while the
  // machine sleeps.
  [[nodiscard]] std::chrono::milliseconds age() const;

 private:
  class State;
  std::shared_ptr<State> state_;
  std::optional<Observer> observer_;
};

}  // namespace tenure
