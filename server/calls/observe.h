// What an open Observe stream does.
//
// Each election that is watched has a cursor: the next revision to send. Events that come in order
// are sent as they come; for anything else (the stream opens, the observer is slow, events were
// missed) the cursor is not live, and catches up from the store, where all events are. So an
// observer is bounded in memory, sees every event once, and is only resynchronised when history
// itself is gone.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "server/calls/machine.h"
#include "server/calls/outbox.h"
#include "server/calls/selection.h"

namespace tenure::calls {

// The state of an election, to begin with or to start over from.
struct Snapshot {
  ElectionName name;
  std::optional<Election> election;  // nothing: nobody has ever campaigned
  bool resync;                       // events before it are gone
};
// Comes after everything that was known at this time, however late it is written.
struct Progress {
  SteadyTime at;
};
using ObserveMessage = std::variant<std::shared_ptr<const Event>, Snapshot, Progress>;

struct ObserveOptions {
  std::chrono::milliseconds progress_interval{5000};
  // Cursors fall back to the store when the maximum is unsent, and resume from there when this
  // little is left.
  size_t unsent_max = 1'000;
  size_t unsent_to_resume = 250;
  size_t unsent_bytes_max = 1 << 20;  // plus the result of one read
  size_t unsent_bytes_free = kUnsentBytesFree;
  size_t events_per_read = 250;
  size_t names_per_read = 250;
  size_t reads_max = 16;  // at a time: their results add to the unsent
};

// Not thread-safe.
class Observe {
 public:
  using Event = std::variant<Begun, NamesRead, ElectionRead, EventsRead, Changed, HistoryReset,
                             Drained, Due, Written, Cancelled>;
  using Outward = std::variant<Write<ObserveMessage>, BreakOff, HangUp>;
  using Effect = std::variant<ReadNames, ReadElection, ReadEvents, SetTimer, CountResync, Outward>;

  // `budget`: see Outbox.
  Observe(Selection selection, const ObserveOptions& options,
          std::shared_ptr<SendBudget> budget = nullptr)
      : selection_(std::move(selection)),
        options_(options),
        outbox_(std::move(budget), options.unsent_bytes_free) {}

  // What to watch for it. Watch before reading, so that no change is missed in between.
  [[nodiscard]] std::vector<engine::Watch> Watches() const;

  [[nodiscard]] std::vector<Effect> Step(Event event, SteadyTime now);
  [[nodiscard]] bool finished() const { return finished_; }

 private:
  // What a cursor needs before it can continue from `next`.
  enum class Want {
    kNothing,
    kSnapshot,  // to open with
    kResync,    // a snapshot, because events are gone
    kVerify,    // whether `next`, which the caller named, is of this history
  };

  // Live: events are sent as they come. Otherwise a read is on its way, or waits for room.
  struct Cursor {
    Revision next{1};  // to send; 1: the first, whatever its number
    Revision heard;    // the highest known to be committed
    Revision heard_before_read;
    Want wants = Want::kNothing;
    bool opened = false;   // it was named or listed, or is new
    bool opening = false;  // and it has not been live yet
    bool live = false;
    bool reading = false;
    bool was_reset = false;  // the read on its way may show the previous database
  };
  using Cursors = std::map<ElectionName, Cursor>;

  void On(const Begun&);
  void On(const NamesRead& read);
  void On(ElectionRead& read);
  void On(EventsRead& read);
  void On(const Changed& changed);
  void On(const HistoryReset&);
  void On(const Drained&);
  void On(const Due&);
  void On(const Written& written);
  void On(const Cancelled&) { End(HangUp{}); }

  // Reads the next page of the elections that a prefix selects, if there may be one: one page at a
  // time, and before the cursors that it finds.
  void List();
  [[nodiscard]] bool Listed() const { return list_ == selection_.widest().size(); }
  // All selected elections have been found.
  void OnAllListed();
  // False if there are too many.
  bool OpenCursor(const ElectionName& name);
  // All elections are listed, or a cursor has caught up for the first time.
  void OneOpened();
  [[nodiscard]] static bool IsNext(const Cursor& cursor, const tenure::Event& event);
  // Live if nothing is missing; otherwise starts the next read, now or when there is room.
  void GoOn(const ElectionName& name, Cursor& cursor);
  // A cursor's read was answered: calls `take_in` unless the answer is outdated, and goes on.
  template <typename T>
  void AfterRead(const ElectionName& name, const Result<T>& read,
                 const std::function<void(Cursor&)>& take_in);
  // The state of the election, for a cursor that wants it.
  void TakeIn(Cursor& cursor, ElectionRead& read);
  // Stored events, from the cursor on. Its next revision was committed, so it has to be there.
  void TakeIn(Cursor& cursor, EventsRead& read);
  // Starts reads that had to wait for room.
  void Resume();
  void PlanProgress();
  [[nodiscard]] bool AllIsSaid() const;
  // Whether there is no room for more.
  [[nodiscard]] bool IsFull() const;
  // False if the budget does not have the bytes: the message is dropped, and its cursor has to read
  // it again.
  [[nodiscard]] bool Say(ObserveMessage message);
  void WriteNext();
  void FinishWith(Error error) { End(BreakOff{std::move(error)}); }
  void End(Outward last);
  // Nothing is emitted after the end.
  template <typename T>
  void Emit(T effect) {
    if (!finished_) effects_.emplace_back(std::move(effect));
  }

  const Selection selection_;
  const ObserveOptions options_;
  SteadyTime now_;
  bool finished_ = false;
  bool was_reset_ = false;  // what the caller has seen may be of another history
  bool stalled_ = false;    // a read waits for room
  bool denied_ = false;     // the budget was used up: read one at a time
  size_t reads_under_way_ = 0;
  size_t list_ = 0;          // which of the widest prefixes is being listed
  std::string listed_to_;    // and how far
  bool listing_ = false;     // a page is on its way
  bool list_again_ = false;  // and may show the previous database
  size_t opening_ = 1;       // cursors not live yet, and one more until all is listed
  Cursors cursors_;
  Outbox<ObserveMessage> outbox_;
  std::vector<Effect> effects_;
};

}  // namespace tenure::calls
