// The language of the law's tests: transactions built from facts, commands named after their
// callers, and matchers for the outcome.
//
// There is one election, `kElection`, and the time is `kNow` unless a fact says otherwise. A name
// stands for a session and its candidate: "a" campaigns with the session Id("a"), and "a/2" is
// another session of candidate "a". Facts apply in order; a later one overrides an earlier one.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/law/law.h"
#include "core/law/transaction_state.h"

namespace tenure {

template <typename Tag>
void PrintTo(const StrongNumber<Tag>& number, std::ostream* out) {
  *out << number.value;
}

inline void PrintTo(const DbTime& time, std::ostream* out) {
  *out << time.since_epoch.count() << " us";
}

inline void PrintTo(const ElectionName& name, std::ostream* out) { *out << name.bytes; }

inline void PrintTo(const Event& event, std::ostream* out) {
  *out << event.revision.value << " " << EventTypeName(event.type) << " " << CauseName(event.cause)
       << " '" << event.leader.candidate << "' term " << event.term.value;
}

inline void PrintTo(const Session& session, std::ostream* out) {
  *out << "'" << session.candidate << "' " << CauseName(session.ended);
}

inline void PrintTo(const AdminChange& change, std::ostream* out) {
  *out << AdminActionName(change.action) << " " << change.detail << " term " << change.term.value
       << " by '" << change.author.identity << "'";
}

inline void PrintTo(const Error& error, std::ostream* out) {
  *out << "error " << static_cast<int>(error.reason) << ": " << error.message;
}

inline void PrintTo(const TransactionState& transaction, std::ostream* out) {
  for (const auto& [name, state] : transaction.elections) {
    const auto& leader = state.election.leader;
    *out << "'" << name.bytes << "' led by '" << (leader ? leader->candidate : "") << "' in term "
         << state.election.term.value << ", queue";
    for (const auto& candidacy : state.queue) *out << " '" << candidacy.candidate << "'";
    if (state.election.paused) *out << ", paused";
    if (state.election.wake_at) {
      *out << ", wakes at " << state.election.wake_at->since_epoch.count() << " us";
    }
    *out << "; ";
  }
  for (const auto& [id, session] : transaction.sessions) PrintTo(session, out);
  for (const AdminChange& change : transaction.admin_changes) PrintTo(change, out);
}

}  // namespace tenure

