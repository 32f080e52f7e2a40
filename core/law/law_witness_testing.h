// Watches one election step by step, as an observer would, and knows by itself what may happen in
// it: it sees each command, and keeps its own books of terms, delays and cool-downs.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/law/law_testing.h"

namespace tenure::testing {

class Witness {
 public:
  explicit Witness(const Limits& limits) : limits_(limits) {}

  // `before` is the transaction without events; `after` what one step made of it. Without a command
  // the step was about a session.
  void Check(const TransactionState& before, const TransactionState& after,
             const std::optional<Command>& command = std::nullopt) {
    const Step step{before, after, command};
    for (const Event& event : after.events) CheckEvent(step, event);
    LearnFromOperator(step);
    CheckNextTerm(step);
    CheckElection(ElectionIn(after));
    CheckQueue(StateIn(after));
    CheckSessions(before, after);
  }

  [[nodiscard]] uint64_t grants() const { return term_.value; }

 private:
  struct Step {
    const TransactionState& before;
    const TransactionState& after;
    const std::optional<Command>& command;

    // The command, if it is of this kind.
    template <typename It>
    [[nodiscard]] const It* Of() const {
      return command ? std::get_if<It>(&*command) : nullptr;
    }
  };

  void CheckEvent(const Step& step, const Event& event) {
    EXPECT_EQ(event.election, kElection);
    EXPECT_EQ(event.at, step.after.now);
    EXPECT_EQ(event.revision, revision_.Next()) << "revisions have no gaps";
    revision_ = event.revision;
    if (event.type == EventType::kElected) return CheckGrant(step, event);

    EXPECT_EQ(event.term, term_);
    EXPECT_EQ(leader_, event.leader.session);
    EXPECT_EQ(event.cause != Cause::kNone, event.type == EventType::kVacated);
    EXPECT_EQ(!event.successor.empty(), event.type == EventType::kHandoverAsked);
    if (event.type == EventType::kVacated) CheckEnd(step, event);
  }

  void CheckGrant(const Step& step, const Event& event) {
    const Election& before = ElectionIn(step.before);
    const std::string& candidate = event.leader.candidate;
    const auto* appoint = step.Of<Appoint>();
    const bool appointed_now = appoint != nullptr && appoint->candidate == candidate;
    // Only the step's first grant fulfils an earlier appointment; the step may have ended its term.
    const auto first = std::ranges::find(step.after.events, EventType::kElected, &Event::type);
    const bool is_first = first->revision == event.revision;
    const bool appointed_before =
        is_first && before.appointment && before.appointment->candidate == candidate;
    const bool reserved_for_another =
        is_first && before.appointment && !appointed_before && before.appointment->until > event.at;
    const bool goes_on = GoesOn(step, event);
    const auto kept_out_until = cool_downs_[candidate];

    EXPECT_FALSE(leader_) << "at most one leader";
    EXPECT_EQ(event.term, term_.Next()) << "terms rise by one";
    EXPECT_EQ(event.cause, Cause::kNone);
    EXPECT_TRUE(WasAlive(step, event.leader.session)) << "a grant proves life";
    EXPECT_FALSE(Withdrawn(step, event.leader.session)) << "the caller of its Campaign is gone";
    EXPECT_FALSE(before.paused && ElectionIn(step.after).paused && !goes_on)
        << "no grant while paused";
    EXPECT_FALSE(reserved_for_another && appoint == nullptr) << "a reserved seat is kept";
    EXPECT_TRUE(event.at >= reopens_at_ || (appointed_now && appoint->force) || goes_on)
        << "the seat stays empty until the delay has passed";
    EXPECT_TRUE(event.at >= kept_out_until || appointed_before || appointed_now || goes_on)
        << "a candidate in a cool-down is not elected";
    EXPECT_TRUE(WantedToLead(step, event.leader.session) || appointed_before || appointed_now ||
                goes_on)
        << "a negative priority leads only if it is appointed";
    term_ = event.term;
    leader_ = event.leader.session;
  }

  // The leader keeps its seat in the term after the one that its campaign names, and only in that.
  static bool GoesOn(const Step& step, const Event& event) {
    const auto* campaign = step.Of<Campaign>();
    const auto& leader = ElectionIn(step.before).leader;
    return campaign != nullptr && leader && leader->session == event.leader.session &&
           campaign->session == leader->session && campaign->after_term &&
           event.term == campaign->after_term->Next() &&
           ElectionIn(step.before).term == campaign->after_term;
  }

