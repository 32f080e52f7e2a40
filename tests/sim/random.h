// Chance, from one seed: the same numbers on every machine and in every run. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>

namespace tenure::sim {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // SplitMix64.
  uint64_t Next() {
    uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
  }
  // REQUIRES: bound > 0.
  uint64_t Below(uint64_t bound) { return Next() % bound; }
  int64_t Between(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(Below(static_cast<uint64_t>(most - least) + 1));
  }
  std::chrono::microseconds Between(std::chrono::microseconds least,
                                    std::chrono::microseconds most) {
    return std::chrono::microseconds(Between(least.count(), most.count()));
  }
  // True with this probability, in millionths.
  bool Chance(int64_t per_million) { return static_cast<int64_t>(Below(1'000'000)) < per_million; }
  bool OneIn(uint64_t times) { return Below(times) == 0; }

 private:
  uint64_t state_;
};

}  // namespace tenure::sim
