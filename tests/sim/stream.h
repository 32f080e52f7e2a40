// A stream between a client and a replica: both ends of it, and the messages on their way.
//
// Messages of one direction arrive in the order in which they were sent. A lost message breaks the
// connection, and both ends notice, some time later.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "tests/sim/network.h"

namespace tenure::sim {

// `Machine` serves it, and writes `Message`s. What is handed over as `on_...` is called on the
// client's side, and not after Close.
template <typename Machine, typename Message>
class Stream : public std::enable_shared_from_this<Stream<Machine, Message>> {
 public:
  using Event = typename Machine::Event;
  using Make = std::function<Machine()>;

  Stream(Network& network, int to, Make make, std::vector<engine::Watch> watches,
         std::function<void(const Message&)> on_message, std::function<void()> on_broken)
      : network_(network),
        to_(to),
        make_(std::move(make)),
        watches_(std::move(watches)),
        on_message_(std::move(on_message)),
        on_broken_(std::move(on_broken)) {}

  // Once, before anything else.
  void Open() {
    SendThere([this] {
      network_.At(to_).Arrive([self = this->shared_from_this()] {
        Replica& replica = self->network_.At(self->to_);
        if (self->finished_) return;
        if (!replica.up()) return self->Break();
        self->incarnation_ = replica.incarnation();
        replica.Enter([&](engine::Engine& engine) { self->Arrive(replica, engine); });
      });
    });
  }
  void Send(Event request) {
    SendThere([this, request = std::move(request)] {
      EnterReplica(
          [this, request](Serving&) {
            requests_.push_back(request);
            Read();
          },
          [this] { Break(); });
    });
  }
  void Close() {
    if (std::exchange(finished_, true)) return;
    broken_ = true;
    network_.world().After(network_.TimeToNotice(),
                           [self = this->shared_from_this()] { self->CloseInReplica(); });
  }

 private:
  using Serving = Served<Machine>;

  // --- In the replica ---

  void Arrive(Replica& replica, engine::Engine& engine) {
    engine_ = &engine;
    const auto served = std::make_shared<Serving>(
        engine, make_(),
        [self = this->shared_from_this()](typename Machine::Outward outward) {
          std::visit([&](auto& it) { self->Do(it); }, outward);
        },
        [self = this->shared_from_this()] { self->Break(); });
    served_ = served;
    replica.TakeIn(served);
    if (!served->Begin(network_.world(), watches_)) Break();
  }

  // What the machine says. It must not be called back at once.
  void Do(calls::ReadRequest&) {
    reads_ = true;
    engine_->scheduler().Post(engine::Work::kReads, [weak = this->weak_from_this()] {
      if (const auto self = weak.lock()) self->Read();
    });
  }
  void Do(calls::Write<Message>& it) {
    SendBack(std::move(it.message));
    const auto sent_at = network_.world().Now() + network_.TimeToWrite();
    engine_->scheduler().PostAt(engine::Work::kReads, sent_at, [served = served_] {
      if (const auto there = served.lock()) there->Happened(calls::Written{true});
    });
  }
  void Do(calls::Finish&) { Break(); }
  void Do(calls::BreakOff&) { Break(); }
  void Do(calls::HangUp&) {}

  void Read() {
    const auto served = served_.lock();
    if (served == nullptr || !reads_ || requests_.empty()) return;
    reads_ = false;
    Event request = std::move(requests_.front());
    requests_.pop_front();
    served->Happened(std::move(request));
  }

  // `otherwise`: if it is no longer served there.
  void EnterReplica(std::function<void(Serving&)> work, std::function<void()> otherwise) {
    network_.At(to_).Arrive([self = this->shared_from_this(), work = std::move(work),
                             otherwise = std::move(otherwise)] {
      Replica& replica = self->network_.At(self->to_);
      const auto served = self->served_.lock();
      const bool there =
          replica.up() && replica.incarnation() == self->incarnation_ && served != nullptr;
      if (!there) return otherwise();
      replica.Enter([&](engine::Engine&) { work(*served); });
    });
  }
  void CloseInReplica() {
    EnterReplica([](Serving& served) { served.Happened(calls::Cancelled{}); }, [] {});
  }

  // --- Between ---

  void SendThere(std::function<void()> arrive) {
    if (broken_) return;
    const auto transit = network_.Transit();
    if (!transit) return Break();
    InOrder(last_there_, *transit, std::move(arrive));
  }
  void SendBack(Message message) {
    if (broken_) return;
    const auto transit = network_.Transit();
    if (!transit) return Break();
    InOrder(last_back_, *transit, [this, message = std::move(message)] { on_message_(message); });
  }
  void InOrder(engine::SteadyTime& last, Duration transit, std::function<void()> arrive) {
    World& world = network_.world();
    last = std::max(last, world.Now() + transit);
    world.scheduler.PostAt(engine::Work::kBackground, last,
                           [self = this->shared_from_this(), arrive = std::move(arrive)] {
                             if (!self->finished_) arrive();
                           });
  }
  // Nothing that is sent from now on arrives.
  void Break() {
    broken_ = true;
    network_.world().After(network_.TimeToNotice(), [self = this->shared_from_this()] {
      if (!std::exchange(self->finished_, true)) self->on_broken_();
      self->CloseInReplica();
    });
  }

  Network& network_;
  const int to_;
  const Make make_;
  const std::vector<engine::Watch> watches_;
  const std::function<void(const Message&)> on_message_;
  const std::function<void()> on_broken_;
  bool broken_ = false;
  bool finished_ = false;  // for the client
  engine::SteadyTime last_there_{};
  engine::SteadyTime last_back_{};

  // In the replica:
  int incarnation_ = 0;
  engine::Engine* engine_ = nullptr;
  std::weak_ptr<Serving> served_;
  bool reads_ = false;  // the machine wants a request
  std::deque<Event> requests_;
};

using KeepAliveStream = Stream<ProbedKeepAlive, calls::KeepAliveMessage>;
using ObserveStream = Stream<calls::Observe, calls::ObserveMessage>;

}  // namespace tenure::sim
