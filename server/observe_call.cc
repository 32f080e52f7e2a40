#include "server/observe_call.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <variant>

#include "core/validation.h"
#include "server/convert.h"
#include "server/refused.h"
#include "server/status.h"
#include "server/timer.h"

namespace tenure {
namespace {

constexpr size_t kUnsentEventsMax = 1'000;  // then cursors fall back to the store
constexpr size_t kUnsentToResume = 250;     // and go on when so few are left
constexpr size_t kEventsPerRead = 250;
constexpr size_t kReadsUnderWayMax = 16;  // of one stream: what they bring is added to the unsent

struct ParsedSelector {
  std::variant<ElectionName, std::string> by;  // or a prefix
  std::optional<Revision> from;
};

Result<ParsedSelector> Parse(const v1::Selector& selector) {
  ParsedSelector parsed;
  if (selector.has_from_revision()) {
    if (selector.from_revision() == 0) {
      return Fail(Reason::kInvalidSelector, "from_revision is 0; revisions start at 1");
    }
    parsed.from = Revision{selector.from_revision()};
  }
  switch (selector.by_case()) {
    case v1::Selector::kElection: {
      const auto name = ParseElectionName(selector.election());
      if (!name) return tl::unexpected(name.error());
      parsed.by = *name;
      return parsed;
    }
    case v1::Selector::kPrefix:
      if (!selector.prefix().empty()) {
        const auto prefix = ParseElectionName(selector.prefix());
        if (!prefix) return tl::unexpected(prefix.error());
      }
      parsed.by = selector.prefix();
      return parsed;
    case v1::Selector::BY_NOT_SET: break;
  }
  return Fail(Reason::kInvalidSelector, "a selector must name an election or a prefix");
}

Result<std::vector<ParsedSelector>> Parse(const v1::ObserveRequest& request) {
  const int count = request.selectors_size();
  if (count == 0 || static_cast<size_t>(count) > kSelectorsMax) {
    return Fail(Reason::kInvalidSelector, "the request has " + std::to_string(count) +
                                              " selectors; it must have 1 to " +
                                              std::to_string(kSelectorsMax));
  }
  std::vector<ParsedSelector> selectors;
  for (const v1::Selector& selector : request.selectors()) {
    auto parsed = Parse(selector);
    if (!parsed) return tl::unexpected(parsed.error());
    selectors.push_back(*std::move(parsed));
  }
  return selectors;
}

class ObserveCall final : public grpc::ServerWriteReactor<v1::ObserveResponse>,
                          public Watcher,
                          public std::enable_shared_from_this<ObserveCall> {
 public:
  ObserveCall(Engine& engine, std::vector<ParsedSelector> selectors, const ObserveOptions& options)
      : engine_(engine),
        selectors_(std::move(selectors)),
        options_(options),
        progress_(engine.scheduler(), Work::kReads) {}

  void Start() {
    self_ = shared_from_this();
    {
      const std::lock_guard lock(mutex_);
      opening_ = unlisted_ = selectors_.size();
    }
    auto joined = engine_.hub().Join(shared_from_this());
    if (!joined) {
      const std::lock_guard lock(mutex_);
      return FinishWith(joined.error());
    }
    membership_ = std::move(*joined);
    engine_.metrics().observers.Increment();
    // Watched before it is read, so that nothing falls between.
    for (const ParsedSelector& selector : selectors_) {
      if (const auto* name = std::get_if<ElectionName>(&selector.by)) {
        membership_.Add(WatchElection{*name});
      } else {
        membership_.Add(WatchPrefix{std::get<std::string>(selector.by)});
      }
    }
    for (const ParsedSelector& selector : selectors_) {
      const auto* name = std::get_if<ElectionName>(&selector.by);
      if (name != nullptr) OnListed(std::vector<ElectionName>{*name}, selector.from);
    }
    // After those that are named: what a selector says of one election goes before what it says of
    // many.
    for (const ParsedSelector& selector : selectors_) ListIfPrefix(selector);
    const std::lock_guard lock(mutex_);
    PlanProgress();
  }

  // Watcher

  void OnEvent(const std::shared_ptr<const Event>& event) override {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    const auto [found, added] = cursors_.try_emplace(event->election, engine_.origin().Next());
    if (cursors_.size() > kObservedMax) return FinishWith(TooWide());
    const auto& name = found->first;
    Cursor& cursor = found->second;
    // An election that was not there when its prefix was listed is told from its beginning.
    if (added && unlisted_ == 0) cursor.live = cursor.opened = true;
    cursor.heard = std::max(cursor.heard, event->revision);
    if (!cursor.live || event->revision < cursor.next) return;
    if (event->revision == cursor.next && unsent_.size() < kUnsentEventsMax) {
      cursor.next = cursor.next.Next();
      return Send(event);
    }
    cursor.live = false;
    GoOn(name, cursor);
  }

  void OnReset() override {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    was_reset_ = true;
    for (auto& [name, cursor] : cursors_) {
      cursor.live = false;
      cursor.heard = {};
      cursor.wants = Want::kResync;
      cursor.was_reset = cursor.reading;
      if (cursor.opened) GoOn(name, cursor);
    }
    for (const ParsedSelector& selector : selectors_) {  // there may be others than before
      if (!ListIfPrefix(selector)) continue;
      ++opening_;
      ++unlisted_;
    }
  }

  void OnDrain() override {
    const std::lock_guard lock(mutex_);
    FinishWith({Reason::kDraining, "this replica is shutting down"});
  }

  // Reactor

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    if (!ok) return Finish(grpc::Status::CANCELLED);
    WriteNext();
    if (unsent_.size() <= kUnsentToResume) ResumeCursors();
  }

