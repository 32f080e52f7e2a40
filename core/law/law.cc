#include "core/law/law.h"

#include <algorithm>
#include <utility>

#include "core/law/steps.h"

namespace tenure {
namespace {

using namespace law;

Result<Answer> Decide(TransactionState& transaction, ElectionState& state,
                      const Reconcile& command) {
  if (!command.session) return Done{};
  Session* session = Find(transaction, *command.session);
  if (session != nullptr && !session->Alive()) DropPlace(transaction, state, *session);
  return Done{};
}

// Adds what a command needs.
struct LockSetBuilder {
  LockSet& locks;

  void operator()(const Campaign& it) const {
    LockSet::Part& part = ForCampaign(it, it.election);
    if (!it.supersede) return;
    part.candidates.insert(it.opening ? it.opening->candidate : it.candidate.value());
    part.departures += 1;
  }
  void operator()(const CampaignForAll& it) const {
    for (const ElectionName& name : it.elections) (void)ForCampaign(it, name);
  }
  void operator()(const Proclaim& it) const { At(it).sessions.push_back(it.session); }
  void operator()(const Resign& it) const { ForDeparture(it).sessions.push_back(it.session); }
  void operator()(const Withdraw& it) const { ForDeparture(it).sessions.push_back(it.session); }
  void operator()(const Reconcile& it) const {
    LockSet::Part& part = ForDeparture(it);
    if (it.session) part.sessions.push_back(*it.session);
  }
  void operator()(const Appoint& it) const { ForDeparture(it).candidates.insert(it.candidate); }
  void operator()(const Depose& it) const { (void)ForDeparture(it); }
  void operator()(const Pause& it) const { (void)ForDeparture(it); }
  void operator()(const Configure& it) const {
    LockSet::Part& part = At(it);
    if (it.create) AddCreator(part, it.principal);
  }
  void operator()(const Delete& it) const { (void)At(it); }

  LockSet::Part& At(const auto& it) const { return locks.elections[it.election]; }
  LockSet::Part& ForDeparture(const auto& it) const {
    LockSet::Part& part = At(it);
    part.departures += 1;
    return part;
  }
  LockSet::Part& ForCampaign(const auto& it, const ElectionName& name) const {
    LockSet::Part& part = locks.elections[name];
    AddCreator(part, it.principal);
    part.sessions.push_back(it.session);
    if (it.opening) locks.opened.insert(it.session);
    if (it.opening && it.opening->previous) part.sessions.push_back(*it.opening->previous);
    if (it.principal.quota.Limits()) locks.identities.insert(it.principal.identity);
    return part;
  }
  static void AddCreator(LockSet::Part& part, const Principal& principal) {
    part.create = true;
    if (principal.quota.elections) part.creators.insert(principal.identity);
  }
};

}  // namespace

std::span<const ElectionName> ElectionsOf(const Command& command) {
  return std::visit(
      []<typename It>(const It& it) -> std::span<const ElectionName> {
        if constexpr (std::is_same_v<It, CampaignForAll>) {
          return it.elections;
        } else {
          return {&it.election, 1};
        }
      },
      command);
}

LockSet LockSetOf(const std::vector<const Command*>& commands) {
  LockSet locks;
  for (const Command* command : commands) std::visit(LockSetBuilder{locks}, *command);
  return locks;
}

void WithdrawPlace(TransactionState& transaction, const Withdraw& command) {
  if (command.call_id == CallId{}) return;
  ElectionState& state = transaction.elections.at(command.election);
  const auto place = InQueue(state, command.session);
  if (place != state.queue.end() && place->call_id == command.call_id) {
    RemoveFromQueue(transaction, state, place);
  }
}

Result<Answer> Apply(TransactionState& transaction, const Limits& limits, const Command& command) {
  // First, so that the seat is not granted to a candidate whose caller is gone.
  if (const auto* withdraw = std::get_if<Withdraw>(&command)) WithdrawPlace(transaction, *withdraw);
  for (const ElectionName& name : ElectionsOf(command)) {
    ElectionState& state = transaction.elections.at(name);
    if (state.exists) ReconcileElection(transaction, state);
  }
  return std::visit(
      [&]<typename It>(const It& it) -> Result<Answer> {
        if constexpr (std::is_same_v<It, CampaignForAll>) {
          return Decide(transaction, limits, it);
        } else if constexpr (std::is_same_v<It, Withdraw>) {
          return Done{};
        } else {
          ElectionState& state = transaction.elections.at(it.election);
          if constexpr (requires { Decide(transaction, limits, state, it); }) {
            return Decide(transaction, limits, state, it);
          } else {
            return Decide(transaction, state, it);
          }
        }
      },
      command);
}

void Bump(TransactionState& transaction, const ElectionName& name, uint64_t floor) {
  ElectionState& state = transaction.elections.at(name);
  Election& election = state.election;
  election.revision.value = std::max(election.revision.value + kBumpMin, floor);
  election.history_from = election.revision.Next();
  if (election.leader) {
    Session* session = Find(transaction, election.leader->session);
    if (session != nullptr && session->Alive()) End(transaction, *session, Cause::kDeposed);
    EndTerm(transaction, state, session == nullptr ? Cause::kExpired : session->ended,
            transaction.now + election.settings.lock_delay);
  }
  election.term.value = std::max(election.term.value + kBumpMin, floor);
  Promote(transaction, state);
}

}  // namespace tenure
