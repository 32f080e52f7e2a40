// Electors that lead several elections together, and clients that are closed.
#include <stdexcept>

#include "client/cpp/machine/call_error.h"
#include "tests/client/elector_fixture.h"
#include "tests/support/administration.h"

namespace tenure::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ElectorSetTest : public ElectorTest {
 protected:
  // Options for "a" and "b", with work that lasts until it is asked to stop.
  static ElectorOptions SetOptions(Diary& diary) {
    ElectorOptions options = diary.WorkingOptions("");
    options.elections = {"a", "b"};
    options.on_blocked = [&diary](const std::vector<std::string>& elections) {
      diary.Write("blocked by " + elections.front());
    };
    options.on_elected = [&diary](const v1::Leadership& seat) {
      diary.Write("elected in " + seat.election());
    };
    options.on_step_down = [&diary](const v1::Leadership& seat, const std::string& successor) {
      diary.Write("make way in " + seat.election() + " for " + successor);
    };
    options.on_lost = [&diary](const v1::Leadership& seat, v1::Cause cause) {
      diary.Write("lost " + seat.election() + " " + v1::Cause_Name(cause).substr(6));
    };
    return options;
  }
  [[nodiscard]] std::vector<std::string> Sessions() {
    v1::ListSessionsResponse sessions;
    grpc::ClientContext context;
    EXPECT_TRUE(B().admin().ListSessions(&context, {}, &sessions).ok());
    std::vector<std::string> candidates;
    for (const auto& session : sessions.sessions()) candidates.push_back(session.candidate());
    return candidates;
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, ElectorSetTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

TEST_P(ElectorSetTest, ASetIsLedAsSoonAsAllItsSeatsAreFree) {
  Diary diary;
  const auto holder = Campaign(A(), {"b", "holder"}).session().session_id();
  Elector elector(NewClient("x"), SetOptions(diary));
  diary.WaitFor("blocked by b");
  EXPECT_EQ(LeaderOf("a"), "");
  EXPECT_FALSE(elector.IsLeader());

  Resign(A(), holder, "b");

  diary.WaitFor("works 1");
  EXPECT_THAT(diary.Lines(),
              ElementsAre("blocked by b", "elected in a", "elected in b", "works 1"));
  EXPECT_TRUE(elector.IsLeader());
  EXPECT_EQ(elector.term(), 1);
  EXPECT_EQ(LeaderOf("b"), "x");
}

TEST_P(ElectorSetTest, TheLossOfOneSeatEndsTheWorkAndTheOtherTerm) {
  Diary diary;
  Elector elector(NewClient("x"), SetOptions(diary));
  diary.WaitFor("works 1");

  Depose(B(), {.election = "b", .term = 1});

  diary.WaitFor("lost a RESIGNED");
  EXPECT_THAT(diary.Lines(),
              ElementsAre("elected in a", "elected in b", "works 1",
                          ::testing::AnyOf("lost b DEPOSED", "stopped 1"),
                          ::testing::AnyOf("lost b DEPOSED", "stopped 1"), "lost a RESIGNED"));
  EXPECT_TRUE(Eventually([&] { return LeaderOf("a").empty() || Leader(B(), "a").term() > 1; }));
}

TEST_P(ElectorSetTest, AHandoverOfOneSeatNamesTheSuccessorAndGivesUpAllSeats) {
  Diary diary;
  Elector elector(NewClient("x"), SetOptions(diary));
  diary.WaitFor("works 1");
  ASSERT_TRUE(Campaign(A(), {"b", "next"}).has_standing());

  Appoint(B(), {.election = "b", .term = 1, .candidate = "next"});

  diary.WaitFor("make way in b for next");
  diary.WaitFor("lost a RESIGNED");
  EXPECT_TRUE(Eventually([&] { return LeaderOf("b") == "next"; }));
}

TEST_P(ElectorSetTest, TroubleIsReportedOnceForTheWholeSet) {
  for (const auto& server : servers_) server->Kill();
  Diary diary;
  ElectorOptions options = SetOptions(diary);
  options.on_trouble = [&](const grpc::Status& status) { diary.Write(status.error_message()); };
  const Elector elector(NewClient("x"), std::move(options));
  EXPECT_TRUE(Eventually([&] { return !diary.Lines().empty(); }));

  for (const auto& server : servers_) server->Start();
  diary.WaitFor("works 1");

  const auto lines = diary.Lines();
  EXPECT_EQ(std::ranges::adjacent_find(lines), lines.end()) << ::testing::PrintToString(lines);
}

TEST_P(ElectorSetTest, AnElectorOfOneTermDoesNotStandAgain) {
  Diary diary;
  ElectorOptions options = SetOptions(diary);
  options.one_term = true;
  const Elector elector(NewClient("x"), options);
  diary.WaitFor("works 1");

  Depose(B(), {.election = "a", .term = 1});

  diary.WaitFor("lost b RESIGNED");
  EXPECT_TRUE(Eventually([&] { return LeaderOf("b").empty(); }));
  EXPECT_EQ(Campaign(A(), {"a", "next"}).elected().term(), 2);
}

TEST_P(ElectorSetTest, ADestroyedElectorLeavesAllItsSeats) {
  Diary diary;
  auto elector = std::make_unique<Elector>(NewClient("x"), SetOptions(diary));
  diary.WaitFor("works 1");

  elector.reset();

  EXPECT_TRUE(Eventually([&] { return LeaderOf("a").empty() && LeaderOf("b").empty(); }));
}

TEST_P(ElectorSetTest, ASetIsNamedOnceAndWhole) {
  const Client client = NewClient("x");
  const auto with = [](std::vector<std::string> elections) {
    ElectorOptions options;
    options.elections = std::move(elections);
    return options;
  };

  EXPECT_THROW(Elector(client, with({"a", "a"})), std::invalid_argument);
  EXPECT_THROW(Elector(client, with({"a", ""})), std::invalid_argument);
  std::vector<std::string> many;
  for (int i = 0; i <= 32; ++i) many.push_back("e" + std::to_string(i));
  EXPECT_THROW(Elector(client, with(many)), std::invalid_argument);
  auto both = with({"a"});
  both.election = "b";
  EXPECT_THROW(Elector(client, both), std::invalid_argument);
  auto observed = with({"a", "b"});
  observed.on_leader_changed = [](const auto&) {};
  EXPECT_THROW(Elector(client, observed), std::invalid_argument);
  const Elector elector(client, with({"a", "b"}));
  EXPECT_THROW(Elector(client, with({"b", "c"})), std::invalid_argument);
}

TEST_P(ElectorSetTest, AClosedClientHasResignedAndEndedItsSession) {
  Diary diary;
  Client client = NewClient("x");
  auto elector = std::make_unique<Elector>(client, SetOptions(diary));
  diary.WaitFor("works 1");
  elector.reset();

  EXPECT_TRUE(client.Close(5s).ok());

  EXPECT_THAT(Sessions(), IsEmpty());
  Observer observer(B(), Election("a", 1));
  EXPECT_EQ(Texts(observer.WaitForEvents(2)).at(1), "VACATED x 1 RESIGNED");
  EXPECT_TRUE(client.Close(5s).ok());
}

TEST_P(ElectorSetTest, AClientThatCannotBeClosedSaysWhy) {
  Diary diary;
  Client client = NewClient("x");
  auto elector = std::make_unique<Elector>(client, SetOptions(diary));
  diary.WaitFor("works 1");
  for (const auto& server : servers_) server->Kill();
  elector.reset();

  EXPECT_TRUE(IsTransient(client.Close(100ms)));
}

}  // namespace
}  // namespace tenure::testing