  void OnCancel() override {
    const std::lock_guard lock(mutex_);
    Finish(grpc::Status::CANCELLED);
  }

  void OnDone() override {
    if (membership_.joined()) engine_.metrics().observers.Decrement();
    membership_.Leave();
    self_.reset();
  }

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
    Revision next{1};  // to send
    Revision heard;    // the highest that was committed, as far as is known here
    Want wants = Want::kNothing;
    bool opened = false;   // a selector has opened it
    bool opening = false;  // and it has not been live yet
    bool live = false;
    bool reading = false;
    bool was_reset = false;  // the read on its way may be of the database that was
  };
  using Message = std::variant<std::shared_ptr<const Event>, v1::ObserveResponse>;

  static Error TooWide() {
    return {Reason::kObserveTooWide,
            "a stream can watch at most " + std::to_string(kObservedMax) + " elections",
            {{"limit", std::to_string(kObservedMax)}}};
  }

  // Reads which elections a selector selects, if it does not name them.
  bool ListIfPrefix(const ParsedSelector& selector) {
    const auto* prefix = std::get_if<std::string>(&selector.by);
    if (prefix == nullptr) return false;
    engine_.ReadNames(*prefix, kObservedMax,
                      [self = shared_from_this(), from = selector.from](auto names) {
                        self->OnListed(std::move(names), from);
                      });
    return true;
  }

  // A selector's elections are known.
  void OnListed(Result<std::vector<ElectionName>> names, std::optional<Revision> from) {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    if (!names) return FinishWith(names.error());
    for (const ElectionName& name : *names) OpenCursor(name, from);
    if (cursors_.size() > kObservedMax) return FinishWith(TooWide());
    if (--unlisted_ == 0) {
      // What was heard of and not listed came later.
      for (auto& [name, cursor] : cursors_) {
        if (!std::exchange(cursor.opened, true)) GoOn(name, cursor);
      }
    }
    OneOpened();
  }

  // REQUIRES for all below: the lock.

  void PlanProgress() {
    progress_.Set(engine_.scheduler().Now() + options_.progress_interval,
                  [weak = weak_from_this()] {
                    const auto call = weak.lock();
                    if (call == nullptr) return;
                    const std::lock_guard lock(call->mutex_);
                    if (call->finished_) return;
                    if (call->AllIsSent()) call->SendProgress();
                    call->PlanProgress();
                  });
  }

  void OpenCursor(const ElectionName& name, std::optional<Revision> from) {
    Cursor& cursor = cursors_[name];
    if (std::exchange(cursor.opened, true)) return;
    cursor.opening = true;
    ++opening_;
    cursor.next = from.value_or(Revision{1});
    cursor.wants = was_reset_ ? Want::kResync : from ? Want::kVerify : Want::kSnapshot;
    GoOn(name, cursor);
  }

  // A selector is listed, or a cursor has sent what opens it.
  void OneOpened() {
    if (--opening_ == 0) SendProgress();
  }

  // Live if nothing is wanting; otherwise the next read, now or when there is room.
  void GoOn(const ElectionName& name, Cursor& cursor) {
    if (cursor.reading) return;
    if (cursor.wants == Want::kNothing && cursor.heard < cursor.next) {
      cursor.live = true;
      if (std::exchange(cursor.opening, false)) OneOpened();
      return;
    }
    if (unsent_.size() >= kUnsentEventsMax || reads_under_way_ >= kReadsUnderWayMax) {
      stalled_ = true;
      return;
    }
    cursor.reading = true;
    ++reads_under_way_;
    if (cursor.wants == Want::kNothing) {
      engine_.ReadEvents(name, cursor.next, kEventsPerRead,
                         [self = shared_from_this(), name](auto events) {
                           self->AfterRead(name, events, &ObserveCall::OnEvents);
                         });
    } else {
      engine_.ReadElection(name, false, [self = shared_from_this(), name](auto election) {
        self->AfterRead(name, election, &ObserveCall::OnElection);
      });
    }
  }

