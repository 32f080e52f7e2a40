#include "tests/sim/process.h"

namespace tenure::sim {

Result<Committed> ProcessStore::Transact(const LockSet& locks, const CommitRules& rules,
                                         const Decide& decide) {
  CommitRules counted = rules;
  if (auto& witness = counted.witness) {
    const uint64_t before = Before(witness->home).beat;
    witness->acknowledged += before;
    if (witness->number) *witness->number += before;
  }
  return next_.Transact(locks, counted, decide);
}

// The engine of a copied machine draws the ids that the original drew. The row of the image exists
// already; earlier ids are taken.
Result<bool> ProcessStore::BeginHome(const HomeRow& home) {
  const bool of_image = image_ && image_->row.id == home.id && home_ == HomeId{};
  auto begun = of_image ? true : next_.BeginHome(home);
  if (begun && *begun) home_ = home.id;
  return begun;
}

Result<BeatReport> ProcessStore::Beat(const BeatOrder& order) {
  const HomeRow before = Before(order.home);
  BeatOrder counted = order;
  if (order.number > 0) counted.number += before.beat;
  counted.acknowledged += before.beat;
  auto report = next_.Beat(counted);
  if (report && report->own) {
    report->own->beat -= before.beat;
    report->own->departures -= before.departures;
  }
  return report;
}

Result<std::vector<NumberedDeparture>> ProcessStore::ReadDepartures(HomeId home, uint64_t after,
                                                                    size_t limit) {
  const uint64_t before = Before(home).departures;
  auto departures = next_.ReadDepartures(home, after + before, limit);
  if (departures) {
    for (NumberedDeparture& departure : *departures) departure.number -= before;
  }
  return departures;
}

Result<bool> ProcessStore::DeclareDead(HomeId home, uint64_t beat) {
  // Only the own row is counted from the image.
  return next_.DeclareDead(home, beat + (home == home_ ? Before(home).beat : 0));
}

}  // namespace tenure::sim
