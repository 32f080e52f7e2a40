#include "tests/sim/poller.h"

#include <algorithm>

namespace tenure::sim {

using namespace std::chrono_literals;

Poller::Poller(World& world, Network& network, Resource& resource, const Auditor& auditor,
               int number)
    : Client(world, network, resource, auditor, number) {
  for (const ElectionName& name : world.elections) seats_[name];
}

void Poller::Start() {
  for (const auto& [election, seat] : seats_) AskLater(election, world_.random.Between(0ms, 500ms));
}

std::optional<Term> Poller::BelievedTerm(const ElectionName& election) const {
  const Seat& seat = seats_.at(election);
  return seat.term && Believes(seat.lease) ? seat.term : std::nullopt;
}

void Poller::Ask(const ElectionName& election) {
  if (world_.quiet) return AskLater(election, 100ms);
  Seat& seat = seats_.at(election);
  CampaignRequest<Campaign> request = RequestFor(election, 0);
  request.wait = Duration(0);
  request.timeout = world_.plan.lease_ttl / 2;
  const uint64_t number = ++seat.calls;
  const Time sent_at = Now();
  seat.call = Stand(request, [=, this](const Result<calls::CampaignReply>& stood) {
    if (number == seats_.at(election).calls) OnAnswer(election, sent_at, stood);
  });
  After(*request.timeout, [=, this] {
    Seat& same = seats_.at(election);
    if (number != same.calls || same.call->over) return;
    same.call->Cancel();
    OnAnswer(election, sent_at, Fail(Reason::kStoreUnavailable, "no answer in time"));
  });
}

void Poller::OnAnswer(const ElectionName& election, Time sent_at,
                      const Result<calls::CampaignReply>& stood) {
  Seat& seat = seats_.at(election);
  ++seat.calls;
  if (!stood) {
    const Reason reason = stood.error().reason;
    world_.Say("{} is answered about {}: {}", NameOf(session_), election.bytes,
               stood.error().message);
    MoveOn();
    if (reason == Reason::kSessionEnded || reason == Reason::kSessionNotFound) return BeginAgain();
    return AskLater(election, world_.random.Between(20ms, 300ms));
  }
  // The answer is for a session that was given up since.
  if (stood->session.id != session_) return AskLater(election, 1ms);
  session_is_known_ = true;
  const Leadership* elected = ElectedBy(*stood);
  if (elected == nullptr) {
    seat.term.reset();
    return AskLater(election, world_.plan.lease_ttl / 3);
  }
  CheckGrant(*elected);
  if (elected->term <= seat.resigned) {
    seat.term = elected->term;
    return ResignSeat(election, seat);
  }
  if (seat.term != elected->term) seat.lease = Lease();
  seat.term = elected->term;
  seat.lease.Renewed(world_.mutation.lease_from_reply ? Now() : sent_at, world_.plan.lease_ttl);
  if (Believes(seat.lease)) {
    const auto transit = network_.Transit();
    if (transit) {
      world_.After(*transit, [&resource = resource_, election, term = *seat.term,
                              session = session_] { resource.Write(election, term, session); });
    }
  }
  if (world_.healed || world_.random.OneIn(8)) return ResignSeat(election, seat);
  AskLater(election, world_.plan.lease_ttl / 3);
}

void Poller::AskLater(const ElectionName& election, Duration pause) {
  const uint64_t number = seats_.at(election).calls;
  After(pause, [=, this] {
    if (number == seats_.at(election).calls) Ask(election);
  });
}

void Poller::ResignSeat(const ElectionName& election, Seat& seat) {
  const Term term = *std::exchange(seat.term, std::nullopt);
  world_.Say("{} resigns {} in term {}", NameOf(session_), election.bytes, term.value);
  seat.resigned = term;
  seat.done |= world_.ending;
  Submit(Resign{election, session_, term}, [](const Result<Answer>&) {});
  const bool all = std::ranges::all_of(seats_, [](const auto& each) { return each.second.done; });
  if (all) {
    for (auto& each : seats_) ++each.second.calls;  // no more
    return Retire();
  }
  AskLater(election, world_.random.Between(100ms, 1s));
}

void Poller::BeginAgain() {
  NewSession();
  for (auto& [election, seat] : seats_) {
    ++seat.calls;
    seat.term.reset();
    seat.resigned = {};
    if (seat.call) seat.call->Cancel();
    AskLater(election, world_.random.Between(10ms, 300ms));
  }
}

}  // namespace tenure::sim
