// Programs on a machine that sleeps for longer than their lease: a laptop that was closed.
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/rpc/tool.h"

namespace tenure::testing {
namespace {

using Json = nlohmann::json;

// The lease is a minute: long enough that it does not end in a test, by any clock that stands still
// while the machine sleeps.
class SleepTest : public ::testing::Test {
 protected:
  Process Start(std::vector<std::string> arguments) {
    auto environment = ToolEnvironment(server_);
    environment["LD_PRELOAD"] = TENURE_SLEEPING_MACHINE;
    environment["TENURE_TEST_SLEPT"] = slept_;
    return Process(ToolCommand(std::move(arguments)), environment);
  }
  void Sleep() const { std::ofstream{slept_}; }

 private:
  const TempDir folder_;
  const std::string slept_ = folder_.path() / "slept";
  Tenured server_{"sqlite::memory:"};
};

TEST_F(SleepTest, ACampaignDoesNotBelieveInALeaseThatEndedMeanwhile) {
  Process campaign = Start({"campaign", "e", "--ttl", "1m", "--json"});
  ASSERT_EQ(Json::parse(campaign.Line(1)).at("event"), "elected");

  Sleep();

  EXPECT_EQ(Json::parse(campaign.Line(2)).at("cause"), "EXPIRED");
  EXPECT_EQ(campaign.Wait(), 4);
}

TEST_F(SleepTest, ACampaignForASetLosesAllOfIt) {
  Process campaign = Start({"campaign", "a", "b", "--ttl", "1m", "--json"});
  ASSERT_EQ(Json::parse(campaign.Line(2)).at("event"), "elected");

  Sleep();

  EXPECT_EQ(Json::parse(campaign.Line(4)).at("cause"), "EXPIRED");
  EXPECT_EQ(campaign.Wait(), 4);
}

TEST_F(SleepTest, AnElectorsWorkDoesNotGoOn) {
  Process run = Start({"run", "e", "--ttl", "1m", "--", "sh", "-c", "echo works; exec sleep 1000"});
  ASSERT_EQ(run.Line(1), "works");

  Sleep();

  EXPECT_EQ(run.Wait(), 4);
}

}  // namespace
}  // namespace tenure::testing
