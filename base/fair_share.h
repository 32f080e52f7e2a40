// Shares something scarce, so that no holder can take what others need.
//
// A holder may have at most as much as it leaves free: one alone gets at most half, two get a third
// each, and so on. Some is always left for the next one.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>

namespace tenure {

// `Holder` has an order. Not thread-safe.
template <typename Holder>
class FairShare {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Limits {
    size_t max = 0;
    // An amount held for nothing still counts after it is given back, and is forgiven at these
    // rates. So giving it back and taking it again gains nothing.
    size_t forgiven_per_s = 0;  // of one holder
    size_t forgiven_in_all_per_s = 0;
  };

  explicit FairShare(const Limits& limits) : limits_(limits) {}

  // False, and nothing has changed, if the holder would have more than its share.
  [[nodiscard]] bool Take(const Holder& holder, size_t amount, Time now) {
    const size_t in_all = all_.Sum(limits_.forgiven_in_all_per_s, now);
    if (in_all >= limits_.max) return false;
    ForgetIdle(now);
    Account& account = accounts_[holder];
    const size_t own = account.Sum(limits_.forgiven_per_s, now);
    if (own + 2 * amount > limits_.max - in_all) return false;  // it would leave less than it has
    account.held += amount;
    all_.held += amount;
    return true;
  }
  // Takes it beyond the share.
  void TakeAnyway(const Holder& holder, size_t amount) {
    accounts_[holder].held += amount;
    all_.held += amount;
  }
  void Release(const Holder& holder, size_t amount) {
    accounts_.at(holder).held -= amount;
    all_.held -= amount;
  }
  // Like `Release`, for an amount that was held for nothing.
  void ReleaseUnused(const Holder& holder, size_t amount, Time now) {
    Release(holder, amount);
    accounts_.at(holder).Owe(amount, limits_.forgiven_per_s, now);
    all_.Owe(amount, limits_.forgiven_in_all_per_s, now);
  }

  // Without what still counts after it was given back.
  [[nodiscard]] size_t held() const { return all_.held; }
  [[nodiscard]] size_t held(const Holder& holder) const {
    const auto account = accounts_.find(holder);
    return account == accounts_.end() ? 0 : account->second.held;
  }

 private:
  struct Account {
    size_t held = 0;
    double owed = 0;  // at that time
    Time owed_at;

    [[nodiscard]] double Owed(size_t forgiven_per_s, Time now) const {
      const std::chrono::duration<double> passed = now - owed_at;
      return std::max(0.0, owed - passed.count() * static_cast<double>(forgiven_per_s));
    }
    [[nodiscard]] size_t Sum(size_t forgiven_per_s, Time now) const {
      return held + static_cast<size_t>(Owed(forgiven_per_s, now));
    }
    void Owe(size_t amount, size_t forgiven_per_s, Time now) {
      owed = Owed(forgiven_per_s, now) + static_cast<double>(amount);
      owed_at = now;
    }
  };

  // Now and then, drops the accounts of holders that hold and owe nothing.
  void ForgetIdle(Time now) {
    if (accounts_.size() < forget_at_) return;
    std::erase_if(accounts_, [&](const auto& entry) {
      const Account& account = entry.second;
      return account.held == 0 && account.Owed(limits_.forgiven_per_s, now) == 0;
    });
    forget_at_ = kForgetAt + 2 * accounts_.size();
  }

  const Limits limits_;
  Account all_;
  std::map<Holder, Account> accounts_;
  static constexpr size_t kForgetAt = 64;
  size_t forget_at_ = kForgetAt;  // number of accounts
};

}  // namespace tenure
