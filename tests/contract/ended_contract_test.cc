// Sessions that have ended and still hold seats and places, checked on every store: they count for
// nothing, and are not lost.
#include <string>
#include <vector>

#include "storage/changes.h"
#include "tests/contract/admin_fixture.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class EndedContract : public AdminFixture {
 protected:
  // The first step of an end: nothing is settled.
  void End(const std::vector<SessionId>& sessions) {
    ASSERT_TRUE(store_->Transact({{}, sessions}, {}, [&](TransactionState& transaction) {
      for (const SessionId& id : sessions) {
        EXPECT_TRUE(EndSession(transaction, id, Cause::kSessionClosed));
      }
    }));
  }

  // Adds `count` sessions that waited as `candidate` and have ended.
  void WaitAndEnd(const std::string& election, const std::string& candidate, size_t count) {
    std::vector<SessionId> sessions;
    for (size_t i = 0; i < count; ++i) {
      sessions.push_back(NewSessionId());
      ASSERT_FALSE(Stand(election, sessions.back(), candidate).elected);
    }
    End(sessions);
  }

  // Adds a session that led once, and ended that long ago.
  SessionId EndOver(const std::string& election, Duration ago) {
    const SessionId session = NewSessionId();
    Stand(election, session, "a");
    Run(Resign{{election}, session, {}});
    End({session});
    EXPECT_TRUE(store_->Transact({{}, {session}}, {}, [&](TransactionState& transaction) {
      transaction.sessions.at(session).ended_at = transaction.now + -ago;
    }));
    return session;
  }

  [[nodiscard]] std::vector<SessionId> Unsettled() {
    return store_->FindDueWork(100).value().unsettled;
  }
  [[nodiscard]] bool IsThere(const SessionId& session) {
    return store_->FindSession(session.Handle()).value().has_value();
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, EndedContract,
                         ::testing::Values(Kind::kSqliteMemory, Kind::kSqliteFile, Kind::kServer),
                         KindName);

TEST_P(EndedContract, EndedSessionsAreNotAmongTheHeadsOfAQueue) {
  const SessionId leader = NewSessionId();
  Stand("e", leader, "leader");
  WaitAndEnd("e", "dead", 5);
  Stand("e", NewSessionId(), "first");
  Stand("e", NewSessionId(), "second");

  EXPECT_THAT(Load("e", Needing({}, 1)).queue, ElementsAre(Field(&Candidacy::candidate, "first"),
                                                           Field(&Candidacy::candidate, "second")));

  Run(Resign{{"e"}, leader, {}});
  EXPECT_EQ(LeaderOf("e"), "first");
}

TEST_P(EndedContract, EndedSessionsAreNotAmongThoseOfAnAppointedCandidate) {
  const SessionId leader = NewSessionId();
  Stand("e", leader, "leader");
  WaitAndEnd("e", "wanted", kNamedMax);
  Stand("e", NewSessionId(), "first");
  const SessionId alive = NewSessionId();
  Stand("e", alive, "wanted");

  Administer(Appointing("e", {1}, "wanted"));
  Run(Resign{{"e"}, leader, {}});

  ASSERT_EQ(LeaderOf("e"), "wanted");
  EXPECT_EQ(View("e").election.leader->session, alive);
}

TEST_P(EndedContract, EndedSessionsDoNotCountAgainstQuotas) {
  const Quota quota{.sessions = 1, .candidacies = 2};
  const auto stand = [&](const std::string& election, const SessionId& session) {
    Campaign campaign = CampaignOf(election, session, "c");
    campaign.principal = {"team", quota};
    return Run(campaign);
  };
  const SessionId ended = NewSessionId();
  const SessionId next = NewSessionId();
  ASSERT_TRUE(stand("e", ended));
  ASSERT_TRUE(stand("f", ended));
  ASSERT_EQ(ReasonOf(stand("g", next)), Reason::kLimitReached);

  End({ended});

  EXPECT_TRUE(stand("g", next));
  EXPECT_TRUE(stand("h", next));
}

