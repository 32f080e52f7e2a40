#include "server/access/request_bucket.h"

#include <gtest/gtest.h>

namespace tenure::access {
namespace {

using namespace std::chrono_literals;

constexpr engine::SteadyTime kStart{1h};

TEST(RequestBucketTest, RequestsOfOneSecondMayArriveAtOnce) {
  RequestBucket bucket(2, kStart);

  EXPECT_TRUE(bucket.Take(2, 1, kStart));
  EXPECT_TRUE(bucket.Take(2, 1, kStart));
  EXPECT_FALSE(bucket.Take(2, 1, kStart));
  EXPECT_TRUE(bucket.Take(2, 1, kStart + 500ms));
}

TEST(RequestBucketTest, UnusedRequestsAreNotSavedForLater) {
  RequestBucket bucket(2, kStart);

  EXPECT_TRUE(bucket.Take(2, 2, kStart + 1h));
  EXPECT_FALSE(bucket.Take(2, 1, kStart + 1h));
}

TEST(RequestBucketTest, ACallThatCostsMoreThanIsLeftDelaysLaterCalls) {
  RequestBucket bucket(2, kStart);

  EXPECT_TRUE(bucket.Take(2, 10, kStart));
  EXPECT_FALSE(bucket.Take(2, 1, kStart + 4s));
  EXPECT_TRUE(bucket.Take(2, 1, kStart + 4500ms));
}

TEST(RequestBucketTest, ALimitOfZeroAllowsNothing) {
  RequestBucket bucket(0, kStart);

  EXPECT_FALSE(bucket.Take(0, 1, kStart + 1h));
}

}  // namespace
}  // namespace tenure::access
