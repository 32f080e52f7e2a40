#include "bench/report/gauges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <stdexcept>

namespace tenure::bench {
namespace {

using ::testing::DoubleEq;
using ::testing::Gt;

constexpr char kPage[] =
    "# HELP tenure_watchers Open calls.\n"
    "# TYPE tenure_watchers gauge\n"
    "tenure_watchers 12\n"
    "tenure_watchers_more 5\n"
    "tenure_terms_ended_total{cause=\"RESIGNED\"} 3\n"
    "tenure_terms_ended_total{cause=\"EXPIRED\"} 4\n";

TEST(GaugesTest, AMetricIsFoundByItsWholeName) {
  EXPECT_THAT(MetricOnPage(kPage, "tenure_watchers"), DoubleEq(12));
}

TEST(GaugesTest, AMetricIsTheSumOverItsLabels) {
  EXPECT_THAT(MetricOnPage(kPage, "tenure_terms_ended_total"), DoubleEq(7));
}

TEST(GaugesTest, AMissingMetricIsNotZero) {
  EXPECT_THROW((void)MetricOnPage(kPage, "tenure_terms"), std::runtime_error);
}

TEST(GaugesTest, AProcessUsesProcessorTime) {
  const auto before = ProcessorTime(getpid());

  while (ProcessorTime(getpid()) == before) {
  }

  EXPECT_THAT(ProcessorTime(getpid()), Gt(before));
}

TEST(GaugesTest, AProcessThatIsGoneUsesNothing) {
  constexpr pid_t kNobody = (1 << 22) + 1;  // above the highest process id of Linux

  EXPECT_THROW((void)ProcessorTime(kNobody), std::runtime_error);
}

}  // namespace
}  // namespace tenure::bench
