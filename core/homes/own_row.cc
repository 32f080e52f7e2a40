#include "core/homes/own_row.h"

#include <algorithm>

#include "core/lease.h"

namespace tenure {

OwnRow::Write OwnRow::Begin(HomeTime now) {
  return {id_, ++number_, acknowledged_, departures_, now};
}

void OwnRow::OnBeat(const Write& write, HomeTime now) {
  OnNumbered(write);
  const HomeTime until = write.sent + (good_for_ - good_for_ / kBeliefDivisor);
  if (until <= std::max(good_until_, now)) return;
  if (!GoodAt(now)) {
    served_ += good_until_ - good_since_;
    good_since_ = now;
  }
  good_until_ = until;
}

void OwnRow::OnNumbered(const Write& write) { acknowledged_ = write.number; }

void OwnRow::OnRefused(const Write& write) { number_ = write.number - 1; }

void OwnRow::Knows(uint64_t departures) { departures_ = std::max(departures_, departures); }

ServiceTime OwnRow::ServiceTimeAt(HomeTime now) const {
  const HomeTime until = std::clamp(now, good_since_, good_until_);
  return {std::chrono::floor<Duration>(served_ + (until - good_since_))};
}

HomeTime OwnRow::When(ServiceTime time) const { return good_since_ + (time.served - served_); }

OwnRow::Verdict OwnRow::Judge(const Write& write, bool made, const std::optional<HomeRow>& row) {
  // First, because a database that went back may match any case below, too.
  if (!row || row->beat < write.acknowledged || row->departures < write.departures) {
    return Verdict::kWentBack;
  }
  if (made) return Verdict::kMade;
  if (row->dead) return Verdict::kDead;
  return row->beat >= write.number ? Verdict::kOver : Verdict::kAgain;
}

}  // namespace tenure
