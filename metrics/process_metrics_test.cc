#include "metrics/process_metrics.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <map>
#include <string>

namespace tenure {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::Le;

std::map<std::string, double> Collect() {
  std::map<std::string, double> values;
  for (const auto& family : CollectProcessMetrics()) {
    const auto& metric = family.metric.at(0);
    const bool counter = family.type == prometheus::MetricType::Counter;
    values[family.name] = counter ? metric.counter.value : metric.gauge.value;
  }
  return values;
}

TEST(ProcessMetricsTest, EachDescriptorCounts) {
  const double before = Collect()["process_open_fds"];

  const int descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);

  EXPECT_EQ(Collect()["process_open_fds"], before + 1);
  close(descriptor);
  EXPECT_EQ(Collect()["process_open_fds"], before);
  EXPECT_EQ(Collect()["process_max_fds"], static_cast<double>(sysconf(_SC_OPEN_MAX)));
}

TEST(ProcessMetricsTest, CpuTimeIsCounted) {
  const auto spent = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  const double spent_before = spent();
  const double before = Collect()["process_cpu_seconds_total"];

  while (spent() - spent_before < 0.4) continue;

  EXPECT_NEAR(Collect()["process_cpu_seconds_total"] - before, spent() - spent_before, 0.1);
}

TEST(ProcessMetricsTest, MemoryInUseIsCounted) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer's shadow of the memory counts, too";
#endif
  constexpr size_t kBytes = 64 << 20;
  const double before = Collect()["process_resident_memory_bytes"];

  const std::string memory(kBytes, 'x');

  EXPECT_NEAR(Collect()["process_resident_memory_bytes"] - before, kBytes, kBytes / 8);
  EXPECT_EQ(memory.find('y'), memory.npos);
}

TEST(ProcessMetricsTest, MemoryAndTheStartArePlausible) {
  auto values = Collect();

  EXPECT_THAT(values["process_resident_memory_bytes"],
              AllOf(Gt(100'000), Le(values["process_virtual_memory_bytes"])));
  const auto now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch());
  EXPECT_THAT(values["process_start_time_seconds"],
              AllOf(Ge(now.count() - 3600), Le(now.count() + 2)));
}

}  // namespace
}  // namespace tenure
