// A run as its seed plans it: how many take part, what goes wrong, and how often. Plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "core/types.h"

namespace tenure::sim {

struct Plan {
  uint64_t seed = 0;

  int replicas = 0;
  int elections = 0;
  int holders = 0;  // clients that wait in their calls
  int pollers = 0;  // clients that campaign again and again, in several elections, with one session
  int operators = 0;
  Duration orders_every{0};  // of each operator, on average
  int set_takers = 0;        // clients that take the seats of several elections, all or none
  bool patient = false;      // holders wait in one call for as long as it takes
  Duration lease_ttl{0};     // what clients ask for
  std::chrono::milliseconds feed_interval{0};
  int rounds = 0;       // of trouble, with a lull after each
  Duration trouble{0};  // how long faults are planted in each round; then all of them end

  // Faults of messages, in millionths.
  int64_t lost_messages = 0;
  int64_t slow_messages = 0;
  Duration slow_at_most{0};
  // The longest time for which a task of a replica keeps a kind of threads busy.
  Duration busy_at_most{0};
  // Faults of calls of the store, in millionths.
  int64_t store_failures = 0;
  int64_t store_failed_commits = 0;  // of transactions: decided, and then rolled back
  int64_t store_lost_replies = 0;
  int64_t store_kills = 0;  // the replica dies just before, or just after
  int64_t store_stops = 0;  // the replica's process is stopped just before, or just after
  int64_t late_writes = 0;  // that fail and are made later: of homes only
  // Average intervals; 0: never.
  Duration kills_every{0};
  Duration shutdowns_every{0};  // a replica drains, and is killed a little later
  Duration outages_every{0};    // a replica cannot reach the database
  Duration pauses_every{0};     // a client is stopped, and goes on later
  Duration stalls_every{0};     // all threads of a replica for one kind of work are busy
  Duration locks_every{0};      // a user's transaction holds an election's row
  Duration steps_every{0};      // the database's clock is set
  bool steps_forward = false;
  bool steps_by_hours = false;
  Duration blackouts_every{0};   // no replica can reach the database
  Duration freezes_every{0};     // a replica's process is stopped, and goes on
  Duration copies_every{0};      // a replica's machine is replaced by a copy of another one's
  Duration isolations_every{0};  // one replica cannot reach the database until it is declared dead
  // The maximum drift of clients' clocks, in millionths.
  int64_t drift_max = 0;
  // Allowed by the store's contract, and done by MySQL: the head of a queue may have died since it
  // was read, and a transaction may be decided more than once.
  bool stale_heads = false;
  bool decided_twice = false;
  bool forgetful = false;  // replicas remember less than they could
  bool purges = false;     // operators remove what nobody uses

  bool hedges = false;          // holders renew at two replicas
  bool suspends = false;        // some holders go on in the same term when a renewal is answered
  bool reluctant = false;       // some candidacies have a negative priority
  bool twins = false;           // two holders have the same candidate's name, and supersede
  bool names_previous = false;  // clients name the session that they had before: adaptive leases

  // The longest lease that a session gets.
  [[nodiscard]] Duration LeaseMax() const { return names_previous ? 2 * lease_ttl : lease_ttl; }
  // Whether no holder may lose its session: nothing keeps it from a replica, nor replicas from the
  // database, but blackouts, or replicas that are shut down one after the other.
  [[nodiscard]] bool Calm() const {
    const Duration now_and_then = kills_every + outages_every + pauses_every + stalls_every +
                                  steps_every + freezes_every + isolations_every + copies_every;
    const int64_t per_million = lost_messages + slow_messages + store_kills + store_failures +
                                store_failed_commits + store_lost_replies + store_stops +
                                late_writes;
    return now_and_then == Duration(0) && per_million == 0;
  }
  [[nodiscard]] int clients() const { return holders + pollers + set_takers; }
  // Whether holders may trust their leases: clocks drift by less than a tenth. Beyond that the term
  // alone protects.
  [[nodiscard]] bool LeasesHold() const { return drift_max < 100'000; }
};

[[nodiscard]] Plan PlanFor(uint64_t seed);
[[nodiscard]] std::string Describe(const Plan& plan);

}  // namespace tenure::sim