namespace tenure::testing {

inline const ElectionName kElection{"orders"};
inline constexpr Duration kLease = std::chrono::seconds(10);
inline constexpr DbTime kNow{std::chrono::seconds(100)};
inline constexpr Duration kInstant{1};

inline const Author kOperator{"olga", "drill"};

inline SessionId Id(std::string_view name) {
  SessionId id;
  std::ranges::copy(name.substr(0, id.bytes.size()), id.bytes.begin());
  return id;
}

// The name that `Id` made this from.
inline std::string NameOf(const SessionId& id) {
  const auto end = std::ranges::find(id.bytes, 0);
  return {id.bytes.begin(), end};
}

inline std::string CandidateOf(std::string_view name) {
  return std::string(name.substr(0, name.find('/')));
}

// --- Facts ---

using Fact = std::function<void(TransactionState&)>;

// Without a fact: nobody has ever campaigned.
template <typename... Facts>
[[nodiscard]] TransactionState Given(const Facts&... facts) {
  TransactionState transaction;
  transaction.now = kNow;
  transaction.elections[kElection].election.name = kElection;
  (facts(transaction), ...);
  return transaction;
}

inline Session SessionOfCandidate(std::string_view name) {
  Session session{Id(name), CandidateOf(name), kLease};
  session.lease_ttl_asked = kLease;
  return session;
}

inline Fact Now(DbTime now) {
  return [=](TransactionState& transaction) { transaction.now = now; };
}

inline Fact Alive(std::string name) {
  return [=](TransactionState& transaction) {
    transaction.sessions[Id(name)] = SessionOfCandidate(name);
  };
}

inline Fact Ended(std::string name, Cause cause, DbTime at = kNow) {
  return [=](TransactionState& transaction) {
    Session& session = transaction.sessions[Id(name)] = SessionOfCandidate(name);
    session.ended = cause;
    session.ended_at = at;
  };
}

// It may still hold seats and places.
inline Fact Expired(std::string name) { return Ended(std::move(name), Cause::kExpired); }

inline Fact Forgotten(std::string name) {
  return [=](TransactionState& transaction) { transaction.sessions.erase(Id(name)); };
}

// How a candidate stands for an election, or what it leads it with.
struct Standing {
  int32_t priority = 0;
  std::string value = {};
  CallId call_id = {};
};

// All terms up to this one were granted and have ended.
inline Fact VacantAfter(Term term) {
  return [=](TransactionState& transaction) {
    ElectionState& state = transaction.elections[kElection];
    state.exists = true;
    state.election.term = term;
    state.election.revision = {2 * term.value};
    state.election.leader.reset();
  };
}

inline Fact LedBy(std::string name, Term term, Standing standing = {}) {
  return [=](TransactionState& transaction) {
    transaction.sessions.try_emplace(Id(name), SessionOfCandidate(name));
    ElectionState& state = transaction.elections[kElection];
    state.exists = true;
    state.election.term = term;
    state.election.revision = {2 * term.value - 1};
    state.election.leader =
        Leader{Id(name), CandidateOf(name), kLease, standing.value, DbTime{}, standing.call_id};
  };
}

// Each arrived after those in earlier facts.
inline Fact Waiting(std::string name, Standing standing = {}) {
  return [=](TransactionState& transaction) {
    transaction.sessions.try_emplace(Id(name), SessionOfCandidate(name));
    ElectionState& state = transaction.elections[kElection];
    state.exists = true;
    state.queue.push_back({Id(name), CandidateOf(name), kLease, state.election.next_ticket,
                           standing.priority, standing.value, standing.call_id});
    std::ranges::sort(state.queue,
                      [](const Candidacy& a, const Candidacy& b) { return a.Before(b); });
    state.election.next_ticket = state.election.next_ticket.Next();
    ++state.election.waiting;
  };
}

// The queue behind this candidate was not read.
inline Fact HorizonAt(std::string name) {
  return [=](TransactionState& transaction) {
    ElectionState& state = transaction.elections[kElection];
    state.horizon = *std::ranges::find(state.queue, Id(name), &Candidacy::session);
  };
}

inline Fact WithSettings(Settings settings) {
  return [=](TransactionState& transaction) {
    transaction.elections[kElection].election.settings = settings;
  };
}

inline Fact Paused() {
  return [](TransactionState& transaction) {
    transaction.elections[kElection].election.paused = true;
  };
}

inline Fact VacantUntil(DbTime until) {
  return [=](TransactionState& transaction) {
    transaction.elections[kElection].election.vacant_until = until;
  };
}

inline Fact ElectedAt(DbTime at) {
  return [=](TransactionState& transaction) {
    transaction.elections[kElection].election.leader->elected_at = at;
  };
}

inline Fact Appointed(std::string candidate, std::optional<DbTime> until = std::nullopt) {
  return [=](TransactionState& transaction) {
    transaction.elections[kElection].election.appointment = Appointment{candidate, until};
  };
}

inline Fact KeptOut(std::string candidate, DbTime until) {
  return [=](TransactionState& transaction) {
    ElectionState& state = transaction.elections[kElection];
    state.cool_downs[candidate] = until;
    state.election.cooling_until = std::max(state.election.cooling_until, until);
  };
}

inline Fact OpenedAt(std::string name, DbTime at) {
  return [=](TransactionState& transaction) { transaction.sessions.at(Id(name)).opened_at = at; };
}

// The facts are those of another election.
template <typename... Facts>
[[nodiscard]] Fact In(const ElectionName& election, const Facts&... facts) {
  return [=](TransactionState& transaction) {
    transaction.elections[election].election.name = election;
    std::swap(transaction.elections[election], transaction.elections[kElection]);
    (facts(transaction), ...);
    std::swap(transaction.elections[election], transaction.elections[kElection]);
  };
}

// --- Commands ---

inline Campaign CampaignBy(std::string_view name, Standing standing = {}) {
  Campaign campaign;
  campaign.election = kElection;
  campaign.session = Id(name);
  campaign.priority = standing.priority;
  campaign.value = std::move(standing.value);
  campaign.call_id = standing.call_id;
  return campaign;
}

// Opens the candidate's session with it.
inline Campaign FirstCampaignBy(std::string_view name, Standing standing = {}) {
  Campaign campaign = CampaignBy(name, std::move(standing));
  campaign.opening = {CandidateOf(name), kLease};
  return campaign;
}

inline Campaign Superseding(Campaign campaign) {
  campaign.supersede = true;
  if (!campaign.opening) campaign.candidate = CandidateOf(NameOf(campaign.session));
  return campaign;
}

inline CampaignForAll CampaignForAllBy(std::string_view name, std::vector<ElectionName> elections,
                                       Standing standing = {}) {
  CampaignForAll campaign;
  campaign.elections = std::move(elections);
  campaign.session = Id(name);
  campaign.value = std::move(standing.value);
  campaign.call_id = standing.call_id;
  return campaign;
}

// Opens the candidate's session with it.
inline CampaignForAll FirstCampaignForAllBy(std::string_view name,
                                            std::vector<ElectionName> elections,
                                            Standing standing = {}) {
  CampaignForAll campaign = CampaignForAllBy(name, std::move(elections), std::move(standing));
  campaign.opening = {CandidateOf(name), kLease};
  return campaign;
}

inline Proclaim ProclaimBy(std::string_view name, Term term, std::string value) {
  return {kElection, Id(name), term, std::move(value)};
}

inline Resign ResignBy(std::string_view name, std::optional<Term> term = std::nullopt) {
  return {kElection, Id(name), term};
}

inline Withdraw WithdrawalBy(std::string_view name, CallId call_id) {
  return {kElection, Id(name), call_id};
}

inline Reconcile Reconciliation() { return {kElection, std::nullopt}; }
inline Reconcile ReconciliationOf(std::string_view name) { return {kElection, Id(name)}; }

inline Appoint Appointing(std::string candidate, Term term,
                          std::optional<Duration> reserve_for = std::nullopt) {
  return {kElection, term, std::move(candidate), false, reserve_for, kOperator};
}

inline Appoint AppointingByForce(std::string candidate, Term term,
                                 std::optional<Duration> reserve_for = std::nullopt) {
  return {kElection, term, std::move(candidate), true, reserve_for, kOperator};
}

inline Depose Deposing(Term term, Duration cool_down = {}) {
  return {kElection, term, cool_down, kOperator};
}

inline Pause Pausing() { return {kElection, true, kOperator}; }
inline Pause Resuming() { return {kElection, false, kOperator}; }

// Nothing yet: a test sets what it wants to change.
inline Configure Configuring() {
  Configure configure;
  configure.election = kElection;
  configure.author = kOperator;
  return configure;
}

inline Configure Creating() {
  Configure configure = Configuring();
  configure.create = true;
  return configure;
}

inline Delete Deleting(Term term) { return {kElection, term, kOperator}; }

inline Result<Answer> Do(TransactionState& transaction, const Command& command,
                         const Limits& limits = {}) {
  return Apply(transaction, limits, command);
}

// As the next transaction would load what this one has saved.
inline void LoadAgain(TransactionState& transaction) {
  transaction.events.clear();
  transaction.successions.clear();
  transaction.ended.clear();
  transaction.undecided.clear();
  transaction.admin_changes.clear();
  transaction.premature_expirations = 0;
  for (auto& [name, state] : transaction.elections) {
    state.emptied = false;
  }
}

// --- Outcomes ---

inline const ElectionState& StateIn(const TransactionState& transaction) {
  return transaction.elections.at(kElection);
}
inline const Election& ElectionIn(const TransactionState& transaction) {
  return StateIn(transaction).election;
}

inline const Session& SessionIn(const TransactionState& transaction, std::string_view name) {
  return transaction.sessions.at(Id(name));
}

inline const Candidacy& PlaceIn(const TransactionState& transaction, std::string_view name) {
  return *std::ranges::find(StateIn(transaction).queue, Id(name), &Candidacy::session);
}

inline std::vector<std::string> QueueIn(const TransactionState& transaction) {
  std::vector<std::string> names;
  for (const Candidacy& candidacy : StateIn(transaction).queue) {
    names.push_back(NameOf(candidacy.session));
  }
  return names;
}

// Empty while the seat is vacant.
inline std::string LeaderOf(const TransactionState& transaction, const ElectionName& election) {
  const auto& leader = transaction.elections.at(election).election.leader;
  return leader ? NameOf(leader->session) : "";
}

MATCHER_P2(IsLedBy, name, term, "") {
  const Election& election = ElectionIn(arg);
  return election.leader && election.leader->session == Id(name) &&
         election.leader->candidate == CandidateOf(name) && election.term == term;
}

MATCHER_P(IsVacantAfter, term, "") {
  return !ElectionIn(arg).leader && ElectionIn(arg).term == term;
}

inline bool SameState(const ElectionState& a, const ElectionState& b) {
  return a.election == b.election && a.exists == b.exists && a.queue == b.queue &&
         a.horizon == b.horizon && a.cool_downs == b.cool_downs && a.emptied == b.emptied;
}

MATCHER_P(IsSameAs, before, "") {
  const auto same_entry = [](const auto& a, const auto& b) {
    return a.first == b.first && SameState(a.second, b.second);
  };
  return arg.now == before.now && arg.sessions == before.sessions &&
         std::ranges::equal(arg.elections, before.elections, same_entry) &&
         arg.busy == before.busy && arg.events == before.events &&
         arg.successions == before.successions && arg.ended == before.ended &&
         arg.undecided == before.undecided && arg.admin_changes == before.admin_changes &&
         arg.premature_expirations == before.premature_expirations;
}

inline bool SaysOf(const Event& event, EventType type, Cause cause, std::string_view name,
                   Term term, Revision revision) {
  return event.election == kElection && event.type == type && event.cause == cause &&
         event.leader.session == Id(name) && event.leader.candidate == CandidateOf(name) &&
         event.term == term && event.revision == revision;
}

MATCHER_P3(Elected, name, term, revision, "") {
  return SaysOf(arg, EventType::kElected, Cause::kNone, name, term, revision);
}

MATCHER_P4(Proclaimed, name, term, revision, value, "") {
  return SaysOf(arg, EventType::kProclaimed, Cause::kNone, name, term, revision) &&
         arg.leader.value == value;
}

MATCHER_P4(Vacated, name, cause, term, revision, "") {
  return SaysOf(arg, EventType::kVacated, cause, name, term, revision);
}

MATCHER_P4(HandoverAsked, name, successor, term, revision, "") {
  return SaysOf(arg, EventType::kHandoverAsked, Cause::kNone, name, term, revision) &&
         arg.successor == successor;
}

// By the operator, now.
MATCHER_P3(Recorded, action, term, detail, "") {
  return arg == AdminChange{kElection, action, term, kNow, detail, kOperator};
}

// --- Answers ---

MATCHER_P(FailsWith, reason, "") { return !arg && arg.error().reason == reason; }

MATCHER_P3(FailsWith, reason, key, value, "") {
  return !arg && arg.error().reason == reason &&
         arg.error().metadata == std::map<std::string, std::string>{{key, value}};
}

MATCHER(AnswersElected, "") {
  const auto* answer = arg ? std::get_if<CampaignAnswer>(&*arg) : nullptr;
  return answer != nullptr && answer->elected;
}

MATCHER(AnswersStanding, "") {
  const auto* answer = arg ? std::get_if<CampaignAnswer>(&*arg) : nullptr;
  return answer != nullptr && !answer->elected;
}

MATCHER_P2(AnswersProclaimed, term, value, "") {
  const auto* answer = arg ? std::get_if<ProclaimAnswer>(&*arg) : nullptr;
  return answer != nullptr && answer->leadership.election == kElection &&
         answer->leadership.term == term && answer->leadership.leader.value == value;
}

MATCHER_P(AnswersResigned, term, "") {
  const auto* answer = arg ? std::get_if<ResignAnswer>(&*arg) : nullptr;
  return answer != nullptr && answer->outcome == ResignOutcome::kResigned && answer->term == term;
}

MATCHER_P(Answers, outcome, "") {
  const auto* answer = arg ? std::get_if<ResignAnswer>(&*arg) : nullptr;
  return answer != nullptr && answer->outcome == outcome && answer->term == Term{};
}

// It now has the seat of each of these elections.
MATCHER_P(AnswersElectedInAll, elections, "") {
  const auto* answer = arg ? std::get_if<CampaignForAllAnswer>(&*arg) : nullptr;
  return answer != nullptr && answer->blocked.empty() &&
         std::ranges::equal(answer->leaderships, elections, {}, &Leadership::election);
}

MATCHER_P(AnswersBlockedBy, elections, "") {
  const auto* answer = arg ? std::get_if<CampaignForAllAnswer>(&*arg) : nullptr;
  return answer != nullptr && answer->leaderships.empty() && answer->blocked == elections;
}

MATCHER(AnswersChanged, "") {
  const auto* answer = arg ? std::get_if<AdminAnswer>(&*arg) : nullptr;
  return answer != nullptr && answer->changed;
}

MATCHER(AnswersUnchanged, "") {
  const auto* answer = arg ? std::get_if<AdminAnswer>(&*arg) : nullptr;
  return answer != nullptr && !answer->changed;
}

MATCHER(AnswersDone, "") { return arg && std::holds_alternative<Done>(*arg); }

}  // namespace tenure::testing
