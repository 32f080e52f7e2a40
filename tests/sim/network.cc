#include "tests/sim/network.h"

namespace tenure::sim {

using namespace std::chrono_literals;

void Network::Spread(int from, PartitionOffset at) {
  for (const auto& replica : replicas_) {
    if (replica->number() == from) continue;
    const auto there = Transit();
    if (!there) continue;
    const auto arrive = [&other = *replica, at] {
      if (!other.up()) return;
      PartitionOffsets offsets{};
      offsets.at(static_cast<size_t>(at.partition)) = at.offset;
      other.Enter([&](engine::Engine& engine) { engine.Nudged(offsets); });
    };
    world_.After(*there, [&other = *replica, arrive] { other.Arrive(arrive); });
  }
}

std::optional<Duration> Network::Transit() {
  Random& random = world_.random;
  if (world_.healed) return random.Between(100us, 2ms);
  if (random.Chance(world_.plan.lost_messages)) return std::nullopt;
  const bool slow = random.Chance(world_.plan.slow_messages);
  return slow ? random.Between(2ms, world_.plan.slow_at_most) : random.Between(100us, 5ms);
}

Duration Network::TimeToNotice() { return world_.random.Between(1ms, 2s); }

Duration Network::TimeToWrite() {
  const bool slow = !world_.healed && world_.random.OneIn(20);
  return world_.random.Between(1us, slow ? Duration(500ms) : Duration(100us));
}

}  // namespace tenure::sim
