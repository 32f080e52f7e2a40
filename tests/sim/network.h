// Between clients and replicas: messages take their time, and some are lost. A lost message breaks
// its connection, and both ends notice, some time later.
//
// The client's callbacks, `done` and `on_...`, are called on the client's side, at most once for a
// call that it has not cancelled.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tests/sim/replica.h"
#include "tests/sim/serving.h"
#include "tests/sim/world.h"

namespace tenure::sim {

using Replicas = std::vector<std::unique_ptr<Replica>>;

// The fields of a Campaign call. The replica makes its call id.
template <typename Command>
struct CampaignRequest {
  Command command;
  std::optional<Duration> wait;  // nothing: until the timeout
  std::optional<Duration> timeout;
};

template <typename T>
using Respond = std::function<void(Result<T>)>;

// The client's end of a call.
struct Call {
  // The client no longer wants an answer. The replica learns of this.
  void Cancel() {
    if (std::exchange(over, true)) return;
    if (cancel) cancel();
  }

  bool over = false;
  std::function<void()> cancel;
};

// Runs in the replica, and returns what a cancellation does there.
template <typename T>
using Serve = std::function<std::function<void()>(Replica&, Respond<T>)>;

class Network {
 public:
  Network(World& world, Replicas& replicas) : world_(world), replicas_(replicas) {}

  template <typename T>
  std::shared_ptr<Call> Send(int to, Serve<T> serve, Respond<T> done);
  // A Campaign call, which `Machine` serves.
  template <typename Machine, typename Command>
  std::shared_ptr<Call> SendCampaign(int to, CampaignRequest<Command> request,
                                     Respond<calls::CampaignReply> done);

  // A replica announces its commit to the others; nobody learns whether that arrives.
  void Spread(int from, PartitionOffset at);

  // How long one message takes; nothing if it is lost.
  [[nodiscard]] std::optional<Duration> Transit();
  // How long it takes to notice that a connection is broken.
  [[nodiscard]] Duration TimeToNotice();
  // How long a replica writes one message of a stream: longer if the client reads slowly.
  [[nodiscard]] Duration TimeToWrite();
  [[nodiscard]] Replica& At(int number) { return *replicas_.at(static_cast<size_t>(number)); }
  [[nodiscard]] World& world() { return world_; }

 private:
  World& world_;
  Replicas& replicas_;
};

// A connection as the replica sees it: when the process dies, the client is notified.
class Connection final : public Resident {
 public:
  explicit Connection(std::function<void()> broken) : broken_(std::move(broken)) {}
  void Abort() override { broken_(); }
  void Leave() override {}

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
  const auto arrive = [this, to, call, serve = std::move(serve), answer, broken] {
    Replica& replica = At(to);
    if (!replica.up()) return broken();
    replica.Enter([&](engine::Engine&) {
      const auto connection = std::make_shared<Connection>(broken);
      replica.TakeIn(connection);
      auto cancel = serve(replica, [this, connection, answer, broken](Result<T> result) {
        connection->finished = true;
        const auto back = Transit();
        if (back) return answer(*back, std::move(result));
        broken();
      });
      if (!cancel) return;
      auto cancel_here = [this, to, incarnation = replica.incarnation(), cancel] {
        At(to).Arrive([&same = At(to), incarnation, cancel] {
          if (same.up() && same.incarnation() == incarnation) {
            same.Enter([&](engine::Engine&) { cancel(); });
          }
        });
      };
      if (call->over) return cancel_here();  // the client has gone while the request was on its way
      call->cancel = [this, cancel_here] {
        world_.After(Transit().value_or(TimeToNotice()), cancel_here);
      };
    });
  };
  world_.After(*there, [this, to, arrive] { At(to).Arrive(arrive); });
  return call;
}

template <typename Machine, typename Command>
std::shared_ptr<Call> Network::SendCampaign(int to, CampaignRequest<Command> request,
                                            Respond<calls::CampaignReply> done) {
  const auto serve = [this, request = std::move(request)](Replica& replica,
                                                          Respond<calls::CampaignReply> respond) {
    using Probed = ProbedCampaign<Machine>;
    const engine::SteadyTime now = world_.Now();
    calls::CampaignPatience patience{{}, request.wait};
    if (request.timeout) patience.answer_by = calls::AnswerBy(now, *request.timeout);
    auto command = request.command;
    command.call_id = CallId{world_.random.Next() | 1};
    Machine machine(std::move(command), patience);
    const auto watches = machine.Watches();
    const auto served = std::make_shared<Served<Probed>>(
        replica.engine(), Probed(world_, std::move(machine)),
        [respond](typename Probed::Outward outward) {
          using Reply = calls::Reply<calls::CampaignReply>;
          if (auto* reply = std::get_if<Reply>(&outward)) respond(std::move(reply->reply));
        },
        [] {});
    replica.TakeIn(served);
    if (const auto begun = served->Begin(world_, watches); !begun) {
      respond(tl::unexpected(begun.error()));
    }
    return [weak = std::weak_ptr(served)] {
      if (const auto call = weak.lock()) call->Happened(calls::Cancelled{});
    };
  };
  return Send<calls::CampaignReply>(to, serve, std::move(done));
}

}  // namespace tenure::sim
