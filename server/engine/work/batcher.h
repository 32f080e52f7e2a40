// Group commit: what arrives while a batch runs waits, and then runs together as the next one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "server/engine/work/answers.h"
#include "server/engine/work/scheduler.h"

namespace tenure::engine {

// One batch at a time, each of all that waits, up to `batch_max`. Load grows, batches grow; the
// number of round trips does not. Thread-safe. Must outlive the scheduler's tasks.
template <typename Item>
class Batcher {
 public:
  // Work for a batch that remains when the next one may already run, such as answering.
  using After = std::function<void()>;

  // `run` gets each batch on a thread of `work`, and may block. What it returns, if anything, is
  // called on the same thread; with two threads, the next batch does not wait for it.
  Batcher(Scheduler& scheduler, Work work, size_t batch_max, size_t queue_max,
          std::function<After(std::vector<Item>)> run)
      : scheduler_(scheduler),
        work_(work),
        batch_max_(batch_max),
        queue_max_(queue_max),
        run_(std::move(run)) {}

  // False if `queue_max` items wait already: the item is left to the caller.
  [[nodiscard]] bool Add(Item& item) {
    {
      const MutexLock lock(mutex_);
      if (queue_.size() >= queue_max_) return false;
      queue_.push_back({scheduler_.Now(), std::move(item)});
      if (running_) return true;
      running_ = true;
    }
    scheduler_.Post(work_, [this] { RunBatch(); });
    return true;
  }

  [[nodiscard]] size_t Waiting() const {
    const MutexLock lock(mutex_);
    return queue_.size();
  }

  [[nodiscard]] QueueView View(const char* name) const {
    return {name, queue_max_, [this] { return Waiting(); }};
  }

  // How long the next item has waited.
  [[nodiscard]] SteadyTime::duration Delay() const {
    const MutexLock lock(mutex_);
    return queue_.empty() ? SteadyTime::duration::zero() : scheduler_.Now() - queue_.front().since;
  }

 private:
  struct Queued {
    SteadyTime since;
    Item item;
  };

  void RunBatch() {
    std::vector<Item> batch;
    {
      const MutexLock lock(mutex_);
      const auto end = queue_.begin() + static_cast<ptrdiff_t>(std::min(batch_max_, queue_.size()));
      for (auto it = queue_.begin(); it != end; ++it) batch.push_back(std::move(it->item));
      queue_.erase(queue_.begin(), end);
    }
    const After after = run_(std::move(batch));
    bool more = false;
    {
      const MutexLock lock(mutex_);
      more = running_ = !queue_.empty();
    }
    if (more) scheduler_.Post(work_, [this] { RunBatch(); });
    if (after) after();
  }

  Scheduler& scheduler_;
  const Work work_;
  const size_t batch_max_;
  const size_t queue_max_;
  const std::function<After(std::vector<Item>)> run_;

  mutable Mutex mutex_;
  std::deque<Queued> queue_ TENURE_GUARDED_BY(mutex_);
  bool running_ TENURE_GUARDED_BY(mutex_) = false;
};

}  // namespace tenure::engine
