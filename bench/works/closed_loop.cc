#include "bench/works/closed_loop.h"

#include <latch>
#include <memory>
#include <stdexcept>
#include <thread>

#include "bench/report/statistics.h"

namespace tenure::bench {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

// One operation, again and again.
class Loop {
 public:
  Loop(const Operation& operation, Clock::time_point from, Clock::time_point until,
       std::latch& ended)
      : operation_(operation), from_(from), until_(until), ended_(ended) {}

  void Begin() {
    begun_ = Clock::now();
    operation_([this](const std::string& error) { OnEnded(error); });
  }

  [[nodiscard]] const std::vector<double>& latencies() const { return latencies_; }
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  void OnEnded(const std::string& error) {
    const auto now = Clock::now();
    if (begun_ >= from_ && now <= until_) {
      latencies_.push_back(Milliseconds(now - begun_).count());
    }
    error_ = error;
    if (error.empty() && now < until_) return Begin();
    ended_.count_down();
  }

  const Operation& operation_;
  const Clock::time_point from_;
  const Clock::time_point until_;
  std::latch& ended_;
  Clock::time_point begun_;
  std::vector<double> latencies_;
  std::string error_;
};

}  // namespace

Throughput RunClosedLoop(const std::vector<Operation>& operations, const Window& window) {
  const auto from = Clock::now() + window.warm_up;
  const auto until = from + window.measured;
  std::latch ended(static_cast<std::ptrdiff_t>(operations.size()));
  std::vector<std::unique_ptr<Loop>> loops;
  for (const Operation& operation : operations) {
    loops.push_back(std::make_unique<Loop>(operation, from, until, ended));
  }
  for (const auto& loop : loops) loop->Begin();
  for (const auto edge : {from, until}) {
    std::this_thread::sleep_until(edge);
    window.at_edge();
  }
  ended.wait();

  std::vector<double> latencies;
  for (const auto& loop : loops) {
    if (!loop->error().empty()) throw std::runtime_error(loop->error());
    latencies.insert(latencies.end(), loop->latencies().begin(), loop->latencies().end());
  }
  if (latencies.empty()) throw std::runtime_error("nothing was done within the window");
  return {static_cast<double>(latencies.size()) /
              std::chrono::duration<double>(window.measured).count(),
          Median(latencies), Percentile(latencies, 0.99)};
}

}  // namespace tenure::bench
