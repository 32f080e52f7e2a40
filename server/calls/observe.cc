#include "server/calls/observe.h"

#include <algorithm>
#include <utility>

#include "core/limits.h"

namespace tenure::calls {
namespace {

// Stands for the first event, whatever its number: a new election may begin after any.
constexpr Revision kFirst{1};

size_t BytesOf(const std::optional<Leader>& leader) {
  return leader ? leader->candidate.size() + leader->value.size() : 0;
}
size_t BytesOf(const ObserveMessage& message) {
  if (const auto* event = std::get_if<std::shared_ptr<const Event>>(&message)) {
    return sizeof(Event) + (*event)->election.bytes.size() + BytesOf((*event)->leader) +
           (*event)->successor.size();
  }
  if (const auto* snapshot = std::get_if<Snapshot>(&message)) {
    return sizeof(Snapshot) + 2 * snapshot->name.bytes.size() +
           (snapshot->election ? BytesOf(snapshot->election->leader) : 0);
  }
  return 0;
}

Error TooWide() {
  return {Reason::kObserveTooWide,
          "a stream can watch at most " + std::to_string(kObservedMax) + " elections",
          {{"limit", std::to_string(kObservedMax)}}};
}

}  // namespace

std::vector<engine::Watch> Observe::Watches() const {
  std::vector<engine::Watch> watches;
  for (const std::string& prefix : selection_.widest()) {
    watches.emplace_back(engine::WatchPrefix{prefix});
  }
  for (const auto& [name, from] : selection_.names()) {
    if (!selection_.Covers(name)) watches.emplace_back(engine::WatchElection{name});
  }
  return watches;
}

std::vector<Observe::Effect> Observe::Step(Event event, SteadyTime now) {
  now_ = now;
  if (!finished_) std::visit([this](auto& it) { On(it); }, event);
  return std::exchange(effects_, {});
}

void Observe::On(const Begun&) {
  List();
  for (const auto& [name, from] : selection_.names()) {
    if (!OpenCursor(name)) return;
  }
  if (Listed()) OnAllListed();
  PlanProgress();
}

void Observe::List() {
  if (listing_ || Listed()) return;
  if (reads_under_way_ >= options_.reads_max) {
    stalled_ = true;
    return;
  }
  listing_ = true;
  ++reads_under_way_;
  Emit(ReadNames{selection_.widest()[list_], listed_to_, options_.names_per_read});
}

void Observe::On(const NamesRead& read) {
  --reads_under_way_;
  listing_ = false;
  if (!read.names) return FinishWith(read.names.error());
  if (std::exchange(list_again_, false)) return List();
  const std::vector<ElectionName>& names = *read.names;
  const bool last = names.size() < options_.names_per_read;
  listed_to_ = last ? "" : names.back().bytes;
  if (last) ++list_;
  List();
  for (const ElectionName& name : names) {
    if (!OpenCursor(name)) return;
  }
  if (Listed()) OnAllListed();
  Resume();
}

void Observe::OnAllListed() {
  // An election that was heard of but not listed is newer than the list.
  for (auto& [name, cursor] : cursors_) {
    if (!std::exchange(cursor.opened, true)) GoOn(name, cursor);
  }
  OneOpened();
}

void Observe::On(const Changed& changed) {
  const tenure::Event& event = *changed.event;
  const auto [found, added] = cursors_.try_emplace(event.election);
  auto& [name, cursor] = *found;
  if (cursors_.size() > kObservedMax) return FinishWith(TooWide());
  // An election that did not exist when its prefix was listed is sent from its beginning.
  if (added && Listed()) cursor.live = cursor.opened = true;
  // A first event belongs to a new election: events heard of but not sent belong to an earlier one
  // of this name, which was purged.
  const bool purged = IsFirst(event) && cursor.heard < event.revision;
  if (purged && cursor.next <= cursor.heard) cursor.wants = Want::kResync;
  cursor.heard = std::max(cursor.heard, event.revision);
  if (!cursor.live || event.revision < cursor.next) return;
  if (IsNext(cursor, event) && !IsFull() && Say(changed.event)) {
    cursor.next = event.revision.Next();
    return;
  }
  cursor.live = false;
  GoOn(name, cursor);
}

void Observe::On(const HistoryReset&) {
  was_reset_ = true;
  for (auto& [name, cursor] : cursors_) {
    cursor.live = false;
    cursor.heard = {};
    cursor.wants = Want::kResync;
    cursor.was_reset = cursor.reading;
    if (cursor.opened) GoOn(name, cursor);
  }
  if (selection_.widest().empty()) return;
  if (Listed()) ++opening_;
  list_ = 0;  // the elections may differ from before
  listed_to_.clear();
  list_again_ = listing_;
  List();
}

void Observe::On(const Drained&) {
  FinishWith({Reason::kDraining, "this replica is shutting down"});
}

bool Observe::OpenCursor(const ElectionName& name) {
  Cursor& cursor = cursors_[name];
  if (cursors_.size() > kObservedMax) {
    FinishWith(TooWide());
    return false;
  }
  if (std::exchange(cursor.opened, true)) return true;
  cursor.opening = true;
  ++opening_;
  const auto from = selection_.StartOf(name);
  cursor.next = from.value_or(Revision{1});
  cursor.wants = was_reset_ ? Want::kResync : from ? Want::kVerify : Want::kSnapshot;
  GoOn(name, cursor);
  return true;
}

void Observe::OneOpened() {
  if (--opening_ == 0) (void)Say(Progress{now_});
}

bool Observe::IsNext(const Cursor& cursor, const tenure::Event& event) {
  return event.revision == cursor.next || (cursor.next == kFirst && IsFirst(event));
}

void Observe::GoOn(const ElectionName& name, Cursor& cursor) {
  if (cursor.reading) return;
  if (cursor.wants == Want::kNothing && cursor.heard < cursor.next) {
    cursor.live = true;
    if (std::exchange(cursor.opening, false)) OneOpened();
    return;
  }
  if (IsFull() || reads_under_way_ >= (denied_ ? 1 : options_.reads_max)) {
    stalled_ = true;
    return;
  }
  cursor.reading = true;
  cursor.heard_before_read = cursor.heard;
  ++reads_under_way_;
  if (cursor.wants == Want::kNothing) {
    Emit(ReadEvents{name, cursor.next, options_.events_per_read});
  } else {
    Emit(ReadElection{name});
  }
}

void Observe::On(ElectionRead& read) {
  AfterRead(read.name, read.election, [&](Cursor& cursor) { TakeIn(cursor, read); });
}

void Observe::On(EventsRead& read) {
  AfterRead(read.name, read.events, [&](Cursor& cursor) { TakeIn(cursor, read); });
}

template <typename T>
void Observe::AfterRead(const ElectionName& name, const Result<T>& read,
                        const std::function<void(Cursor&)>& take_in) {
  --reads_under_way_;
  if (!read) return FinishWith(read.error());
  Cursor& cursor = cursors_.at(name);
  cursor.reading = false;
  if (!std::exchange(cursor.was_reset, false)) take_in(cursor);
  GoOn(name, cursor);
  Resume();
}

void Observe::TakeIn(Cursor& cursor, ElectionRead& read) {
  const auto& election = *read.election;
  const Revision current = election ? election->revision : Revision();
  const bool from_first = cursor.next == kFirst;
  const bool is_here = from_first ? !election || election->history_from <= kFirst
                                  : election && cursor.next <= current.Next();
  const Want wanted = std::exchange(cursor.wants, Want::kNothing);
  if (wanted == Want::kVerify && is_here) {
    if (from_first && election && !HasEvents(*election)) cursor.next = current.Next();
    cursor.heard = std::max(cursor.heard, current);
    return;
  }
  const bool resync = wanted != Want::kSnapshot;
  const bool is_there = election.has_value();
  if (!Say(Snapshot{read.name, std::move(*read.election), resync})) {
    cursor.wants = wanted;
    return;
  }
  if (resync) Emit(CountResync{});
  // The events heard of were purged with their election.
  if (!is_there && cursor.heard == cursor.heard_before_read) cursor.heard = {};
  cursor.next = current.Next();
}

void Observe::TakeIn(Cursor& cursor, EventsRead& read) {
  if (cursor.wants != Want::kNothing) return;
  if (read.events->empty()) cursor.wants = Want::kResync;
  for (tenure::Event& event : *read.events) {
    if (!IsNext(cursor, event)) {
      cursor.wants = Want::kResync;
      return;
    }
    const Revision next = event.revision.Next();
    if (!Say(std::make_shared<const tenure::Event>(std::move(event)))) return;
    cursor.next = next;
  }
}

void Observe::Resume() {
  const bool room = outbox_.size() <= options_.unsent_to_resume &&
                    outbox_.bytes() <= options_.unsent_bytes_max / 4 && !IsFull();
  if (!room || !std::exchange(stalled_, false)) return;
  List();
  for (auto& [name, cursor] : cursors_) {
    if (cursor.opened && !cursor.live) GoOn(name, cursor);
    if (stalled_) return;  // there is no more room
  }
}

void Observe::PlanProgress() {
  Emit(SetTimer{TimerId::kProgress, now_ + options_.progress_interval});
}

void Observe::On(const Due&) {
  if (AllIsSaid()) (void)Say(Progress{now_});
  PlanProgress();
  denied_ = false;
}

bool Observe::AllIsSaid() const {
  return opening_ == 0 && outbox_.size() == 0 &&
         std::ranges::all_of(cursors_, [](const auto& it) { return it.second.live; });
}

void Observe::On(const Written& written) {
  if (!written.ok) return End(HangUp{});
  outbox_.Sent();
  WriteNext();
  Resume();
}

bool Observe::IsFull() const {
  return outbox_.size() >= options_.unsent_max || outbox_.bytes() >= options_.unsent_bytes_max ||
         (denied_ && outbox_.size() > 0);
}

bool Observe::Say(ObserveMessage message) {
  const size_t bytes = BytesOf(message);
  if (!outbox_.Push(std::move(message), bytes)) {
    denied_ = true;
    return false;
  }
  if (outbox_.bytes() > options_.unsent_bytes_free) denied_ = false;  // the budget has bytes again
  WriteNext();
  return true;
}

void Observe::WriteNext() {
  if (auto next = outbox_.Next()) Emit(Write<ObserveMessage>{*std::move(next)});
}

void Observe::End(Outward last) {
  Emit(std::move(last));
  finished_ = true;
}

}  // namespace tenure::calls
