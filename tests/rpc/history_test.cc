// Scenario 7: Observe, and what operators list, when history is older than what is kept.
#include "tests/rpc/admin_fixture.h"

namespace tenure::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Replicas that keep history for a second only.
class HistoryTest : public AdminTest {
 protected:
  void SetUp() override {
    const bool sqlite = GetParam() == StoreKind::kSqlite;
    url_ = sqlite ? "sqlite:" + (folder_.path() / "tenure.db").string()
                  : Database().FreshDatabase("tenure");
    const std::vector<std::string> flags = {"--history-max-age", "1s", "--history-min-age", "1s"};
    for (int i = 0; i < (sqlite ? 1 : 2); ++i) {
      servers_.push_back(std::make_unique<Tenured>(url_, flags));
    }
  }

  // The first message of a stream that asks for this revision.
  v1::ObserveResponse BeginningFrom(Tenured& server, const std::string& election,
                                    uint64_t revision) {
    Observer observer(server, Election(election, revision));
    observer.WaitUntilOpen();
    const auto messages = observer.Messages();
    return messages.empty() ? v1::ObserveResponse() : messages[0];
  }

  void WaitUntilForgotten(const std::string& election, uint64_t revision) {
    EXPECT_TRUE(
        Eventually([&] { return BeginningFrom(A(), election, revision).snapshot().has_leader(); }));
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, HistoryTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

TEST_P(HistoryTest, AnObserverLearnsOfALeaderWithForgottenChanges) {
  const auto leader = Stand(A(), {"e", "leader", "", "value"});
  Proclaim(A(), IdOf(leader), "e", 1, "new value");
  WaitUntilForgotten("e", 1);

  Observer observer(B(), Election("e"));
  observer.WaitUntilOpen();

  const auto messages = observer.Messages();
  ASSERT_THAT(messages, SizeIs(1));
  EXPECT_EQ(messages[0].snapshot().reason(), v1::Snapshot::REASON_INITIAL);
  EXPECT_EQ(messages[0].snapshot().revision(), 2u);
  EXPECT_EQ(messages[0].snapshot().term(), 1u);
  EXPECT_EQ(messages[0].snapshot().leader().candidate(), "leader");
  EXPECT_EQ(messages[0].snapshot().leader().value(), "new value");
  Resign(A(), IdOf(leader));
  const auto events = observer.WaitForEvents(1);
  ASSERT_THAT(Texts(events), ElementsAre("VACATED leader 1 SESSION_CLOSED"));
  EXPECT_EQ(events[0].revision(), 3u);
}

TEST_P(HistoryTest, AnObserverOfForgottenHistoryIsResynchronisedAndContinues) {
  const auto leader = Stand(A(), {"e", "leader"});
  Proclaim(A(), IdOf(leader), "e", 1, "value");
  WaitUntilForgotten("e", 1);

  Observer observer(B(), Election("e", 1));
  observer.WaitUntilOpen();

  const auto messages = observer.Messages();
  ASSERT_THAT(messages, SizeIs(1));
  EXPECT_EQ(messages[0].snapshot().reason(), v1::Snapshot::REASON_RESYNC);
  EXPECT_EQ(messages[0].snapshot().revision(), 2u);
  EXPECT_EQ(messages[0].snapshot().leader().value(), "value");
  Proclaim(A(), IdOf(leader), "e", 1, "on");
  const auto events = observer.WaitForEvents(1);
  ASSERT_THAT(Texts(events), ElementsAre("PROCLAIMED leader 1"));
  EXPECT_EQ(events[0].revision(), 3u);
}

TEST_P(HistoryTest, AnUpToDateObserverIsNotResynchronised) {
  const auto leader = Stand(A(), {"e", "leader"});
  Proclaim(A(), IdOf(leader), "e", 1, "value");
  WaitUntilForgotten("e", 1);

  Observer observer(B(), Election("e", 3));
  observer.WaitUntilOpen();

  EXPECT_THAT(observer.Messages(), IsEmpty());
  Proclaim(A(), IdOf(leader), "e", 1, "on");
  const auto events = observer.WaitForEvents(1);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].revision(), 3u);
}

TEST_P(HistoryTest, TermsAndChangesAreForgottenAndTheNextTermIsHigher) {
  const auto leader = Stand(A(), {"e", "leader"});
  Pause(B(), "e");
  Resume(B(), "e");
  Resign(A(), IdOf(leader));
  Resign(A(), IdOf(Stand(A(), {"e", "next"})));

  // The latest event of an election is kept.
  EXPECT_TRUE(Eventually([&] { return ListTerms(B(), "e").size() == 1; }));
  EXPECT_TRUE(Eventually([&] { return ListChanges(B(), "e").empty(); }));

  EXPECT_EQ(Leader(B(), "e").term(), 2u);
  EXPECT_EQ(Stand(B(), {"e", "third"}).elected().term(), 3u);
}

}  // namespace
}  // namespace tenure::testing