  // A leader that asks for the next term has it, unless an appointment binds.
  static void CheckNextTerm(const Step& step) {
    const auto* campaign = step.Of<Campaign>();
    const Election& before = ElectionIn(step.before);
    const bool leads = campaign != nullptr && before.leader &&
                       before.leader->session == campaign->session &&
                       step.before.sessions.at(campaign->session).Alive();
    if (!leads || before.term != campaign->after_term) return;
    const auto& appointment = before.appointment;
    const bool binds =
        appointment && (appointment->until > step.after.now ||
                        std::ranges::any_of(StateIn(step.before).queue, [&](const Candidacy& it) {
                          return it.candidate == appointment->candidate &&
                                 step.before.sessions.at(it.session).Alive();
                        }));
    const auto& leader = ElectionIn(step.after).leader;
    if (!binds) {
      EXPECT_EQ(ElectionIn(step.after).term, before.term.Next()) << "the term ends";
    }
    // A full queue refuses a leader that would have to wait.
    if (binds && ElectionIn(step.after).term == before.term && leader) return;
    EXPECT_EQ(leader && leader->session == campaign->session, !binds) << "the seat is kept";
  }

  // The same step may have superseded it since.
  static bool WasAlive(const Step& step, const SessionId& id) {
    const auto known = step.before.sessions.find(id);
    const bool opened_now = known == step.before.sessions.end();
    const Session& now = step.after.sessions.at(id);
    return (opened_now || known->second.Alive()) &&
           (now.Alive() || now.ended == Cause::kSuperseded);
  }

  static bool Withdrawn(const Step& step, const SessionId& id) {
    const auto* withdraw = step.Of<Withdraw>();
    if (withdraw == nullptr || withdraw->session != id) return false;
    const auto& queue = StateIn(step.before).queue;
    const auto place = std::ranges::find(queue, id, &Candidacy::session);
    return place != queue.end() && withdraw->call_id != CallId{} &&
           place->call_id == withdraw->call_id;
  }

  static bool WantedToLead(const Step& step, const SessionId& id) {
    const auto* campaign = step.Of<Campaign>();
    const auto* for_all = step.Of<CampaignForAll>();
    const auto& queue = StateIn(step.before).queue;
    const auto place = std::ranges::find(queue, id, &Candidacy::session);
    return (campaign != nullptr && campaign->session == id && campaign->priority >= 0) ||
           (for_all != nullptr && for_all->session == id) ||
           (place != queue.end() && place->priority >= 0);
  }

  void CheckEnd(const Step& step, const Event& event) {
    const Settings& settings = ElectionIn(step.before).settings;
    if (event.cause == Cause::kResigned) {
      EXPECT_EQ(step.Of<Withdraw>(), nullptr) << "a seat is never taken back";
    }
    const bool voluntary = event.cause == Cause::kResigned || event.cause == Cause::kSessionClosed;
    const bool unclean = event.cause == Cause::kExpired || event.cause == Cause::kDeposed;
    Duration delay{0};
    if (unclean) delay = settings.lock_delay;
    if (voluntary) {
      const Duration held = event.at - event.leader.elected_at;
      delay = settings.min_hold - std::clamp(held, Duration(0), settings.min_hold);
    }
    reopens_at_ = delay > Duration(0) ? event.at + delay : DbTime{};
    const auto* depose = step.Of<Depose>();
    const bool deposed =
        depose != nullptr && depose->term == event.term && !step.after.admin_changes.empty();
    if (deposed && depose->cool_down > Duration(0)) {
      cool_downs_[event.leader.candidate] = event.at + depose->cool_down;
    }
    leader_.reset();
  }

  void LearnFromOperator(const Step& step) {
    // Ended cool-downs may be forgotten, and do not return when the clock is set back.
    std::erase_if(cool_downs_, [&](const auto& entry) { return entry.second <= step.after.now; });
    const auto* appoint = step.Of<Appoint>();
    const bool changed = !step.after.admin_changes.empty();
    if (changed && appoint != nullptr && appoint->force) reopens_at_ = {};
    if (changed && step.Of<Delete>() != nullptr) {
      reopens_at_ = {};
      cool_downs_.clear();
      EXPECT_FALSE(StateIn(step.after).exists);
    }
  }

  void CheckElection(const Election& election) {
    EXPECT_EQ(election.term, term_) << "a term never goes back";
    EXPECT_EQ(election.revision, revision_);
    EXPECT_GE(election.history_from, history_from_);
    EXPECT_LE(election.history_from, revision_.Next());
    history_from_ = election.history_from;
    EXPECT_EQ(election.leader.has_value(), leader_.has_value());
    if (election.leader) {
      EXPECT_EQ(election.leader->session, leader_);
    }
  }

