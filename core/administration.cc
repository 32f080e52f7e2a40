// What operators may do to an election.
#include <algorithm>
#include <utility>

#include "core/duration_text.h"
#include "core/law_steps.h"

namespace tenure::law {
namespace {

Answer Changed(Docket& docket, const Contest& contest, AdminAction action, Term term,
               std::string detail, const Asker& asker) {
  docket.admin_changes.push_back(
      {contest.election.name, action, term, docket.now, std::move(detail), asker});
  return AdminAnswer{contest.election, true};
}

Answer Unchanged(const Contest& contest) { return AdminAnswer{contest.election, false}; }

tl::unexpected<Error> OtherTerm(const Election& election) {
  return StaleTerm(election, "the term is out of date: election '" + election.name.bytes +
                                 "' is in term " + std::to_string(election.term.value));
}

// The sitting leader is wanted to stay: whatever was asked of it is called off.
Answer KeepLeader(Docket& docket, Contest& contest, const Appoint& command) {
  Election& election = contest.election;
  if (!election.appointment) return Unchanged(contest);
  const std::string detail =
      "'" + command.candidate + "' instead of '" + election.appointment->candidate + "'";
  election.appointment.reset();
  return Changed(docket, contest, AdminAction::kAppointed, election.term, detail, command.asker);
}

void AskLeader(Docket& docket, Election& election) {
  Record(docket, election, EventType::kHandoverAsked);
  docket.events.back().successor = election.appointment->candidate;
}

// Sets one setting, and says so.
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

Result<Answer> Decide(Docket& docket, Contest& contest, const Appoint& command) {
  if (!contest.exists) return UnknownElection(command.election);
  Election& election = contest.election;
  const bool leads = election.leader && election.leader->candidate == command.candidate;
  if (election.term != command.term) {
    if (leads) return Unchanged(contest);
    return OtherTerm(election);
  }
  if (leads) return KeepLeader(docket, contest, command);
  if (!command.reserve_for && !Stands(docket, contest, command.candidate)) {
    return Fail(Reason::kCandidateNotStanding,
                "candidate '" + command.candidate + "' is not standing in election '" +
                    election.name.bytes + "'; let it campaign first, or reserve the seat for it");
  }
  if (command.force && election.paused) {
    return Fail(Reason::kElectionPaused, "election '" + election.name.bytes +
                                             "' is paused; resume it, or appoint without force");
  }

  Appointment wanted{command.candidate};
  if (command.reserve_for) wanted.until = docket.now + *command.reserve_for;
  const bool forces = command.force && (election.leader || election.vacant_until > DbTime{});
  if (election.appointment == wanted && !forces) return Unchanged(contest);
  const bool asked_already =
      election.appointment && election.appointment->candidate == wanted.candidate;
  election.appointment = std::move(wanted);
  if (command.force) election.vacant_until = {};
  if (!election.leader) {
    Promote(docket, contest);
  } else if (command.force) {
    Vacate(docket, contest, Cause::kAppointedAway);
  } else if (!asked_already) {
    AskLeader(docket, election);
  }
  std::string detail = "'" + command.candidate + "'";
  if (command.force) detail += ", by force";
  if (command.reserve_for) detail += ", reserved for " + DurationText(*command.reserve_for);
  return Changed(docket, contest, AdminAction::kAppointed, command.term, std::move(detail),
                 command.asker);
}

Result<Answer> Decide(Docket& docket, Contest& contest, const Depose& command) {
  if (!contest.exists) return UnknownElection(command.election);
  Election& election = contest.election;
  if (command.term > election.term) return OtherTerm(election);
  // A term that is over already is what was asked for.
  if (!election.leader || command.term < election.term) return Unchanged(contest);

  const std::string candidate = election.leader->candidate;
  std::string detail = "'" + candidate + "'";
  if (command.cool_down > Duration(0)) {
    std::erase_if(contest.cool_downs,
                  [&](const auto& entry) { return entry.second <= docket.now; });
    if (contest.cool_downs.size() >= kCoolDownsMax && !contest.cool_downs.contains(candidate)) {
      return Fail(Reason::kTooManyCoolDowns,
                  "election '" + election.name.bytes + "' already keeps out " +
                      std::to_string(kCoolDownsMax) +
                      " deposed candidates, the maximum; wait until a cool-down is over",
                  {{"limit", std::to_string(kCoolDownsMax)}});
    }
    const DbTime until = docket.now + command.cool_down;
    contest.cool_downs[candidate] = until;
    election.cooling_until = std::max(election.cooling_until, until);
    detail += ", kept out for " + DurationText(command.cool_down);
  }
  Vacate(docket, contest, Cause::kDeposed);
  return Changed(docket, contest, AdminAction::kDeposed, command.term, std::move(detail),
                 command.asker);
}

Result<Answer> Decide(Docket& docket, Contest& contest, const Pause& command) {
  if (!contest.exists) return UnknownElection(command.election);
  Election& election = contest.election;
  if (election.paused == command.paused) return Unchanged(contest);
  election.paused = command.paused;
  const Term term = election.term;
  Promote(docket, contest);
  return Changed(docket, contest, command.paused ? AdminAction::kPaused : AdminAction::kResumed,
                 term, "", command.asker);
}

Result<Answer> Decide(Docket& docket, Contest& contest, const Configure& command) {
  if (!contest.exists && !command.create) return UnknownElection(command.election);
  const bool created = !contest.exists;
  BringIntoBeing(contest);
  Settings& settings = contest.election.settings;
  std::string detail;
  Set("lock_delay", command.lock_delay, settings.lock_delay, detail);
  Set("min_hold", command.min_hold, settings.min_hold, detail);
  Set("lease_ttl_default", command.lease_ttl_default, settings.lease_ttl_default, detail);
  Set("lease_ttl_max", command.lease_ttl_max, settings.lease_ttl_max, detail);
  Set("queue_max", command.queue_max, settings.queue_max, detail);
  if (detail.empty() && !created) return Unchanged(contest);
  return Changed(docket, contest, AdminAction::kConfigured, contest.election.term,
                 std::move(detail), command.asker);
}

Result<Answer> Decide(Docket& docket, Contest& contest, const Delete& command) {
  Election& election = contest.election;
  if (!contest.exists) {
    if (election.history_from > Revision{0}) return Unchanged(contest);  // it is deleted already
    return UnknownElection(command.election);
  }
  if (election.term != command.term) return OtherTerm(election);

  if (election.leader) EndTerm(docket, contest, Cause::kDeleted, docket.now);
  // What survives: the numbers that must never be used again, and the events of this transaction,
  // of which nobody has been told.
  Election tombstone{election.name, election.term, election.revision, election.next_ticket};
  const auto untold = std::ranges::find(docket.events, election.name, &Event::election);
  tombstone.history_from =
      untold != docket.events.end() ? untold->revision : election.revision.Next();
  tombstone.deleted = true;
  contest = Contest{.election = std::move(tombstone), .emptied = true};
  return Changed(docket, contest, AdminAction::kDeleted, command.term, "", command.asker);
}

}  // namespace tenure::law
