#include "bench/works/closed_loop.h"

#include <stdexcept>
#include <thread>

#include "bench/report/statistics.h"

namespace tenure::bench {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

}  // namespace

// Repeats one operation.
class ClosedLoop::Loop {
 public:
  Loop(ClosedLoop& all, const Operation& operation, Clock::time_point from, Clock::time_point until)
      : all_(all), operation_(operation), from_(from), until_(until) {}

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
    if (error.empty() && !all_.stopping_) return Begin();
    all_.ended_.count_down();
  }

  ClosedLoop& all_;
  const Operation& operation_;
  const Clock::time_point from_;
  const Clock::time_point until_;
  Clock::time_point begun_;
  std::vector<double> latencies_;
  std::string error_;
};

ClosedLoop::ClosedLoop(std::vector<Operation> operations, Clock::time_point from,
                       Clock::time_point until)
    : operations_(std::move(operations)), ended_(static_cast<std::ptrdiff_t>(operations_.size())) {
  for (const Operation& operation : operations_) {
    loops_.push_back(std::make_unique<Loop>(*this, operation, from, until));
  }
  for (const auto& loop : loops_) loop->Begin();
}

ClosedLoop::~ClosedLoop() {
  stopping_ = true;
  ended_.wait();
}

std::vector<double> ClosedLoop::Stop() {
  stopping_ = true;
  ended_.wait();
  std::vector<double> latencies;
  for (const auto& loop : loops_) {
    if (!loop->error().empty()) throw std::runtime_error(loop->error());
    latencies.insert(latencies.end(), loop->latencies().begin(), loop->latencies().end());
  }
  return latencies;
}

Throughput RunClosedLoop(std::vector<Operation> operations, const Window& window) {
  const auto from = Clock::now() + window.warm_up;
  const auto until = from + window.measured;
  ClosedLoop loop(std::move(operations), from, until);
  for (const auto edge : {from, until}) {
    std::this_thread::sleep_until(edge);
    window.at_edge();
  }
  const std::vector<double> latencies = loop.Stop();
  if (latencies.empty()) throw std::runtime_error("nothing was done within the window");
  return {static_cast<double>(latencies.size()) /
              std::chrono::duration<double>(window.measured).count(),
          Median(latencies), Percentile(latencies, 0.99)};
}

}  // namespace tenure::bench
