#include "server/engine/history/bump_terms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/engine/engine_testing.h"

namespace tenure::engine {
namespace {

using namespace tenure::testing;

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class BumpTermsTest : public ::testing::Test {
 protected:
  std::vector<Term> Terms() {
    const auto views = store().ListElections("", "", 10'000).value();
    std::vector<Term> terms;
    for (const ElectionView& view : views) terms.push_back(view.election.term);
    return terms;
  }

  Store& store() { return world_.store(); }

  World world_;
  Replica& replica_ = world_.Start();
};

TEST_F(BumpTermsTest, EveryElectionIsRaisedOnceHoweverManyThereAre) {
  for (int i = 0; i < 600; ++i) {
    ASSERT_TRUE(replica_.Do(Stand("e" + std::to_string(i), "a")));
  }

  const auto bumped = BumpTerms(store(), kOperator);

  ASSERT_TRUE(bumped) << bumped.error().message;
  EXPECT_EQ(bumped->elections, 600u);
  EXPECT_THAT(Terms(), AllOf(SizeIs(600), Each(Term{bumped->to})));
}

TEST_F(BumpTermsTest, TheRecordSaysWhoAskedAndWhy) {
  ASSERT_TRUE(replica_.Do(Stand("orders", "a")));

  const auto bumped = BumpTerms(store(), {"olga@host", "restored the backup of Monday"});

  const auto changes = store().ReadAdminChanges(ElectionName{}, 1'000, 10).value();
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].change.action, AdminAction::kTermsRaised);
  EXPECT_EQ(changes[0].change.term, Term{bumped->to});
  EXPECT_EQ(changes[0].change.detail, "all terms, of 1 elections; 1 sessions were ended");
  EXPECT_EQ(changes[0].change.author, (Author{"olga@host", "restored the backup of Monday"}));
}

TEST_F(BumpTermsTest, DeletedAndFutureElectionsAreRaisedToo) {
  ASSERT_TRUE(replica_.Do(Stand("deleted", "a")));
  ASSERT_TRUE(replica_.Do(Delete{{"deleted"}, {1}, kOperator}));

  const auto bumped = BumpTerms(store(), kOperator);

  ASSERT_TRUE(bumped) << bumped.error().message;
  ASSERT_TRUE(replica_.Do(Stand("deleted", "b")));
  ASSERT_TRUE(replica_.Do(Stand("new", "b")));
  EXPECT_THAT(Terms(), Each(Term{bumped->to + 1}));
}

TEST_F(BumpTermsTest, EverySessionIsEndedSoThatNoOldTermContinues) {
  ASSERT_TRUE(replica_.Do(Stand("e", "leads")));
  ASSERT_TRUE(replica_.Do(Stand("e", "waits")));

  const auto bumped = BumpTerms(store(), kOperator);

  EXPECT_EQ(bumped->sessions, 2u);
  EXPECT_THAT(store().ReadSessions("", {}, 10).value(), IsEmpty());
  world_.Advance(1s);  // a beat
  const auto renewed = replica_.Renew(Id("leads"));
  ASSERT_FALSE(renewed);
  EXPECT_EQ(renewed.error().metadata.at("cause"), "DEPOSED");
  EXPECT_EQ(store().ReadElections({{"e"}}).value().at({"e"}).election.leader, std::nullopt);
}

TEST_F(BumpTermsTest, TermsAreRaisedToTheDatabasesClockWhateverWasRestored) {
  ASSERT_TRUE(replica_.Do(Stand("e", "a")));
  const uint64_t once = BumpTerms(store(), kOperator)->to;
  World restored;  // an older backup, from before terms were raised
  restored.Advance(1h);
  ASSERT_TRUE(restored.Start().Do(Stand("e", "a")));

  const auto again = BumpTerms(restored.store(), kOperator);

  EXPECT_GT(again->to, once);
}

TEST_F(BumpTermsTest, ALockedElectionIsNamedInTheError) {
  ASSERT_TRUE(replica_.Do(Stand("free", "a")));
  ASSERT_TRUE(replica_.Do(Stand("guarded", "a")));
  FaultyStore locked(store());
  locked.Lock({"guarded"});

  const auto bumped = BumpTerms(locked, kOperator);

  ASSERT_FALSE(bumped);
  EXPECT_THAT(bumped.error().message, HasSubstr("'guarded' is locked"));
}

TEST_F(BumpTermsTest, AnOutageIsAnErrorAndTheNextRunDoesTheRest) {
  ASSERT_TRUE(replica_.Do(Stand("e", "a")));
  FaultyStore failing(store());
  failing.FailNext(1, "ListElections");
  ASSERT_FALSE(BumpTerms(failing, kOperator));

  const auto bumped = BumpTerms(failing, kOperator);

  ASSERT_TRUE(bumped) << bumped.error().message;
  EXPECT_THAT(Terms(), ElementsAre(Term{bumped->to}));
}

}  // namespace
}  // namespace tenure::engine
