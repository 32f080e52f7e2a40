// A replica's process: its clocks, and its view of the database.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "server/engine/work/manual_scheduler.h"
#include "server/engine/work/scheduler.h"
#include "tests/sim/stores.h"

namespace tenure::sim {

// The process's tasks and its monotonic clock, and a clock for homes that can be made to stand.
class ProcessScheduler final : public engine::Scheduler {
 public:
  explicit ProcessScheduler(testing::ManualScheduler& tasks) : tasks_(tasks) {}

  [[nodiscard]] engine::SteadyTime Now() const override { return tasks_.Now(); }
  [[nodiscard]] engine::SteadyTime HomeNow() const override { return tasks_.Now() - stood_; }
  void Post(engine::Work work, Task task) override { tasks_.Post(work, std::move(task)); }
  Plan PostAt(engine::Work work, engine::SteadyTime when, Task task) override {
    return tasks_.PostAt(work, when, std::move(task));
  }
  void Cancel(const Plan& plan) override { tasks_.Cancel(plan); }

  // The clock for homes did not count this.
  void Stand(engine::SteadyTime::duration time) { stood_ += time; }

 private:
  testing::ManualScheduler& tasks_;
  engine::SteadyTime::duration stood_{0};
};

// A machine's image, from which a copy of it is started.
struct Image {
  uint64_t seed = 0;  // of the engine
  HomeRow row;
};

// The database as one process sees it. A process on a copied machine takes the row of the image for
// its own: to its engine, which has just begun, the numbers of the image look like zero.
class ProcessStore final : public DelegatingStore {
 public:
  ProcessStore(Store& next, const std::optional<Image>& image)
      : DelegatingStore(next), image_(image) {}

  // The latest incarnation.
  [[nodiscard]] HomeId home() const { return home_; }
  // Whether it is the image's.
  [[nodiscard]] bool shares_home() const { return image_ && image_->row.id == home_; }

  Result<Committed> Transact(const LockSet& locks, const CommitRules& rules,
                             const Decide& decide) override;
  Result<bool> BeginHome(const HomeRow& home) override;
  Result<BeatReport> Beat(const BeatOrder& order) override;
  Result<std::vector<NumberedDeparture>> ReadDepartures(HomeId home, uint64_t after,
                                                        size_t limit) override;
  Result<bool> DeclareDead(HomeId home, uint64_t beat) override;

 private:
  // The numbers before the engine's own.
  [[nodiscard]] HomeRow Before(HomeId home) const {
    return image_ && image_->row.id == home ? image_->row : HomeRow{};
  }

  const std::optional<Image> image_;
  HomeId home_;
};

}  // namespace tenure::sim
