#include "server/rpc/shared_settings.h"

#include <gtest/gtest.h>

namespace tenure::rpc {
namespace {

const SharedSettings kOwn = {{"--history-max-age", "24h"}, {"--queue-max", "10"}};
constexpr char kOther[] = "tenure-1:7070";

class OtherSettingsTest : public ::testing::Test {
 protected:
  OtherSettings others_{kOwn};
};

TEST_F(OtherSettingsTest, TheSameSettingsAreNoNews) {
  EXPECT_EQ(others_.Learn(kOther, kOwn), std::nullopt);
}

TEST_F(OtherSettingsTest, EachDifferenceIsNamedWithBothValues) {
  EXPECT_EQ(others_.Learn(kOther, {{"--history-max-age", "1h"}, {"--queue-max", "5"}}),
            "--history-max-age is 24h here and 1h there, --queue-max is 10 here and 5 there");
}

TEST_F(OtherSettingsTest, ADifferenceIsNewsOnceForEachReplicaAndChange) {
  const SharedSettings first = {{"--queue-max", "5"}};
  EXPECT_NE(others_.Learn(kOther, first), std::nullopt);

  EXPECT_EQ(others_.Learn(kOther, first), std::nullopt);
  EXPECT_NE(others_.Learn("tenure-2:7070", first), std::nullopt);
  EXPECT_EQ(others_.Learn(kOther, {{"--queue-max", "6"}}), "--queue-max is 10 here and 6 there");
}

TEST_F(OtherSettingsTest, TheEndOfADifferenceIsNewsOnce) {
  ASSERT_NE(others_.Learn(kOther, {{"--queue-max", "5"}}), std::nullopt);

  EXPECT_EQ(others_.Learn(kOther, kOwn), "");
  EXPECT_EQ(others_.Learn(kOther, kOwn), std::nullopt);
}

TEST_F(OtherSettingsTest, SettingsThatOnlyOneVersionKnowsAreIgnored) {
  EXPECT_EQ(others_.Learn(kOther, {{"--queue-max", "10"}, {"--of-a-later-version", "1"}}),
            std::nullopt);
  EXPECT_EQ(others_.Learn(kOther, {}), std::nullopt);
}

TEST_F(OtherSettingsTest, MemoryAndMessagesAreBounded) {
  for (int i = 0; i < 100; ++i) {
    (void)others_.Learn("tenure-" + std::to_string(i) + ":7070", {{"--queue-max", "5"}});
  }

  // The first ones are forgotten.
  EXPECT_NE(others_.Learn("tenure-0:7070", {{"--queue-max", "5"}}), std::nullopt);
  EXPECT_EQ(others_.Learn("tenure-99:7070", {{"--queue-max", "5"}}), std::nullopt);
  EXPECT_LT(others_.Learn(kOther, {{"--queue-max", std::string(10'000, 'x')}})->size(), 200u);
}

}  // namespace
}  // namespace tenure::rpc
