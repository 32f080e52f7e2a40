#include "client/cpp/fake/elections.h"

#include <algorithm>

namespace tenure {
namespace {

bool Leads(const ElectionState& state, const SessionId& id) {
  return state.election.leader && state.election.leader->session == id;
}

bool Waits(const ElectionState& state, const SessionId& id) {
  return std::ranges::find(state.queue, id, &Candidacy::session) != state.queue.end();
}

}  // namespace

void FakeElections::PassTo(DbTime now) {
  state_.now = now;
  for (const KeptSessions::Silent& it : kept_.TakeSilent(Now(), state_.sessions.size())) {
    EndSilent(state_, it.id, it.moves);
    kept_.Ended(it);
  }
  Settle();
}

DbTime FakeElections::NextDue() const {
  const auto next = kept_.NextDue();
  return {next ? next->served : Duration::max()};
}

Result<Answer> FakeElections::Apply(const Command& command) {
  for (const ElectionName& name : ElectionsOf(command)) {
    state_.elections[name].election.name = name;
  }
  auto answer = tenure::Apply(state_, kFakeLimits, command);
  for (const SessionId& id : std::exchange(state_.opened, {})) {
    kept_.Opened(state_.sessions.at(id), Now());
  }
  const auto renew = [&](const auto& it) {
    if constexpr (requires { it.opening; }) (void)kept_.Renew(it.session, Now());
  };
  if (answer) std::visit(renew, command);
  Settle();
  return answer;
}

Result<Session> FakeElections::Renew(const SessionId& id) {
  if (const auto renewed = kept_.Renew(id, Now())) return renewed->session;
  return Adopt(state_, id);  // returns the error: it has ended, or does not exist
}

Result<Session> FakeElections::Close(const SessionId& id) {
  auto session = EndSession(state_, id, Cause::kSessionClosed);
  Settle();
  return session;
}

const Session* FakeElections::Find(const SessionId& id) const {
  const auto found = state_.sessions.find(id);
  return found == state_.sessions.end() ? nullptr : &found->second;
}

const ElectionState* FakeElections::Find(const std::string& election) const {
  const auto found = state_.elections.find({election});
  return found == state_.elections.end() || !found->second.exists ? nullptr : &found->second;
}

std::vector<Leadership> FakeElections::SeatsOf(const SessionId& id) const {
  std::vector<Leadership> seats;
  for (const auto& [name, state] : state_.elections) {
    if (Leads(state, id)) seats.push_back(*LeadershipOf(state.election));
  }
  return seats;
}

const std::vector<Event>& FakeElections::HistoryOf(const ElectionName& name) const {
  static const std::vector<Event> none;
  const auto found = histories_.find(name);
  return found == histories_.end() ? none : found->second;
}

void FakeElections::Settle() {
  while (!state_.ended.empty()) {
    for (const SessionId& id : std::exchange(state_.ended, {})) {
      kept_.Ended({id, state_.sessions.at(id).moves});
      ended_.push_back(state_.sessions.at(id));
      for (auto& [name, state] : state_.elections) {
        if (!Leads(state, id) && !Waits(state, id)) continue;
        (void)tenure::Apply(state_, kFakeLimits, Reconcile{name, id});
      }
    }
  }
  for (Event& event : std::exchange(state_.events, {})) {
    histories_[event.election].push_back(event);
    events_.push_back(std::move(event));
  }
  // Not needed here.
  state_.successions.clear();
  state_.admin_changes.clear();
}

}  // namespace tenure
