// Short unary calls: one answer, in time.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "core/error.h"
#include "proto/status.h"
#include "server/calls/machine.h"
#include "server/engine/work/scheduler.h"
#include "server/engine/work/timer.h"
#include "server/wire/dispatcher.h"

namespace tenure::rpc {

// When a call has to be answered, on the scheduler's clock. Nothing if it has no deadline.
[[nodiscard]] inline std::optional<engine::SteadyTime> AnswerBy(
    const wire::ServerCall& call, const engine::Scheduler& scheduler) {
  const auto deadline = call.context().deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return std::nullopt;
  const auto left = deadline - std::chrono::system_clock::now();
  if (left > std::chrono::hours(24 * 365)) return std::nullopt;
  return calls::AnswerBy(scheduler.Now(),
                         std::chrono::duration_cast<engine::SteadyTime::duration>(left));
}

// Finishes one call exactly once: with its answer, or with kStoreUnavailable if the answer does not
// come in time. Thread-safe.
template <typename Response>
class UnaryCall : public std::enable_shared_from_this<UnaryCall<Response>> {
 public:
  static std::shared_ptr<UnaryCall> Start(wire::ServerCall& wire, engine::Scheduler& scheduler) {
    const auto call = std::make_shared<UnaryCall>(wire, scheduler);
    const engine::SteadyTime latest = scheduler.Now() + calls::kAnswerPatience;
    const engine::SteadyTime answer_by =
        std::min(AnswerBy(wire, scheduler).value_or(latest), latest);
    call->patience_.Set(answer_by, [weak = std::weak_ptr<UnaryCall>(call)] {
      if (const auto still_open = weak.lock()) still_open->Fail(calls::AnswerTookTooLong());
    });
    return call;
  }

  UnaryCall(wire::ServerCall& wire, engine::Scheduler& scheduler)
      : wire_(wire), patience_(scheduler, engine::Work::kReads) {}

  void Fail(const Error& error) {
    if (!finished_.exchange(true)) wire_.Finish(ToStatus(error));
  }

  // `fill` gets the response to write.
  void Answer(const std::function<void(Response&)>& fill) {
    if (finished_.exchange(true)) return;
    Response response;
    fill(response);
    wire_.Answer(response);
  }

  // Whether it still waits for its answer.
  [[nodiscard]] bool open() const { return !finished_; }

 private:
  wire::ServerCall& wire_;  // valid until finished
  std::atomic<bool> finished_ = false;
  engine::Timer patience_;
};

}  // namespace tenure::rpc
