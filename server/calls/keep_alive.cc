#include "server/calls/keep_alive.h"

#include <algorithm>
#include <string>
#include <utility>

namespace tenure::calls {
namespace {

// A client that reads slower than this loses its stream.
constexpr size_t kUnsentMax = 10'000;
constexpr size_t kUnsentBytesMax = 4 << 20;
// Size of the seats in one message, without the last page of them. Clients accept 4 MB.
constexpr size_t kSeatBytesMax = 1 << 20;
constexpr size_t kSessionsMax = 100'000;

Error ReadsTooSlowly() { return {Reason::kOverloaded, "the client reads too slowly"}; }

bool IsOver(const Error& error) {
  return error.reason == Reason::kSessionEnded || error.reason == Reason::kSessionNotFound;
}

size_t BytesOf(const Leadership& it) {
  return sizeof(it) + it.election.bytes.size() + it.leader.candidate.size() +
         it.leader.value.size() + it.successor.size();
}
size_t BytesOf(const Renewal& it) {
  size_t bytes = sizeof(it);
  for (const SessionRenewal& session : it.sessions) {
    bytes += sizeof(session);
    for (const Leadership& seat : session.seats) bytes += BytesOf(seat);
  }
  return bytes;
}
size_t BytesOfNotice(const KeepAliveMessage& message) {
  const auto* notice = std::get_if<SeatNotice>(&message);
  if (notice == nullptr) return 0;
  const tenure::Event& event = **notice;
  return sizeof(event) + event.election.bytes.size() + event.leader.candidate.size() +
         event.leader.value.size() + event.successor.size();
}

}  // namespace

std::vector<KeepAlive::Effect> KeepAlive::Step(Event event, SteadyTime) {
  if (!finished_) std::visit([this](auto& it) { On(it); }, event);
  return std::exchange(effects_, {});
}

void KeepAlive::On(Received& received) {
  if (!received.request) return FinishWith(std::move(received.request.error()));
  renewal_ = Renewal{received.request->sequence, {}};
  unlisted_ = {};
  error_.reset();
  WatchSessions watch;
  const auto& wanted = received.request->sessions;
  // Sessions that have ended, or never existed, take no room: clients open many sessions on one
  // stream. If one is asked for again, it counts as new.
  for (const SessionId& id : std::set<SessionId>(wanted.begin(), wanted.end())) {
    const bool added = watched_.emplace(id, false).second;
    if (added) watch.add.push_back(id);
    const bool again = gone_.erase(id) > 0;
    if (added || again) unlisted_.sessions.push_back(id);
  }
  for (const SessionId& id : std::exchange(gone_, {})) {
    watched_.erase(id);
    watch.remove.push_back(id);
  }
  if (watched_.size() > kSessionsMax) {
    return FinishWith({Reason::kOverloaded,
                       "a stream can renew at most " + std::to_string(kSessionsMax) + " sessions"});
  }
  for (const SessionId& id : wanted) {
    renewal_.sessions.push_back({id, Session{}});
  }
  unanswered_ = renewal_.sessions.size();
  if (watch.add.empty() && watch.remove.empty()) return RenewAll();
  Emit(std::move(watch));
}

// Watches before it reads, so that no change is missed in between.
void KeepAlive::On(const Watched&) { RenewAll(); }

void KeepAlive::RenewAll() {
  for (size_t i = 0; i < renewal_.sessions.size(); ++i) {
    Emit(Renew{renewal_.sessions[i].id, caller_, i});
  }
}

void KeepAlive::On(Renewed& renewed) {
  if (!renewed.session && !IsOver(renewed.session.error())) error_ = renewed.session.error();
  renewal_.sessions[renewed.index].session = std::move(renewed.session);
  if (--unanswered_ > 0) return;
  if (error_) return FinishWith(*error_);
  for (const SessionRenewal& session : renewal_.sessions) {
    if (!session.session) gone_.insert(session.id);
  }
  FindOwn();
  ReadMoreSeats();
}

void KeepAlive::ReadMoreSeats() {
  if (unlisted_.sessions.empty()) return Answer();
  Emit(ReadSeats{unlisted_});
}

// Notices about sessions that the caller may not use are dropped.
void KeepAlive::FindOwn() {
  for (const SessionRenewal& session : renewal_.sessions) {
    watched_.at(session.id) =
        session.session || session.session.error().reason == Reason::kSessionEnded;
  }
  for (auto& [session, message] : std::exchange(early_, {})) {
    unsent_bytes_ -= BytesOfNotice(message);
    Deliver(session, std::move(message));
  }
}

void KeepAlive::On(SeatsRead& read) {
  if (!read.seats) return FinishWith(std::move(read.seats.error()));
  const bool all = read.seats->size() < unlisted_.limit;
  if (!all) unlisted_.after = read.seats->back().election;
  const auto done_with =
      all ? unlisted_.sessions.end()
          : std::ranges::lower_bound(unlisted_.sessions, read.seats->back().leader.session);
  unlisted_.sessions.erase(unlisted_.sessions.begin(), done_with);
  List(*std::move(read.seats));
  if (!all && seat_bytes_ >= kSeatBytesMax) return AnswerInPart();
  ReadMoreSeats();
}

void KeepAlive::List(std::vector<Leadership> seats) {
  std::map<SessionId, SessionRenewal*> sessions;
  for (SessionRenewal& session : renewal_.sessions) sessions[session.id] = &session;
  for (Leadership& seat : seats) {
    SessionRenewal& session = *sessions.at(seat.leader.session);
    if (!session.session) continue;
    seat_bytes_ += BytesOf(seat);
    session.seats.push_back(std::move(seat));
  }
}

// The next part is for the sessions whose seats are not all listed.
void KeepAlive::AnswerInPart() {
  Renewal next{renewal_.sequence, {}};
  for (const SessionRenewal& session : renewal_.sessions) {
    if (std::ranges::binary_search(unlisted_.sessions, session.id)) {
      next.sessions.push_back({session.id, session.session});
    }
  }
  renewal_.more = true;
  seat_bytes_ = 0;
  Say(std::exchange(renewal_, std::move(next)));
}

void KeepAlive::Answer() {
  seat_bytes_ = 0;
  Say(std::move(renewal_));
}

void KeepAlive::On(const Changed& changed) {
  const EventType type = changed.event->type;
  const bool concerns_session = type == EventType::kElected || type == EventType::kVacated ||
                                type == EventType::kHandoverAsked;
  if (concerns_session) Deliver(changed.event->leader.session, changed.event);
}

void KeepAlive::On(const SessionOver& over) {
  gone_.insert(over.session.id);
  Deliver(over.session.id, over);
}

// The seats that the client knows may have other leaders by now: a new stream lists them again.
void KeepAlive::On(const HistoryReset&) {
  FinishWith({Reason::kStoreUnavailable, "the database was replaced or restored"});
}

void KeepAlive::On(const Drained&) {
  FinishWith({Reason::kDraining, "this replica is shutting down; the sessions stay alive"});
}

void KeepAlive::On(const ReadsDone&) {
  reads_done_ = true;
  FinishIfAllIsSaid();
}

void KeepAlive::On(const Written& written) {
  if (!written.ok) return End(HangUp{});
  outbox_.Sent();
  WriteNext();
  FinishIfAllIsSaid();
}

void KeepAlive::Deliver(const SessionId& session, KeepAliveMessage message) {
  const auto watched = watched_.find(session);
  if (watched == watched_.end()) return;
  if (watched->second) return Say(std::move(message));
  if (unanswered_ == 0 || !HasRoom()) return;
  unsent_bytes_ += BytesOfNotice(message);
  early_.emplace_back(session, std::move(message));
}

bool KeepAlive::HasRoom() {
  const bool room = outbox_.size() + early_.size() < kUnsentMax && unsent_bytes_ < kUnsentBytesMax;
  if (!room) FinishWith(ReadsTooSlowly());
  return room;
}

void KeepAlive::Say(KeepAliveMessage message) {
  if (!HasRoom()) return;
  const size_t notice = BytesOfNotice(message);
  const auto* answer = std::get_if<Renewal>(&message);
  const size_t bytes = answer == nullptr ? notice : BytesOf(*answer);
  if (!outbox_.Push(std::move(message), bytes)) return FinishWith(ReadsTooSlowly());
  unsent_bytes_ += notice;
  WriteNext();
}

void KeepAlive::WriteNext() {
  auto next = outbox_.Next();
  if (!next) return;
  unsent_bytes_ -= BytesOfNotice(*next);
  const auto* answer = std::get_if<Renewal>(&*next);
  const bool answered = answer != nullptr;
  const bool more = answered && answer->more;
  Emit(Write<KeepAliveMessage>{*std::move(next)});
  if (more) return ReadMoreSeats();
  if (answered) Emit(ReadRequest{});
}

void KeepAlive::FinishIfAllIsSaid() {
  if (reads_done_ && outbox_.empty()) End(Finish{});
}

void KeepAlive::End(Outward last) {
  Emit(std::move(last));
  finished_ = true;
}

}  // namespace tenure::calls
