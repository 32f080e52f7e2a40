// The database goes away, and comes back. No term repeats, no event is lost, and nobody else gets
// the seat of a holder that lives.
#include "tenure/observer.h"
#include "tests/client/elector_fixture.h"
#include "tests/support/contention.h"
#include "tests/support/database_server.h"

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

// A way to take the database away, and to bring it back.
struct Outage {
  std::string name;
  std::function<void(DatabaseServer&)> begin;
  std::function<void(DatabaseServer&)> end;
};

void PrintTo(const Outage& outage, std::ostream* out) { *out << outage.name; }

Outage Kill() {
  return {"Killed", [](DatabaseServer& database) { database.Kill(); },
          [](DatabaseServer& database) { database.Start(); }};
}

Outage Freeze() {
  return {"Frozen", [](DatabaseServer& database) { database.process().Signal(SIGSTOP); },
          [](DatabaseServer& database) { database.process().Signal(SIGCONT); }};
}

Outage MakeReadOnly() {
  return {"ReadOnly", [](DatabaseServer& database) { database.Ask("SET GLOBAL read_only = ON"); },
          [](DatabaseServer& database) { database.Ask("SET GLOBAL read_only = OFF"); }};
}

// A backup that locks every table for as long as it runs. Reads are answered meanwhile.
Outage LockTables() {
  const auto backup = std::make_shared<std::thread>();
  return {"Locked",
          [backup](DatabaseServer& database) {
            *backup = std::thread(
                [&] { (void)database.Query("FLUSH TABLES WITH READ LOCK; DO SLEEP(600)", 600s); });
          },
          [backup](DatabaseServer& database) {
            database.Query("KILL " + database.Ask("SELECT id FROM information_schema.processlist"
                                                  " WHERE info = 'DO SLEEP(600)'"));
            backup->join();
          }};
}

class DatabaseOutageTest : public ::testing::TestWithParam<Outage> {
 protected:
  DatabaseOutageTest() {
    database_.FreshDatabase("tenure");
    // Root may write to a server that is read-only.
    database_.Ask("CREATE USER replica; GRANT ALL ON tenure.* TO replica");
    const std::string url = "mysql://replica@" + database_.address() + "/tenure";
    for (auto& server : servers_) server = std::make_unique<Tenured>(url);
  }

  [[nodiscard]] Client NewClient(const std::string& candidate) const {
    return Client({.endpoints = servers_[0]->endpoint() + "," + servers_[1]->endpoint(),
                   .candidate = candidate,
                   .lease_ttl = 3s});
  }

  DatabaseServer database_;
  std::array<std::unique_ptr<Tenured>, 2> servers_;
};

INSTANTIATE_TEST_SUITE_P(Ways, DatabaseOutageTest,
                         ::testing::Values(Kill(), Freeze(), MakeReadOnly(), LockTables()),
                         [](const auto& test) { return test.param.name; });

TEST_P(DatabaseOutageTest, EverySeatGoesBackToItsHolderHoweverLongItTakes) {
  std::vector<Diary> held(kSeats);
  std::vector<Diary> wanted(3 * kSeats);
  std::vector<std::unique_ptr<Elector>> electors;
  const auto stand = [&](const Client& client, std::vector<Diary>& diaries, size_t first) {
    for (size_t i = 0; i < kSeats; ++i) {
      electors.push_back(std::make_unique<Elector>(
          client, diaries[first + i].WorkingOptions("seat " + std::to_string(i))));
    }
  };
  stand(NewClient("holder"), held, 0);
  for (Diary& diary : held) diary.WaitFor("elected 1");
  for (size_t i = 0; i < 3; ++i) stand(NewClient("other " + std::to_string(i)), wanted, i * kSeats);
  EXPECT_TRUE(
      Eventually([&] { return Describe(*servers_[0], "seat 9").election().candidates() == 3; }));

  GetParam().begin(database_);
  for (const auto& server : servers_) {
    EXPECT_TRUE(Eventually([&] { return server->Get("/readyz").first == 503; }));
    EXPECT_TRUE(Eventually([&] {
      return server->process().Errors().find("not serving: renewals wait") != std::string::npos;
    }));
  }
  // Their work is asked to stop, and stops.
  for (Diary& diary : held) diary.WaitFor("stopped 1");
  GetParam().end(database_);

  for (Diary& diary : held) diary.WaitFor("works 2");
  for (Diary& diary : wanted) EXPECT_THAT(diary.Lines(), Not(Contains(StartsWith("elected"))));
}

}  // namespace
}  // namespace tenure::testing
