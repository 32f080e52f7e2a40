// A limit on requests per second. One second's worth may arrive at once.
#pragma once

#include <algorithm>
#include <chrono>

#include "server/engine/work/scheduler.h"

namespace tenure::access {

class RequestBucket {
 public:
  RequestBucket(double per_second, engine::SteadyTime now) : left_(per_second), filled_at_(now) {}

  // Whether a call that counts as `cost` requests may be made now. It may if one is left, however
  // much it costs: later calls wait until that is paid off.
  [[nodiscard]] bool Take(double per_second, double cost, engine::SteadyTime now) {
    const std::chrono::duration<double> since = now - filled_at_;
    left_ = std::min(per_second, left_ + per_second * since.count());
    filled_at_ = now;
    if (left_ < 1) return false;
    left_ -= cost;
    return true;
  }

 private:
  double left_;
  engine::SteadyTime filled_at_;
};

}  // namespace tenure::access
