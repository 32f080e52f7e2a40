#include "server/calls/keep_alive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/calls/calls_testing.h"

namespace tenure::calls {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::IsEmpty;
using ::testing::Lt;
using ::testing::StartsWith;

class KeepAliveTest : public ::testing::Test {
 protected:
  using Texts = std::vector<std::string>;

  void SetUp() override { EXPECT_THAT(stream_.Step(Begun{}), ElementsAre("read request")); }

  Texts Ask(const std::vector<std::string>& names) {
    RenewalRequest request{++sequence_, {}};
    for (const std::string& name : names) request.sessions.push_back(Id(name));
    return stream_.Step(Received{request});
  }
  Texts Watch() { return stream_.Step(Watched{}); }
  Texts Renew(size_t index = 0) {
    Session session;
    session.lease_ttl = 10s;
    return stream_.Step(Renewed{index, session});
  }
  Texts Over(size_t index = 0) {
    return stream_.Step(Renewed{index, Fail(Reason::kSessionNotFound, "no session")});
  }
  Texts Seats(const std::vector<std::string>& elections) {
    std::vector<Leadership> seats;
    for (const std::string& election : elections) {
      seats.push_back({{election}, {1}, {}, {}});
      seats.back().leader.session = Id("a");
    }
    return stream_.Step(SeatsRead{seats});
  }
  // A page of seats in elections with these names and numbers, with values of 2,500 bytes.
  Texts Page(const std::string& session, const std::string& name, int first, int count) {
    std::vector<Leadership> seats;
    for (int i = first; i < first + count; ++i) {
      seats.push_back({{fmt::format("{}{}", name, i)}, {1}, {}, {}});
      seats.back().leader.session = Id(session);
      seats.back().leader.value = std::string(2'500, 'v');
    }
    auto texts = stream_.Step(SeatsRead{seats});
    for (std::string& text : texts) {
      const size_t all = std::ranges::count(text, ' ');
      if (all > 10) text = fmt::format("{} ... {} words", text.substr(0, 16), all);
    }
    return texts;
  }
  // With a value of 4 KiB.
  static Changed LargeChange() {
    Changed large = ChangeOf("jobs", 1, EventType::kElected, "a", 1);
    auto event = std::make_shared<tenure::Event>(*large.event);
    event->leader.value = std::string(4096, 'v');
    large.event = event;
    return large;
  }
  Texts Sent() { return stream_.Step(Written{true}); }
  // A first renewal of `a`, with its answer sent.
  void RenewA() {
    Ask({"a"});
    Watch();
    Renew();
    Seats({});
    Sent();
  }

  Driver<KeepAlive> stream_{KeepAlive()};
  uint64_t sequence_ = 0;
};

TEST_F(KeepAliveTest, ASessionIsWatchedBeforeItIsRenewed) {
  EXPECT_THAT(Ask({"a"}), ElementsAre("watch +a"));
  EXPECT_THAT(Watch(), ElementsAre("renew a"));
}

TEST_F(KeepAliveTest, TheFirstAnswerHasTheSeats) {
  Ask({"a"});
  Watch();
  EXPECT_THAT(Renew(), ElementsAre("read seats of a"));
  EXPECT_THAT(Seats({"jobs", "orders"}),
              ElementsAre("write renewal 1: a jobs orders", "read request"));
}

TEST_F(KeepAliveTest, TheNextAnswerHasNoSeats) {
  RenewA();

  EXPECT_THAT(Ask({"a"}), ElementsAre("renew a"));
  EXPECT_THAT(Renew(), ElementsAre("write renewal 2: a", "read request"));
}

TEST_F(KeepAliveTest, NothingIsAnsweredBeforeAllSessionsAreRenewed) {
  Ask({"a", "b"});
  EXPECT_THAT(Watch(), ElementsAre("renew a", "renew b"));

  EXPECT_THAT(Renew(1), IsEmpty());
  EXPECT_THAT(Renew(0), ElementsAre("read seats of a b"));
}

TEST_F(KeepAliveTest, AnEndedSessionIsReported) {
  Ask({"a", "b"});
  Watch();
  Renew(0);
  Over(1);
  EXPECT_THAT(Seats({"jobs"}), ElementsAre("write renewal 1: a jobs b over", "read request"));
}

TEST_F(KeepAliveTest, AnEndedSessionIsNoLongerWatched) {
  RenewA();
  Ask({"a", "b"});
  Watch();
  Renew(0);
  Over(1);
  Seats({});
  Sent();

  EXPECT_THAT(Ask({"a"}), ElementsAre("watch -b"));
}

TEST_F(KeepAliveTest, AnEndedSessionThatIsAskedForAgainCountsAsNew) {
  RenewA();
  Session ended;
  ended.id = Id("a");
  EXPECT_THAT(stream_.Step(SessionOver{ended}), ElementsAre("write over a"));
  Sent();

  EXPECT_THAT(Ask({"a"}), ElementsAre("renew a"));
  EXPECT_THAT(Renew(), ElementsAre("read seats of a"));
}

// Closing a session that has already ended reports its end again.
TEST_F(KeepAliveTest, ASessionWhoseEndIsReportedTwiceStaysWatchedWhenItIsAskedForAgain) {
  RenewA();
  Session ended;
  ended.id = Id("a");
  stream_.Step(SessionOver{ended});
  Sent();
  Ask({"b"});
  stream_.Step(SessionOver{ended});
  Sent();
  Watch();
  Renew();
  Seats({});
  Sent();

  EXPECT_THAT(Ask({"a"}), ElementsAre("watch +a"));
}

TEST_F(KeepAliveTest, AFailedRenewalEndsTheStreamWhenAllAreAnswered) {
  Ask({"a", "b"});
  Watch();
  EXPECT_THAT(stream_.Step(Renewed{0, Unavailable()}), IsEmpty());
  EXPECT_THAT(Renew(1), ElementsAre("error: the database is away"));
  EXPECT_TRUE(stream_.finished());
}

TEST_F(KeepAliveTest, SeatsThatCannotBeReadEndTheStream) {
  Ask({"a"});
  Watch();
  Renew();
  EXPECT_THAT(stream_.Step(SeatsRead{Unavailable()}), ElementsAre("error: the database is away"));
}

TEST_F(KeepAliveTest, AMalformedRequestEndsTheStream) {
  EXPECT_THAT(stream_.Step(Received{Fail(Reason::kInvalidSessionId, "bad")}),
              ElementsAre("error: bad"));
}

TEST_F(KeepAliveTest, ChangesOfSeatsAreReportedAtOnce) {
  RenewA();

  EXPECT_THAT(stream_.Step(ChangeOf("jobs", 1, EventType::kElected, "a", 1)),
              ElementsAre("write jobs 1 ELECTED"));
  EXPECT_THAT(Sent(), IsEmpty());
  EXPECT_THAT(stream_.Step(ChangeOf("jobs", 2, EventType::kHandoverAsked, "a", 1)),
              ElementsAre("write jobs 2 HANDOVER_ASKED"));
  EXPECT_THAT(Sent(), IsEmpty());
  EXPECT_THAT(stream_.Step(ChangeOf("jobs", 3, EventType::kVacated, "a", 1)),
              ElementsAre("write jobs 3 VACATED"));
}

TEST_F(KeepAliveTest, ChangesDuringTheFirstRenewalAreReportedOnceTheOwnerIsKnown) {
  Ask({"a"});
  EXPECT_THAT(stream_.Step(ChangeOf("jobs", 1, EventType::kElected, "a", 1)), IsEmpty());
  Watch();
  Session ended;
  ended.id = Id("a");
  EXPECT_THAT(stream_.Step(SessionOver{ended}), IsEmpty());

  EXPECT_THAT(Renew(), ElementsAre("write jobs 1 ELECTED", "read seats of a"));
  EXPECT_THAT(Sent(), ElementsAre("write over a"));
}

TEST_F(KeepAliveTest, NothingIsReportedAboutSomebodyElsesSession) {
  Ask({"a"});
  stream_.Step(ChangeOf("jobs", 1, EventType::kElected, "a", 1));
  Watch();
  Over();
  Seats({"jobs"});
  Sent();

  EXPECT_THAT(stream_.Step(ChangeOf("jobs", 2, EventType::kVacated, "a", 1)), IsEmpty());
  Session ended;
  ended.id = Id("a");
  EXPECT_THAT(stream_.Step(SessionOver{ended}), IsEmpty());
}

TEST_F(KeepAliveTest, ChangesOfAnEndedSessionAreReported) {
  Ask({"a"});
  Watch();
  stream_.Step(Renewed{0, Fail(Reason::kSessionEnded, "over")});
  Seats({});
  Sent();

  EXPECT_THAT(stream_.Step(ChangeOf("jobs", 2, EventType::kVacated, "a", 1)),
              ElementsAre("write jobs 2 VACATED"));
}

TEST_F(KeepAliveTest, TooManyChangesDuringTheFirstRenewalEndTheStream) {
  Ask({"a"});
  Watch();
  for (uint64_t i = 0; i < 10'000; ++i) {
    EXPECT_THAT(stream_.Step(ChangeOf("jobs", 1 + i, EventType::kElected, "a", 1)), IsEmpty());
  }

  EXPECT_THAT(stream_.Step(ChangeOf("jobs", 10'001, EventType::kElected, "a", 1)),
              ElementsAre("error: the client reads too slowly"));
}

TEST_F(KeepAliveTest, ChangesDuringTheFirstRenewalAreHeldOnce) {
  Ask({"a"});
  Watch();
  for (int i = 0; i < 600; ++i) EXPECT_THAT(stream_.Step(LargeChange()), IsEmpty());

  Renew();

  EXPECT_FALSE(stream_.finished());
}

TEST_F(KeepAliveTest, AProclamationIsNotReported) {
  RenewA();

  EXPECT_THAT(stream_.Step(ChangeOf("jobs", 1, EventType::kProclaimed, "a", 1)), IsEmpty());
}

TEST_F(KeepAliveTest, ManySmallSeatsAreReadInPagesAndListedInOneAnswer) {
  Ask({"a"});
  Watch();
  Renew();
  std::vector<std::string> names;
  for (int i = 100; i < 350; ++i) names.push_back(std::to_string(i));

  EXPECT_THAT(Seats(names), ElementsAre("read seats of a after 349"));
  EXPECT_THAT(Seats({}), ElementsAre(StartsWith("write renewal 1: a 100 101"), "read request"));
}

TEST_F(KeepAliveTest, MoreSeatsThanFitIntoAMessageComeInParts) {
  Ask({"a", "b"});
  Watch();
  Renew(0);
  Renew(1);

  EXPECT_THAT(Page("a", "e", 100, 250), ElementsAre("read seats of a b after e349"));
  EXPECT_THAT(Page("a", "e", 350, 250),
              ElementsAre("write renewal 1: ... 506 words", "read seats of a b after e599"));
  EXPECT_THAT(Page("b", "f", 100, 10), IsEmpty());
  EXPECT_THAT(Sent(), ElementsAre(StartsWith("write renewal 1: a b f100"), "read request"));
}

TEST_F(KeepAliveTest, SessionsWhoseSeatsAreAllListedAreNotInTheNextPart) {
  Ask({"a", "b"});
  Watch();
  Renew(0);
  Renew(1);
  Page("a", "e", 100, 250);

  EXPECT_THAT(Page("b", "f", 100, 250),
              ElementsAre("write renewal 1: ... 506 words", "read seats of b after f349"));
  EXPECT_THAT(Page("b", "f", 350, 0), IsEmpty());
  EXPECT_THAT(Sent(), ElementsAre("write renewal 1: b", "read request"));
}

// So a client that does not read holds two answers, and its third request is not read.
TEST_F(KeepAliveTest, TheNextRequestIsReadWhenTheAnswerIsOnItsWay) {
  RenewA();
  Ask({"a"});
  EXPECT_THAT(Renew(), ElementsAre("write renewal 2: a", "read request"));

  Ask({"a"});
  EXPECT_THAT(Renew(), IsEmpty());
  EXPECT_THAT(Sent(), ElementsAre("write renewal 3: a", "read request"));
}

TEST_F(KeepAliveTest, OneMessageIsWrittenAtATime) {
  RenewA();
  stream_.Step(ChangeOf("jobs", 1, EventType::kElected, "a", 1));
  EXPECT_THAT(stream_.Step(ChangeOf("jobs", 2, EventType::kVacated, "a", 1)), IsEmpty());

  EXPECT_THAT(Sent(), ElementsAre("write jobs 2 VACATED"));
  EXPECT_THAT(Sent(), IsEmpty());
}

TEST_F(KeepAliveTest, AClientThatReadsTooSlowlyLosesItsStream) {
  RenewA();
  stream_.Step(ChangeOf("jobs", 1, EventType::kElected, "a", 1));
  for (uint64_t i = 0; i < 10'000; ++i) {
    EXPECT_THAT(stream_.Step(ChangeOf("jobs", 2 + i, EventType::kElected, "a", 1)), IsEmpty());
  }

  EXPECT_THAT(stream_.Step(ChangeOf("jobs", 10'002, EventType::kElected, "a", 1)),
              ElementsAre("error: the client reads too slowly"));
}

TEST_F(KeepAliveTest, AClientThatReadsTooSlowlyHoldsABoundedNumberOfBytes) {
  RenewA();
  stream_.Step(LargeChange());
  int held = 0;
  while (stream_.Step(LargeChange()).empty()) ++held;

  EXPECT_TRUE(stream_.finished());
  EXPECT_THAT(held, AllOf(Gt(900), Lt(1'100)));
}

TEST_F(KeepAliveTest, AClientThatReadsTooSlowlyLosesItsStreamWhenTheBudgetIsUsedUp) {
  const auto budget = std::make_shared<FixedBudget>();
  stream_ = Driver(KeepAlive({}, budget));
  RenewA();
  for (int i = 0; i < 3; ++i) stream_.Step(LargeChange());
  EXPECT_FALSE(stream_.finished());

  EXPECT_THAT(stream_.Step(LargeChange()), ElementsAre("error: the client reads too slowly"));
}

TEST_F(KeepAliveTest, TheEndComesAfterTheLastMessage) {
  RenewA();
  stream_.Step(ChangeOf("jobs", 1, EventType::kElected, "a", 1));
  EXPECT_THAT(stream_.Step(ReadsDone{}), IsEmpty());
  EXPECT_THAT(Sent(), ElementsAre("end"));
}

TEST_F(KeepAliveTest, TheEndComesAtOnceIfNothingIsUnsent) {
  EXPECT_THAT(stream_.Step(ReadsDone{}), ElementsAre("end"));
}

TEST_F(KeepAliveTest, NothingIsSentToAClientThatIsGone) {
  RenewA();
  stream_.Step(ChangeOf("jobs", 1, EventType::kElected, "a", 1));
  EXPECT_THAT(stream_.Step(Written{false}), ElementsAre("hang up"));
  EXPECT_THAT(stream_.Step(ChangeOf("jobs", 2, EventType::kVacated, "a", 1)), IsEmpty());
}

TEST_F(KeepAliveTest, ACancelledStreamEnds) {
  EXPECT_THAT(stream_.Step(Cancelled{}), ElementsAre("hang up"));
  EXPECT_THAT(Ask({"a"}), IsEmpty());
}

TEST_F(KeepAliveTest, AShutdownEndsTheStream) {
  EXPECT_THAT(stream_.Step(Drained{}),
              ElementsAre("error: this replica is shutting down; the sessions stay alive"));
}

TEST_F(KeepAliveTest, AReplacedDatabaseEndsTheStream) {
  EXPECT_THAT(stream_.Step(HistoryReset{}),
              ElementsAre("error: the database was replaced or restored"));
}

}  // namespace
}  // namespace tenure::calls
