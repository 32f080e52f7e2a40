// What `tenure top` knows: where each election stands, and what changed last.
//
// It learns about elections in two ways. Events come at once, each once and in order, and say who
// leads. Lists come every second, say the rest too (leases, queues, what is out of the ordinary),
// and may be older than an event that came before them. Pure: `now` is an argument. Not
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

  // A list of all elections, asked for at `asked_at` and complete at `now`.
  void Listed(std::vector<v1::Election> elections, Time asked_at, Time now);
  void Observed(const v1::ObserveResponse& response, Time now);

  // All elections by name, with what is left of each lease at `now`.
  [[nodiscard]] std::vector<v1::Election> Elections(Time now) const;
  // The latest first.
  [[nodiscard]] const std::deque<v1::Event>& changes() const { return changes_; }
  // Whether changes are known from now on: the service has begun to tell them.
  [[nodiscard]] bool observing() const { return observing_; }

 private:
  struct Entry {
    v1::Election election;
    Time read_at{};     // when the lease was as it says
    Time changed_at{};  // by an event
  };

  // Takes over who leads.
  static void Lead(Entry& entry, uint64_t revision, uint64_t term, const v1::Leadership* leader,
                   Time now);

  std::map<std::string, Entry> entries_;
  std::deque<v1::Event> changes_;
  bool observing_ = false;
};

}  // namespace tenure::top
