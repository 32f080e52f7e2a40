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

// An election as it is, to begin with or to start over from.
struct Snapshot {
  ElectionName name;
  std::optional<Election> election;  // nothing: nobody has ever stood there
  bool resync;                       // events before it are gone
};
// Everything that was known at this time goes before it, however late it is written.
struct Progress {
  SteadyTime at;
};
using ObserveMessage = std::variant<std::shared_ptr<const Event>, Snapshot, Progress>;

struct ObserveOptions {
  std::chrono::milliseconds progress_interval{5000};
  // Cursors fall back to the store when so much is unsent, and go on when so little is left.
  size_t unsent_max = 1'000;
  size_t unsent_to_resume = 250;
  size_t unsent_bytes_max = 1 << 20;  // and as much as one read brings
  size_t unsent_bytes_free = kUnsentBytesFree;
  size_t events_per_read = 250;
  size_t names_per_read = 250;
  size_t reads_max = 16;  // at a time: what they bring is added to the unsent
};

// Of one thread at a time.
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

  // What is to be watched for it. Watched before it is read, so that nothing falls between.
  [[nodiscard]] std::vector<engine::Watch> Watches() const;

  [[nodiscard]] std::vector<Effect> Step(Event event, SteadyTime now);
  [[nodiscard]] bool finished() const { return finished_; }

 private:
  // What a cursor needs before it can go on from `next`.
  enum class Want {
    kNothing,
    kSnapshot,  // to open with
    kResync,    // a snapshot, because events are gone
    kVerify,    // whether `next`, which the caller named, is of this history
  };

  // Live: events are sent as they come. Otherwise a read is on its way, or waits for room.
  struct Cursor {
    Revision next{1};  // to send; 1: the first, whatever its number
    Revision heard;    // the highest that was committed, as far as is known here
    Revision heard_before_read;
    Want wants = Want::kNothing;
    bool opened = false;   // it was named or listed, or is new
    bool opening = false;  // and it has not been live yet
    bool live = false;
    bool reading = false;
    bool was_reset = false;  // the read on its way may be of the database that was
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

  // Reads the next page of the elections that a prefix selects, if there may be one: one at a time,
  // and before the cursors, which it finds.
  void List();
  [[nodiscard]] bool Listed() const { return list_ == selection_.widest().size(); }
  // Whatever is selected has been found.
  void OnAllListed();
  // False if that is one too many.
  bool OpenCursor(const ElectionName& name);
  // All is listed, or a cursor has sent what opens it.
  void OneOpened();
  [[nodiscard]] static bool IsNext(const Cursor& cursor, const tenure::Event& event);
  // Live if nothing is wanting; otherwise the next read, now or when there is room.
  void GoOn(const ElectionName& name, Cursor& cursor);
  // A cursor's read was answered: `take_in` what it says, if that is of any use, and go on.
  template <typename T>
  void AfterRead(const ElectionName& name, const Result<T>& read,
                 const std::function<void(Cursor&)>& take_in);
  // The election as it is, for a cursor that wants it.
  void TakeIn(Cursor& cursor, ElectionRead& read);
  // What the store has from the cursor on; its next revision was committed, so it has to be there.
  void TakeIn(Cursor& cursor, EventsRead& read);
  // Reads that had to wait for room.
  void Resume();
  void PlanProgress();
  [[nodiscard]] bool AllIsSaid() const;
  // Whether there is no room for more.
  [[nodiscard]] bool IsFull() const;
  // False, and it is not said, if the budget does not have the bytes: its cursor has to read it
  // again.
  [[nodiscard]] bool Say(ObserveMessage message);
  void WriteNext();
  void FinishWith(Error error) { End(BreakOff{std::move(error)}); }
  void End(Outward last);
  // Nothing comes after the last word.
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
  size_t list_ = 0;         // which of the widest prefixes is being listed
  std::string listed_to_;   // and how far
  bool listing_ = false;    // a page is on its way
  bool list_anew_ = false;  // and may be of the database that was
  size_t opening_ = 1;      // cursors not live yet, and one more until all is listed
  Cursors cursors_;
  Outbox<ObserveMessage> outbox_;
  std::vector<Effect> effects_;
};

}  // namespace tenure::calls