TEST_P(EndedContract, NoViewShowsEndedSessionsAlive) {
  const SessionId leader = NewSessionId();
  Stand("e", leader, "leader");
  WaitAndEnd("e", "dead", 1);
  Stand("e", NewSessionId(), "alive");
  End({leader});

  EXPECT_FALSE(View("e").LeaderAlive());
  EXPECT_FALSE(store_->ListElections("", "", 10).value().at(0).LeaderAlive());
  EXPECT_TRUE(store_->ReadAttendance({}).value().unsettled.contains(leader));
}

TEST_P(EndedContract, EndedSessionsAreFoundUntilTheyAreSettled) {
  const SessionId over = EndOver("e", 2h);
  const SessionId leads = NewSessionId();
  Stand("f", leads, "a");
  End({leads});

  const DueWork due = store_->FindDueWork(100).value();

  EXPECT_THAT(due.unsettled, UnorderedElementsAre(over, leads));
  EXPECT_EQ(due.next, std::nullopt);
}

TEST_P(EndedContract, EndedSessionsAreNotSettledWhileTheyHoldASeatOrAPlace) {
  const SessionId leads = NewSessionId();
  const SessionId waits = NewSessionId();
  Stand("e", leads, "a");
  Stand("f", NewSessionId(), "b");
  Stand("f", waits, "c");
  End({leads, waits});

  ASSERT_TRUE(store_->MarkSettled({leads, waits}));
  EXPECT_THAT(Unsettled(), UnorderedElementsAre(leads, waits));

  Run(Reconcile{{"f"}, waits});
  ASSERT_TRUE(store_->MarkSettled({leads, waits}));
  EXPECT_THAT(Unsettled(), ElementsAre(leads));

  Run(Reconcile{{"e"}, leads});
  ASSERT_TRUE(store_->MarkSettled({leads, waits}));
  EXPECT_THAT(Unsettled(), IsEmpty());
}

TEST_P(EndedContract, ALiveSessionIsNeverSettledOrForgotten) {
  const SessionId alive = NewSessionId();
  RunAt(-10h, {CampaignOf("e", alive, "a"), Resign{{"e"}, alive, {}}});

  ASSERT_TRUE(store_->MarkSettled({alive}));

  EXPECT_EQ(store_->ForgetSessions(1h, 100).value(), 0u);
  EXPECT_TRUE(IsThere(alive));
}

TEST_P(EndedContract, EndedSessionsAreNotForgottenBeforeTheyAreSettled) {
  const SessionId over = EndOver("e", 2h);

  EXPECT_EQ(store_->ForgetSessions(1h, 100).value(), 0u);
  EXPECT_TRUE(IsThere(over));

  ASSERT_TRUE(store_->MarkSettled({over}));
  EXPECT_EQ(store_->ForgetSessions(1h, 100).value(), 1u);
  EXPECT_FALSE(IsThere(over));
}

TEST_P(EndedContract, EndedSessionsAreKeptForTheRequestedTime) {
  const SessionId older = EndOver("e", 1h + 1min);
  const SessionId younger = EndOver("e", 1h - 1min);
  ASSERT_TRUE(store_->MarkSettled({older, younger}));

  EXPECT_EQ(store_->ForgetSessions(1h, 100).value(), 1u);

  EXPECT_FALSE(IsThere(older));
  EXPECT_TRUE(IsThere(younger));
}

TEST_P(EndedContract, ABoundedNumberIsForgottenAtOnce) {
  std::vector<SessionId> sessions;
  for (int i = 0; i < 3; ++i) sessions.push_back(EndOver("e", 2h));
  ASSERT_TRUE(store_->MarkSettled(sessions));

  EXPECT_EQ(store_->ForgetSessions(1h, 2).value(), 2u);
  EXPECT_EQ(store_->ForgetSessions(1h, 2).value(), 1u);
}

}  // namespace
}  // namespace tenure::testing
