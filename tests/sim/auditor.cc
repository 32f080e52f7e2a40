#include "tests/sim/auditor.h"

#include <algorithm>
#include <utility>

#include "core/homes/own_row.h"
#include "core/law/remembered.h"
#include "tests/sim/values.h"

namespace tenure::sim {
namespace {

constexpr size_t kAll = 100'000;

bool AliveIn(const TransactionState& transaction, const SessionId& id) {
  const auto found = transaction.sessions.find(id);
  return found != transaction.sessions.end() && found->second.Alive();
}

// Its session was ended by a newer one of the same candidate.
bool IsSuperseded(const TransactionState& transaction, const SessionId& id) {
  const auto found = transaction.sessions.find(id);
  return found != transaction.sessions.end() && found->second.ended == Cause::kSuperseded;
}

const Candidacy* InQueue(const ElectionState& state, const SessionId& id) {
  const auto found = std::ranges::find(state.queue, id, &Candidacy::session);
  return found == state.queue.end() ? nullptr : &*found;
}

}  // namespace

void Auditor::OnTransaction(const LockSet& locks, const TransactionState& decided) {
  const std::set<ElectionName>& undecided = decided.undecided;
  ++transactions_;
  decided_at_ = decided.now;
  if (std::chrono::abs(decided.now - world_.DbNow()) > kRememberedClockTolerance) {
    world_.Violate("a transaction was decided by another clock than the database's");
  }
  world_.undecided += undecided.size();
  for (const ElectionName& name : undecided) {
    world_.Say("   {} is undecided", name.bytes);
    const ElectionState& state = decided.elections.at(name);
    if (!state.exists || state.election.leader) {
      world_.Violate("{} is called undecided, and is {}", name.bytes,
                     state.exists ? "led" : "deleted");
    }
  }
  std::set<ElectionName> may_be_vacant = undecided;
  if (!decided.busy.empty()) {
    for (const auto& [name, item] : locks.elections) may_be_vacant.insert(name);
  }
  Audit(locks, may_be_vacant, false);
}

void Auditor::AuditAll() {
  LockSet everything;
  std::set<ElectionName> vacant;
  everything.sessions.assign(world_.sessions.begin(), world_.sessions.end());
  for (const ElectionName& name : world_.elections) {
    everything.elections[name].sessions = everything.sessions;
    vacant.insert(name);  // judged when the transaction was made
  }
  decided_at_ = world_.DbNow();
  Audit(everything, vacant, true);
}

void Auditor::OnForgotten() {
  if (!world_.plan.steps_by_hours) return;
  LockSet ended;
  for (const auto& [id, session] : sessions_) {
    if (session.ended != Cause::kNone) ended.sessions.push_back(id);
  }
  const auto read = truth_.Transact(ended, {}, [](TransactionState&) {});
  if (!read) return world_.Violate("the store itself failed: {}", read.error().message);
  for (const SessionId& id : ended.sessions) {
    if (!read->transaction.sessions.contains(id)) sessions_.erase(id);
  }
}

void Auditor::OnDeath(HomeId home) {
  for (const auto& [id, session] : sessions_) {
    const auto moves = moves_.find(id);
    if (session.home != home || session.ended != Cause::kNone || moves == moves_.end()) continue;
    if (moves->second.rbegin()->second.at + kHomeGoodFor > world_.Now()) {
      world_.Violate("home {} died soon after session {} had come", home.value, NameOf(id));
    }
  }
}

void Auditor::CheckRenewal(const Session& answer, engine::SteadyTime asked) {
  if (const auto moves = moves_.find(answer.id); moves != moves_.end()) {
    const auto next = moves->second.upper_bound(answer.moves);
    const bool left = next != moves->second.end() && next->second.to != answer.home;
    if (left && next->second.at + kHomeGoodFor < asked) {
      world_.Violate("session {} was renewed by a home that it had left", NameOf(answer.id));
    }
  }
  // A home whose beats fail does not hear of a copy, and stops.
  auto& answering = answering_[answer.home];
  std::erase_if(answering, [&](const auto& it) { return it.second.last + kHomeGoodFor < asked; });
  const Answering begins{world_.Now(), asked};
  Answering& mine = answering.emplace(world_.running, begins).first->second;
  mine.last = std::max(mine.last, asked);
  for (const auto& [process, other] : answering) {
    if (process == world_.running) continue;
    const auto together = std::min(mine.last, other.last) - std::max(mine.since, other.since);
    if (together > kHomeGoodFor) {
      world_.Violate("home {} is that of two replicas", answer.home.value);
    }
  }
}

void Auditor::Audit(const LockSet& locks, const std::set<ElectionName>& may_be_vacant,
                    bool everything) {
  // One transaction that changes nothing, and reads all of every queue.
  LockSet wide;
  wide.sessions = locks.sessions;
  for (const auto& [name, item] : locks.elections) {
    LockSet::Part& all = wide.elections[name];
    all.sessions = item.sessions;
    all.departures = kAll;
    const auto known = elections_.find(name);
    if (known == elections_.end()) continue;
    for (const auto& [id, candidacy] : known->second.queue) all.sessions.push_back(id);
    if (const auto& leader = known->second.election.leader) all.sessions.push_back(leader->session);
  }
  const auto read = truth_.Transact(wide, {}, [](TransactionState&) {});
  if (!read) return world_.Violate("the store itself failed: {}", read.error().message);
  const TransactionState& now = read->transaction;

  ledger_.BeginTransaction();
  granted_.clear();
  for (const auto& [id, session] : now.sessions) AuditSession(Find(id), session);
  for (const auto& [name, state] : now.elections) {
    if (!state.exists && !state.election.deleted) {
      const auto known = elections_.find(name);
      if (known != elections_.end() && known->second.there) AuditPurge(known->second);
      continue;
    }
    const auto item = locks.elections.find(name);
    const bool campaigned = !everything && item != locks.elections.end() && item->second.create;
    if (!everything && item != locks.elections.end() && !campaigned) {
      AuditWithdrawals(state, item->second.sessions);
    }
    AuditElection(state, now, campaigned, may_be_vacant);
  }
  AuditSets(now);
  for (const auto& [id, session] : now.sessions) sessions_[id] = session;
  for (const SessionId& id : wide.sessions) {
    const bool lost = sessions_.contains(id) && !now.sessions.contains(id);
    if (lost) world_.Violate("session {} was forgotten too early", NameOf(id));
  }
}

void Auditor::AuditSession(const Session* before, const Session& after) {
  const std::string name = NameOf(after.id);
  if (before == nullptr) {
    world_.Say("   session {} of {} opened", name, after.candidate);
    CheckHome(after);
    return;
  }
  if (after.ended != before->ended) {
    world_.Say("   session {} ended: {}", name, CauseName(after.ended));
  }
  if (before->ended != Cause::kNone) {
    if (after.ended != before->ended) {
      world_.Violate("session {} had ended ({}) and came back", name, CauseName(before->ended));
    }
    if (after.moves != before->moves) {
      world_.Violate("session {} had ended and was renewed", name);
    }
    return;
  }
  AuditHome(*before, after);
  if (after.candidate != before->candidate || after.lease_ttl != before->lease_ttl) {
    world_.Violate("session {} became another's", name);
  }
  if (after.ended == Cause::kSessionClosed && !world_.asked.closed.contains(after.id)) {
    world_.Violate("session {} was closed, which nobody asked for", name);
  }
  if (after.ended == Cause::kDeposed) ledger_.CheckSessionDeposed(after);
  const bool heir = std::ranges::any_of(
      world_.asked.superseding, [&](const auto& asked) { return asked.second == after.candidate; });
  if (after.ended == Cause::kSuperseded && !heir) {
    world_.Violate("session {} was superseded, which nobody asked for", name);
  }
}

std::optional<HomeRow> Auditor::FindHome(HomeId home) const {
  const auto report = truth_.Beat({.home = home});  // number 0: changes nothing
  return report ? report->own : std::nullopt;
}

void Auditor::CheckHome(const Session& session) const {
  const auto home = FindHome(session.home);
  if (!home || home->dead) world_.Violate("session {} came to a dead home", NameOf(session.id));
}

void Auditor::AuditHome(const Session& before, const Session& after) {
  const std::string name = NameOf(after.id);
  const bool moved = after.moves == before.moves + 1;
  const bool stayed = after.moves == before.moves && after.home == before.home;
  if (moved) {
    CheckHome(after);
    moves_[after.id][after.moves] = {after.home, world_.Now()};
  }
  if (!moved && !stayed) {
    world_.Violate("session {} made {} moves, and the one before was {}", name, after.moves,
                   before.moves);
  }
  if (after.ended != Cause::kExpired) return;
  for (const auto& [election, known] : elections_) {
    const auto& leader = known.election.leader;
    const bool leads = leader && leader->session == after.id;
    if (leads && world_.plan.LeasesHold() && believed_(election, after.id, known.election.term)) {
      world_.Violate("session {} expired while its client believes that it leads {}", name,
                     election.bytes);
    }
  }
  if (world_.plan.Calm() && held_(after.id)) {
    world_.Violate("session {} expired though its holder could renew it", name);
  }
}

void Auditor::AuditElection(const ElectionState& state, const TransactionState& now,
                            bool campaigned, const std::set<ElectionName>& may_be_vacant) {
  const Election& after = state.election;
  Known& known = elections_[after.name];
  known.election.name = after.name;
  const auto events = truth_.ReadEvents(after.name, known.election.revision.Next(), kAll);
  if (!events) return world_.Violate("the store itself failed: {}", events.error().message);
  if (!known.there) AuditBeginning(known, after, *events);

  ledger_.CheckRecords(known.election, after, *events);
  AuditEvents(known, state, *events, now, campaigned);
  AuditQueue(known, state, *events, now, campaigned);
  ledger_.EndElection(after.name);
  const bool live_waiter = std::ranges::any_of(state.queue, [&](const Candidacy& waiter) {
    return AliveIn(now, waiter.session) && ledger_.MayLead(after, waiter, now.now);
  });
  if (!after.leader && live_waiter && !may_be_vacant.contains(after.name)) {
    world_.Violate("{} was left vacant while a live candidate waits", after.name.bytes);
  }

  known.election = after;
  known.queue.clear();
  for (const Candidacy& candidacy : state.queue) known.queue[candidacy.session] = candidacy;
  for (const Event& event : *events) {
    known.events.emplace(event.revision, event);
    if (event.type == EventType::kVacated) known.ends.emplace(event.term, event);
  }
}

void Auditor::AuditPurge(Known& known) {
  const Election& before = known.election;
  world_.Say("   {} is purged", before.name.bytes);
  ledger_.CheckPurge(before, !known.queue.empty());
  known.election = Election{before.name, before.term, before.revision, {}};
  known.there = false;
  ++known.purges;
}

void Auditor::AuditBeginning(Known& known, const Election& after,
                             const std::vector<Event>& events) {
  const Revision began_after =
      events.empty() ? after.revision : Revision{events.front().revision.value - 1};
  if (began_after < known.election.revision) {
    world_.Violate("{} began again after {}, and was at revision {}", after.name.bytes,
                   began_after.value, known.election.revision.value);
  }
  known.there = true;
  known.began_after.insert(began_after);
  known.election.revision = began_after;
  known.election.term = {began_after.value};
}

void Auditor::AuditEvents(const Known& before, const ElectionState& after,
                          const std::vector<Event>& events, const TransactionState& now,
                          bool campaigned) {
  const std::string& name = after.election.name.bytes;
  Election walked = before.election;
  const Event* ended = nullptr;  // the last term, in this transaction
  for (const Event& event : events) {
    world_.Say("   {} r{} {} {} term {}{}{}", name, event.revision.value, EventTypeName(event.type),
               NameOf(event.leader.session), event.term.value,
               event.cause == Cause::kNone ? "" : " ", CauseName(event.cause));
    if (event.revision != walked.revision.Next()) {
      world_.Violate("{} went from revision {} to {}", name, walked.revision.value,
                     event.revision.value);
    }
    walked.revision = event.revision;
    if (event.at != decided_at_) {
      world_.Violate("{} revision {} does not have the time of its transaction", name,
                     event.revision.value);
    }
    if (event.type == EventType::kElected) {
      if (walked.leader) {
        world_.Violate("{}: {} was elected while {} leads", name, NameOf(event.leader.session),
                       NameOf(walked.leader->session));
      }
      if (event.term != walked.term.Next()) {
        world_.Violate("{} went from term {} to {}", name, walked.term.value, event.term.value);
      }
      const bool goes_on = GoesOn(ended, event);
      AuditGrant(before, event, now, campaigned);
      ledger_.CheckGrant(walked, event, goes_on);
      // The appointed candidate has had the seat, perhaps only for the next command of this
      // transaction.
      if (walked.appointment && walked.appointment->candidate == event.leader.candidate) {
        walked.appointment.reset();
      }
      // An heir has the seat of the session that it ended.
      const bool heir = ended && ended->cause == Cause::kSuperseded &&
                        ended->leader.candidate == event.leader.candidate;
      if (!heir && !goes_on) AuditOrder(before, after, event, now);
      granted_[event.leader.session].insert(event.election);
      ++terms_;
      walked.term = event.term;
      walked.leader = event.leader;
      continue;
    }
    const bool of_leader = walked.leader && walked.leader->session == event.leader.session &&
                           walked.term == event.term;
    if (!of_leader) {
      world_.Violate("{} revision {} is about {} in term {}, who does not lead", name,
                     event.revision.value, NameOf(event.leader.session), event.term.value);
    }
    if (event.type == EventType::kProclaimed) {
      walked.leader = event.leader;
    } else if (event.type == EventType::kHandoverAsked) {
      ledger_.CheckHandover(event);
    } else {
      AuditVacancy(before, event, now);
      walked.leader.reset();
      ended = &event;
    }
  }
  AuditNextTerm(before.election, ended, walked.leader);
  if (after.election.revision != walked.revision) {
    world_.Violate("{} is at revision {}, its last event at {}", name,
                   after.election.revision.value, walked.revision.value);
  }
  if (after.election.term != walked.term) {
    world_.Violate("{} is in term {}, its events in {}", name, after.election.term.value,
                   walked.term.value);
  }
  const auto& leader = after.election.leader;
  const bool same = leader.has_value() == walked.leader.has_value() &&
                    (!leader || (leader->session == walked.leader->session &&
                                 leader->value == walked.leader->value &&
                                 leader->elected_at == walked.leader->elected_at));
  if (!same) world_.Violate("{} has another leader than its events say", name);
}

void Auditor::AuditGrant(const Known& before, const Event& event, const TransactionState& now,
                         bool campaigned) {
  const std::string& name = event.election.bytes;
  const SessionId& elected = event.leader.session;
  const auto session_before = sessions_.find(elected);
  const bool was_over = session_before != sessions_.end() && !session_before->second.Alive();
  // It may have been superseded since, in the same transaction.
  const bool is_over = !AliveIn(now, elected) && !IsSuperseded(now, elected);
  if (was_over || is_over) {
    world_.Violate("{} was given to {}, whose session is over", name, NameOf(elected));
  }
  const auto place = before.queue.find(elected);
  if (place == before.queue.end() && !campaigned) {
    world_.Violate("{} was given to {}, who did not stand", name, NameOf(elected));
  }
}

void Auditor::AuditOrder(const Known& before, const ElectionState& after, const Event& event,
                         const TransactionState& now) {
  const std::string& name = event.election.bytes;
  const SessionId& elected = event.leader.session;
  const std::string& candidate = event.leader.candidate;
  if (ledger_.IsAppointed(before.election, candidate)) return;
  // An heir has the place of the session that it ended.
  const auto place = before.queue.find(elected);
  Candidacy mine;
  mine.priority = PriorityIn(event.leader.value);
  mine.ticket = place == before.queue.end() ? before.election.next_ticket : place->second.ticket;
  for (const auto& [id, other] : before.queue) {
    const bool inherited = other.candidate == candidate && IsSuperseded(now, id);
    if (inherited) mine.ticket = std::min(mine.ticket, other.ticket);
  }
  // A candidate that waited before, still waits and came first was passed over.
  for (const auto& [id, other] : before.queue) {
    const Candidacy* still = InQueue(after, id);
    const bool waited = still != nullptr && *still == other && AliveIn(now, id);
    const bool kept_out = ledger_.IsKeptOut(event.election, other.candidate, event.at);
    const bool appointed = before.election.appointment &&
                           before.election.appointment == after.election.appointment &&
                           before.election.appointment->candidate == other.candidate;
    if (waited && (appointed || (other.Before(mine) && other.priority >= 0 && !kept_out))) {
      world_.Violate("{} was given to {} though {} comes first", name, NameOf(elected), NameOf(id));
    }
  }
}

void Auditor::AuditNextTerm(const Election& before, const Event* ended,
                            const std::optional<Leader>& leader) {
  if (ended == nullptr || ended->cause != Cause::kResigned) return;
  const PlaceKey place{before.name, ended->leader.session};
  const bool wanted = AskedForNext(place, ended->term) && !AskedToResign(place, ended->term);
  const bool has_it = leader && leader->session == place.session;
  if (!wanted || has_it || ledger_.IsAnyAppointed(before)) return;
  world_.Violate("{} was taken from {}, which asked for the next term", before.name.bytes,
                 NameOf(place.session));
}

bool Auditor::GoesOn(const Event* ended, const Event& event) const {
  return ended != nullptr && ended->cause == Cause::kResigned &&
         ended->leader.session == event.leader.session &&
         AskedForNext({event.election, event.leader.session}, ended->term);
}

void Auditor::AuditVacancy(const Known& before, const Event& event, const TransactionState& now) {
  const std::string& name = event.election.bytes;
  const SessionId& session = event.leader.session;
  const auto found = now.sessions.find(session);
  ledger_.CheckVacancy(before.election, event,
                       found == now.sessions.end() ? nullptr : &found->second);
  const PlaceKey place{event.election, session};
  const bool asked = AskedToResign(place, event.term) || AskedForNext(place, event.term);
  if (event.cause == Cause::kResigned && !asked) {
    world_.Violate("{}: term {} of {} was resigned, which nobody asked for", name, event.term.value,
                   NameOf(session));
  }
  if (event.cause == Cause::kNone) world_.Violate("{}: a term ended without a cause", name);
  const bool may_overlap = MayEndWhileBelieved(event.cause);
  if (world_.plan.LeasesHold() && !may_overlap && believed_(event.election, session, event.term)) {
    world_.Violate("{}: term {} ended ({}) while {} believes in it", name, event.term.value,
                   CauseName(event.cause), NameOf(session));
  }
}

void Auditor::AuditQueue(const Known& before, const ElectionState& after,
                         const std::vector<Event>& events, const TransactionState& now,
                         bool campaigned) {
  const std::string& name = after.election.name.bytes;
  if (after.election.waiting != after.queue.size()) {
    world_.Violate("{} counts {} who wait, and {} do", name, after.election.waiting,
                   after.queue.size());
  }
  std::set<Ticket> tickets;
  for (const Candidacy& candidacy : after.queue) {
    const std::string who = NameOf(candidacy.session);
    if (!tickets.insert(candidacy.ticket).second ||
        candidacy.ticket >= after.election.next_ticket) {
      world_.Violate("{}: the ticket of {} is not its own", name, who);
    }
    if (after.election.leader && after.election.leader->session == candidacy.session) {
      world_.Violate("{}: {} leads and waits", name, who);
    }
    const auto known = before.queue.find(candidacy.session);
    const bool kept = known != before.queue.end() && known->second.ticket == candidacy.ticket;
    const bool came = candidacy.ticket >= before.election.next_ticket;
    const bool inherited = std::ranges::any_of(before.queue, [&](const auto& entry) {
      return entry.second.ticket == candidacy.ticket &&
             entry.second.candidate == candidacy.candidate && IsSuperseded(now, entry.first);
    });
    if (!kept && !came && !inherited) world_.Violate("{}: the ticket of {} was changed", name, who);
    if (!kept && !campaigned) world_.Violate("{}: {} waits and did not stand", name, who);
  }
  for (const auto& [id, candidacy] : before.queue) {
    if (InQueue(after, id) != nullptr) continue;
    const bool elected = std::ranges::any_of(events, [&](const Event& event) {
      return event.type == EventType::kElected && event.leader.session == id;
    });
    // The call id of a candidate that campaigned in this transaction is not known.
    const PlaceKey place{after.election.name, id};
    const bool excused = elected || !AliveIn(now, id) || ledger_.WasDeleted(after.election.name) ||
                         AskedToResign(place, {}) ||
                         AskedToWithdraw(place, campaigned ? CallId{} : candidacy.call_id);
    if (!excused) {
      world_.Violate("{}: {} lost its place, which nobody asked for", name, NameOf(id));
    }
  }
}

// The transaction has a command of each of these sessions, and none of them is a Campaign.
void Auditor::AuditWithdrawals(const ElectionState& after, const std::vector<SessionId>& named) {
  const auto known = elections_.find(after.election.name);
  const auto& leader = after.election.leader;
  if (known == elections_.end() || !leader) return;
  const auto place = known->second.queue.find(leader->session);
  const PlaceKey key{after.election.name, leader->session};
  const bool other_command =
      std::ranges::count(named, leader->session) == 0 || world_.asked.resigned.contains(key);
  if (place == known->second.queue.end() || other_command) return;
  const auto withdrawn = world_.asked.withdrawn.find(key);
  const bool its_only_one = withdrawn != world_.asked.withdrawn.end() &&
                            withdrawn->second == std::set{place->second.call_id.value};
  if (its_only_one) {
    world_.Violate("{} was given to {}, whose call was withdrawn", key.election.bytes,
                   NameOf(key.session));
  }
}

void Auditor::AuditSets(const TransactionState& now) {
  for (const auto& [id, granted] : granted_) {
    const auto set = world_.asked.sets.find(id);
    if (set == world_.asked.sets.end()) continue;
    for (const ElectionName& name : set->second) {
      const auto state = now.elections.find(name);
      const bool led = state != now.elections.end() && state->second.election.leader &&
                       state->second.election.leader->session == id;
      if (!led && !granted.contains(name)) {
        world_.Violate("{} was given {} of its set, and not {}", NameOf(id), granted.begin()->bytes,
                       name.bytes);
      }
    }
  }
}

// Term 0: of the place, or of whatever it holds there.
bool Auditor::AskedToResign(const PlaceKey& place, Term term) const {
  const auto resigned = world_.asked.resigned.find(place);
  if (resigned == world_.asked.resigned.end()) return false;
  return resigned->second.contains(0) || resigned->second.contains(term.value);
}

bool Auditor::AskedForNext(const PlaceKey& place, Term after_term) const {
  const auto next = world_.asked.next.find(place);
  return next != world_.asked.next.end() && next->second.contains(after_term.value);
}

// Call id 0: of any call.
bool Auditor::AskedToWithdraw(const PlaceKey& place, CallId call_id) const {
  const auto withdrawn = world_.asked.withdrawn.find(place);
  if (withdrawn == world_.asked.withdrawn.end()) return false;
  return call_id == CallId{} || withdrawn->second.contains(call_id.value);
}

const Election* Auditor::Find(const ElectionName& name) const {
  const auto found = elections_.find(name);
  return found == elections_.end() || !found->second.there ? nullptr : &found->second.election;
}

const Session* Auditor::Find(const SessionId& id) const {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : &found->second;
}

Revision Auditor::RevisionOf(const ElectionName& name) const {
  const auto found = elections_.find(name);
  return found == elections_.end() ? Revision{} : found->second.election.revision;
}

bool Auditor::IsAll(const ElectionName& name, Revision heard) const {
  const auto found = elections_.find(name);
  if (found == elections_.end()) return heard == Revision{};
  const Known& known = found->second;
  const bool silent =
      known.events.empty() || known.events.rbegin()->first <= *known.began_after.rbegin();
  return heard == known.election.revision || !known.there || silent;
}

bool Auditor::IsFirst(const ElectionName& name, Revision revision) const {
  const auto found = elections_.find(name);
  return found != elections_.end() && revision > Revision{} &&
         found->second.began_after.contains({revision.value - 1});
}

bool Auditor::WasPurgedSince(const ElectionName& name, Revision revision) const {
  const auto found = elections_.find(name);
  if (found == elections_.end() || found->second.purges == 0) return false;
  return !found->second.there || revision <= *found->second.began_after.rbegin();
}

std::optional<SessionId> Auditor::GrantedTo(const ElectionName& name, Term term) const {
  const auto found = elections_.find(name);
  if (found == elections_.end()) return std::nullopt;
  for (const auto& [revision, event] : found->second.events) {
    if (event.type == EventType::kElected && event.term == term) return event.leader.session;
  }
  return std::nullopt;
}

const Event* Auditor::EventOf(const ElectionName& name, Revision revision) const {
  const auto found = elections_.find(name);
  if (found == elections_.end()) return nullptr;
  const auto event = found->second.events.find(revision);
  return event == found->second.events.end() ? nullptr : &event->second;
}

const Event* Auditor::EndOf(const ElectionName& name, Term term) const {
  const auto found = elections_.find(name);
  if (found == elections_.end()) return nullptr;
  const auto end = found->second.ends.find(term);
  return end == found->second.ends.end() ? nullptr : &end->second;
}

std::optional<SessionId> Auditor::LiveWaiter(const ElectionName& name, DbTime ready_since) const {
  const auto found = elections_.find(name);
  if (found == elections_.end()) return std::nullopt;
  for (const auto& [id, candidacy] : found->second.queue) {
    const Session* session = Find(id);
    if (session == nullptr || !session->Alive()) continue;
    if (ledger_.MayLead(found->second.election, candidacy, ready_since)) return id;
  }
  return std::nullopt;
}

size_t Auditor::QueueSize(const ElectionName& name) const {
  const auto found = elections_.find(name);
  return found == elections_.end() ? 0 : found->second.queue.size();
}

}  // namespace tenure::sim
