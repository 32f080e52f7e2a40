#include "tests/sim/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/sim/random.h"

namespace tenure::sim {

using namespace std::chrono_literals;

namespace {

// Half of them in a world without other troubles of replicas.
void PlanBlackouts(Plan& plan, Random& random) {
  plan.blackouts_every = random.Between(3s, 8s);
  if (random.OneIn(2)) return;
  plan.kills_every = plan.shutdowns_every = plan.outages_every = plan.stalls_every =
      plan.steps_every = Duration(0);
  plan.store_kills = plan.store_stops = plan.store_failures = plan.store_lost_replies = 0;
  plan.store_failed_commits = 0;
  plan.steps_forward = false;
}

// Outages of many leases. A lease is longer than a client may take to notice that its connection is
// broken.
Plan OnlyBlackouts(Plan plan, Random& random) {
  plan.kills_every = plan.shutdowns_every = plan.outages_every = plan.stalls_every =
      plan.steps_every = plan.pauses_every = Duration(0);
  plan.store_kills = plan.store_stops = plan.store_failures = plan.store_lost_replies =
      plan.store_failed_commits = 0;
  plan.lost_messages = plan.slow_messages = 0;
  plan.steps_forward = false;
  plan.drift_max = std::min<int64_t>(plan.drift_max, 50'000);
  plan.lease_ttl = random.Between(3500ms, 6s);
  plan.blackouts_every = random.Between(3s, 8s);
  plan.suspends = true;
  plan.operators = 0;
  plan.rounds = static_cast<int>(random.Between(1, 2));
  plan.trouble = random.Between(20s, 60s);
  return plan;
}

// One replica after the other. A holder may not notice before its next renewal that it has to go to
// another replica, and its home ends it after a lease as long as it has not handed it over.
Plan OnlyRestarts(const Plan& plan, Random& random) {
  Plan calm = OnlyBlackouts(plan, random);
  calm.blackouts_every = Duration(0);
  calm.shutdowns_every = random.Between(1s, 5s);
  calm.replicas = std::max(calm.replicas, 2);
  calm.lease_ttl = random.Between(7s, 10s);
  return calm;
}

// Troubles of replicas as homes of sessions. They draw from a source of their own.
Plan WithTroublesOfHomes(Plan plan) {
  Random random(plan.seed ^ 0x803e5);
  const auto sometimes = [&](Duration least, Duration most) {
    return random.OneIn(2) ? random.Between(least, most) : Duration(0);
  };
  plan.hedges = random.OneIn(2);
  plan.suspends = random.OneIn(2);
  if (random.OneIn(6)) {
    return plan.shutdowns_every > 0s ? OnlyRestarts(plan, random) : OnlyBlackouts(plan, random);
  }
  plan.freezes_every = sometimes(2s, 8s);
  plan.isolations_every = sometimes(4s, 12s);
  plan.late_writes = random.OneIn(2) ? random.Between(5'000, 100'000) : 0;
  if (random.OneIn(2)) plan.trouble = random.Between(8s, 20s);
  if (random.OneIn(4)) plan.lease_ttl = random.Between(4s, 10s);  // longer than a beat is good
  if (random.OneIn(4)) {
    plan.steps_by_hours = plan.steps_forward = true;
    plan.steps_every = random.Between(2s, 10s);
    plan.operators = 0;  // their delays would last for hours, too
  }
  plan.copies_every = plan.replicas > 1 ? sometimes(3s, 12s) : Duration(0);
  return plan;
}

}  // namespace

Plan PlanFor(uint64_t seed) {
  Random random(seed);
  Plan plan;
  plan.seed = seed;
  plan.replicas = static_cast<int>(random.Between(1, 3));
  plan.elections = static_cast<int>(random.Between(1, 3));
  plan.holders = static_cast<int>(random.Between(2, 9));
  plan.pollers = static_cast<int>(random.Between(0, 2));
  plan.patient = random.OneIn(3);
  plan.lease_ttl = random.Between(1s, 4s);
  plan.feed_interval = std::chrono::milliseconds(random.Between(10, 200));
  plan.rounds = static_cast<int>(random.Between(1, 4));
  plan.trouble = random.Between(3s, 8s);

  // Each kind of trouble is in some seeds and not in others, so that a failure says which it needs.
  const auto sometimes = [&](Duration least, Duration most) {
    return random.OneIn(2) ? random.Between(least, most) : Duration(0);
  };
  plan.lost_messages = random.OneIn(2) ? random.Between(1'000, 50'000) : 0;
  plan.slow_messages = random.OneIn(2) ? random.Between(1'000, 100'000) : 0;
  plan.slow_at_most = random.Between(100ms, 2 * plan.lease_ttl);
  plan.busy_at_most = sometimes(1ms, 100ms);
  plan.store_failures = random.OneIn(2) ? random.Between(1'000, 30'000) : 0;
  plan.store_lost_replies = random.OneIn(2) ? random.Between(1'000, 50'000) : 0;
  plan.store_kills = random.OneIn(2) ? random.Between(100, 2'000) : 0;
  plan.kills_every = sometimes(1s, 10s);
  plan.shutdowns_every = sometimes(2s, 10s);
  plan.outages_every = sometimes(3s, 10s);
  plan.pauses_every = sometimes(500ms, 5s);
  plan.stalls_every = sometimes(200ms, 3s);
  plan.locks_every = sometimes(500ms, 5s);
  plan.steps_every = random.OneIn(3) ? random.Between(2s, 10s) : Duration(0);
  plan.steps_forward = plan.steps_every > 0s && random.OneIn(2);
  plan.drift_max = random.OneIn(6) ? 400'000 : random.OneIn(2) ? 50'000 : 0;
  plan.stale_heads = random.OneIn(2);
  plan.decided_twice = random.OneIn(3);
  plan.operators = static_cast<int>(random.Between(0, 2));
  plan.orders_every = random.Between(200ms, 2s);
  plan.set_takers = plan.elections > 1 ? static_cast<int>(random.Between(0, 2)) : 0;
  plan.reluctant = random.OneIn(2);
  plan.twins = random.OneIn(3);
  plan.names_previous = random.OneIn(3);
  plan.store_stops = random.OneIn(4) ? 0 : random.Between(50, 300);
  plan.store_failed_commits = random.OneIn(2) ? random.Between(1'000, 50'000) : 0;
  if (random.OneIn(3)) PlanBlackouts(plan, random);
  plan.forgetful = random.OneIn(3);
  plan.purges = random.OneIn(2);
  return WithTroublesOfHomes(plan);
}

std::string Describe(const Plan& plan) {
  const auto seconds = [](Duration duration) {
    return static_cast<double>(duration.count()) / 1e6;
  };
  return fmt::format(
      "seed {}: {} replicas, {} elections, {}{} holders, {} pollers, {} takers of sets, {} "
      "operators (an order each {:.1f} s), lease {:.3f} s, feed {} ms, {} rounds of trouble for "
      "{:.3f} s; per million: {} messages are lost and {} slow, up to {:.3f} s; of calls of the "
      "store {} fail, {} fail to commit, {} lose their reply, {} kill, {} stop, {} are late; busy "
      "for "
      "{:.3f} s; seconds between: kills {:.1f}, shutdowns {:.1f}, outages {:.1f}, isolations "
      "{:.1f}, copies {:.1f}, freezes {:.1f}, pauses {:.1f}, stalls {:.1f}, locks {:.1f}, clock "
      "steps {:.1f}{}{}, "
      "blackouts {:.1f}; drift {} per million{}{}{}{}{}{}{}{}{}",
      plan.seed, plan.replicas, plan.elections, plan.patient ? "patient " : "", plan.holders,
      plan.pollers, plan.set_takers, plan.operators, seconds(plan.orders_every),
      seconds(plan.lease_ttl), plan.feed_interval.count(), plan.rounds, seconds(plan.trouble),
      plan.lost_messages, plan.slow_messages, seconds(plan.slow_at_most), plan.store_failures,
      plan.store_failed_commits, plan.store_lost_replies, plan.store_kills, plan.store_stops,
      plan.late_writes, seconds(plan.busy_at_most), seconds(plan.kills_every),
      seconds(plan.shutdowns_every), seconds(plan.outages_every), seconds(plan.isolations_every),
      seconds(plan.copies_every), seconds(plan.freezes_every), seconds(plan.pauses_every),
      seconds(plan.stalls_every), seconds(plan.locks_every), seconds(plan.steps_every),
      plan.steps_forward ? " forward too" : "", plan.steps_by_hours ? " by hours" : "",
      seconds(plan.blackouts_every), plan.drift_max, plan.stale_heads ? ", stale heads" : "",
      plan.decided_twice ? ", decided twice" : "", plan.forgetful ? ", forgetful" : "",
      plan.purges ? ", purges" : "", plan.reluctant ? ", negative priorities" : "",
      plan.twins ? ", twins" : "", plan.names_previous ? ", previous sessions named" : "",
      plan.hedges ? ", hedged renewals" : "", plan.suspends ? ", suspended holders" : "");
}

}  // namespace tenure::sim
