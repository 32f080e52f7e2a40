#include "tests/sim/mutation.h"

#include <algorithm>
#include <utility>

#include "core/law/law.h"
#include "tests/sim/world.h"

namespace tenure::sim {

using namespace std::chrono_literals;

namespace {

bool Was(const Event& event, EventType type) { return event.type == type; }

// The contests in which an election has just changed hands.
template <typename Do>
void ForEachHandover(TransactionState& transaction, Do change) {
  for (auto& [name, state] : transaction.elections) {
    const auto vacated = std::ranges::find_if(transaction.events, [&](const Event& event) {
      return Was(event, EventType::kVacated) && event.election == name;
    });
    if (vacated != transaction.events.end() && state.election.leader) change(state);
  }
}

Event* LastOf(TransactionState& transaction, const ElectionName& name) {
  const auto last = std::find_if(transaction.events.rbegin(), transaction.events.rend(),
                                 [&](const Event& event) { return event.election == name; });
  return last == transaction.events.rend() ? nullptr : &*last;
}

Candidacy* FirstAlive(TransactionState& transaction, ElectionState& state) {
  const auto found = std::ranges::find_if(state.queue, [&](const Candidacy& candidacy) {
    const auto session = transaction.sessions.find(candidacy.session);
    return session != transaction.sessions.end() && session->second.Alive();
  });
  return found == state.queue.end() ? nullptr : &*found;
}

// --- Of the law ---

void ReuseTerms(const TransactionState&, TransactionState& transaction, const World&) {
  ForEachHandover(transaction, [&](ElectionState& state) {
    for (Event& event : transaction.events) {
      if (event.election == state.election.name && Was(event, EventType::kElected)) {
        event.term.value -= 1;
      }
    }
    state.election.term.value -= 1;
  });
}

void SkipTerms(const TransactionState&, TransactionState& transaction, const World&) {
  ForEachHandover(transaction, [&](ElectionState& state) {
    Event* last = LastOf(transaction, state.election.name);
    if (!Was(*last, EventType::kElected)) return;
    last->term.value += 1;
    state.election.term.value += 1;
  });
}

void RenewTheEnded(TransactionState& transaction, const World&) {
  for (auto& [id, session] : transaction.sessions) {
    session.ended = Cause::kNone;
  }
}

void LoadAllCandidates(LockSet& locks, const World& world) {
  for (auto& [name, item] : locks.elections) {
    item.sessions.insert(item.sessions.end(), world.sessions.begin(), world.sessions.end());
  }
}

// The law sees everybody who waits as alive.
void ForgetTheDead(TransactionState& transaction, const World&) {
  for (const auto& [name, state] : transaction.elections) {
    for (const Candidacy& candidacy : state.queue) {
      transaction.sessions.at(candidacy.session).ended = Cause::kNone;
    }
  }
}

void RememberTheDead(const TransactionState& before, TransactionState& transaction, const World&) {
  for (const auto& [id, session] : before.sessions) {
    if (!session.Alive()) transaction.sessions[id] = session;
  }
}

void DropLastEvent(const TransactionState&, TransactionState& transaction, const World&) {
  if (transaction.events.size() > 1) transaction.events.pop_back();
}

void ChangeWithoutEvent(const TransactionState& before, TransactionState& transaction,
                        const World&) {
  for (auto& [name, state] : transaction.elections) {
    const bool proclaimed = std::erase_if(transaction.events, [&](const Event& event) {
                              return event.election == name && Was(event, EventType::kProclaimed);
                            }) > 0;
    if (proclaimed && transaction.events.empty()) {
      state.election.revision = before.elections.at(name).election.revision;
    }
  }
}

void GrantTwice(const TransactionState&, TransactionState& transaction, const World&) {
  for (auto& [name, state] : transaction.elections) {
    Candidacy* next = FirstAlive(transaction, state);
    Election& election = state.election;
    if (!election.leader || next == nullptr) continue;
    election.term = election.term.Next();
    election.revision = election.revision.Next();
    election.leader = Leader{next->session, next->candidate, next->lease_ttl,
                             next->value,   transaction.now, next->call_id};
    transaction.events.push_back({name, election.revision, EventType::kElected, Cause::kNone,
                                  election.term, *election.leader, transaction.now});
    std::erase_if(state.queue, [&](const Candidacy& candidacy) {
      return candidacy.session == election.leader->session;
    });
    --election.waiting;
  }
}

// The seat is vacated, and the candidate that was elected instead waits on.
void KeepTheSeat(const TransactionState& before, TransactionState& transaction, const World&) {
  ForEachHandover(transaction, [&](ElectionState& state) {
    Election& election = state.election;
    const ElectionState& old = before.elections.at(election.name);
    const auto waited = std::ranges::find(old.queue, election.leader->session, &Candidacy::session);
    const Event* last = LastOf(transaction, election.name);
    if (waited == old.queue.end() || !Was(*last, EventType::kElected)) return;
    std::erase_if(transaction.events, [&](const Event& event) {
      return event.election == election.name && event.revision == election.revision;
    });
    state.queue.insert(state.queue.begin(), *waited);
    ++election.waiting;
    --election.term.value;
    --election.revision.value;
    election.leader.reset();
  });
}

// A leader that asked for the next term does not get it.
void LeaveVacant(const TransactionState&, TransactionState& transaction, const World&) {
  if (transaction.events.size() != 2) return;
  const Event& vacated = transaction.events.front();
  const bool goes_on = Was(vacated, EventType::kVacated) &&
                       Was(transaction.events.back(), EventType::kElected) &&
                       vacated.leader.session == transaction.events.back().leader.session;
  if (!goes_on) return;
  Election& election = transaction.elections.at(vacated.election).election;
  election.term = vacated.term;
  election.revision = vacated.revision;
  election.leader.reset();
  transaction.events.pop_back();
}

void SwapTickets(const TransactionState&, TransactionState& transaction, const World&) {
  for (auto& [name, state] : transaction.elections) {
    if (state.queue.size() < 2) continue;
    std::swap(state.queue[0].ticket, state.queue[1].ticket);
  }
}

// The last in the queue is loaded as the first.
void ServeTheLastFirst(TransactionState& transaction, const World&) {
  for (auto& [name, state] : transaction.elections) std::ranges::reverse(state.queue);
}

void MiscountTheQueue(const TransactionState&, TransactionState& transaction, const World&) {
  ForEachHandover(transaction, [](ElectionState& state) { ++state.election.waiting; });
}

// A Withdraw finds its own call id wherever it looks.
void MatchAnyCall(TransactionState& transaction, const World& world) {
  const auto latest = [&](const ElectionName& name, const SessionId& session, CallId& call_id) {
    const auto withdrawn = world.asked.withdrawn.find({name, session});
    if (withdrawn == world.asked.withdrawn.end() || withdrawn->second.empty()) return;
    call_id = CallId{world.last_withdrawn};
  };
  for (auto& [name, state] : transaction.elections) {
    for (Candidacy& candidacy : state.queue) latest(name, candidacy.session, candidacy.call_id);
  }
}

bool IsWithdrawn(const World& world, const ElectionName& name, const SessionId& session,
                 CallId call_id) {
  const auto withdrawn = world.asked.withdrawn.find({name, session});
  return withdrawn != world.asked.withdrawn.end() && withdrawn->second.contains(call_id.value);
}

void ResignWithdrawnSeats(TransactionState& transaction, const World& world) {
  for (const auto& [name, state] : transaction.elections) {
    const auto& leader = state.election.leader;
    if (!leader || !IsWithdrawn(world, name, leader->session, leader->call_id)) continue;
    (void)Apply(transaction, {}, Resign{name, leader->session, {}});
  }
}

// Whether it has asked to give up the seat that it holds now.
bool Resigns(const World& world, const Election& election) {
  const auto resigned = world.asked.resigned.find({election.name, election.leader->session});
  return resigned != world.asked.resigned.end() &&
         (resigned->second.contains(0) || resigned->second.contains(election.term.value));
}

void FillSeatsBeforeWithdrawals(TransactionState& transaction, const World& world) {
  for (const auto& [name, state] : transaction.elections) {
    const bool withdrawn = std::ranges::any_of(state.queue, [&](const Candidacy& candidacy) {
      return IsWithdrawn(world, name, candidacy.session, candidacy.call_id);
    });
    if (!withdrawn) continue;
    const auto ended = transaction.ended;
    const Election& election = state.election;
    if (election.leader && Resigns(world, election)) {
      (void)Apply(transaction, {}, Resign{name, election.leader->session, election.term});
    }
    (void)Apply(transaction, {}, Reconcile{name, {}});
    transaction.ended = ended;  // the engine may forget their sessions, which are not in its locks
  }
}

// --- Of the law of operators ---

bool Recorded(const TransactionState& transaction, const ElectionName& name, AdminAction action) {
  return std::ranges::any_of(transaction.admin_changes, [&](const AdminChange& change) {
    return change.election == name && change.action == action;
  });
}

template <typename Do>
void ForEachDeleted(TransactionState& transaction, Do change) {
  for (auto& [name, state] : transaction.elections) {
    if (Recorded(transaction, name, AdminAction::kDeleted)) change(state.election);
  }
}

// A campaign does not see that an election is paused.
void ForgetPauses(TransactionState& transaction, const World& world) {
  if (world.settling_only) return;
  for (auto& [name, state] : transaction.elections) state.election.paused = false;
}

void RestorePauses(const TransactionState& before, TransactionState& transaction,
                   const World& world) {
  if (world.settling_only) return;
  for (auto& [name, state] : transaction.elections) {
    state.election.paused |= before.elections.at(name).election.paused;
  }
}

void ForgetDelays(TransactionState& transaction, const World&) {
  for (auto& [name, state] : transaction.elections) state.election.vacant_until = {};
}

void ForgetCoolDowns(TransactionState& transaction, const World&) {
  for (auto& [name, state] : transaction.elections) state.cool_downs.clear();
}

void MakeAllWilling(TransactionState& transaction, const World&) {
  for (auto& [name, state] : transaction.elections) {
    for (Candidacy& candidacy : state.queue) {
      candidacy.priority = std::max(candidacy.priority, 0);
    }
  }
}

void RestartTerms(const TransactionState&, TransactionState& transaction, const World&) {
  ForEachDeleted(transaction, [](Election& election) { election.term = {}; });
}

void RestartRevisions(const TransactionState&, TransactionState& transaction, const World&) {
  ForEachDeleted(transaction, [](Election& election) { election.revision = {}; });
}

void KeepTheSuperseded(const TransactionState& before, TransactionState& transaction,
                       const World&) {
  for (auto& [id, session] : transaction.sessions) {
    const auto old = before.sessions.find(id);
    const bool now = session.ended == Cause::kSuperseded && old != before.sessions.end() &&
                     old->second.ended == Cause::kNone;
    if (!now) continue;
    session.ended = Cause::kNone;
    std::erase(transaction.ended, id);
  }
}

// The last of the seats that one session was granted in several elections is not granted.
void GrantInPart(const TransactionState& before, TransactionState& transaction, const World&) {
  const auto last =
      std::find_if(transaction.events.rbegin(), transaction.events.rend(), [&](const Event& event) {
        return std::ranges::any_of(transaction.events, [&](const Event& other) {
          return Was(event, EventType::kElected) && Was(other, EventType::kElected) &&
                 event.leader.session == other.leader.session && event.election != other.election;
        });
      });
  if (last == transaction.events.rend()) return;
  const ElectionName name = last->election;
  transaction.elections.at(name) = before.elections.at(name);
  std::erase_if(transaction.events, [&](const Event& event) { return event.election == name; });
}

// As if it had been sent twice, and been new each time.
void AskTwice(const TransactionState&, TransactionState& transaction, const World&) {
  for (auto& [name, state] : transaction.elections) {
    const auto asked = std::ranges::find_if(transaction.events, [&](const Event& event) {
      return Was(event, EventType::kHandoverAsked) && event.election == name;
    });
    if (asked == transaction.events.end() || LastOf(transaction, name) != &*asked) continue;
    Event again = *asked;
    again.revision = state.election.revision = again.revision.Next();
    transaction.events.push_back(std::move(again));
    transaction.admin_changes.push_back(transaction.admin_changes.back());
  }
}

void LoseRecord(const TransactionState&, TransactionState& transaction, const World&) {
  if (!transaction.admin_changes.empty()) transaction.admin_changes.pop_back();
}

// --- Of the engine and the store ---

// A seat that could not be filled at once, or whose leader's session has ended, is never settled.
void SettleNothing(const TransactionState& before, TransactionState& transaction,
                   const World& world) {
  if (!world.settling_only || !transaction.admin_changes.empty()) return;
  transaction = before;
}

// The numbers of an election that is purged are forgotten with it.
void ForgetNumbers(const TransactionState&, TransactionState& transaction, const World&) {
  transaction.origin_min = 0;
}

// --- Of homes ---

HomeRow RowOf(Store& store, HomeId home) {
  return store.Beat({.home = home})->own.value_or(HomeRow{});
}

Result<BeatReport> HideDepartures(Store& store, const BeatOrder& order) {
  auto report = store.Beat(order);
  if (report && report->own) report->own->departures = 0;
  return report;
}

Result<BeatReport> IgnoreRefusal(Store& store, const BeatOrder& order) {
  auto report = store.Beat(order);
  if (report) report->beaten = true;
  return report;
}

// Any number but the acknowledged one seems to come from an older state of the database.
Result<BeatReport> ForgetDoubt(Store& store, const BeatOrder& order) {
  if (RowOf(store, order.home).beat == order.acknowledged) return store.Beat(order);
  auto report = store.Beat({.home = order.home, .due_max = order.due_max});
  if (report && report->own && !report->own->dead) report->own->beat = order.acknowledged - 1;
  return report;
}

// A number that it never sent is taken for its own.
Result<BeatReport> IgnoreCopy(Store& store, const BeatOrder& order) {
  auto report = store.Beat(order);
  if (report && report->own)
    report->beaten |= order.number > 0 && report->own->beat >= order.number;
  return report;
}

Result<BeatReport> HideBeats(Store& store, const BeatOrder& order) {
  auto report = store.Beat(order);
  if (report) {
    for (HomeRow& row : report->living) row.beat = 0;
  }
  return report;
}

Result<bool> DeclareAnyDead(Store& store, HomeId home, uint64_t /*beat*/) {
  return store.DeclareDead(home, RowOf(store, home).beat);
}

void LoseDepartures(const TransactionState&, TransactionState& transaction, const World&) {
  transaction.departures.clear();
}

// A session is answered as moved, and has not moved.
void StayAtHome(const TransactionState& before, TransactionState& transaction, const World&) {
  for (auto& [id, session] : transaction.sessions) {
    const auto old = before.sessions.find(id);
    if (old != before.sessions.end() && old->second.home != session.home) session = old->second;
  }
}

void EndAtAnyMoves(TransactionState& transaction, const Session& session) {
  EndSilent(transaction, session.id, transaction.sessions.at(session.id).moves);
  EndIfUnchanged(transaction, session);
}

void SlowDown(Plan& plan) {
  plan.slow_messages = 200'000;
  plan.slow_at_most = 2 * plan.lease_ttl;
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
  add("forget-numbers", "began again", "a purge forgets the election's numbers").after_law =
      ForgetNumbers;
  add("skip-term", "from term", "a grant skips a term").after_law = SkipTerms;
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
  add("any-call", "which nobody asked for", "a Withdraw takes back another call's place")
      .before_law = MatchAnyCall;
  add("withdraw-seat", "was resigned, which nobody asked for",
      "a Withdraw ends the term that its call was granted")
      .before_law = ResignWithdrawnSeats;
  Mutation& late = add("withdraw-late", "whose call was withdrawn",
                       "a Withdraw fills the seat before it withdraws");
  late.before_law = FillSeatsBeforeWithdrawals;
  // Many calls are cancelled, and commands wait for each other.
  late.provoke = [](Plan& plan) {
    plan.elections = 1;
    plan.holders = 9;
    plan.patient = false;
    plan.stalls_every = 100ms;
    plan.busy_at_most = 100ms;
    plan.pauses_every = 500ms;
    plan.steps_every = 0s;
  };
  add("lose-undecided", "vacant", "a seat that could not be filled is forgotten").after_law =
      SettleNothing;
  add("stale-election", "lost its place", "an election is believed to be as it is remembered")
      .unchecked = [](const TransactionState& remembered, TransactionState& loaded) {
    loaded.elections = remembered.elections;
  };
  add("stale-session", "came back", "a session is believed to be as it is remembered").unchecked =
      [](const TransactionState& remembered, TransactionState& loaded) {
        loaded.sessions = remembered.sessions;
      };
  add("stale-clock", "by another clock", "the estimated time is not checked against the clock")
      .unchecked = [](const TransactionState& remembered, TransactionState& loaded) {
    loaded.now = remembered.now;
  };
  add("all-attend", "whose session has ended", "a read does not ask which sessions have ended")
      .after_attendance = [](Attendance& attendance) { attendance.unsettled.clear(); };
  add("miss-last", "is not what the store says", "a read does not notice the last commit of others")
      .after_attendance = [](Attendance& attendance) {
    for (uint64_t& offset : attendance.partitions.offsets) offset -= std::min<uint64_t>(offset, 1);
  };
  add("no-search", "not settled", "nobody looks for ended sessions").after_due = [](DueWork& due) {
    due.unsettled.clear();
  };
  add("forget-ended", "not settled", "an ended session is not settled").after_places =
      [](std::vector<PlaceKey>& places) { places.clear(); };
  add("tell-uncommitted", "told its observer", "a change is reported that was rolled back")
      .answers_before_commit = true;
  add("feed-skips", "told its observer", "the feed loses the last change of a read").after_feed =
      [](std::vector<FeedEntry>& entries) {
        if (!entries.empty()) entries.pop_back();
      };
  add("feed-repeats", "told its observer", "the feed reports a change twice").after_feed =
      [](std::vector<FeedEntry>& entries) {
        if (!entries.empty()) entries.push_back(entries.back());
      };
  Mutation& paused = add("grant-while-paused", "while it is paused",
                         "a candidate is elected in a paused election");
  paused.before_law = ForgetPauses;
  paused.after_law = RestorePauses;
  add("no-delay", "before it may be", "a seat is granted before its delay ends").before_law =
      ForgetDelays;
  add("no-cool-down", "who is kept out", "a candidate is elected during its cool-down").before_law =
      ForgetCoolDowns;
  add("elect-unwilling", "who does not want it", "a candidate of negative priority is elected")
      .before_law = MakeAllWilling;
  add("no-wake-up", "stays vacant while", "nobody looks for elections that are ready for a grant")
      .after_due = [](DueWork& due) { due.elections.clear(); };
  add("restart-terms", "its events in", "the terms of a deleted election begin again").after_law =
      RestartTerms;
  add("restart-revisions", "its last event at", "the revisions of a deleted election begin again")
      .after_law = RestartRevisions;
  add("keep-superseded", "lives on", "a superseded candidate keeps its session").after_law =
      KeepTheSuperseded;
  add("set-in-part", "of its set", "a set of seats is granted in part").after_law = GrantInPart;
  add("ask-twice", "took effect twice", "an Appoint takes effect twice").after_law = AskTwice;
  add("lose-record", "no order's record", "what an operator did is not recorded").after_law =
      LoseRecord;
  add("any-term", "took effect in another one", "an order does not mind its term")
      .orders_ignore_term = true;
  add("after-term-same-term", "no longer believes in it",
      "a holder that asks for the next term keeps the one it has")
      .ignores_after_term = true;
  add("after-term-any", "was resigned, which nobody asked for",
      "a holder that asks for the next term twice gets two")
      .ends_any_term = true;
  add("after-term-vacant", "which asked for the next term",
      "a holder that asks for the next term only loses its own")
      .after_law = LeaveVacant;
  add("withdraw-while-reading", "which nobody asked for",
      "a call that is cancelled while its place is read gives the place up")
      .withdraws_while_reading = true;
  add("drop-early-elected", "had heard of its election",
      "an ELECTED that comes before the answer of its call is dropped")
      .drops_early_election = true;
  add("wait-while-draining", "waits on in a replica", "a waiting call does not notice a shutdown")
      .waits_while_draining = true;
  Mutation& early = add("answer-before-renewal", "believe",
                        "a KeepAlive is answered before the session is known to be kept");
  early.answers_before_renewal = true;
  early.provoke = SlowDown;
  add("resume-late", "received", "an observer resumes one revision too late").resumes_late = true;
  Mutation& from_reply =
      add("lease-from-reply", "believe", "a client counts its lease from the reply");
  from_reply.lease_from_reply = true;
  from_reply.provoke = SlowDown;
  add("never-stops", "believe", "a client believes on after its lease").forgets_to_stop = true;
  add("unconfirmed", "believe", "a client believes before a renewal has confirmed it")
      .believes_unconfirmed = true;
  add("no-fence", "wrote in term", "a resource takes writes of older terms")
      .resource_without_fence = true;
  add("hide-departures", "expired while its client believes", "a beat does not show departures")
      .beat = HideDepartures;
  add("lose-departure", "expired while its client believes",
      "a home does not hear that a session has left it")
      .after_law = LoseDepartures;
  add("misread-departures", "expired while its client believes",
      "departures are read, and the sessions kept")
      .after_departures = [](std::vector<NumberedDeparture>& departures) {
    for (NumberedDeparture& it : departures) it.moves = 0;
  };
  add("beat-though-refused", "no order's record", "a refused beat counts").beat = IgnoreRefusal;
  add("lost-beat-is-lost-commit", "no order's record",
      "a lost reply to a beat is taken for a database that went back")
      .beat = ForgetDoubt;
  add("hide-beats", "was not elected", "other homes seem to stand still").beat = HideBeats;
  add("declare-any-dead", "though it has beaten since",
      "a home is declared dead that has beaten since")
      .declare_dead = DeclareAnyDead;
  add("end-orphans-at-once", "expired while its client believes",
      "orphans are ended without waiting for a lease")
      .ends_orphans_at_once = true;
  add("end-at-any-moves", "expired while its client believes", "an end does not compare moves")
      .late_end = EndAtAnyMoves;
  add("no-witness", "came to a dead home", "a dead home opens sessions").without_witness = true;
  add("adopt-in-place", "expired while its client believes", "an adoption does not move the row")
      .after_law = StayAtHome;
  add("drain-at-once", "died soon after", "a drain does not wait for former homes of its sessions")
      .drains_at_once = true;
  Mutation& stands = add("home-clock-stands", "by a home that it had left",
                         "the clock of a home stands still while its process is stopped");
  stands.home_clock_stands = true;
  stands.provoke = [](Plan& plan) {
    plan.replicas = 3;
    plan.hedges = true;
    plan.freezes_every = 0s;  // only between a call of the store and its reply
    plan.store_stops = 1'000;
  };
  Mutation& copy = add("ignore-copy", "that of two replicas", "a copied machine shares a home");
  copy.beat = IgnoreCopy;
  copy.provoke = [](Plan& plan) {
    plan.replicas = 3;
    plan.hedges = true;
    plan.copies_every = 3s;
  };
  add("never-sweep", "was not elected", "nobody looks for sessions that are in doubt")
      .never_sweeps = true;
  return all;
}

}  // namespace

// Only one of the two can apply: an orphan's home is another one.
void EndIfUnchanged(TransactionState& transaction, const Session& session) {
  EndSilent(transaction, session.id, session.moves);
  if (session.home != transaction.home) EndOrphan(transaction, session.id, session.home);
}

Plan PlanFor(uint64_t seed, const Mutation& mutation) {
  Plan plan = PlanFor(seed);
  mutation.provoke(plan);
  return plan;
}

const Mutation& NoMutation() {
  static const Mutation none;
  return none;
}

const std::vector<Mutation>& Mutations() {
  static const std::vector<Mutation> all = MakeMutations();
  return all;
}

}  // namespace tenure::sim
