// How the law's tests speak: dockets built from facts, commands named by who gives them, and
// matchers for what became of both.
//
// There is one election, `kElection`, and the time is `kNow` unless a fact says otherwise. A name
// stands for a candidate and its only session: "a" campaigns with the session Id("a"). Facts are
// told in order; a later one corrects an earlier one.
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

#include "core/docket.h"
#include "core/law.h"

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
  *out << "'" << session.candidate << "' until " << session.expires_at.since_epoch.count() << " us "
       << CauseName(session.ended);
}

inline void PrintTo(const Error& error, std::ostream* out) {
  *out << "error " << static_cast<int>(error.reason) << ": " << error.message;
}

inline void PrintTo(const Docket& docket, std::ostream* out) {
  for (const auto& [name, contest] : docket.contests) {
    const auto& leader = contest.election.leader;
    *out << "'" << name.bytes << "' led by '" << (leader ? leader->candidate : "") << "' in term "
         << contest.election.term.value << ", queue";
    for (const auto& candidacy : contest.queue) *out << " '" << candidacy.candidate << "'";
    *out << "; ";
  }
  for (const auto& [id, session] : docket.sessions) PrintTo(session, out);
}

}  // namespace tenure

namespace tenure::testing {

inline const ElectionName kElection{"orders"};
inline constexpr Duration kLease = std::chrono::seconds(10);
inline constexpr DbTime kNow{std::chrono::seconds(100)};
inline constexpr Duration kInstant{1};

inline SessionId Id(std::string_view name) {
  SessionId id;
  std::ranges::copy(name.substr(0, id.bytes.size()), id.bytes.begin());
  return id;
}

// --- Facts ---

using Fact = std::function<void(Docket&)>;

// Without a fact: nobody has ever campaigned.
template <typename... Facts>
[[nodiscard]] Docket Given(const Facts&... facts) {
  Docket docket;
  docket.now = kNow;
  docket.contests[kElection].election.name = kElection;
  (facts(docket), ...);
  return docket;
}

inline Session SessionOfCandidate(std::string_view name, DbTime expires_at = kNow + kLease) {
  return {Id(name), std::string(name), kLease, expires_at};
}

inline Fact Now(DbTime now) {
  return [=](Docket& docket) { docket.now = now; };
}

inline Fact Alive(std::string name, DbTime until = kNow + kLease) {
  return [=](Docket& docket) { docket.sessions[Id(name)] = SessionOfCandidate(name, until); };
}

// Its lease is over, and nobody has noticed.
inline Fact Expired(std::string name) { return Alive(std::move(name), kNow); }

inline Fact Ended(std::string name, Cause cause) {
  return [=](Docket& docket) {
    docket.sessions[Id(name)] = SessionOfCandidate(name);
    docket.sessions[Id(name)].ended = cause;
  };
}

inline Fact Forgotten(std::string name) {
  return [=](Docket& docket) { docket.sessions.erase(Id(name)); };
}

// How one stands for an election, or what one leads it with.
struct Standing {
  int32_t priority = 0;
  std::string value = {};
  Attempt attempt = {};
};

// Every term that ever was has been granted and has ended.
inline Fact VacantAfter(Term term) {
  return [=](Docket& docket) {
    Contest& contest = docket.contests[kElection];
    contest.exists = true;
    contest.election.term = term;
    contest.election.revision = {2 * term.value};
    contest.election.leader.reset();
  };
}

inline Fact LedBy(std::string name, Term term, Standing standing = {}) {
  return [=](Docket& docket) {
    docket.sessions.try_emplace(Id(name), SessionOfCandidate(name));
    Contest& contest = docket.contests[kElection];
    contest.exists = true;
    contest.election.term = term;
    contest.election.revision = {2 * term.value - 1};
    contest.election.leader =
        Leader{Id(name), name, kLease, standing.value, DbTime{}, standing.attempt};
  };
}

// Each has come after those that were told of before.
inline Fact Waiting(std::string name, Standing standing = {}) {
  return [=](Docket& docket) {
    docket.sessions.try_emplace(Id(name), SessionOfCandidate(name));
    Contest& contest = docket.contests[kElection];
    contest.exists = true;
    contest.queue.push_back({Id(name), name, kLease, contest.election.next_ticket,
                             standing.priority, standing.value, standing.attempt});
    std::ranges::sort(contest.queue,
                      [](const Candidacy& a, const Candidacy& b) { return a.Before(b); });
    contest.election.next_ticket = contest.election.next_ticket.Next();
    ++contest.election.waiting;
  };
}

// What comes behind this candidate was not read.
inline Fact HorizonAt(std::string name) {
  return [=](Docket& docket) {
    Contest& contest = docket.contests[kElection];
    contest.horizon = *std::ranges::find(contest.queue, name, &Candidacy::candidate);
  };
}

// --- Commands ---

inline Campaign CampaignBy(std::string_view name, Standing standing = {}) {
  Campaign campaign;
  campaign.election = kElection;
  campaign.session = Id(name);
  campaign.priority = standing.priority;
  campaign.value = std::move(standing.value);
  campaign.attempt = standing.attempt;
  return campaign;
}

// Opens the candidate's session with it.
inline Campaign FirstCampaignBy(std::string_view name, Standing standing = {}) {
  Campaign campaign = CampaignBy(name, std::move(standing));
  campaign.opening = {std::string(name), kLease};
  return campaign;
}

inline Proclaim ProclaimBy(std::string_view name, Term term, std::string value) {
  return {kElection, Id(name), term, std::move(value)};
}

inline Resign ResignBy(std::string_view name, std::optional<Term> term = std::nullopt) {
  return {kElection, Id(name), term};
}

inline Withdraw WithdrawalBy(std::string_view name, Attempt attempt) {
  return {kElection, Id(name), attempt};
}

inline Settle Settlement() { return {kElection, std::nullopt}; }
inline Settle SettlementOf(std::string_view name) { return {kElection, Id(name)}; }

inline Result<Answer> Do(Docket& docket, const Command& command, const Limits& limits = {}) {
  return Apply(docket, limits, command);
}

// --- What became of it ---

inline const Contest& ContestIn(const Docket& docket) { return docket.contests.at(kElection); }
inline const Election& ElectionIn(const Docket& docket) { return ContestIn(docket).election; }

inline const Session& SessionIn(const Docket& docket, std::string_view name) {
  return docket.sessions.at(Id(name));
}

inline const Candidacy& PlaceIn(const Docket& docket, std::string_view name) {
  return *std::ranges::find(ContestIn(docket).queue, Id(name), &Candidacy::session);
}

inline std::vector<std::string> QueueIn(const Docket& docket) {
  std::vector<std::string> names;
  for (const Candidacy& candidacy : ContestIn(docket).queue) names.push_back(candidacy.candidate);
  return names;
}

MATCHER_P2(IsLedBy, name, term, "") {
  const Election& election = ElectionIn(arg);
  return election.leader && election.leader->session == Id(name) &&
         election.leader->candidate == name && election.term == term;
}

MATCHER_P(IsVacantAfter, term, "") {
  return !ElectionIn(arg).leader && ElectionIn(arg).term == term;
}

inline bool SameContest(const Contest& a, const Contest& b) {
  return a.election == b.election && a.exists == b.exists && a.queue == b.queue &&
         a.horizon == b.horizon;
}

MATCHER_P(IsSameAs, before, "") {
  const auto same_entry = [](const auto& a, const auto& b) {
    return a.first == b.first && SameContest(a.second, b.second);
  };
  return arg.now == before.now && arg.sessions == before.sessions &&
         std::ranges::equal(arg.contests, before.contests, same_entry) && arg.busy == before.busy &&
         arg.events == before.events && arg.ended == before.ended &&
         arg.unsettled == before.unsettled;
}

inline bool SaysOf(const Event& event, EventType type, Cause cause, std::string_view name,
                   Term term, Revision revision) {
  return event.election == kElection && event.type == type && event.cause == cause &&
         event.leader.session == Id(name) && event.leader.candidate == name && event.term == term &&
         event.revision == revision;
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

MATCHER(AnswersDone, "") { return arg && std::holds_alternative<Done>(*arg); }

}  // namespace tenure::testing
