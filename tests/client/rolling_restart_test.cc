// Three replicas are restarted one after the other while 1,000 seats are held and others change
// hands: no seat is lost, and no observer misses an event. When all are stopped, and upgraded from
// a version that may not serve beside this one, no seat changes hands.
#include <cstdlib>

#include "tenure/observer.h"
#include "tests/client/elector_fixture.h"
#include "tests/support/contention.h"

namespace tenure::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int kHolders = 10;
constexpr int kSeatsOfEach = 100;

class RollingRestartTest : public ElectorTest {
 protected:
  void SetUp() override {
    ElectorTest::SetUp();
    AddServer();
  }
  [[nodiscard]] std::string Endpoints() const {
    std::string endpoints;
    for (const auto& server : servers_) endpoints += server->endpoint() + ",";
    return endpoints;
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, RollingRestartTest, ::testing::Values(StoreKind::kMariaDb),
                         StoreKindName);

// One process with a client of its own, and the seats that it holds.
struct Holder {
  Holder(const Client& client, int number = 0) {
    for (int i = 0; i < kSeatsOfEach; ++i) {
      electors.push_back(std::make_unique<Elector>(
          client, diary.Options("seat " + std::to_string(number * kSeatsOfEach + i))));
    }
  }
  [[nodiscard]] bool LeadsEverywhere() const {
    return std::ranges::all_of(electors, [](const auto& elector) { return elector->IsLeader(); });
  }

  Diary diary;
  std::vector<std::unique_ptr<Elector>> electors;
};

TEST_P(RollingRestartTest, ARollingRestartLosesNoSeatAndNoEvent) {
  std::vector<std::unique_ptr<Holder>> holders;
  for (int i = 0; i < kHolders; ++i) {
    const Client client = NewClient("holder " + std::to_string(i), 10s, Endpoints());
    holders.push_back(std::make_unique<Holder>(client, i));
  }
  for (const auto& holder : holders) holder->diary.WaitFor("elected 1", kSeatsOfEach);
  std::vector<Chronicle> chronicles(3);
  std::vector<std::unique_ptr<tenure::Observer>> observers;
  for (Chronicle& chronicle : chronicles) {
    ObserverOptions contests{
        .endpoints = Endpoints(), .names = {"contest"}, .prefix = true, .from_revision = 1};
    contests.on_event = [&](const v1::Event& event) { chronicle.Add(event); };
    observers.push_back(std::make_unique<tenure::Observer>(std::move(contests)));
  }
  Load load(servers_);

  for (const auto& server : servers_) {
    load.WaitForCycles(50);
    EXPECT_EQ(server->Terminate(), 0);
    for (const auto& holder : holders) EXPECT_TRUE(holder->LeadsEverywhere());
    server->Start();
  }
  load.WaitForCycles(50);
  load.Stop();

  for (const auto& holder : holders) {
    EXPECT_TRUE(holder->LeadsEverywhere());
    EXPECT_THAT(holder->diary.Lines(), Not(Contains(StartsWith("lost"))));
  }
  for (Chronicle& chronicle : chronicles) ExpectNothingLost(load, chronicle, A());
}

// `make test-upgrade` says where the version before is.
class UpgradeTest : public RollingRestartTest {
 protected:
  void SetUp() override {
    if (FirstProgram().empty()) GTEST_SKIP() << "there is no version to upgrade from";
    RollingRestartTest::SetUp();
  }
  [[nodiscard]] std::string FirstProgram() const override {
    const char* program = std::getenv("TENURE_TEST_PREVIOUS");
    return program == nullptr ? "" : program;
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, UpgradeTest, ::testing::Values(StoreKind::kMariaDb),
                         StoreKindName);

TEST_P(UpgradeTest, NoSeatChangesHands) {
  Holder holder(NewClient("holder", 10s, Endpoints()));
  holder.diary.WaitFor("elected 1", kSeatsOfEach);
  Holder waiting(NewClient("waiting", 10s, Endpoints()));
  const auto migrate = [&] { return RunToEnd({Program("tenured"), "migrate", "--store", url_}); };
  EXPECT_THAT(migrate().errors, HasSubstr("a replica of Tenure 0.1 serves at"));

  for (const auto& server : servers_) EXPECT_EQ(server->Terminate(), 0);
  EXPECT_TRUE(Eventually([&] { return migrate().exit_code == 0; }));
  for (const auto& server : servers_) {
    server->Replace(Program("tenured"));
    server->Start();
  }

  EXPECT_TRUE(Eventually([&] { return holder.LeadsEverywhere(); }));
  EXPECT_THAT(waiting.diary.Lines(), Not(Contains(StartsWith("elected"))));
}

}  // namespace
}  // namespace tenure::testing