  void CheckQueue(const ElectionState& state) const {
    EXPECT_EQ(state.election.waiting, state.queue.size());
    EXPECT_LE(state.election.waiting, limits_.queue_max);
    std::set<SessionId> sessions;
    std::set<Ticket> tickets;
    for (const Candidacy& candidacy : state.queue) {
      EXPECT_TRUE(sessions.insert(candidacy.session).second) << "one place for a session";
      EXPECT_TRUE(tickets.insert(candidacy.ticket).second) << "one place for a ticket";
      EXPECT_LT(candidacy.ticket, state.election.next_ticket);
      EXPECT_NE(candidacy.session, leader_) << "the leader does not wait";
    }
    EXPECT_TRUE(std::ranges::is_sorted(
        state.queue, [](const Candidacy& a, const Candidacy& b) { return a.Before(b); }));
  }

  // An ended session keeps its first cause; no lease changes; each end is reported once.
  void CheckSessions(const TransactionState& before, const TransactionState& after) {
    for (const auto& [id, session] : before.sessions) {
      const Session& now = after.sessions.at(id);
      EXPECT_EQ(now.lease_ttl, session.lease_ttl);
      if (session.ended != Cause::kNone) {
        EXPECT_EQ(now, session);
      }
      const bool ended_now = session.ended == Cause::kNone && now.ended != Cause::kNone;
      EXPECT_EQ(std::ranges::count(after.ended, id), ended_now ? 1 : 0);
    }
  }

  const Limits& limits_;
  Term term_;
  Revision revision_;
  Revision history_from_;
  std::optional<SessionId> leader_;
  DbTime reopens_at_;
  std::map<std::string, DbTime> cool_downs_;
};

// After a command no leader is dead, and no seat is vacant while an eligible live candidate waits,
// unless the election is paused, wakes up later, or was not read to the end and is due.
inline void CheckInLine(const TransactionState& transaction) {
  const auto alive = [&](const SessionId& id) { return transaction.sessions.at(id).Alive(); };
  const ElectionState& state = StateIn(transaction);
  const Election& election = state.election;
  if (election.leader) {
    EXPECT_TRUE(alive(election.leader->session));
    EXPECT_EQ(election.wake_at, std::nullopt);
    return;
  }
  EXPECT_TRUE(!election.wake_at || *election.wake_at > transaction.now ||
              !transaction.undecided.empty());
  if (election.paused || election.wake_at) return;
  EXPECT_TRUE(std::ranges::none_of(state.queue, [&](const Candidacy& candidacy) {
    const bool appointed =
        election.appointment && election.appointment->candidate == candidacy.candidate;
    return (candidacy.priority >= 0 || appointed) && alive(candidacy.session);
  })) << "somebody waits for a vacant seat, and nothing is going to happen";
}

// An undecided election has a vacant seat that somebody may wait for.
inline void CheckUndecided(const TransactionState& transaction) {
  if (transaction.undecided.empty()) return;
  const ElectionState& state = StateIn(transaction);
  EXPECT_TRUE(state.exists && state.horizon) << "all is known";
  EXPECT_FALSE(state.election.leader) << "the seat is filled";
}

// A set is refused a seat only for a reason.
inline void CheckBlocked(const TransactionState& before, const Result<Answer>& answer) {
  const auto* set = answer ? std::get_if<CampaignForAllAnswer>(&*answer) : nullptr;
  if (set == nullptr || set->blocked.empty()) return;
  const Election& election = ElectionIn(before);
  EXPECT_TRUE(election.leader || election.waiting > 0 || election.paused || election.appointment ||
              election.vacant_until > before.now || !StateIn(before).cool_downs.empty())
      << "a free seat was refused";
}

// While nobody does anything, a vacant seat is filled when the election wakes up, and at no other
// time.
inline void CheckWakeUps(const TransactionState& transaction) {
  if (ElectionIn(transaction).leader) return;
  TransactionState later = Given(Now(transaction.now));
  later.elections = transaction.elections;
  for (const Candidacy& candidacy : StateIn(transaction).queue) {
    later.sessions[candidacy.session] = transaction.sessions.at(candidacy.session);
  }
  const auto settle_at = [&](DbTime now) {
    later.now = now;
    (void)Do(later, Reconciliation());
  };
  while (const auto wake_at = ElectionIn(later).wake_at) {
    settle_at(*wake_at + -kInstant);
    EXPECT_EQ(ElectionIn(later).leader, std::nullopt) << "elected before it woke up";
    ASSERT_EQ(ElectionIn(later).wake_at, wake_at);
    settle_at(*wake_at);
    if (ElectionIn(later).leader) return;
    ASSERT_NE(ElectionIn(later).wake_at, wake_at) << "woke up for nothing";
  }
  settle_at(later.now + std::chrono::hours(100));
  EXPECT_EQ(ElectionIn(later).leader, std::nullopt) << "did not wake up in time";
}

}  // namespace tenure::testing
