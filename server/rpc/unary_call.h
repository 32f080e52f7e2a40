// What the short unary calls share: one answer, in time.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "core/error.h"
#include "proto/status.h"
#include "server/calls/machine.h"
#include "server/engine/scheduler.h"
#include "server/engine/timer.h"

namespace tenure::rpc {

// When a call has to be answered, on the scheduler's clock. Nothing if it has no deadline.
[[nodiscard]] inline std::optional<engine::SteadyTime> AnswerBy(
    const grpc::ServerContextBase& context, const engine::Scheduler& scheduler) {
  const auto deadline = context.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return std::nullopt;
  const auto left = deadline - std::chrono::system_clock::now();
  if (left > std::chrono::hours(24 * 365)) return std::nullopt;
  return calls::AnswerBy(scheduler.Now(),
                         std::chrono::duration_cast<engine::SteadyTime::duration>(left));
}

// Finishes one call exactly once: with its answer, or with kStoreUnavailable if the answer does not
// come in time. Only the thread that finishes the call writes to `response`. Thread-safe.
template <typename Response>
class UnaryCall : public std::enable_shared_from_this<UnaryCall<Response>> {
 public:
  static std::shared_ptr<UnaryCall> Start(grpc::CallbackServerContext* context, Response* response,
                                          engine::Scheduler& scheduler) {
    const auto call = std::make_shared<UnaryCall>(context->DefaultReactor(), response, scheduler);
    const engine::SteadyTime latest = scheduler.Now() + calls::kAnswerPatience;
    const engine::SteadyTime answer_by =
        std::min(AnswerBy(*context, scheduler).value_or(latest), latest);
    call->patience_.Set(answer_by, [weak = std::weak_ptr<UnaryCall>(call)] {
      if (const auto still_open = weak.lock()) still_open->Fail(calls::AnswerTookTooLong());
    });
    return call;
  }

  UnaryCall(grpc::ServerUnaryReactor* reactor, Response* response, engine::Scheduler& scheduler)
      : reactor_(reactor), response_(response), patience_(scheduler, engine::Work::kReads) {}

  void Fail(const Error& error) {
    if (!finished_.exchange(true)) reactor_->Finish(ToStatus(error));
  }

  // `fill` gets the response to write.
  void Answer(const std::function<void(Response&)>& fill) {
    if (finished_.exchange(true)) return;
    fill(*response_);
    reactor_->Finish(grpc::Status::OK);
  }

  // Whether it waits for its answer.
  [[nodiscard]] bool open() const { return !finished_; }
  [[nodiscard]] grpc::ServerUnaryReactor* reactor() const { return reactor_; }

 private:
  grpc::ServerUnaryReactor* const reactor_;  // valid until finished
  Response* const response_;                 // valid until finished
  std::atomic<bool> finished_ = false;
  engine::Timer patience_;
};

}  // namespace tenure::rpc
