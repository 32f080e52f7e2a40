#include "tests/sim/set_taker.h"

#include <algorithm>

#include "tests/sim/values.h"

namespace tenure::sim {

using namespace std::chrono_literals;

std::optional<Term> SetTaker::BelievedTerm(const ElectionName& election) const {
  const auto mine = std::ranges::find(held_, election, &Leadership::election);
  return mine != held_.end() && Believes(lease_) ? std::optional(mine->term) : std::nullopt;
}

void SetTaker::BeginAgain() {
  NewSession();
  held_.clear();
  lease_ = Lease();
  set_.clear();
  const auto& all = world_.elections;
  const uint64_t left_out = world_.random.Below(all.size() + 1);  // or nothing is
  for (size_t i = 0; i < all.size(); ++i) {
    if (i != left_out || all.size() <= 2) set_.insert(all[i]);
  }
  world_.asked.sets[session_] = set_;
  AskLater(world_.random.Between(10ms, 800ms));
}

void SetTaker::AskLater(Duration pause) {
  const uint64_t number = ++calls_;
  After(pause, [this, number] {
    if (number == calls_) Ask();
  });
}

void SetTaker::Ask() {
  if (world_.quiet) return AskLater(100ms);
  CampaignRequest<CampaignForAll> request;
  CampaignForAll& campaign = request.command;
  campaign.elections.assign(set_.begin(), set_.end());
  campaign.session = session_;
  campaign.opening = Opening();
  if (session_is_known_) campaign.candidate = candidate_;
  campaign.value = ValueWith(0, world_.random.Below(4));
  request.timeout = world_.plan.lease_ttl / 2;
  // Their holder wants to hear at once if they are lost.
  if (!held_.empty() || world_.random.OneIn(2)) request.wait = Duration(0);
  world_.Say("{} asks r{} for a set of {}", NameOf(session_), replica_, set_.size());
  const uint64_t number = ++calls_;
  const Time sent_at = Now();
  call_ = network_.SendCampaign<calls::CampaignSet>(
      replica_, request, Here<calls::CampaignReply>([=, this](const auto& answer) {
        if (number == calls_) OnAnswer(sent_at, answer);
      }));
  After(*request.timeout, [this, number, call = call_, sent_at] {
    if (number != calls_ || call->over) return;
    call->Cancel();
    OnAnswer(sent_at, Fail(Reason::kStoreUnavailable, "no answer in time"));
  });
}

void SetTaker::OnAnswer(Time sent_at, const Result<calls::CampaignReply>& answer) {
  if (!answer) {
    const Reason reason = answer.error().reason;
    world_.Say("{} is answered about its set: {}", NameOf(session_), answer.error().message);
    MoveOn();
    if (reason == Reason::kSessionEnded || reason == Reason::kSessionNotFound) return BeginAgain();
    return AskLater(world_.random.Between(20ms, 300ms));
  }
  session_is_known_ = true;
  const bool had = !held_.empty();
  const auto* elected = std::get_if<calls::AllElected>(&answer->outcome);
  held_ = elected != nullptr ? elected->leaderships : std::vector<Leadership>();
  if (held_.empty()) {
    // A seat was taken from it: it gives up the others, too.
    if (had) return ResignAll();
    return AskLater(world_.random.Between(50ms, 500ms));
  }
  for (const Leadership& leadership : held_) CheckGrant(leadership);
  if (held_.size() != set_.size()) world_.Violate("{} was given a part of its set", name_);
  if (!had) {
    world_.Say("{} has its set of {}", NameOf(session_), set_.size());
    lease_ = Lease();
    resign_at_ = Now() + world_.random.Between(10ms, 3s);
  }
  lease_.Renewed(world_.mutation.lease_from_reply ? Now() : sent_at, answer->session.lease_ttl);
  Write();
  if (world_.healed || Now() >= resign_at_) return ResignAll();
  AskLater(world_.plan.lease_ttl / 3);
}

void SetTaker::Write() {
  if (!Believes(lease_)) return;
  for (const Leadership& mine : held_) {
    const auto transit = network_.Transit();
    if (!transit) continue;
    world_.After(*transit, [&resource = resource_, mine, session = session_] {
      resource.Write(mine.election, mine.term, session);
    });
  }
}

void SetTaker::ResignAll() {
  const bool had_its_turn = !held_.empty();
  held_.clear();
  world_.Say("{} resigns its set", NameOf(session_));
  if (world_.ending && had_its_turn) {
    ++calls_;
    return Retire();
  }
  for (const ElectionName& election : set_) {
    Submit(Resign{election, session_, {}}, [](const Result<Answer>&) {});
  }
  BeginAgain();
}

}  // namespace tenure::sim
