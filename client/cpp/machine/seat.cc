#include "client/cpp/machine/seat.h"

#include <algorithm>

#include "client/cpp/machine/call_error.h"

namespace tenure {
namespace {

constexpr int kGraceDivisor = 4;

}  // namespace

void Seat::Proclaim(std::string value, Time now) {
  options_.value = std::move(value);
  proclaiming_ = true;
  if (phase_ == Phase::kStanding || phase_ == Phase::kLeading) need_at_ = now;
}

void Seat::Leave(Time now) {
  wanted_ = false;
  if (phase_ == Phase::kLeading) AskToStop(now);
  const bool placed =
      phase_ == Phase::kStanding || phase_ == Phase::kHeld || phase_ == Phase::kRetaking;
  if (placed || (phase_ == Phase::kOutside && maybe_placed_)) GiveUp(now);
}

void Seat::Abandon(Time now) {
  wanted_ = false;
  working_ = false;
  if (phase_ == Phase::kEnding) phase_ = Phase::kOutside;
  if (phase_ != Phase::kOutside || maybe_placed_) GiveUp(now);
}

void Seat::WorkEnded(Time now) {
  working_ = false;
  if (phase_ == Phase::kStopping) return Stopped(now);
  if (phase_ == Phase::kLeading) return GiveUp(now);
  if (phase_ != Phase::kEnding) return;
  phase_ = Phase::kOutside;
  need_at_ = now;
  if (!wanted_ && maybe_placed_) GiveUp(now);
}

void Seat::BeliefEnded(Time now) {
  if (!believes_) return;
  if (working_ && phase_ == Phase::kLeading) events_.push_back(StopWork{});
  if (working_ && !std::exchange(overran_, true)) events_.push_back(Overrun{});
  StopBelieving(v1::CAUSE_EXPIRED);
  outlived_lease_ = true;
  if (!working_) return Stopped(now);
  phase_ = Phase::kStopping;
}

void Seat::Begin(Time now, const Lease& lease) {
  phase_ = Phase::kLeading;
  believes_ = true;
  wanted_ = !options_.one_term;
  lease_ttl_ = lease.ttl();
  working_ = options_.has_work;
  blocked_ = false;
  suspended_ = false;
  overran_ = false;
  proclaiming_ = leadership_.value() != options_.value;
  need_at_ = now;
  events_.push_back(Elected{leadership_});
  if (!leadership_.successor().empty()) AskToHandOver(now);
}

void Seat::StandDown(Time now) {
  if (phase_ == Phase::kLeading) AskToStop(now);
  if (phase_ == Phase::kHeld) GiveUp(now);
}

void Seat::Asked() {
  asked_in_term_ = leadership_.term();
  asked_after_term_ = after_term();
  maybe_placed_ = true;
  proclaiming_ = false;
}

void Seat::Unanswered(const grpc::Status& status, Time retry_at) {
  const auto trouble = IsTransient(status) ? Trouble::kUnanswered : Trouble::kRefused;
  if (std::exchange(trouble_, trouble) != trouble) events_.push_back(Troubled{status});
  proclaiming_ = true;
  need_at_ = retry_at;
}

void Seat::OnStanding(const v1::Standing& place, Time now, Time check_at) {
  trouble_ = Trouble::kNone;
  if (HeldWhenAsked()) Over(v1::CAUSE_UNSPECIFIED, now);
  if (phase_ != Phase::kOutside && phase_ != Phase::kStanding) return;
  const bool stood = std::exchange(phase_, Phase::kStanding) == Phase::kStanding;
  if (!wanted_) return GiveUp(now);
  if (!stood) events_.push_back(Standing{place});
  need_at_ = proclaiming_ ? now : check_at;
}

void Seat::OnBlocked(const std::vector<std::string>& elections, Time now, Time retry_at) {
  trouble_ = Trouble::kNone;
  // The service has nevertheless left the seat to this session.
  if (HeldWhenAsked()) StandDown(now);
  maybe_placed_ = leadership_.term() != 0;
  if (phase_ != Phase::kOutside) return;
  if (!std::exchange(blocked_, true)) events_.push_back(SetBlocked{elections});
  need_at_ = retry_at;
}

void Seat::OnElected(const v1::Leadership& leadership, Time now, const Lease& lease) {
  if (leadership.term() <= leadership_.term()) return;
  if (leadership.term() <= closed_term_) {
    // Either stale, or the service still thinks we lead a term that we have given up.
    if (leadership_.term() != 0 || phase_ == Phase::kEnding) return;
    leadership_ = leadership;
    return GiveUp(now);
  }
  if (leadership_.term() != 0) Over(v1::CAUSE_UNSPECIFIED, now);
  leadership_ = leadership;
  trouble_ = Trouble::kNone;
  outlived_lease_ = false;
  if (working_) {  // still working for an earlier term: this one is given up afterwards
    phase_ = Phase::kStopping;
    return;
  }
  if (!wanted_ || !lease.BelievedAt(now)) return GiveUp(now);
  if (!options_.in_set) return Begin(now, lease);
  phase_ = Phase::kHeld;
  need_at_ = now;
}

void Seat::OnCampaignElected(uint64_t term, Time now) {
  const bool kept = phase_ == Phase::kRetaking && term == leadership_.term();
  if (kept && term == asked_after_term_) GiveUp(now);  // the service does not know `after_term`
}

void Seat::OnLost(uint64_t term, v1::Cause cause, Time now) {
  if (term <= closed_term_ || term < leadership_.term()) return;
  closed_term_ = term;
  if (phase_ == Phase::kResigning && term == leadership_.term()) return;  // the answer ends it
  if (leadership_.term() != 0) return Over(cause, now);
  if (phase_ != Phase::kStanding) return;
  phase_ = Phase::kOutside;  // elected and lost before this process knew
  need_at_ = now;
}

void Seat::OnStepDownAsked(uint64_t term, const std::string& successor, Time now) {
  if (term != leadership_.term()) return;
  leadership_.set_successor(successor);  // if it does not lead yet, it hands over when it begins
  if (phase_ == Phase::kLeading) AskToHandOver(now);
  if (phase_ == Phase::kRetaking) GiveUp(now);
}

void Seat::OnSessionOver(v1::Cause cause, Time now) {
  maybe_placed_ = false;
  Over(cause, now);
}

void Seat::OnRefused(const grpc::Status& status, Time now) {
  events_.push_back(Refused{status});
  if (phase_ == Phase::kLeading || phase_ == Phase::kStopping) return;  // only the value is refused
  Leave(now);
}

void Seat::OnResigned(uint64_t term, bool waits, Time again_at) {
  if (phase_ != Phase::kResigning || term != leadership_.term()) return;
  closed_term_ = std::max(closed_term_, term);
  leadership_.Clear();
  maybe_placed_ = waits;
  phase_ = Phase::kOutside;
  need_at_ = again_at;
  if (!wanted_ && maybe_placed_) GiveUp(again_at);
}

void Seat::Pass(Time now, const Lease& lease) {
  if (believes_ && !lease.BelievedAt(now)) BeliefEnded(now);
  if (phase_ == Phase::kHeld && !lease.BelievedAt(now)) GiveUp(now);
  if (believes_) {
    if (suspended_ != (now >= lease.overdue_at())) {
      suspended_ = !suspended_;
      suspended_ ? events_.push_back(Suspended{}) : events_.push_back(Resumed{});
    }
    const bool ends_soon = now >= lease.believed_until() - Grace(lease);
    if (phase_ == Phase::kLeading && options_.has_work && ends_soon) {
      outlived_lease_ = true;
      AskToStop(now);
    }
  }
  if (phase_ == Phase::kRetaking) {
    if (!lease.BelievedAt(now)) {
      need_at_ = Time::max();  // until a renewal confirms that the session is alive
    } else if (need_at_ == Time::max()) {
      need_at_ = now;
    }
  }
  if (phase_ != Phase::kStopping && phase_ != Phase::kEnding) return;
  if (now < OverrunAt(lease)) return;
  if (!working_) return GiveUp(now);
  if (!std::exchange(overran_, true)) events_.push_back(Overrun{});
}

Seat::Time Seat::NextWake(const Lease& lease) const {
  Time next = phase_ == Phase::kHeld ? lease.believed_until() : Time::max();
  if (believes_) {
    next = lease.believed_until();
    if (!suspended_) next = std::min(next, lease.overdue_at());
    if (phase_ == Phase::kLeading && options_.has_work) {
      next = std::min(next, lease.believed_until() - Grace(lease));
    }
  }
  const bool ends = phase_ == Phase::kStopping || phase_ == Phase::kEnding;
  if (ends && !overran_) next = std::min(next, OverrunAt(lease));
  return next;
}

Seat::Need Seat::need() const {
  switch (phase_) {
    case Phase::kOutside: return wanted_ ? Need::kCampaign : Need::kNothing;
    case Phase::kStanding:
    case Phase::kRetaking: return Need::kCampaign;
    case Phase::kLeading: return proclaiming_ ? Need::kCampaign : Need::kNothing;
    case Phase::kResigning: return Need::kResign;
    case Phase::kHeld:
    case Phase::kStopping:
    case Phase::kEnding: return Need::kNothing;
  }
  return Need::kNothing;
}

Seat::Time Seat::BelievedUntil(const Lease& lease) const {
  return believes_ ? lease.believed_until() : Time{};
}

void Seat::StopBelieving(v1::Cause cause) {
  if (!std::exchange(believes_, false)) return;
  suspended_ = false;
  events_.push_back(Lost{cause});
}

void Seat::AskToStop(Time now) {
  phase_ = Phase::kStopping;
  stop_asked_at_ = now;
  options_.has_work ? events_.push_back(StopWork{}) : StopBelieving(v1::CAUSE_RESIGNED);
}

void Seat::AskToHandOver(Time now) {
  events_.push_back(HandoverAsked{leadership_.successor()});
  AskToStop(now);
}

void Seat::Stopped(Time now) {
  const bool leads_on = outlived_lease_ && wanted_ && !options_.in_set;
  if (!leads_on || !leadership_.successor().empty()) return GiveUp(now);
  StopBelieving(v1::CAUSE_RESIGNED);
  phase_ = Phase::kRetaking;
  need_at_ = Time::max();
}

void Seat::GiveUp(Time now) {
  StopBelieving(v1::CAUSE_RESIGNED);
  phase_ = Phase::kResigning;
  need_at_ = now;
}

void Seat::Over(v1::Cause cause, Time now) {
  StopBelieving(cause);
  if (phase_ == Phase::kLeading && working_) {
    stop_asked_at_ = now;
    events_.push_back(StopWork{});
  }
  closed_term_ = std::max(closed_term_, leadership_.term());
  leadership_.Clear();
  phase_ = working_ ? Phase::kEnding : Phase::kOutside;
  need_at_ = now;
}

bool Seat::HeldWhenAsked() const {
  const bool held = phase_ == Phase::kHeld || phase_ == Phase::kLeading ||
                    phase_ == Phase::kStopping || phase_ == Phase::kRetaking;
  return held && asked_in_term_ == leadership_.term();
}

Seat::Time::duration Seat::Grace(const Lease& lease) const {
  // An ended session has no lease any more.
  const Duration ttl = lease.ttl() != Duration(0) ? lease.ttl() : lease_ttl_;
  return std::min(options_.stop_grace.value_or(ttl / kGraceDivisor), ttl / 2);
}

Seat::Time Seat::OverrunAt(const Lease& lease) const {
  const Time patience_ends = stop_asked_at_ + Grace(lease);
  return believes_ ? std::min(patience_ends, lease.believed_until()) : patience_ends;
}

}  // namespace tenure
