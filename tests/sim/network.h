// Between clients and replicas: messages take their time, and some are lost. A lost message breaks
// its connection, and both ends notice, some time later.
//
// What a client hands over as `done` or `on_...` is called on the client's side, at most once for a
// call that it has not cancelled.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tests/sim/calls.h"
#include "tests/sim/replica.h"
#include "tests/sim/world.h"

namespace tenure::sim {

using Replicas = std::vector<std::unique_ptr<Replica>>;

// The client's end of a call.
struct Call {
  // No answer is wanted any more. The replica gets to know of it.
  void Cancel() {
    if (std::exchange(over, true)) return;
    if (cancel) cancel();
  }

  bool over = false;
  std::function<void()> cancel;
};

// Runs in the replica, and answers with what a cancellation does there.
template <typename T>
using Serve = std::function<std::function<void()>(Replica&, Respond<T>)>;

// The client's end of a KeepAlive stream.
class Stream;

class Network {
 public:
  Network(World& world, Replicas& replicas) : world_(world), replicas_(replicas) {}

  template <typename T>
  std::shared_ptr<Call> Send(int to, Serve<T> serve, Respond<T> done);
  std::shared_ptr<Stream> Open(int to, const SessionId& session,
                               std::function<void(StreamMessage)> on_message,
                               std::function<void()> on_broken);

  // How long one message takes; nothing if it is lost.
  [[nodiscard]] std::optional<Duration> Transit();
  // How long it takes to notice that a connection is broken.
  [[nodiscard]] Duration TimeToNotice();
  [[nodiscard]] Replica& At(int number) { return *replicas_.at(static_cast<size_t>(number)); }
  [[nodiscard]] World& world() { return world_; }

 private:
  World& world_;
  Replicas& replicas_;
};

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(Network& network, int to, const SessionId& session,
         std::function<void(StreamMessage)> on_message, std::function<void()> on_broken)
      : network_(network),
        to_(to),
        session_(session),
        on_message_(std::move(on_message)),
        on_broken_(std::move(on_broken)) {}

  void Send(uint64_t sequence);
  void Close();

 private:
  void Arrive(uint64_t sequence);
  void SendBack(StreamMessage message);
  // Messages of one direction arrive in the order in which they were sent.
  void InOrder(SteadyTime& last, Duration transit, std::function<void()> arrive);
  void Break(Duration noticed_after);
  void CloseInReplica();

  Network& network_;
  const int to_;
  const SessionId session_;
  const std::function<void(StreamMessage)> on_message_;
  const std::function<void()> on_broken_;
  std::weak_ptr<KeepAliveStream> server_;
  bool opened_ = false;
  bool over_ = false;
  SteadyTime last_there_{};
  SteadyTime last_back_{};
};

// A connection as the replica sees it: when the process dies, the client is told.
class Connection final : public Resident {
 public:
  explicit Connection(std::function<void()> broken) : broken_(std::move(broken)) {}
  void Abort() override { broken_(); }

 private:
  const std::function<void()> broken_;
};

template <typename T>
std::shared_ptr<Call> Network::Send(int to, Serve<T> serve, Respond<T> done) {
  auto call = std::make_shared<Call>();
  const auto answer = [this, call, done](Duration after, Result<T> result) {
    world_.After(after, [call, done, result = std::move(result)] {
      if (!std::exchange(call->over, true)) done(result);
    });
  };
  const auto broken = [this, answer] {
    answer(TimeToNotice(), Fail(Reason::kStoreUnavailable, "the connection broke"));
  };
  const auto there = Transit();
  if (!there) {
    broken();
    return call;
  }
  world_.After(*there, [this, to, call, serve = std::move(serve), answer, broken] {
    Replica& replica = At(to);
    if (!replica.up()) return broken();
    replica.Enter([&](Engine&) {
      const auto connection = std::make_shared<Connection>(broken);
      replica.TakeIn(connection, {});
      auto cancel = serve(replica, [this, connection, answer, broken](Result<T> result) {
        connection->finished = true;
        const auto back = Transit();
        if (back) return answer(*back, std::move(result));
        broken();
      });
      if (!cancel) return;
      auto cancel_here = [this, to, incarnation = replica.incarnation(), cancel] {
        Replica& same = At(to);
        if (same.up() && same.incarnation() == incarnation) {
          same.Enter([&](Engine&) { cancel(); });
        }
      };
      if (call->over) return cancel_here();  // the client has gone while the request was on its way
      call->cancel = [this, cancel_here] {
        world_.After(Transit().value_or(TimeToNotice()), cancel_here);
      };
    });
  });
  return call;
}

}  // namespace tenure::sim
