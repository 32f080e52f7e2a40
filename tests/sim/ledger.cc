#include "tests/sim/ledger.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "tests/sim/values.h"

namespace tenure::sim {
namespace {

constexpr uint64_t kNumberMax = std::numeric_limits<int64_t>::max();
constexpr size_t kRecordsPerRead = 20;

// The number of the order that a record is about.
std::optional<size_t> OrderOf(const AdminChange& change, size_t orders) {
  if (!change.author.reason.starts_with('#')) return std::nullopt;
  const size_t number = std::strtoull(change.author.reason.c_str() + 1, nullptr, 10);
  return number < orders ? std::optional(number) : std::nullopt;
}

struct FitsVisitor {
  const AdminChange& change;

  bool operator()(const Appoint&) const { return change.action == AdminAction::kAppointed; }
  bool operator()(const Depose&) const { return change.action == AdminAction::kDeposed; }
  bool operator()(const Pause& it) const {
    return change.action == (it.paused ? AdminAction::kPaused : AdminAction::kResumed);
  }
  bool operator()(const Configure&) const { return change.action == AdminAction::kConfigured; }
  bool operator()(const Delete&) const { return change.action == AdminAction::kDeleted; }
  template <typename Other>
  bool operator()(const Other&) const {
    return false;
  }
};

bool Fits(const Command& command, const AdminChange& change) {
  return std::visit(FitsVisitor{change}, command) &&
         ElectionsOf(command).front() == change.election;
}

}  // namespace

void Ledger::BeginTransaction() {
  records_.clear();
  std::vector<AdminRecord> fresh;  // the latest first
  uint64_t before = kNumberMax;
  while (true) {
    const auto page = truth_.ReadAdminChanges(std::nullopt, before, kRecordsPerRead);
    if (!page) return world_.Violate("the store itself failed: {}", page.error().message);
    for (const AdminRecord& record : *page) {
      if (record.number > last_number_) fresh.push_back(record);
    }
    if (page->size() < kRecordsPerRead || page->back().number <= last_number_) break;
    before = page->back().number;
  }
  std::ranges::reverse(fresh);
  for (const AdminRecord& record : fresh) {
    last_number_ = record.number;
    const AdminChange& change = record.change;
    const auto order = OrderOf(change, world_.asked.orders.size());
    if (!order) {
      world_.Violate("{} of {} is recorded, which nobody asked for", AdminActionName(change.action),
                     change.election.bytes);
      continue;
    }
    world_.Say("   order {} took effect: {} {} {}", *order, change.election.bytes,
               AdminActionName(change.action), change.detail);
    records_.push_back({change, *order});
    const auto* session = std::get_if<SessionId>(&world_.asked.orders[*order].wish);
    const auto* command = std::get_if<Command>(&world_.asked.orders[*order].wish);
    const bool fits = session != nullptr
                          ? change.action == AdminAction::kSessionEnded &&
                                change.detail.find(session->Handle()) != std::string::npos
                      : command != nullptr ? Fits(*command, change)
                                           : change.action == AdminAction::kPurged;
    if (session == nullptr && command == nullptr) ++world_.asked.orders[*order].records;
    if (!fits) world_.Violate("the record of order {} is about something else", *order);
    if (session != nullptr && ++world_.asked.orders[*order].records > 1) {
      world_.Violate("order {} took effect twice", *order);
    }
  }
}

void Ledger::CheckPurge(const Election& before, bool wanted) {
  if (!Recorded(before.name, AdminAction::kPurged)) {
    world_.Violate("{} is gone, and no order's record says so", before.name.bytes);
  }
  if (before.leader || wanted || before.paused || before.settings != Settings()) {
    world_.Violate("{} was purged though it is used", before.name.bytes);
  }
  books_.erase(before.name);
}

void Ledger::CheckRecords(const Election& before, const Election& after,
                          const std::vector<Event>& events) {
  for (const Record& record : records_) {
    if (record.change.election == after.name) CheckRecord(before, after, events, record);
  }
  const ElectionName& name = after.name;
  const bool deleted = WasDeleted(name);
  const auto check = [&](bool changed, std::initializer_list<AdminAction> actions,
                         std::string_view what) {
    const bool recorded =
        std::ranges::any_of(actions, [&](AdminAction action) { return Recorded(name, action); });
    if (changed && !recorded && !deleted) {
      world_.Violate("{} {}, and no order's record says so", name.bytes, what);
    }
  };
  check(before.paused != after.paused, {AdminAction::kPaused, AdminAction::kResumed},
        "was paused or resumed");
  check(before.settings != after.settings, {AdminAction::kConfigured}, "was configured");
  check(after.appointment && before.appointment != after.appointment, {AdminAction::kAppointed},
        "has an appointment");
  check(!before.deleted && after.deleted, {}, "was deleted");
}

void Ledger::CheckRecord(const Election& before, const Election& after,
                         const std::vector<Event>& events, const Record& record) {
  CheckTakesEffectOnce(before, after, events, record);
  books_[after.name].last_order = record.order;

  const auto other_term = [&](Term term) {
    world_.Violate("order {} was for term {} of {}, and took effect in another one", record.order,
                   term.value, after.name.bytes);
  };
  Term latest = before.term;
  for (const Event& event : events) latest = std::max(latest, event.term);
  const auto in_transaction = [&](Term term) { return before.term <= term && term <= latest; };
  const Command& command = std::get<Command>(world_.asked.orders[record.order].wish);
  if (const auto* appoint = std::get_if<Appoint>(&command)) {
    if (!in_transaction(appoint->term)) other_term(appoint->term);
  } else if (const auto* deletion = std::get_if<Delete>(&command)) {
    if (!in_transaction(deletion->term)) other_term(deletion->term);
  } else if (const auto* depose = std::get_if<Depose>(&command)) {
    const bool ended = std::ranges::any_of(events, [&](const Event& event) {
      return event.cause == Cause::kDeposed && event.term == depose->term;
    });
    if (!ended) other_term(depose->term);
  }
}

// An order that is sent again may set again what was changed since. A term ends once.
void Ledger::CheckTakesEffectOnce(const Election& before, const Election& after,
                                  const std::vector<Event>& events, const Record& record) {
  Order& order = world_.asked.orders[record.order];
  if (++order.records == 1) return;
  const Command& command = std::get<Command>(order.wish);
  const bool at_once = std::ranges::any_of(records_, [&](const Record& other) {
    return other.order == record.order && &other < &record;
  });
  bool excused = books_[before.name].last_order != record.order;
  if (const auto* appoint = std::get_if<Appoint>(&command)) {
    const bool void_since =
        !before.appointment || before.appointment->candidate != appoint->candidate;
    excused |= void_since || appoint->reserve_for.has_value();
  } else if (std::holds_alternative<Delete>(command)) {
    // It had been created again, perhaps in this transaction: somebody led, or waited, or it was
    // configured.
    excused = !before.deleted || !events.empty() || before.next_ticket != after.next_ticket ||
              Recorded(before.name, AdminAction::kConfigured);
  } else if (std::holds_alternative<Depose>(command)) {
    excused = false;
  }
  if (!excused || at_once) world_.Violate("order {} took effect twice", record.order);
}

void Ledger::CheckGrant(const Election& before, const Event& event, bool goes_on) {
  const std::string& name = event.election.bytes;
  const std::string& candidate = event.leader.candidate;
  const std::string who = NameOf(event.leader.session);
  const bool deleted = WasDeleted(event.election);
  const bool appointed = IsAppointed(before, candidate);
  const auto any = [](const auto&) { return true; };

  const bool resumed = deleted || Recorded(event.election, AdminAction::kResumed);
  if (before.paused && !resumed && !goes_on) {
    world_.Violate("{} was given to {} while it is paused", name, who);
  }
  const bool opened = IsOpenedFor(candidate, event.election);
  if (event.at < books_[event.election].reopens_at && !opened && !deleted && !goes_on) {
    world_.Violate("{} was given to {} before it may be", name, who);
  }
  const bool reserved = before.appointment && before.appointment->until > event.at &&
                        before.appointment->candidate != candidate;
  if (reserved && !deleted && FindOrder<Appoint>(event.election, any) == nullptr) {
    world_.Violate("{} was given to {}, and is kept for {}", name, who,
                   before.appointment->candidate);
  }
  // Once a cool-down has ended, it need not begin again when the clock is set back.
  if (IsKeptOut(event.election, candidate, world_.LatestDbTime()) && !appointed && !deleted &&
      !goes_on) {
    world_.Violate("{} was given to {}, who is kept out", name, who);
  }
  if (PriorityIn(event.leader.value) < 0 && !appointed && !goes_on) {
    world_.Violate("{} was given to {}, who does not want it", name, who);
  }
  books_[event.election].reopens_at = {};
}

void Ledger::CheckHandover(const Event& event) {
  const auto asks = [&](const Appoint& appoint) {
    return !appoint.force && appoint.candidate == event.successor;
  };
  if (FindOrder<Appoint>(event.election, asks) == nullptr) {
    world_.Violate("{} is to be handed over to '{}', and no order's record says so",
                   event.election.bytes, event.successor);
  }
}

void Ledger::CheckVacancy(const Election& before, const Event& event, const Session* session) {
  const auto any = [](const auto&) { return true; };
  const ElectionName& name = event.election;
  const auto of_term = [&](const Depose& depose) { return depose.term == event.term; };
  const Depose* depose = FindOrder<Depose>(name, of_term);
  const auto by_force = [](const Appoint& appoint) { return appoint.force; };
  const bool by_session = session != nullptr && session->ended == event.cause;
  bool recorded = true;
  if (event.cause == Cause::kDeposed) recorded = depose != nullptr || by_session;
  if (event.cause == Cause::kAppointedAway) {
    recorded = FindOrder<Appoint>(name, by_force) != nullptr;
  }
  if (event.cause == Cause::kDeleted) recorded = FindOrder<Delete>(name, any) != nullptr;
  if (!recorded) {
    world_.Violate("{}: term {} ended ({}), and no order's record says so", name.bytes,
                   event.term.value, CauseName(event.cause));
  }
  if (event.cause == Cause::kSuperseded && !by_session) {
    world_.Violate("{}: {} was superseded, and lives on", name.bytes, NameOf(event.leader.session));
  }

  Book& book = books_[name];
  const Duration delay = DelayAfter(before, event);
  book.reopens_at = delay > Duration(0) ? event.at + delay : DbTime{};
  const bool kept_out =
      depose != nullptr && event.cause == Cause::kDeposed && depose->cool_down > Duration(0);
  if (kept_out) book.cool_downs[event.leader.candidate] = event.at + depose->cool_down;
}

Duration Ledger::DelayAfter(const Election& before, const Event& event) const {
  switch (event.cause) {
    case Cause::kResigned:
    case Cause::kSessionClosed: {
      const Duration min_hold = Shortest(before, &Settings::min_hold, &Configure::min_hold);
      const Duration held = event.at - event.leader.elected_at;
      return min_hold - std::clamp(held, Duration(0), min_hold);
    }
    case Cause::kExpired:
    case Cause::kDeposed: return Shortest(before, &Settings::lock_delay, &Configure::lock_delay);
    default: return Duration(0);
  }
}

Duration Ledger::Shortest(const Election& before, Duration Settings::*of_settings,
                          std::optional<Duration> Configure::*of_command) const {
  Duration shortest = before.settings.*of_settings;
  for (const Record& record : records_) {
    if (record.change.election != before.name) continue;
    const Command& command = std::get<Command>(world_.asked.orders[record.order].wish);
    const auto* configure = std::get_if<Configure>(&command);
    if (configure != nullptr)
      shortest = std::min(shortest, (configure->*of_command).value_or(shortest));
  }
  return shortest;
}

void Ledger::EndElection(const ElectionName& name) {
  const auto by_force = [](const Appoint& appoint) { return appoint.force; };
  const bool deleted = WasDeleted(name);
  if (deleted || FindOrder<Appoint>(name, by_force) != nullptr) books_[name].reopens_at = {};
  if (deleted) books_[name].cool_downs.clear();
}

void Ledger::CheckSessionDeposed(const Session& session) const {
  const bool recorded = std::ranges::any_of(records_, [&](const Record& record) {
    const auto* id = std::get_if<SessionId>(&world_.asked.orders[record.order].wish);
    return id != nullptr && *id == session.id;
  });
  if (!recorded) {
    world_.Violate("session {} was deposed, and no order's record says so", NameOf(session.id));
  }
}

bool Ledger::IsAppointed(const Election& before, const std::string& candidate) const {
  if (before.appointment && before.appointment->candidate == candidate) return true;
  const auto same = [&](const Appoint& appoint) { return appoint.candidate == candidate; };
  return FindOrder<Appoint>(before.name, same) != nullptr;
}

bool Ledger::IsOpenedFor(const std::string& candidate, const ElectionName& name) const {
  std::optional<std::string> forced;
  for (const Record& record : records_) {
    const auto* command = std::get_if<Command>(&world_.asked.orders[record.order].wish);
    const auto* appoint = command == nullptr ? nullptr : std::get_if<Appoint>(command);
    if (appoint == nullptr || appoint->election != name) continue;
    if (forced && forced != appoint->candidate) return true;
    if (appoint->force) forced = appoint->candidate;
  }
  return forced == candidate;
}

bool Ledger::IsAnyAppointed(const Election& before) const {
  return before.appointment || Recorded(before.name, AdminAction::kAppointed);
}

bool Ledger::IsKeptOut(const ElectionName& name, const std::string& candidate, DbTime at) const {
  const auto book = books_.find(name);
  if (book == books_.end()) return false;
  const auto until = book->second.cool_downs.find(candidate);
  return until != book->second.cool_downs.end() && at < until->second;
}

bool Ledger::MayLead(const Election& election, const Candidacy& candidacy, DbTime since) const {
  const bool closed = election.paused || since < election.vacant_until;
  if (closed) return false;
  if (const auto& appointment = election.appointment) {
    if (appointment->candidate == candidacy.candidate) return true;
    if (appointment->until > since) return false;
  }
  return candidacy.priority >= 0 && !IsKeptOut(election.name, candidacy.candidate, since);
}

bool Ledger::Recorded(const ElectionName& name, AdminAction action) const {
  return std::ranges::any_of(records_, [&](const Record& record) {
    return record.change.election == name && record.change.action == action;
  });
}

template <typename It, typename Predicate>
const It* Ledger::FindOrder(const ElectionName& name, Predicate predicate) const {
  for (const Record& record : records_) {
    const auto* command = std::get_if<Command>(&world_.asked.orders[record.order].wish);
    const auto* order = command == nullptr ? nullptr : std::get_if<It>(command);
    if (order != nullptr && order->election == name && predicate(*order)) return order;
  }
  return nullptr;
}

}  // namespace tenure::sim
