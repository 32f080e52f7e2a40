#include "tests/sim/network.h"

#include <algorithm>

namespace tenure::sim {

using namespace std::chrono_literals;

std::optional<Duration> Network::Transit() {
  Random& random = world_.random;
  if (world_.healed) return random.Between(100us, 2ms);
  if (random.Chance(world_.plan.lost_messages)) return std::nullopt;
  const bool slow = random.Chance(world_.plan.slow_messages);
  return slow ? random.Between(2ms, world_.plan.slow_at_most) : random.Between(100us, 5ms);
}

Duration Network::TimeToNotice() { return world_.random.Between(1ms, 2s); }

std::shared_ptr<Stream> Network::Open(int to, const SessionId& session,
                                      std::function<void(StreamMessage)> on_message,
                                      std::function<void()> on_broken) {
  return std::make_shared<Stream>(*this, to, session, std::move(on_message), std::move(on_broken));
}

void Stream::Send(uint64_t sequence) {
  if (over_) return;
  const auto transit = network_.Transit();
  if (!transit) return Break(network_.TimeToNotice());
  InOrder(last_there_, *transit, [this, sequence] { Arrive(sequence); });
}

void Stream::Close() {
  if (std::exchange(over_, true)) return;
  network_.world().After(network_.TimeToNotice(),
                         [self = shared_from_this()] { self->CloseInReplica(); });
}

void Stream::Arrive(uint64_t sequence) {
  Replica& replica = network_.At(to_);
  auto server = server_.lock();
  if (!replica.up() || (opened_ && server == nullptr)) return Break(network_.TimeToNotice());
  replica.Enter([&](Engine& engine) {
    if (!opened_) {
      opened_ = true;
      server = std::make_shared<KeepAliveStream>(
          engine, session_,
          [self = shared_from_this()](StreamMessage message) {
            self->SendBack(std::move(message));
          },
          [self = shared_from_this()] { self->Break(self->network_.TimeToNotice()); });
      server_ = server;
      replica.TakeIn(server, {WatchSession{session_}});
    }
    server->OnRequest(sequence);
  });
}

void Stream::SendBack(StreamMessage message) {
  if (over_) return;
  const auto transit = network_.Transit();
  if (!transit) return Break(network_.TimeToNotice());
  InOrder(last_back_, *transit, [this, message] { on_message_(message); });
}

void Stream::InOrder(SteadyTime& last, Duration transit, std::function<void()> arrive) {
  last = std::max(last, network_.world().Now() + transit);
  network_.world().scheduler.PostAt(Work::kBackground, last,
                                    [self = shared_from_this(), arrive = std::move(arrive)] {
                                      if (!self->over_) arrive();
                                    });
}

void Stream::Break(Duration noticed_after) {
  network_.world().After(noticed_after, [self = shared_from_this()] {
    if (!std::exchange(self->over_, true)) self->on_broken_();
    self->CloseInReplica();
  });
}

void Stream::CloseInReplica() {
  if (const auto server = server_.lock()) server->Close();
}

}  // namespace tenure::sim
