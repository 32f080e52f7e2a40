#include "server/engine/membership.h"

#include <algorithm>
#include <chrono>

namespace tenure::engine {
namespace {

using namespace std::chrono_literals;

constexpr auto kAnnounceInterval = 5s;
constexpr auto kAnnounceIntervalMin = 100ms;
constexpr auto kAnnounceIntervalAfterFailure = 250ms;
// A replica that has missed some of its announcements is gone.
constexpr Duration kSilentReplicaIsGone = 20s;
constexpr size_t kPeersMax = 64;

}  // namespace

void Membership::Start() {
  const MutexLock lock(mutex_);
  PlanLook(scheduler_.Now());
}

void Membership::LookSoon() {
  const MutexLock lock(mutex_);
  if (failed_) return;  // it looks soon anyway
  if (!next_) {
    again_ = true;
    return;
  }
  const SteadyTime soon = std::max(scheduler_.Now(), looked_at_ + kAnnounceIntervalMin);
  if (next_->first <= soon) return;
  scheduler_.Cancel(*next_);
  PlanLook(soon);
}

void Membership::Look() {
  {
    const MutexLock lock(mutex_);
    next_.reset();
    again_ = false;
  }
  const auto peers = store_.Announce(self_, kSilentReplicaIsGone, kPeersMax);
  found_(peers);
  const MutexLock lock(mutex_);
  looked_at_ = scheduler_.Now();
  failed_ = !peers;
  SteadyTime::duration pause = again_ ? kAnnounceIntervalMin : kAnnounceInterval;
  if (failed_) pause = kAnnounceIntervalAfterFailure;
  PlanLook(looked_at_ + pause);
}

void Membership::PlanLook(SteadyTime when) {
  next_ = scheduler_.PostAt(Work::kBackground, when, [this] { Look(); });
}

}  // namespace tenure::engine
