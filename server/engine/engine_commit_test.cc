// The engine when a transaction was decided, and its commit failed: nothing of it has happened, and
// nobody is notified.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "server/engine/engine_testing.h"

namespace tenure::engine {
namespace {

using namespace tenure::testing;

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Candidate a leads "orders", and b waits there.
class FailedCommitTest : public ::testing::Test {
 protected:
  FailedCommitTest() {
    EXPECT_THAT(a_.Do(Stand("orders", "a")), AnswersElected());
    EXPECT_THAT(a_.Do(Stand("orders", "b", 60s)), AnswersStanding());
    changes_.emplace(a_.engine.hub(), std::vector<Watch>{WatchPrefix{""}});
    of_a_.emplace(a_.engine.hub(), std::vector<Watch>{WatchSession{Id("a")}});
  }

  [[nodiscard]] Election Stored(const std::string& election = "orders") {
    return world_.store().ReadElections({{election}}).value().at({election}).election;
  }
  [[nodiscard]] Session StoredSession(const std::string& name) {
    return world_.store()
        .Transact({{}, {Id(name)}}, {}, [](TransactionState&) {})
        .value()
        .transaction.sessions.at(Id(name));
  }
  // Whether memory and database agree.
  [[nodiscard]] bool NothingFalseIsRemembered() const {
    return a_.metrics.transactions_refused.Value() == 0;
  }

  World world_;
  Replica& a_ = world_.Start();
  std::optional<Watching> changes_;  // from now on
  std::optional<Watching> of_a_;     // the session's notifications
};

TEST_F(FailedCommitTest, AGrantHasNotHappened) {
  a_.store.FailCommits(1);

  EXPECT_THAT(a_.Do(Stand("mail", "a")), FailsWith(Reason::kStoreUnavailable));

  EXPECT_EQ(a_.Read({"mail"}).value(), std::nullopt);
  EXPECT_EQ(a_.metrics.terms_granted[Cause::kNone].Value(), 1);
  EXPECT_THAT(changes_->lines(), IsEmpty());
  EXPECT_THAT(a_.Do(Stand("mail", "a")), AnswersElected());
  EXPECT_EQ(Stored("mail").term, Term{1});
}

TEST_F(FailedCommitTest, AGrantFromMemoryHasNotHappened) {
  EXPECT_TRUE(a_.Do(Stand("mail", "a")));
  EXPECT_TRUE(a_.Do(Leave("mail", "a")));
  const Election before = Stored("mail");
  a_.store.FailCommits(1);

  EXPECT_THAT(a_.Do(Stand("mail", "a")), FailsWith(Reason::kStoreUnavailable));

  EXPECT_EQ(Stored("mail"), before);
  EXPECT_THAT(changes_->lines(), SizeIs(2));
  EXPECT_TRUE(a_.Do(Leave("mail", "a")));
  EXPECT_TRUE(NothingFalseIsRemembered());
  EXPECT_THAT(a_.Do(Stand("mail", "a")), AnswersElected());
  EXPECT_EQ(Stored("mail").term, Term{2});
}

TEST_F(FailedCommitTest, ASetHasNotBeenTaken) {
  CampaignForAll all;
  all.elections = {{"mail"}, {"news"}};
  all.session = Id("a");
  a_.store.FailCommits(1);

  EXPECT_THAT(a_.Do(all), FailsWith(Reason::kStoreUnavailable));

  EXPECT_EQ(a_.Read({"mail"}).value(), std::nullopt);
  EXPECT_EQ(a_.Read({"news"}).value(), std::nullopt);
  EXPECT_THAT(changes_->lines(), IsEmpty());
}

TEST_F(FailedCommitTest, AResignationHasNotHappenedAndElectsNobody) {
  a_.store.FailCommits(1);

  EXPECT_THAT(a_.Do(Leave("orders", "a")), FailsWith(Reason::kStoreUnavailable));

  EXPECT_EQ(Stored().leader->candidate, "a");
  EXPECT_EQ(Stored().waiting, 1u);
  EXPECT_EQ(a_.metrics.terms_ended[Cause::kResigned].Value(), 0);
  EXPECT_THAT(changes_->lines(), IsEmpty());
  EXPECT_TRUE(a_.Do(Leave("orders", "a")));
  EXPECT_THAT(changes_->lines(),
              ElementsAre("orders 2 VACATED a term 1 RESIGNED", "orders 3 ELECTED b term 2"));
}

TEST_F(FailedCommitTest, AnAdoptionHasNotHappened) {
  Replica& other = world_.Start();
  const Session before = StoredSession("a");
  other.store.FailCommits(1);
  const Reply<Session> renewed;

  other.engine.Renew(Id("a"), {}, renewed);
  other.Run();
  EXPECT_EQ(StoredSession("a"), before);
  EXPECT_EQ(renewed.count(), 0u);

  world_.Advance(1s);  // it is tried again after the next beat
  EXPECT_TRUE(renewed.get());
  EXPECT_EQ(StoredSession("a").moves, before.moves + 1);
}

TEST_F(FailedCommitTest, ASessionHasNotBeenClosed) {
  a_.store.FailCommits(1);

  EXPECT_THAT(a_.Close(Id("a")), FailsWith(Reason::kStoreUnavailable));

  EXPECT_EQ(StoredSession("a").ended, Cause::kNone);
  EXPECT_EQ(a_.metrics.sessions_ended[Cause::kSessionClosed].Value(), 0);
  EXPECT_THAT(of_a_->lines(), IsEmpty());
  EXPECT_TRUE(a_.Renew(Id("a")));
}

// It is tried again.
TEST_F(FailedCommitTest, ASessionHasNotExpired) {
  world_.Advance(500ms);  // between two beats
  EXPECT_TRUE(a_.Renew(Id("a")));
  world_.Advance(kLease - 1ms);
  a_.store.FailCommits(1);
  world_.Advance(2ms);
  ASSERT_EQ(a_.metrics.transactions_failed.Value(), 1);
  EXPECT_EQ(StoredSession("a").ended, Cause::kNone);
  EXPECT_THAT(of_a_->lines(), IsEmpty());

  world_.Advance(1s);

  EXPECT_EQ(StoredSession("a").ended, Cause::kExpired);
  EXPECT_THAT(of_a_->lines(), ElementsAre("ended a EXPIRED", "orders 2 VACATED a term 1 EXPIRED"));
}

TEST_F(FailedCommitTest, AnOperatorsChangeHasNotHappened) {
  const Depose depose{{"orders"}, {1}, 10s, {"olga", "drill"}};
  a_.store.FailCommits(1);

  EXPECT_THAT(a_.Do(depose), FailsWith(Reason::kStoreUnavailable));

  EXPECT_EQ(Stored().leader->candidate, "a");
  EXPECT_THAT(world_.store().ReadAdminChanges({}, ~0ULL >> 1, 10).value(), IsEmpty());
  EXPECT_THAT(changes_->lines(), IsEmpty());
}

TEST_F(FailedCommitTest, EveryCallerOfTheBatchGetsAnError) {
  const Reply<Answer> left;
  const Reply<Answer> elected;
  a_.store.FailCommits(1);

  a_.engine.Submit(Leave("orders", "a"), left);
  a_.engine.Submit(Stand("mail", "b"), elected);
  a_.Run();

  EXPECT_THAT(left.get(), FailsWith(Reason::kStoreUnavailable));
  EXPECT_THAT(elected.get(), FailsWith(Reason::kStoreUnavailable));
  EXPECT_EQ(Stored().leader->candidate, "a");
}

}  // namespace
}  // namespace tenure::engine