  template <typename T>
  void AfterRead(const ElectionName& name, const Result<T>& result,
                 void (ObserveCall::*then)(const ElectionName&, Cursor&, const T&)) {
    const std::lock_guard lock(mutex_);
    --reads_under_way_;
    if (finished_) return;
    if (!result) return FinishWith(result.error());
    Cursor& cursor = cursors_.at(name);
    cursor.reading = false;
    if (!std::exchange(cursor.was_reset, false)) (this->*then)(name, cursor, *result);
    GoOn(name, cursor);
    if (unsent_.size() <= kUnsentToResume) ResumeCursors();
  }

  // The election as it is, for a cursor that wants it.
  void OnElection(const ElectionName& name, Cursor& cursor,
                  const std::optional<Election>& election) {
    const Revision origin = engine_.origin();
    const Revision current = election ? election->revision : origin;
    // The first of all is asked for as 1, whatever it is in a database that was restored.
    const bool nothing_deleted = !election || election->history_from <= origin;
    if (cursor.next == Revision{1} && nothing_deleted) cursor.next = origin.Next();
    const bool is_here = election ? cursor.next <= current.Next() : cursor.next == current.Next();
    const Want wanted = std::exchange(cursor.wants, Want::kNothing);
    if (wanted == Want::kVerify && is_here) {
      cursor.heard = std::max(cursor.heard, current);
      return;
    }
    const bool initial = wanted == Want::kSnapshot;
    if (!initial) engine_.metrics().observe_resyncs.Increment();
    v1::ObserveResponse response;
    *response.mutable_snapshot() = ToSnapshot(
        name, election, initial ? v1::Snapshot::REASON_INITIAL : v1::Snapshot::REASON_RESYNC);
    Send(std::move(response));
    cursor.next = current.Next();
  }

  // What the store has from the cursor on; `cursor.next` was committed, so it has to be there.
  void OnEvents(const ElectionName&, Cursor& cursor, const std::vector<Event>& events) {
    const bool gone = events.empty() || events.front().revision != cursor.next;
    if (gone) {
      cursor.wants = Want::kResync;
      return;
    }
    for (const Event& event : events) {
      cursor.next = event.revision.Next();
      Send(std::make_shared<const Event>(event));
    }
  }

  // Reads for cursors that had to wait for room.
  void ResumeCursors() {
    if (!std::exchange(stalled_, false)) return;
    for (auto& [name, cursor] : cursors_) {
      if (cursor.opened && !cursor.live) GoOn(name, cursor);
      if (stalled_) return;  // there is no more room
    }
  }

  [[nodiscard]] bool AllIsSent() const {
    return opening_ == 0 && unsent_.empty() &&
           std::ranges::all_of(cursors_, [](const auto& it) { return it.second.live; });
  }

  void SendProgress() {
    v1::ObserveResponse response;
    *response.mutable_progress()->mutable_time() =
        google::protobuf::util::TimeUtil::GetCurrentTime();
    Send(std::move(response));
  }

  void Send(Message message) {
    if (finished_) return;
    unsent_.push_back(std::move(message));
    WriteNext();
  }

  void WriteNext() {
    if (writing_ || finished_ || unsent_.empty()) return;
    Message message = std::move(unsent_.front());
    unsent_.pop_front();
    if (const auto* event = std::get_if<std::shared_ptr<const Event>>(&message)) {
      in_flight_.Clear();
      *in_flight_.mutable_event() = ToProto(**event);
    } else {
      in_flight_ = std::move(std::get<v1::ObserveResponse>(message));
    }
    writing_ = true;
    StartWrite(&in_flight_);
  }

  void FinishWith(const Error& error) { Finish(ToStatus(error)); }

  void Finish(const grpc::Status& status) {
    if (std::exchange(finished_, true)) return;
    ServerWriteReactor::Finish(status);
  }

  Engine& engine_;
  const std::vector<ParsedSelector> selectors_;
  const ObserveOptions options_;
  Timer progress_;                     // guarded by mutex_
  std::shared_ptr<ObserveCall> self_;  // until OnDone
  WatchHub::Membership membership_;    // used by Start and OnDone only

  std::mutex mutex_;
  // Guarded by mutex_:
  bool finished_ = false;
  bool was_reset_ = false;  // what the caller has seen may be of another history
  bool writing_ = false;
  bool stalled_ = false;  // a cursor waits for room
  size_t reads_under_way_ = 0;
  size_t unlisted_ = 0;  // selectors whose elections are not known yet
  size_t opening_ = 0;   // selectors not listed, and cursors not live yet
  std::map<ElectionName, Cursor> cursors_;
  std::deque<Message> unsent_;
  v1::ObserveResponse in_flight_;
};

}  // namespace

grpc::ServerWriteReactor<v1::ObserveResponse>* StartObserve(Engine& engine,
                                                            const v1::ObserveRequest& request,
                                                            const ObserveOptions& options) {
  auto selectors = Parse(request);
  if (!selectors) {
    return RefusedStream<grpc::ServerWriteReactor<v1::ObserveResponse>>(selectors.error());
  }
  const auto call = std::make_shared<ObserveCall>(engine, *std::move(selectors), options);
  call->Start();
  return call.get();
}

}  // namespace tenure
