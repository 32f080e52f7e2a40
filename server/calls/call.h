// Runs the machine of one open call: passes it events, one at a time, and carries out its effects
// on the engine. Holds no thread and no connection while it waits.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/mutex.h"
#include "server/calls/machine.h"
#include "server/engine/engine.h"
#include "server/engine/work/timer.h"

namespace tenure::calls {

// `Machine` has `Event` and `Effect`, each a variant of types in machine.h, and `Outward`, one of
// the effects: a variant of messages to the caller. Thread-safe.
template <typename Machine>
class Call final : public engine::Watcher, public std::enable_shared_from_this<Call<Machine>> {
 public:
  using Event = typename Machine::Event;
  using Outward = typename Machine::Outward;
  // Sends to the caller. Called under the call's lock: it must not call back, nor block.
  using Send = std::function<void(Outward)>;

  // `trace` is the caller's, for the log.
  Call(engine::Engine& engine, Machine machine, Send send, std::string trace = {})
      : engine_(engine),
        send_(std::move(send)),
        trace_(std::move(trace)),
        machine_(std::move(machine)) {}

  // Starts to watch, and begins. Call once, before anything else. After an error (kDraining,
  // kOverloaded) the call has not begun, and nothing is sent.
  [[nodiscard]] Result<void> Begin(const std::vector<engine::Watch>& watches) {
    auto joined = Join(watches);
    if (joined) Start();
    return joined;
  }

  // The two halves of Begin, for tests and the simulation, which let events arrive in between.

  // Starts to watch. Errors: as Begin.
  [[nodiscard]] Result<void> Join(const std::vector<engine::Watch>& watches) {
    auto joined = engine_.hub().Join(this->shared_from_this());
    if (!joined) return tl::unexpected(joined.error());
    membership_ = std::move(*joined);
    for (const engine::Watch& watch : watches) membership_.Add(watch);
    return {};
  }
  // REQUIRES: it has joined.
  void Start() {
    Happened(Begun{});
    bool drained = false;
    {
      const MutexLock lock(mutex_);
      drained = std::exchange(drained_early_, false);
    }
    if (drained) Deliver(Drained{});
  }

  void Happened(Event event) {
    std::optional<WatchSessions> watch;
    {
      const MutexLock lock(mutex_);
      watch = Step(std::move(event));
    }
    // The hub must not be called under a lock that it takes itself while it notifies.
    if constexpr (std::is_constructible_v<Event, Watched>) {
      if (!watch) return;
      for (const SessionId& id : watch->remove) membership_.Remove(engine::WatchSession{id});
      for (const SessionId& id : watch->add) membership_.Add(engine::WatchSession{id});
      Happened(Watched{});
    }
  }

  // The caller is gone. Call after the last event from its side.
  void Leave() { membership_.Leave(); }

  // Watcher

  void OnEvent(const std::shared_ptr<const tenure::Event>& event) override {
    Deliver(Changed{event});
  }
  void OnSessionEnded(const Session& session) override { Deliver(SessionOver{session}); }
  void OnReset() override { Deliver(HistoryReset{}); }
  void OnDrain() override { Deliver(Drained{}); }

 private:
  struct Planned {
    std::optional<engine::Timer> timer;
    uint64_t number = 0;  // of the last plan
  };

  // A machine gets only the events that it declares.
  template <typename T>
  void Deliver(T event) {
    if constexpr (std::is_constructible_v<Event, T>) Happened(std::move(event));
  }

  // Before it begins, the machine gets no events: its first reads show all changes. Only a shutdown
  // is kept for it.
  std::optional<WatchSessions> Step(Event event) TENURE_REQUIRES(mutex_) {
    std::optional<WatchSessions> watch;
    begun_ |= std::holds_alternative<Begun>(event);
    if (!begun_) {
      if constexpr (std::is_constructible_v<Event, Drained>) {
        drained_early_ |= std::holds_alternative<Drained>(event);
      }
      return watch;
    }
    // An immediate answer of the engine is the next event.
    std::vector<Event> events;
    events.push_back(std::move(event));
    for (size_t i = 0; i < events.size(); ++i) {
      for (auto& effect : machine_.Step(std::move(events[i]), engine_.scheduler().Now())) {
        std::visit(
            [&]<typename T>(T& it) TENURE_REQUIRES(mutex_) {
              if constexpr (std::is_same_v<T, WatchSessions>) {
                watch = std::move(it);
              } else if (auto answer = AnswerNow(it)) {
                events.push_back(*std::move(answer));
              } else {
                Do(std::move(it));
              }
            },
            effect);
      }
    }
    return watch;
  }

