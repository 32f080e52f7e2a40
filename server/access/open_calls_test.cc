#include "server/access/open_calls.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace tenure::access {
namespace {

using Place = std::shared_ptr<void>;

Access::Caller Named(const std::string& name, uint64_t open_calls = 1'000'000) {
  Identity identity;
  identity.name = name;
  identity.limits.open_calls = open_calls;
  return std::make_shared<const Identity>(identity);
}

class OpenCallsTest : public ::testing::Test {
 protected:
  // Takes places until one is refused.
  std::vector<Place> TakeAll(const Access::Caller& caller, bool keeps_alive = false) {
    std::vector<Place> places;
    while (auto place = open_calls_.Take(caller, context_, keeps_alive)) places.push_back(*place);
    return places;
  }
  std::optional<Reason> RefusalOf(const Access::Caller& caller, bool keeps_alive = false) {
    const auto place = open_calls_.Take(caller, context_, keeps_alive);
    if (place) return std::nullopt;
    return place.error().reason;
  }

  grpc::ServerContext context_;  // without a call: its peer has no address
  OpenCalls open_calls_{100};
};

TEST_F(OpenCallsTest, AnIdentityLeavesHalfToOthers) {
  const auto places = TakeAll(Named("orders"), true);
  EXPECT_EQ(places.size(), 50u);
  EXPECT_EQ(TakeAll(Named("waiting")).size(), 45u);
  EXPECT_EQ(RefusalOf(Named("orders"), true), Reason::kOverloaded);
  EXPECT_EQ(RefusalOf(Named("reports"), true), std::nullopt);
}

TEST_F(OpenCallsTest, AnIdentityHasItsOwnLimit) {
  const auto places = TakeAll(Named("orders", 3));
  EXPECT_EQ(places.size(), 2u);
  EXPECT_EQ(TakeAll(Named("orders", 3), true).size(), 1u);
  EXPECT_EQ(RefusalOf(Named("orders", 3)), Reason::kLimitReached);
}

TEST_F(OpenCallsTest, TheLastTenthOfAnIdentityIsForKeepAlive) {
  const auto places = TakeAll(Named("orders", 20));
  EXPECT_EQ(places.size(), 18u);
  EXPECT_EQ(TakeAll(Named("orders", 20), true).size(), 2u);
}

TEST_F(OpenCallsTest, TheLastTenthIsForKeepAlive) {
  std::vector<std::vector<Place>> places;
  for (int i = 0; i < 30; ++i) places.push_back(TakeAll(Named("orders " + std::to_string(i))));
  size_t taken = 0;
  for (const auto& of_one : places) taken += of_one.size();
  EXPECT_EQ(taken, 89u);

  EXPECT_EQ(RefusalOf(Named("a leader")), Reason::kOverloaded);
  EXPECT_EQ(RefusalOf(Named("a leader"), true), std::nullopt);
  // Even for an identity that has its share of the other places.
  EXPECT_EQ(RefusalOf(Named("orders 0"), true), std::nullopt);
}

TEST_F(OpenCallsTest, OneOfFewPlacesIsForKeepAlive) {
  const auto places = TakeAll(Named("orders", 2));
  EXPECT_EQ(places.size(), 1u);
  EXPECT_EQ(TakeAll(Named("orders", 2), true).size(), 1u);
  EXPECT_EQ(RefusalOf(Named("one", 1)), std::nullopt);
  EXPECT_EQ(RefusalOf(Named("none", 0), true), Reason::kLimitReached);
}

TEST_F(OpenCallsTest, WithoutAPolicyAnAddressIsAnIdentity) {
  const auto places = TakeAll(nullptr);
  EXPECT_EQ(places.size(), 45u);
  EXPECT_EQ(RefusalOf(nullptr, true), std::nullopt);
}

TEST_F(OpenCallsTest, AReleasedPlaceCanBeTakenAgain) {
  auto places = TakeAll(Named("orders", 3));
  places.pop_back();
  EXPECT_EQ(RefusalOf(Named("orders", 3)), std::nullopt);
}

}  // namespace
}  // namespace tenure::access
