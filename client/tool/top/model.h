// What `tenure top` knows: the state of each election, and the latest changes.
//
// It learns about elections in two ways. Events arrive at once, in order and without repetition,
// and say who leads. Lists arrive every second, have the rest as well (leases, queues, anything
// unusual), and may be older than an event that arrived before. Pure: `now` is an argument. Not
// thread-safe.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "tenure/v1/admin.pb.h"
#include "tenure/v1/election.pb.h"

namespace tenure::top {

class Model {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Takes a list of all elections, requested at `asked_at` and complete at `now`.
  void Listed(std::vector<v1::Election> elections, Time asked_at, Time now);
  void Observed(const v1::ObserveResponse& response, Time now);

  // All elections by name, with the rest of each lease at `now`.
  [[nodiscard]] std::vector<v1::Election> Elections(Time now) const;
  // The latest first.
  [[nodiscard]] const std::deque<v1::Event>& changes() const { return changes_; }
  // Whether changes are known from now on, because the service has started to send them.
  [[nodiscard]] bool observing() const { return observing_; }

 private:
  struct Entry {
    v1::Election election;
    Time read_at{};     // when the lease was read
    Time changed_at{};  // by an event
  };

  // Sets who leads.
  static void Lead(Entry& entry, uint64_t revision, uint64_t term, const v1::Leadership* leader,
                   Time now);

  std::map<std::string, Entry> entries_;
  std::deque<v1::Event> changes_;
  bool observing_ = false;
};

}  // namespace tenure::top