  // The engine's answer, if it has one without waiting. Nothing: the effect has yet to be carried
  // out.
  template <typename T>
  std::optional<Event> AnswerNow(const T& it) {
    if constexpr (std::is_same_v<T, Renew>) {
      if (auto renewed = engine_.RenewNow(it.session, it.owner)) {
        return Event(Renewed{it.index, *std::move(renewed)});
      }
    }
    return std::nullopt;
  }

  // Turns the engine's answer into an event.
  template <typename T>
  auto Then(T event_of) {
    return [self = this->shared_from_this(), event_of = std::move(event_of)](auto result) {
      self->Happened(event_of(std::move(result)));
    };
  }

  // Work for a finished call is no longer wanted.
  engine::Wanted Unfinished() {
    return [self = this->shared_from_this()] {
      const MutexLock lock(self->mutex_);
      return !self->machine_.finished();
    };
  }

  void Do(Outward outward) { send_(std::move(outward)); }
  void Do(Submit it) TENURE_REQUIRES(mutex_) {
    engine_.Submit(std::move(it.command),
                   Then([](auto result) { return Answered{std::move(result)}; }), Unfinished(),
                   trace_);
  }
  void Do(WithdrawPlace it) TENURE_REQUIRES(mutex_) {
    engine_.Submit(std::move(it.command), [](const Result<Answer>&) {});
  }
  void Do(Renew it) TENURE_REQUIRES(mutex_) {
    engine_.Renew(it.session, std::move(it.owner), Then([index = it.index](auto result) {
                    return Renewed{index, std::move(result)};
                  }),
                  Unfinished());
  }
  void Do(ReadPlace it) TENURE_REQUIRES(mutex_) {
    engine_.ReadPlace(it.place, it.with_position,
                      Then([with_position = it.with_position](auto result) {
                        return PlaceRead{with_position, std::move(result)};
                      }));
  }
  void Do(ReadSeats it) TENURE_REQUIRES(mutex_) {
    engine_.ReadSeats(std::move(it.page),
                      Then([](auto result) { return SeatsRead{std::move(result)}; }));
  }
  void Do(ReadNames it) TENURE_REQUIRES(mutex_) {
    engine_.ReadNames(std::move(it.prefix), std::move(it.after), it.limit,
                      Then([](auto result) { return NamesRead{std::move(result)}; }), Unfinished());
  }
  void Do(ReadElection it) TENURE_REQUIRES(mutex_) {
    engine_.ReadElection(it.name, false, Then([name = it.name](auto result) {
                           return ElectionRead{name, std::move(result)};
                         }));
  }
  void Do(ReadEvents it) TENURE_REQUIRES(mutex_) {
    engine_.ReadEvents(it.name, it.from, it.limit, Then([name = it.name](auto result) {
                         return EventsRead{name, std::move(result)};
                       }),
                       Unfinished());
  }
  void Do(SetTimer it) TENURE_REQUIRES(mutex_) {
    Planned& planned = timers_[static_cast<size_t>(it.timer)];
    if (!planned.timer) planned.timer.emplace(engine_.scheduler(), engine::Work::kReads);
    planned.timer->Set(it.at,
                       [weak = this->weak_from_this(), id = it.timer, number = ++planned.number] {
                         if (const auto call = weak.lock()) call->OnDue(id, number);
                       });
  }
  void Do(StopTimer it) TENURE_REQUIRES(mutex_) {
    Planned& planned = timers_[static_cast<size_t>(it.timer)];
    ++planned.number;
    if (planned.timer) planned.timer->Forget();
  }
  void Do(CountWait it) TENURE_REQUIRES(mutex_) {
    ObserveSeconds(engine_.metrics().campaign_wait_seconds, it.waited);
  }
  void Do(CountResync) TENURE_REQUIRES(mutex_) { engine_.metrics().observe_resyncs.Increment(); }

  // Ignores a timer that was set again, or stopped, after its task had begun.
  void OnDue(TimerId id, uint64_t number) {
    const MutexLock lock(mutex_);
    if (timers_[static_cast<size_t>(id)].number == number) (void)Step(Due{id});
  }

  engine::Engine& engine_;
  const Send send_;
  const std::string trace_;
  engine::WatchHub::Membership membership_;  // used by the caller's side only

  Mutex mutex_;
  Machine machine_ TENURE_GUARDED_BY(mutex_);
  bool begun_ TENURE_GUARDED_BY(mutex_) = false;
  bool drained_early_ TENURE_GUARDED_BY(mutex_) = false;  // before it began
  std::array<Planned, kTimers> timers_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::calls
