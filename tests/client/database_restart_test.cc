// Scenario 16: the database is killed and started again under load. No term repeats, no event is
// lost, and who leads within its lease goes on to lead.
#include "tenure/observer.h"
#include "tests/client/elector_fixture.h"
#include "tests/support/contention.h"

namespace tenure::testing {
namespace {

using ::testing::Contains;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int kSeats = 10;

class DatabaseRestartTest : public ElectorTest {};

INSTANTIATE_TEST_SUITE_P(Stores, DatabaseRestartTest, ::testing::Values(StoreKind::kMariaDb),
                         StoreKindName);

TEST_P(DatabaseRestartTest, NoTermRepeatsAndNoEventOrSeatIsLostUnderLoad) {
  Chronicle chronicle;
  ObserverOptions everything{
      .endpoints = BothEndpoints(), .names = {""}, .prefix = true, .from_revision = 1};
  everything.on_event = [&](const v1::Event& event) { chronicle.Add(event); };
  const tenure::Observer observer(everything);
  const Client client = NewClient("holder", 30s);
  std::vector<Diary> diaries(kSeats);
  std::vector<std::unique_ptr<Elector>> electors;
  for (int i = 0; i < kSeats; ++i) {
    electors.push_back(std::make_unique<Elector>(
        client, diaries[static_cast<size_t>(i)].Options("seat " + std::to_string(i))));
  }
  for (Diary& diary : diaries) diary.WaitFor("elected 1");
  Load load(servers_);

  for (int restart = 0; restart < 3; ++restart) {
    load.WaitForCycles(100);
    Database().Kill();
    EXPECT_TRUE(Eventually([&] { return A().Get("/readyz").first == 503; }));
    for (const auto& elector : electors) EXPECT_TRUE(elector->IsLeader());
    Database().Start();
    load.WaitForCycles(100);
  }
  load.Stop();

  for (const auto& elector : electors) EXPECT_TRUE(elector->IsLeader());
  for (Diary& diary : diaries) EXPECT_THAT(diary.Lines(), Not(Contains(StartsWith("lost"))));
  ExpectNothingLost(load, chronicle, A());
}

// Everybody has lost its lease, and everybody campaigns again at once.
TEST_P(DatabaseRestartTest, AfterALongOutageEverySeatGoesBackToItsHolder) {
  const Client holder = NewClient("holder", 3s);
  std::vector<Diary> held(kSeats);
  std::vector<Diary> wanted(3 * kSeats);
  std::vector<std::unique_ptr<Elector>> electors;
  const auto stand = [&](const Client& client, std::vector<Diary>& diaries, size_t first) {
    for (size_t i = 0; i < kSeats; ++i) {
      electors.push_back(std::make_unique<Elector>(
          client, diaries[first + i].Options("seat " + std::to_string(i))));
    }
  };
  stand(holder, held, 0);
  for (Diary& diary : held) diary.WaitFor("elected 1");
  for (size_t i = 0; i < 3; ++i) {
    stand(NewClient("other " + std::to_string(i), 3s), wanted, i * kSeats);
  }
  EXPECT_TRUE(Eventually([&] { return Describe(A(), "seat 9").election().candidates() == 3; }));

  Database().Kill();
  for (Diary& diary : held) diary.WaitFor("lost 1 EXPIRED");
  Database().Start();

  for (Diary& diary : held) diary.WaitFor("elected 2");
  for (Diary& diary : wanted) EXPECT_THAT(diary.Lines(), Not(Contains(StartsWith("elected"))));
}

}  // namespace
}  // namespace tenure::testing
