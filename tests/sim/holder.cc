#include "tests/sim/holder.h"

#include <algorithm>

#include "tests/sim/values.h"

namespace tenure::sim {

using namespace std::chrono_literals;

std::optional<Term> Holder::BelievedTerm(const ElectionName& election) const {
  const bool sure = confirmed_ || world_.mutation.believes_unconfirmed;
  const bool believes = holding_ && sure && election_ == election && Believes(lease_);
  return believes ? std::optional(term_) : std::nullopt;
}

void Holder::Rest() {
  ++calls_;
  if (world_.ending && had_its_turn_) return Retire();
  After(world_.random.Between(1ms, 800ms), [this] { Ask(); });
}

int32_t Holder::ChoosePriority() {
  if (!world_.random.OneIn(3)) return 0;
  const bool may_be_negative = world_.plan.reluctant && !world_.ending;
  return static_cast<int32_t>(world_.random.Between(may_be_negative ? -2 : 0, 2));
}

void Holder::Ask() {
  if (world_.quiet) return After(100ms, [this] { Ask(); });
  const bool other = election_.bytes.empty() || world_.random.OneIn(4);
  if (other &&
      !supersedes_) {  // with a new session: whatever the old one may still hold ends with it
    election_ = world_.elections[world_.random.Below(world_.elections.size())];
    const bool twin = !world_.ending && world_.plan.twins && candidate_ != name_;
    if (twin && world_.random.OneIn(2)) {
      NewSessionThatSupersedes();
    } else {
      NewSession();
    }
  }
  auto request = RequestFor(election_, ChoosePriority());
  // Some calls wait for as long as it takes.
  if (!world_.plan.patient) {
    if (!world_.random.OneIn(3))
      request.timeout = world_.random.Between(200ms, world_.random.OneIn(2) ? 1s : 6s);
    if (world_.random.OneIn(3)) request.wait = world_.random.Between(0s, 3s);
  }

  // A holder that does not want to lead may wait indefinitely.
  if (request.command.priority < 0 && !request.timeout)
    request.wait = world_.random.Between(0s, 3s);

  const uint64_t number = ++calls_;
  call_ = Stand(request, [this, number](const Result<calls::CampaignReply>& stood) {
    if (number == calls_) OnStood(stood);
  });
  if (request.timeout) {
    After(*request.timeout, [this, number, call = call_] {
      if (number != calls_ || call->over) return;
      call->Cancel();
      OnStood(Fail(Reason::kStoreUnavailable, "no answer in time"));
    });
  }
  if (!world_.healed && world_.random.OneIn(8)) {
    After(world_.random.Between(1ms, 3s), [this, number, call = call_] {
      if (number != calls_ || call->over) return;
      world_.Say("{} cancels its call", NameOf(session_));
      call->Cancel();
      Rest();
    });
  }
}

void Holder::OnStood(const Result<calls::CampaignReply>& stood) {
  if (!stood) {
    const Reason reason = stood.error().reason;
    world_.Say("{} is answered: {}", NameOf(session_), stood.error().message);
    if (reason == Reason::kSessionEnded || reason == Reason::kSessionNotFound) NewSession();
    if (reason == Reason::kCandidacyWithdrawn) return Ask();
    MoveOn();
    ++calls_;
    return After(world_.random.Between(50ms, 500ms), [this] { Ask(); });
  }
  session_is_known_ = true;
  if (const auto* elected = ElectedBy(*stood)) return Hold(*elected);
  if (!world_.healed && world_.random.OneIn(6)) return GiveUp();
  Ask();
}

// Leaves the queue. It does not know whether that succeeded, and so begins with a new session.
void Holder::GiveUp() {
  world_.Say("{} gives up", NameOf(session_));
  if (world_.random.OneIn(2)) {
    Submit(Resign{election_, session_, {}}, [](const Result<Answer>&) {});
  } else {
    CloseSession([](bool) {});
  }
  NewSession();
  Rest();
}

void Holder::Hold(const Leadership& leadership) {
  CheckGrant(leadership);
  world_.Say("{} hears that it leads {} in term {}", NameOf(session_), election_.bytes,
             leadership.term.value);
  ++calls_;
  holding_ = true;
  confirmed_ = false;
  obeys_ = world_.random.OneIn(2);
  suspends_ = world_.plan.suspends && (world_.plan.Calm() || world_.random.OneIn(2));
  term_ = leadership.term;
  lease_ = Lease();
  lease_.Renewed(Now(), world_.plan.lease_ttl);  // only until when to try
  next_write_ = Now();
  const bool long_term = !world_.healed && (world_.plan.Calm() || world_.random.OneIn(4));
  const Duration most = world_.plan.Calm() ? 60s : 15s;
  resign_at_ = Now() + world_.random.Between(10ms, long_term ? most : Duration(2s));
  OpenStream();
  Tick();
}

void Holder::Tick() {
  if (!holding_) return;
  const Time now = Now();
  if (!Believes(lease_) && !suspends_) {
    switch (world_.random.Below(3)) {
      case 0: return GiveUpSeat();
      case 1: return AskForNextTerm();
      default: return Lose("its lease has expired");
    }
  }
  if (now >= resign_at_ && confirmed_) return Leave();
  if (now >= reopen_at_) OpenStream();
  if (now >= next_renewal_) Renew();
  if (now >= next_write_) Write();
  const Time over = Believes(lease_) ? lease_.believed_until() : Time::max();
  const Time next = std::min({over, reopen_at_, next_renewal_, next_write_});
  At(std::max(next, now + 1ms), [this, number = ++ticks_] {
    if (number == ticks_) Tick();
  });
}

void Holder::OpenStream() {
  reopen_at_ = Time::max();
  const uint64_t number = ++stream_number_;
  stream_ = std::make_shared<KeepAliveStream>(
      network_, replica_, [&world = world_] { return ProbedKeepAlive(world); },
      std::vector<engine::Watch>(),
      [this, number](const calls::KeepAliveMessage& message) {
        Do([this, number, message] {
          if (!holding_ || number != stream_number_) return;
          OnMessage(message);
        });
      },
      [this, number] {
        Do([this, number] {
          if (holding_ && number == stream_number_) ReopenLater();
        });
      });
  stream_->Open();
  first_on_stream_ = true;
  unanswered_.clear();
  Renew();
}

void Holder::CloseStream() {
  for (auto* stream : {&stream_, &hedge_}) {
    if (*stream != nullptr) (*stream)->Close();
    stream->reset();
  }
  ++stream_number_;
}

void Holder::ReopenLater() {
  CloseStream();
  MoveOn();
  reopen_at_ = Now() + world_.random.Between(20ms, 200ms);
  next_renewal_ = Time::max();
  Tick();
}

void Holder::Renew() {
  if (unanswered_.size() >= 2) return ReopenLater();
  const Time now = Now();
  unanswered_[++sequence_] = now;
  stream_->Send(calls::Received{calls::RenewalRequest{sequence_, {session_}}});
  next_renewal_ = now + lease_.RenewalInterval() / (unanswered_.size() > 1 ? 2 : 1);
  if (world_.plan.hedges && !first_on_stream_ && world_.random.OneIn(4)) Hedge();
}

// The same renewal at another replica, and whichever answers first counts.
void Holder::Hedge() {
  if (hedge_ != nullptr) hedge_->Close();
  const int other =
      static_cast<int>(world_.random.Below(static_cast<uint64_t>(world_.plan.replicas)));
  world_.Say("{} renews at r{}, too", NameOf(session_), other);
  hedge_ = std::make_shared<KeepAliveStream>(
      network_, other, [&world = world_] { return ProbedKeepAlive(world); },
      std::vector<engine::Watch>(),
      [this, number = stream_number_,
       sequence = sequence_](const calls::KeepAliveMessage& message) {
        Do([this, number, sequence, message] {
          const auto* renewal = std::get_if<calls::Renewal>(&message);
          const bool counts = holding_ && number == stream_number_ && sequence == sequence_;
          if (counts && renewal != nullptr) OnRenewal(*renewal, true);
        });
      },
      [] {});
  hedge_->Open();
  hedge_->Send(calls::Received{calls::RenewalRequest{sequence_, {session_}}});
}

void Holder::Write() {
  next_write_ = Now() + world_.random.Between(100ms, 500ms);
  if (!BelievedTerm(election_)) return;
  const auto transit = network_.Transit();
  if (transit) {
    world_.After(*transit, [&resource = resource_, election = election_, term = term_,
                            session = session_] { resource.Write(election, term, session); });
  }
  if (!world_.random.OneIn(4)) return;
  Submit(Proclaim{election_, session_, term_, ValueWith(0, world_.random.Below(100))},
         [](const Result<Answer>&) {});
}

void Holder::OnMessage(const calls::KeepAliveMessage& message) {
  if (!Believes(lease_) && !suspends_) return Lose("its lease has expired");
  if (std::holds_alternative<calls::SessionOver>(message)) return Lose("its session has ended");
  if (const auto* notice = std::get_if<calls::SeatNotice>(&message)) return OnNotice(**notice);
  OnRenewal(std::get<calls::Renewal>(message), std::exchange(first_on_stream_, false));
}

void Holder::OnRenewal(const calls::Renewal& renewal, bool first) {
  const auto sent = unanswered_.find(renewal.sequence);
  if (sent == unanswered_.end()) return;
  const Time sent_at = world_.mutation.lease_from_reply ? Now() : sent->second;
  unanswered_.erase(unanswered_.begin(), std::next(sent));
  const calls::SessionRenewal& session = renewal.sessions.front();
  if (!session.session) return Lose("its session has ended");
  const auto mine = std::ranges::find_if(session.seats, [&](const Leadership& seat) {
    return seat.election == election_ && seat.term == term_;
  });
  if (first && mine == session.seats.end()) return Lose("the seat is not its own");
  lease_.Renewed(sent_at, session.session->lease_ttl);
  next_renewal_ = sent_at + lease_.RenewalInterval();
  if (!std::exchange(confirmed_, true)) {
    world_.Say("{} believes that it leads {} in term {}", NameOf(session_), election_.bytes,
               term_.value);
  }
  if (first && !mine->successor.empty() && obeys_) return MakeWay(mine->successor);
  Tick();
}

void Holder::OnNotice(const Event& notice) {
  if (notice.election != election_ || notice.term != term_) return;
  if (notice.type == EventType::kVacated) return Lose("a notice says so");
  if (obeys_) MakeWay(notice.successor);
}

// First it stops, then it resigns.
void Holder::MakeWay(const std::string& successor) {
  world_.Say("{} makes way for {}", NameOf(session_), successor);
  had_its_turn_ |= world_.ending && confirmed_;
  holding_ = false;
  CloseStream();
  ResignSeat();
}

void Holder::Lose(const std::string& why) {
  world_.Say("{} does not lead {} in term {} any more: {}", NameOf(session_), election_.bytes,
             term_.value, why);
  had_its_turn_ |= world_.ending && confirmed_;
  holding_ = false;
  CloseStream();
  Rest();
}

// As the libraries do that want to lead on: the session lives on, and the seat is kept in the next
// term.
void Holder::AskForNextTerm() {
  world_.Say("{} gives up term {} of {}, and asks for the next one", NameOf(session_), term_.value,
             election_.bytes);
  had_its_turn_ |= world_.ending && confirmed_;
  holding_ = false;
  CloseStream();
  OpenStream();  // and renews the session
  auto request = RequestFor(election_, ChoosePriority());
  request.command.after_term = term_;
  request.wait = Duration(0);
  call_ = Stand(request, [this](const Result<calls::CampaignReply>& stood) {
    CloseStream();
    MoveOn();
    if (!stood && stood.error().reason == Reason::kStoreUnavailable) {
      return After(world_.random.Between(50ms, 300ms), [this] { AskForNextTerm(); });
    }
    const Leadership* elected = stood ? ElectedBy(*stood) : nullptr;
    if (elected != nullptr && elected->term <= term_) {
      world_.Violate("{} heard that it leads {} in term {}, and no longer believes in it",
                     NameOf(session_), election_.bytes, elected->term.value);
    }
    if (elected != nullptr) return Hold(*elected);
    OnStood(stood);
  });
}

// As the libraries do: the session lives on, and the seat is resigned as soon as a replica answers.
void Holder::GiveUpSeat() {
  world_.Say("{} resigns {}, in which it does not believe any more", NameOf(session_),
             election_.bytes);
  had_its_turn_ |= world_.ending && confirmed_;
  holding_ = false;
  CloseStream();
  OpenStream();  // and renews the session
  Submit(Resign{election_, session_, term_}, [this](const Result<Answer>& resigned) {
    CloseStream();
    MoveOn();
    if (!resigned && resigned.error().reason == Reason::kStoreUnavailable) {
      return After(world_.random.Between(50ms, 300ms), [this] { GiveUpSeat(); });
    }
    Rest();
  });
}

void Holder::Leave() {
  if (!world_.healed && world_.random.OneIn(4)) return AskForNextTerm();
  had_its_turn_ |= world_.ending;
  holding_ = false;
  CloseStream();
  if (!world_.healed && world_.random.OneIn(4)) {
    world_.Say("{} vanishes", NameOf(session_));
    if (world_.random.OneIn(2)) {
      NewSession();
    } else {
      NewSessionThatSupersedes();
    }
    return Rest();
  }
  if (world_.random.OneIn(3)) {
    CloseSession([](bool) {});
    NewSession();
    return Rest();
  }
  ResignSeat();
}

void Holder::ResignSeat() {
  world_.Say("{} resigns {} in term {}", NameOf(session_), election_.bytes, term_.value);
  Submit(Resign{election_, session_, term_}, [this](const Result<Answer>& resigned) {
    if (!resigned) {
      // The call may still be on its way: whatever this session holds is not believed in again.
      MoveOn();
      NewSession();
    }
    Rest();
  });
}

}  // namespace tenure::sim
