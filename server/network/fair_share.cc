#include "server/network/fair_share.h"

#include <algorithm>

namespace tenure::network {

double FairShare::Account::Owed(size_t forgiven_per_s, Time now) const {
  const std::chrono::duration<double> passed = now - owed_at;
  return std::max(0.0, owed - passed.count() * static_cast<double>(forgiven_per_s));
}

size_t FairShare::Account::Sum(size_t forgiven_per_s, Time now) const {
  return held + static_cast<size_t>(Owed(forgiven_per_s, now));
}

void FairShare::Account::Owe(size_t amount, size_t forgiven_per_s, Time now) {
  owed = Owed(forgiven_per_s, now) + static_cast<double>(amount);
  owed_at = now;
}

bool FairShare::Take(const Origin& origin, size_t amount, Time now) {
  const size_t in_all = all_.Sum(limits_.forgiven_in_all_per_s, now);
  if (in_all >= limits_.max) return false;
  ForgetIdle(now);
  Account& account = accounts_[origin];
  const size_t own = account.Sum(limits_.forgiven_per_s, now);
  if (own + 2 * amount > limits_.max - in_all) return false;  // it would leave less than it holds
  account.held += amount;
  all_.held += amount;
  return true;
}

void FairShare::TakeAnyway(const Origin& origin, size_t amount) {
  accounts_[origin].held += amount;
  all_.held += amount;
}

void FairShare::GiveBack(const Origin& origin, size_t amount) {
  accounts_.at(origin).held -= amount;
  all_.held -= amount;
}

void FairShare::GiveBackForNothing(const Origin& origin, size_t amount, Time now) {
  GiveBack(origin, amount);
  accounts_.at(origin).Owe(amount, limits_.forgiven_per_s, now);
  all_.Owe(amount, limits_.forgiven_in_all_per_s, now);
}

void FairShare::ForgetIdle(Time now) {
  if (accounts_.size() < forget_at_) return;
  std::erase_if(accounts_, [&](const auto& entry) {
    const auto& [origin, account] = entry;
    return account.held == 0 && account.Owed(limits_.forgiven_per_s, now) == 0;
  });
  forget_at_ = kForgetAt + 2 * accounts_.size();
}

}  // namespace tenure::network
