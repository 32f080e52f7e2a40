// Rows that another transaction has locked are skipped, and tried again.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "metrics/metrics.h"
#include "server/engine/work/answers.h"
#include "server/engine/work/scheduler.h"

namespace tenure::engine {

// How long a request waits for its rows, and how often others had locked them.
struct Patience {
  static constexpr auto kBusyPatience = std::chrono::seconds(8);

  explicit Patience(SteadyTime now) : ends(now + kBusyPatience) {}

  SteadyTime ends;
  int tries = 0;
};

// Puts requests whose rows were busy back into their queue, after pauses that grow, and gives up
// eventually. A `Pending` has a `patience`, and a `done` that takes a result. Thread-safe.
template <typename Pending>
class BusyRows {
 public:
  static constexpr auto kBusyPauseMax = std::chrono::milliseconds(50);

  // On threads of `work`.
  BusyRows(Scheduler& scheduler, Metrics& metrics, Work work, std::function<void(Pending)> enqueue)
      : scheduler_(scheduler), metrics_(metrics), work_(work), enqueue_(std::move(enqueue)) {}

  void TryAgain(Pending pending) {
    if (scheduler_.Now() >= pending.patience.ends) {
      return pending.done(
          Fail(Reason::kOverloaded, "another transaction has locked the election or session"));
    }
    metrics_.commands_busy.Increment();
    const auto pause = std::min<SteadyTime::duration>(
        kBusyPauseMax, std::chrono::milliseconds(1 << std::min(pending.patience.tries, 6)));
    ++pending.patience.tries;
    scheduler_.PostAt(work_, scheduler_.Now() + pause,
                      [this, pending = std::move(pending)] { enqueue_(pending); });
  }

  // Answers a batch. Requests whose rows were busy have no answer.
  template <typename T>
  [[nodiscard]] std::function<void()> AnswerAll(std::vector<Pending> batch,
                                                std::vector<std::optional<Result<T>>> answers) {
    return [this, batch = std::move(batch), answers = std::move(answers)]() mutable {
      for (size_t i = 0; i < batch.size(); ++i) {
        if (answers[i]) {
          batch[i].done(*std::move(answers[i]));
        } else {
          TryAgain(std::move(batch[i]));
        }
      }
    };
  }

 private:
  Scheduler& scheduler_;
  Metrics& metrics_;
  const Work work_;
  const std::function<void(Pending)> enqueue_;
};

}  // namespace tenure::engine
