#include "server/calls/keep_alive.h"

#include <string>
#include <utility>

namespace tenure::calls {
namespace {

// A client that reads slower than this loses its stream.
constexpr size_t kUnsentMax = 10'000;
constexpr size_t kSessionsMax = 100'000;

bool IsOver(const Error& error) {
  return error.reason == Reason::kSessionEnded || error.reason == Reason::kSessionNotFound;
}

}  // namespace

std::vector<KeepAlive::Effect> KeepAlive::Step(Event event, SteadyTime) {
  if (!finished_) std::visit([this](auto& it) { On(it); }, event);
  return std::exchange(effects_, {});
}

void KeepAlive::On(Received& received) {
  if (!received.request) return FinishWith(std::move(received.request.error()));
  renewal_ = Renewal{received.request->sequence, {}};
  first_time_.clear();
  error_.reset();
  WatchSessions watch;
  const auto& wanted = received.request->sessions;
  // What is over, or was never there, takes no room: clients make many sessions on one stream.
  // Those that are asked for again are as if for the first time.
  for (const SessionId& id : std::set<SessionId>(wanted.begin(), wanted.end())) {
    const bool added = watched_.emplace(id, false).second;
    if (added) watch.add.push_back(id);
    const bool again = gone_.erase(id) > 0;
    if (added || again) first_time_.push_back(id);
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

// Watched before it is read, so that nothing falls between.
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
  FindOwn();
  if (first_time_.empty()) return Answer();
  Emit(ReadSeats{std::move(first_time_)});
}

// What has been heard of the others is forgotten.
void KeepAlive::FindOwn() {
  for (const SessionRenewal& session : renewal_.sessions) {
    watched_.at(session.id) =
        session.session || session.session.error().reason == Reason::kSessionEnded;
  }
  for (auto& [session, message] : std::exchange(early_, {})) Tell(session, std::move(message));
}

void KeepAlive::On(SeatsRead& read) {
  if (!read.seats) return FinishWith(std::move(read.seats.error()));
  std::map<SessionId, SessionRenewal*> sessions;
  for (SessionRenewal& session : renewal_.sessions) sessions[session.id] = &session;
  for (Leadership& seat : *read.seats) {
    SessionRenewal& session = *sessions.at(seat.leader.session);
    if (session.session) session.seats.push_back(std::move(seat));
  }
  Answer();
}

void KeepAlive::Answer() {
  for (const SessionRenewal& session : renewal_.sessions) {
    if (!session.session) gone_.insert(session.id);
  }
  Say(std::move(renewal_));
  Emit(ReadRequest{});
}

void KeepAlive::On(const Changed& changed) {
  const EventType type = changed.event->type;
  const bool told = type == EventType::kElected || type == EventType::kVacated ||
                    type == EventType::kHandoverAsked;
  if (told) Tell(changed.event->leader.session, changed.event);
}

void KeepAlive::On(const SessionOver& over) {
  gone_.insert(over.session.id);
  Tell(over.session.id, over);
}

// The seats that the client was told of may be others' by now: a new stream asks for them anew.
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
  if (auto next = outbox_.Next()) Emit(Write<KeepAliveMessage>{*std::move(next)});
  FinishIfAllIsSaid();
}

void KeepAlive::Tell(const SessionId& session, KeepAliveMessage message) {
  const auto watched = watched_.find(session);
  if (watched == watched_.end()) return;
  if (watched->second) return Say(std::move(message));
  if (unanswered_ > 0 && HasRoom()) early_.emplace_back(session, std::move(message));
}

bool KeepAlive::HasRoom() {
  const bool room = outbox_.size() + early_.size() < kUnsentMax;
  if (!room) FinishWith({Reason::kOverloaded, "the client reads too slowly"});
  return room;
}

void KeepAlive::Say(KeepAliveMessage message) {
  if (!HasRoom()) return;
  outbox_.Push(std::move(message));
  if (auto next = outbox_.Next()) Emit(Write<KeepAliveMessage>{*std::move(next)});
}

void KeepAlive::FinishIfAllIsSaid() {
  if (reads_done_ && outbox_.empty()) End(Finish{});
}

void KeepAlive::End(Outward last) {
  Emit(std::move(last));
  finished_ = true;
}

}  // namespace tenure::calls
