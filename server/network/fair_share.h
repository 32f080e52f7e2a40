// Shares something scarce among origins, so that none can take what others need.
//
// An origin may hold as much as it leaves for others: one alone holds half of all at most, two hold
// a third each, and so on. Some room is always left for the next one.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>

#include "server/network/origin.h"

namespace tenure::network {

class FairShare {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Limits {
    size_t max = 0;
    // What was held for nothing counts on, and is forgiven at these rates. So it is of no use to
    // give it back and to take it again.
    size_t forgiven_per_s = 0;  // of one origin
    size_t forgiven_in_all_per_s = 0;
  };

  explicit FairShare(const Limits& limits) : limits_(limits) {}

  // False, and nothing has changed, if the origin would hold more than its share.
  [[nodiscard]] bool Take(const Origin& origin, size_t amount, Time now);
  // Takes it beyond the share.
  void TakeAnyway(const Origin& origin, size_t amount);
  void GiveBack(const Origin& origin, size_t amount);
  // The same, for what was held for nothing.
  void GiveBackForNothing(const Origin& origin, size_t amount, Time now);

  // Without what counts on.
  [[nodiscard]] size_t held() const { return all_.held; }

 private:
  struct Account {
    size_t held = 0;
    double owed = 0;  // at that time
    Time owed_at;

    [[nodiscard]] double Owed(size_t forgiven_per_s, Time now) const;
    [[nodiscard]] size_t Sum(size_t forgiven_per_s, Time now) const;
    void Owe(size_t amount, size_t forgiven_per_s, Time now);
  };

  // Forgets those that hold and owe nothing, now and then.
  void ForgetIdle(Time now);

  const Limits limits_;
  Account all_;
  std::map<Origin, Account> accounts_;
  static constexpr size_t kForgetAt = 64;
  size_t forget_at_ = kForgetAt;  // when there are that many accounts
};

}  // namespace tenure::network
