#include "tests/sim/mutation.h"

#include <algorithm>
#include <utility>

#include "tests/sim/world.h"

namespace tenure::sim {
namespace {

bool Was(const Event& event, EventType type) { return event.type == type; }

// The contests in which an election has just changed hands.
template <typename Do>
void ForEachHandover(Docket& docket, Do change) {
  for (auto& [name, contest] : docket.contests) {
    const auto vacated = std::ranges::find_if(docket.events, [&](const Event& event) {
      return Was(event, EventType::kVacated) && event.election == name;
    });
    if (vacated != docket.events.end() && contest.election.leader) change(contest);
  }
}

Event* LastOf(Docket& docket, const ElectionName& name) {
  const auto last = std::find_if(docket.events.rbegin(), docket.events.rend(),
                                 [&](const Event& event) { return event.election == name; });
  return last == docket.events.rend() ? nullptr : &*last;
}

Candidacy* FirstAlive(Docket& docket, Contest& contest) {
  const auto found = std::ranges::find_if(contest.queue, [&](const Candidacy& candidacy) {
    const auto session = docket.sessions.find(candidacy.session);
    return session != docket.sessions.end() && session->second.AliveAt(docket.now);
  });
  return found == contest.queue.end() ? nullptr : &*found;
}

// --- Of the law ---

void ReuseTerms(const Docket&, Docket& docket, const World&) {
  ForEachHandover(docket, [&](Contest& contest) {
    for (Event& event : docket.events) {
      if (event.election == contest.election.name && Was(event, EventType::kElected)) {
        event.term.value -= 1;
      }
    }
    contest.election.term.value -= 1;
  });
}

void SkipTerms(const Docket&, Docket& docket, const World&) {
  ForEachHandover(docket, [&](Contest& contest) {
    Event* last = LastOf(docket, contest.election.name);
    if (!Was(*last, EventType::kElected)) return;
    last->term.value += 1;
    contest.election.term.value += 1;
  });
}

void ReviveTheLate(Docket& docket, const World&) {
  for (auto& [id, session] : docket.sessions) {
    const bool late = session.ended == Cause::kNone && !session.AliveAt(docket.now);
    if (late) session.expires_at = docket.now + Duration(1);
  }
}

void RenewTheEnded(Docket& docket, const World&) {
  for (auto& [id, session] : docket.sessions) {
    if (session.ended == Cause::kNone) continue;
    session.ended = Cause::kNone;
    session.expires_at = docket.now + Duration(1);
  }
}

void LoadAllCandidates(LockSet& locks, const World& world) {
  for (auto& [name, item] : locks.elections) {
    item.sessions.insert(item.sessions.end(), world.sessions.begin(), world.sessions.end());
  }
}

// The law sees everybody who waits as alive.
void ForgetTheDead(Docket& docket, const World&) {
  for (const auto& [name, contest] : docket.contests) {
    for (const Candidacy& candidacy : contest.queue) {
      Session& session = docket.sessions.at(candidacy.session);
      session.ended = Cause::kNone;
      session.expires_at = std::max(session.expires_at, docket.now + Duration(1));
    }
  }
}

void RememberTheDead(const Docket& before, Docket& docket, const World&) {
  for (const auto& [id, session] : before.sessions) {
    if (!session.AliveAt(before.now)) docket.sessions[id] = session;
  }
}

void DropLastEvent(const Docket&, Docket& docket, const World&) {
  if (docket.events.size() > 1) docket.events.pop_back();
}

void ChangeWithoutEvent(const Docket& before, Docket& docket, const World&) {
  for (auto& [name, contest] : docket.contests) {
    const bool proclaimed = std::erase_if(docket.events, [&](const Event& event) {
                              return event.election == name && Was(event, EventType::kProclaimed);
                            }) > 0;
    if (proclaimed && docket.events.empty()) {
      contest.election.revision = before.contests.at(name).election.revision;
    }
  }
}

void GrantTwice(const Docket&, Docket& docket, const World&) {
  for (auto& [name, contest] : docket.contests) {
    Candidacy* next = FirstAlive(docket, contest);
    Election& election = contest.election;
    if (!election.leader || next == nullptr) continue;
    election.term = election.term.Next();
    election.revision = election.revision.Next();
    election.leader = Leader{next->session, next->candidate, next->lease_ttl,
                             next->value,   docket.now,      next->attempt};
    docket.events.push_back({name, election.revision, EventType::kElected, Cause::kNone,
                             election.term, *election.leader, docket.now});
    std::erase_if(contest.queue, [&](const Candidacy& candidacy) {
      return candidacy.session == election.leader->session;
    });
    --election.waiting;
  }
}

// The seat is vacated, and whoever was elected in its place waits on.
void KeepTheSeat(const Docket& before, Docket& docket, const World&) {
  ForEachHandover(docket, [&](Contest& contest) {
    Election& election = contest.election;
    const Contest& old = before.contests.at(election.name);
    const auto waited = std::ranges::find(old.queue, election.leader->session, &Candidacy::session);
    const Event* last = LastOf(docket, election.name);
    if (waited == old.queue.end() || !Was(*last, EventType::kElected)) return;
    std::erase_if(docket.events, [&](const Event& event) {
      return event.election == election.name && event.revision == election.revision;
    });
    contest.queue.insert(contest.queue.begin(), *waited);
    ++election.waiting;
    --election.term.value;
    --election.revision.value;
    election.leader.reset();
  });
}

void SwapTickets(const Docket&, Docket& docket, const World&) {
  for (auto& [name, contest] : docket.contests) {
    if (contest.queue.size() < 2) continue;
    std::swap(contest.queue[0].ticket, contest.queue[1].ticket);
  }
}

// Whoever came last is loaded as the first.
void ServeTheLastFirst(Docket& docket, const World&) {
  for (auto& [name, contest] : docket.contests) std::ranges::reverse(contest.queue);
}

void MiscountTheQueue(const Docket&, Docket& docket, const World&) {
  ForEachHandover(docket, [](Contest& contest) { ++contest.election.waiting; });
}

// A Withdraw finds its own attempt wherever it looks.
void MatchAnyAttempt(Docket& docket, const World& world) {
  const auto latest = [&](const ElectionName& name, const SessionId& session, Attempt& attempt) {
    const auto withdrawn = world.asked.withdrawn.find({name, session});
    if (withdrawn == world.asked.withdrawn.end() || withdrawn->second.empty()) return;
    attempt = Attempt{world.last_withdrawn};
  };
  for (auto& [name, contest] : docket.contests) {
    if (auto& leader = contest.election.leader) latest(name, leader->session, leader->attempt);
    for (Candidacy& candidacy : contest.queue) latest(name, candidacy.session, candidacy.attempt);
  }
}

void HalveLeases(const Docket& before, Docket& docket, const World&) {
  for (auto& [id, session] : docket.sessions) {
    const auto old = before.sessions.find(id);
    const bool renewed =
        old == before.sessions.end() || old->second.expires_at != session.expires_at;
    if (renewed && session.ended == Cause::kNone)
      session.expires_at = docket.now + session.lease_ttl / 2;
  }
}

void ExpireEarly(Docket& docket, const World&) {
  for (auto& [id, session] : docket.sessions) {
    const bool nearly = session.expires_at < docket.now + session.lease_ttl / 2;
    if (!nearly || session.ended != Cause::kNone) continue;
    session.ended = Cause::kExpired;
    docket.ended.push_back(id);
  }
}

// --- Of the law of operators ---

bool Recorded(const Docket& docket, const ElectionName& name, AdminAction action) {
  return std::ranges::any_of(docket.admin_changes, [&](const AdminChange& change) {
    return change.election == name && change.action == action;
  });
}

template <typename Do>
void ForEachDeleted(Docket& docket, Do change) {
  for (auto& [name, contest] : docket.contests) {
    if (Recorded(docket, name, AdminAction::kDeleted)) change(contest.election);
  }
}

// Whoever campaigns does not see that an election is paused.
void ForgetPauses(Docket& docket, const World& world) {
  if (world.settling_only) return;
  for (auto& [name, contest] : docket.contests) contest.election.paused = false;
}

void RestorePauses(const Docket& before, Docket& docket, const World& world) {
  if (world.settling_only) return;
  for (auto& [name, contest] : docket.contests) {
    contest.election.paused |= before.contests.at(name).election.paused;
  }
}

void ForgetDelays(Docket& docket, const World&) {
  for (auto& [name, contest] : docket.contests) contest.election.vacant_until = {};
}

void ForgetCoolDowns(Docket& docket, const World&) {
  for (auto& [name, contest] : docket.contests) contest.cool_downs.clear();
}

void MakeAllWilling(Docket& docket, const World&) {
  for (auto& [name, contest] : docket.contests) {
    for (Candidacy& candidacy : contest.queue) {
      candidacy.priority = std::max(candidacy.priority, 0);
    }
  }
}

void RestartTerms(const Docket&, Docket& docket, const World&) {
  ForEachDeleted(docket, [](Election& election) { election.term = {}; });
}

void RestartRevisions(const Docket&, Docket& docket, const World&) {
  ForEachDeleted(docket, [](Election& election) { election.revision = {}; });
}

void KeepTheSuperseded(const Docket& before, Docket& docket, const World&) {
  for (auto& [id, session] : docket.sessions) {
    const auto old = before.sessions.find(id);
    const bool now = session.ended == Cause::kSuperseded && old != before.sessions.end() &&
                     old->second.ended == Cause::kNone;
    if (!now) continue;
    session.ended = Cause::kNone;
    std::erase(docket.ended, id);
  }
}

// Of the seats that were granted to one session in several elections, the last is not granted.
void GrantInPart(const Docket& before, Docket& docket, const World&) {
  const auto last =
      std::find_if(docket.events.rbegin(), docket.events.rend(), [&](const Event& event) {
        return std::ranges::any_of(docket.events, [&](const Event& other) {
          return Was(event, EventType::kElected) && Was(other, EventType::kElected) &&
                 event.leader.session == other.leader.session && event.election != other.election;
        });
      });
  if (last == docket.events.rend()) return;
  const ElectionName name = last->election;
  docket.contests.at(name) = before.contests.at(name);
  std::erase_if(docket.events, [&](const Event& event) { return event.election == name; });
}

// As if it had been sent twice, and been new each time.
void AskTwice(const Docket&, Docket& docket, const World&) {
  for (auto& [name, contest] : docket.contests) {
    const auto asked = std::ranges::find_if(docket.events, [&](const Event& event) {
      return Was(event, EventType::kHandoverAsked) && event.election == name;
    });
    if (asked == docket.events.end() || LastOf(docket, name) != &*asked) continue;
    Event again = *asked;
    again.revision = contest.election.revision = again.revision.Next();
    docket.events.push_back(std::move(again));
    docket.admin_changes.push_back(docket.admin_changes.back());
  }
}

void LoseRecord(const Docket&, Docket& docket, const World&) {
  if (!docket.admin_changes.empty()) docket.admin_changes.pop_back();
}

// --- Of the engine and the store ---

// A seat that could not be filled at once, or whose leader is over, is never looked at again.
void SettleNothing(const Docket& before, Docket& docket, const World& world) {
  if (!world.settling_only || !docket.admin_changes.empty()) return;
  docket = before;
}

// Ready for anybody at once.
void ForgetIncumbents(const Docket&, Docket& docket, const World&) {
  for (auto& [name, contest] : docket.contests) {
    auto& vacancy = contest.election.vacancy;
    if (!vacancy || !vacancy->incumbent) continue;
    vacancy->incumbent.reset();
    if (contest.election.waiting > 0) contest.election.wake_at = docket.now;
  }
}

std::vector<Mutation> MakeMutations() {
  std::vector<Mutation> all;
  const auto add = [&](std::string name, std::string shows_as, std::string what) -> Mutation& {
    all.push_back({});
    all.back().name = std::move(name);
    all.back().what = std::move(what);
    all.back().shows_as = std::move(shows_as);
    return all.back();
  };
  add("reuse-term", "from term", "a term that ended is granted again").after_law = ReuseTerms;
  add("skip-term", "from term", "a grant skips a term").after_law = SkipTerms;
  add("revive-late", "after its lease was over", "a session whose lease is over is renewed")
      .before_law = ReviveTheLate;
  add("renew-ended", "came back", "a session that has ended comes back").before_law = RenewTheEnded;
  Mutation& dead = add("elect-the-dead", "whose session is over",
                       "a grant does not look whether its session is alive");
  dead.before_load = LoadAllCandidates;
  dead.before_law = ForgetTheDead;
  dead.after_law = RememberTheDead;
  add("lose-event", "its last event at", "a change is committed without its last event").after_law =
      DropLastEvent;
  add("silent-proclaim", "another leader than its events", "a value changes without a revision")
      .after_law = ChangeWithoutEvent;
  add("grant-twice", "was elected while", "a seat that is taken is granted").after_law = GrantTwice;
  add("keep-seat", "left vacant", "a seat that is given up is not passed on").after_law =
      KeepTheSeat;
  add("swap-tickets", "was changed", "two who wait get each other's ticket").after_law =
      SwapTickets;
  add("last-first", "comes first", "the last in the queue is served first").before_law =
      ServeTheLastFirst;
  add("miscount", "counts", "`waiting` is not counted down at a handover").after_law =
      MiscountTheQueue;
  add("any-attempt", "which nobody asked for", "a Withdraw takes back another call's place")
      .before_law = MatchAnyAttempt;
  add("half-lease", "believes in it", "a renewal buys half a lease").after_law = HalveLeases;
  add("expire-early", "before its time", "a session expires before its time").before_law =
      ExpireEarly;
  add("lose-unsettled", "vacant", "a seat that could not be filled is forgotten").after_law =
      SettleNothing;
  add("no-search", "over and not marked", "nobody looks for due sessions").after_due =
      [](DueWork& due) {
        due.expired.clear();
        due.unsettled.clear();
      };
  add("forget-ended", "not settled", "an ended session is not settled").after_places =
      [](std::vector<PlaceKey>& places) { places.clear(); };
  const auto leave_unmoved = [](std::vector<SessionId>& sessions) { sessions.clear(); };
  add("leases-jump", "believe", "leases do not follow a clock that is set forward").after_unended =
      leave_unmoved;
  add("leases-stay", "still has a queue", "leases do not follow a clock that is set back")
      .after_unended = leave_unmoved;
  add("no-incumbents", "held it before the outage", "no seat is kept for who lost it to an outage")
      .after_law = ForgetIncumbents;
  add("tell-uncommitted", "told its observer", "a change is told that was rolled back")
      .answers_before_commit = true;
  add("feed-skips", "told its observer", "the feed loses the last change of a read").after_feed =
      [](std::vector<FeedEntry>& entries) {
        if (!entries.empty()) entries.pop_back();
      };
  add("feed-repeats", "told its observer", "the feed tells a change twice").after_feed =
      [](std::vector<FeedEntry>& entries) {
        if (!entries.empty()) entries.push_back(entries.back());
      };
  Mutation& paused = add("grant-while-paused", "while it is paused",
                         "a candidate is elected in a paused election");
  paused.before_law = ForgetPauses;
  paused.after_law = RestorePauses;
  add("no-delay", "before it may be", "a seat is granted before its delay is over").before_law =
      ForgetDelays;
  add("no-cool-down", "who is kept out", "a candidate is elected during its cool-down").before_law =
      ForgetCoolDowns;
  add("elect-unwilling", "who does not want it", "a candidate of negative priority is elected")
      .before_law = MakeAllWilling;
  add("no-wake-up", "stays vacant while", "nobody looks for elections that are ready for a grant")
      .after_due = [](DueWork& due) { due.elections.clear(); };
  add("restart-terms", "its events in", "the terms of a deleted election begin anew").after_law =
      RestartTerms;
  add("restart-revisions", "its last event at", "the revisions of a deleted election begin anew")
      .after_law = RestartRevisions;
  add("keep-superseded", "lives on", "who is superseded keeps its session").after_law =
      KeepTheSuperseded;
  add("set-in-part", "of its set", "a set of seats is granted in part").after_law = GrantInPart;
  add("ask-twice", "took effect twice", "an Appoint takes effect twice").after_law = AskTwice;
  add("lose-record", "no order's record", "what an operator did is not recorded").after_law =
      LoseRecord;
  add("any-term", "took effect in another one", "an order does not mind its term")
      .orders_ignore_term = true;
  add("withdraw-while-reading", "which nobody asked for",
      "a call that is cancelled while its place is read gives the place up")
      .withdraws_while_reading = true;
  add("drop-early-elected", "was told of its election",
      "an ELECTED that comes before the answer of its call is dropped")
      .drops_early_election = true;
  add("wait-while-draining", "waits on in a replica", "a waiting call does not notice a shutdown")
      .waits_while_draining = true;
  add("answer-before-renewal", "believe", "a KeepAlive is answered before the renewal is committed")
      .answers_before_renewal = true;
  add("resume-late", "was told of", "an observer resumes one revision too late").resumes_late =
      true;
  add("lease-from-reply", "believe", "a client counts its lease from the reply").lease_from_reply =
      true;
  add("never-stops", "believe", "a client believes on after its lease").forgets_to_stop = true;
  add("unconfirmed", "believe", "a client believes before a renewal has confirmed it")
      .believes_unconfirmed = true;
  add("no-fence", "wrote in term", "a resource takes writes of older terms")
      .resource_without_fence = true;
  return all;
}

}  // namespace

const Mutation& NoMutation() {
  static const Mutation none;
  return none;
}

const std::vector<Mutation>& Mutations() {
  static const std::vector<Mutation> all = MakeMutations();
  return all;
}

}  // namespace tenure::sim
