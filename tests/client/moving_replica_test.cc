// A replica that moves to another address of its name, and one that freezes.
#include <csignal>
#include <fstream>
#include <limits>
#include <utility>

#include "tests/client/elector_fixture.h"
#include "tests/rpc/tool.h"

namespace tenure::testing {
namespace {

using ::testing::HasSubstr;

// Programs that see a hosts file of their own, in a mount namespace.
class MovingReplicaTest : public ::testing::Test {
 protected:
  void LeadNameTo(const std::string& address) {
    std::ofstream(hosts_) << address << " replica.test\n";  // the file that is mounted
  }
  std::unique_ptr<Process> Start(std::vector<std::string> arguments) {
    std::vector<std::string> command = EnterWithHostsFile(hosts_);
    command.insert(command.end(), {Program("tenure"), "--endpoint",
                                   "replica.test:" + std::to_string(server_.port())});
    command.insert(command.end(), arguments.begin(), arguments.end());
    return std::make_unique<Process>(std::move(command));
  }
  // Stops it, and starts it at another address of the name.
  void Move(const std::string& address) {
    server_.Kill();
    LeadNameTo(address);
    server_.MoveTo({address});
    server_.Start();
  }

  TempDir folder_;
  const std::string hosts_ = folder_.path() / "hosts";
  Tenured server_{"sqlite:" + (folder_.path() / "tenure.db").string(), {}, true, {"127.0.0.2"}};
};

TEST_F(MovingReplicaTest, ASeatIsKept) {
  LeadNameTo("127.0.0.2");
  const auto campaign = Start({"campaign", "e", "--candidate", "a", "--ttl", "10s"});
  ASSERT_EQ(campaign->Line(1), "elected: a leads e in term 1");

  Move("127.0.0.3");
  Move("127.0.0.4");

  EXPECT_TRUE(Eventually([&] { return server_.Metric("tenure_renewals_total") > 0; }));
  EXPECT_TRUE(campaign->Running()) << campaign->Output();
  EXPECT_EQ(Leader(server_, "e").term(), 1u);
}

TEST_F(MovingReplicaTest, AnObserverGoesOn) {
  LeadNameTo("127.0.0.2");
  Campaign(server_, {"e", "a"});
  const auto observer = Start({"observe", "", "--prefix"});
  ASSERT_THAT(observer->Line(1), HasSubstr("e #1 SNAPSHOT a"));

  Move("127.0.0.3");
  Campaign(server_, {"f", "b"});

  // As a snapshot, if the replica moved before the observer had heard of every election.
  EXPECT_TRUE(Eventually([&] { return observer->Output().find("f #1 ") != std::string::npos; }));
}

// Two replicas on one database; the client uses the first.
class FrozenReplicaTest : public ElectorTest {
 protected:
  // A client that leads, and whose replica freezes then.
  std::unique_ptr<Client> LeadOnAFrozenReplica(Diary& diary, std::optional<Elector>& elector) {
    B().Kill();
    auto client = std::make_unique<Client>(NewClient("a", 60s));
    elector.emplace(*client, diary.Options("e"));
    diary.WaitFor("elected 1");
    B().Start();
    A().process().Signal(SIGSTOP);
    return client;
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, FrozenReplicaTest, ::testing::Values(StoreKind::kMariaDb),
                         StoreKindName);

TEST_P(FrozenReplicaTest, TheEndOfAClientFreesItsSeatByAnotherReplica) {
  Diary diary;
  std::optional<Elector> elector;
  auto client = LeadOnAFrozenReplica(diary, elector);

  elector.reset();
  client.reset();

  EXPECT_EQ(LeaderOf("e"), "");
  A().process().Signal(SIGCONT);
}

TEST_P(FrozenReplicaTest, AClientThatIsClosedFreesItsSeatByAnotherReplica) {
  Diary diary;
  std::optional<Elector> elector;
  const auto client = LeadOnAFrozenReplica(diary, elector);

  const grpc::Status closed = client->Close(3s);

  EXPECT_TRUE(closed.ok()) << closed.error_message();
  EXPECT_EQ(LeaderOf("e"), "");
  A().process().Signal(SIGCONT);
}

}  // namespace
}  // namespace tenure::testing
