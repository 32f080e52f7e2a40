// Operators' commands to an election.
#include <algorithm>
#include <utility>

#include "base/duration_text.h"
#include "core/law/steps.h"

namespace tenure::law {
namespace {

Answer Changed(TransactionState& transaction, const ElectionState& state, AdminAction action,
               Term term, std::string detail, const Author& author) {
  transaction.admin_changes.push_back(
      {state.election.name, action, term, transaction.now, std::move(detail), author});
  return AdminAnswer{state.election, true};
}

Answer Unchanged(const ElectionState& state) { return AdminAnswer{state.election, false}; }

tl::unexpected<Error> OtherTerm(const Election& election) {
  return StaleTerm(election, "the term is out of date: election '" + election.name.bytes +
                                 "' is in term " + std::to_string(election.term.value));
}

// The appointed candidate leads already: cancels any other appointment.
Answer KeepLeader(TransactionState& transaction, ElectionState& state, const Appoint& command) {
  Election& election = state.election;
  if (!election.appointment) return Unchanged(state);
  const std::string detail =
      "'" + command.candidate + "' instead of '" + election.appointment->candidate + "'";
  election.appointment.reset();
  return Changed(transaction, state, AdminAction::kAppointed, election.term, detail,
                 command.author);
}

void AskLeader(TransactionState& transaction, Election& election) {
  Record(transaction, election, EventType::kHandoverAsked);
  transaction.events.back().successor = election.appointment->candidate;
}

// Changes one setting, and adds it to `detail`.
template <typename T>
void Set(std::string_view name, const std::optional<T>& wanted, T& setting, std::string& detail) {
  if (!wanted || *wanted == setting) return;
  setting = *wanted;
  if (!detail.empty()) detail += ", ";
  detail += std::string(name) + " ";
  if constexpr (std::is_same_v<T, Duration>) {
    detail += DurationText(setting);
  } else {
    detail += std::to_string(setting);
  }
}

}  // namespace

Result<Answer> Decide(TransactionState& transaction, ElectionState& state, const Appoint& command) {
  if (!state.exists) return UnknownElection(state.election);
  Election& election = state.election;
  const bool leads = election.leader && election.leader->candidate == command.candidate;
  if (election.term != command.term) {
    if (leads) return Unchanged(state);
    return OtherTerm(election);
  }
  if (leads) return KeepLeader(transaction, state, command);
  if (!command.reserve_for && !Stands(transaction, state, command.candidate)) {
    return Fail(Reason::kCandidateNotStanding,
                "candidate '" + command.candidate + "' is not standing in election '" +
                    election.name.bytes + "'; let it campaign first, or reserve the seat for it");
  }
  if (command.force && election.paused) {
    return Fail(Reason::kElectionPaused, "election '" + election.name.bytes +
                                             "' is paused; resume it, or appoint without force");
  }

  Appointment wanted{command.candidate};
  if (command.reserve_for) wanted.until = transaction.now + *command.reserve_for;
  const bool forces = command.force && (election.leader || election.vacant_until > DbTime{});
  if (election.appointment == wanted && !forces) return Unchanged(state);
  const bool asked_already =
      election.appointment && election.appointment->candidate == wanted.candidate;
  election.appointment = std::move(wanted);
  if (command.force) election.vacant_until = {};
  if (!election.leader) {
    Promote(transaction, state);
  } else if (command.force) {
    Vacate(transaction, state, Cause::kAppointedAway);
  } else if (!asked_already) {
    AskLeader(transaction, election);
  }
  std::string detail = "'" + command.candidate + "'";
  if (command.force) detail += ", by force";
  if (command.reserve_for) detail += ", reserved for " + DurationText(*command.reserve_for);
  return Changed(transaction, state, AdminAction::kAppointed, command.term, std::move(detail),
                 command.author);
}

Result<Answer> Decide(TransactionState& transaction, ElectionState& state, const Depose& command) {
  if (!state.exists) return UnknownElection(state.election);
  Election& election = state.election;
  if (command.term > election.term) return OtherTerm(election);
  // A term that has already ended is what the operator wanted.
  if (!election.leader || command.term < election.term) return Unchanged(state);

  const std::string candidate = election.leader->candidate;
  std::string detail = "'" + candidate + "'";
  if (command.cool_down > Duration(0)) {
    std::erase_if(state.cool_downs,
                  [&](const auto& entry) { return entry.second <= transaction.now; });
    if (state.cool_downs.size() >= kCoolDownsMax && !state.cool_downs.contains(candidate)) {
      return Fail(Reason::kTooManyCoolDowns,
                  "election '" + election.name.bytes + "' already keeps out " +
                      std::to_string(kCoolDownsMax) +
                      " deposed candidates, the maximum; wait until a cool-down ends",
                  {{"limit", std::to_string(kCoolDownsMax)}});
    }
    const DbTime until = transaction.now + command.cool_down;
    state.cool_downs[candidate] = until;
    election.cooling_until = std::max(election.cooling_until, until);
    detail += ", kept out for " + DurationText(command.cool_down);
  }
  Vacate(transaction, state, Cause::kDeposed);
  return Changed(transaction, state, AdminAction::kDeposed, command.term, std::move(detail),
                 command.author);
}

Result<Answer> Decide(TransactionState& transaction, ElectionState& state, const Pause& command) {
  if (!state.exists) return UnknownElection(state.election);
  Election& election = state.election;
  if (election.paused == command.paused) return Unchanged(state);
  election.paused = command.paused;
  const Term term = election.term;
  Promote(transaction, state);
  return Changed(transaction, state, command.paused ? AdminAction::kPaused : AdminAction::kResumed,
                 term, "", command.author);
}

Result<Answer> Decide(TransactionState& transaction, ElectionState& state,
                      const Configure& command) {
  if (!state.exists && !command.create) return UnknownElection(state.election);
  const bool created = !state.exists;
  const auto within_quota =
      Charge(transaction, command.principal, {.elections = Creates(state, command.principal)});
  if (!within_quota) return tl::unexpected(within_quota.error());
  Create(state, command.principal);
  Settings& settings = state.election.settings;
  std::string detail;
  Set("lock_delay", command.lock_delay, settings.lock_delay, detail);
  Set("min_hold", command.min_hold, settings.min_hold, detail);
  Set("lease_ttl_default", command.lease_ttl_default, settings.lease_ttl_default, detail);
  Set("lease_ttl_max", command.lease_ttl_max, settings.lease_ttl_max, detail);
  Set("queue_max", command.queue_max, settings.queue_max, detail);
  if (detail.empty() && !created) return Unchanged(state);
  return Changed(transaction, state, AdminAction::kConfigured, state.election.term,
                 std::move(detail), command.author);
}

Result<Answer> Decide(TransactionState& transaction, ElectionState& state, const Delete& command) {
  Election& election = state.election;
  if (!state.exists) {
    if (election.history_from > Revision{0}) return Unchanged(state);  // it is deleted already
    return UnknownElection(state.election);
  }
  if (election.term != command.term) return OtherTerm(election);

  if (election.leader) EndTerm(transaction, state, Cause::kDeleted, transaction.now);
  // What survives: the numbers that must never be used again, and the events of this transaction,
  // which nobody has seen.
  Election tombstone{election.name, election.term, election.revision, election.next_ticket};
  const auto untold = std::ranges::find(transaction.events, election.name, &Event::election);
  tombstone.history_from =
      untold != transaction.events.end() ? untold->revision : election.revision.Next();
  tombstone.deleted = true;
  tombstone.vacancy = Vacancy{Cause::kDeleted, transaction.now};
  tombstone.creator = election.creator;
  state = ElectionState{.election = std::move(tombstone), .emptied = true};
  transaction.undecided.erase(command.election);
  return Changed(transaction, state, AdminAction::kDeleted, command.term, "", command.author);
}

}  // namespace tenure::law
