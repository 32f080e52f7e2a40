// How the parts of the engine answer.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "server/engine/work/scheduler.h"

namespace tenure::engine {

template <typename T>
using AnswerTo = std::function<void(Result<T>)>;

// Whether somebody still waits for an answer. Called by tasks of the scheduler.
using Wanted = std::function<bool()>;

// A queue of work, as metrics show it.
struct QueueView {
  const char* name;
  size_t max;
  std::function<size_t()> depth;
};

[[nodiscard]] inline Error Overloaded() {
  return {Reason::kOverloaded, "this replica is overloaded: its queue of work is full"};
}

[[nodiscard]] inline Error DatabaseHangs(const std::string& address) {
  return {Reason::kStoreUnavailable, address +
                                         ": the database does not answer: work that was begun "
                                         "a second ago is still under way"};
}

// Answers as a task of the scheduler, not from within the call that is refused.
template <typename T>
void Refuse(Scheduler& scheduler, AnswerTo<T> done, Error error) {
  scheduler.Post(Work::kReads, [done = std::move(done), error = std::move(error)] {
    done(tl::unexpected(error));
  });
}

// Answers all of a batch with one error.
template <typename Pending>
[[nodiscard]] std::function<void()> FailAll(std::vector<Pending> batch, Error error) {
  return [batch = std::move(batch), error = std::move(error)] {
    for (const Pending& pending : batch) pending.done(tl::unexpected(error));
  };
}

}  // namespace tenure::engine
