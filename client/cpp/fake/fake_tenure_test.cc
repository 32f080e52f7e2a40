// What FakeTenure promises to the tests of applications.
#include <gmock/gmock.h>
#include <google/protobuf/util/time_util.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "client/cpp/io/connection.h"
#include "client/cpp/machine/call_error.h"
#include "tenure/elector.h"
#include "tenure/leader_cache.h"
#include "tenure/observer.h"
#include "tenure/testing.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What callbacks wrote, in order.
class Notes {
 public:
  void Write(const std::string& line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(line);
    changed_.notify_all();
  }
  [[nodiscard]] std::vector<std::string> Lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  void WaitFor(const std::string& line) {
    std::unique_lock lock(mutex_);
    const bool found =
        changed_.wait_for(lock, 30s, [&] { return std::ranges::count(lines_, line) > 0; });
    EXPECT_TRUE(found) << line << " is not in " << ::testing::PrintToString(lines_);
  }

  [[nodiscard]] ElectorOptions Options(const std::string& election) {
    ElectorOptions options{.election = election};
    options.on_standing = [this](const QueuePlace& place) {
      Write("standing " + std::to_string(place.position));
    };
    options.on_elected = [this](const v1::Leadership& seat) {
      Write("elected " + std::to_string(seat.term()));
    };
    options.on_suspended = [this](const v1::Leadership&) { Write("suspended"); };
    options.on_resumed = [this](const v1::Leadership&) { Write("resumed"); };
    options.on_step_down = [this](const v1::Leadership&, const std::string& successor) {
      Write("asked for " + successor);
    };
    options.on_lost = [this](const v1::Leadership& seat, v1::Cause cause) {
      Write("lost " + std::to_string(seat.term()) + " " + v1::Cause_Name(cause).substr(6));
    };
    options.on_trouble = [this](const grpc::Status& status) {
      Write("trouble " + std::to_string(status.error_code()));
    };
    options.on_refused = [this](const grpc::Status& status) {
      Write("refused " + (ReasonOf(status).empty() ? status.error_message() : ReasonOf(status)));
    };
    return options;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
};

// The leader of orders, with its term: "a 1".
std::string LeaderOf(const FakeTenure& fake) {
  const auto leader = fake.Leader("orders");
  return leader ? leader->candidate() + " " + std::to_string(leader->term()) : "nobody";
}

class FakeTenureTest : public ::testing::Test {
 protected:
  FakeTenure fake_;
  Notes notes_;
};

TEST_F(FakeTenureTest, ALeaderRenewsItsLeaseWhileTimePasses) {
  const Client client(fake_.Options("a"));
  const Elector elector(client, notes_.Options("orders"));
  fake_.Settle();
  EXPECT_TRUE(elector.IsLeader());
  EXPECT_EQ(elector.remaining(), 9s);

  fake_.Advance(1h);

  EXPECT_EQ(elector.term(), 1u);
  EXPECT_GE(elector.remaining(), 5s);
  EXPECT_EQ(LeaderOf(fake_), "a 1");
  EXPECT_THAT(notes_.Lines(), ElementsAre("elected 1"));
}

TEST_F(FakeTenureTest, ALeaseThatIsNotRenewedEndsExactlyOnTime) {
  const Client a(fake_.Options("a"));
  const Elector first(a, notes_.Options("orders"));
  fake_.Settle();
  const Client b(fake_.Options("b"));
  const Elector second(b, {.election = "orders"});
  fake_.Settle();
  EXPECT_THAT(fake_.Queue("orders"), ElementsAre("b"));

  fake_.Cut({"a"});
  fake_.Advance(9s - 1ns);
  EXPECT_TRUE(first.IsLeader());
  fake_.Advance(1ns);
  EXPECT_FALSE(first.IsLeader());
  EXPECT_EQ(LeaderOf(fake_), "a 1");
  fake_.Advance(1s - 1us);
  EXPECT_EQ(LeaderOf(fake_), "a 1");
  EXPECT_FALSE(second.IsLeader());
  fake_.Advance(1us);

  EXPECT_EQ(LeaderOf(fake_), "b 2");
  EXPECT_EQ(second.term(), 2u);
  EXPECT_THAT(notes_.Lines(), ElementsAre("elected 1", "suspended", "lost 1 EXPIRED"));
}

// Its session is renewed between the holder's own deadline and the end of the lease.
TEST_F(FakeTenureTest, AHolderThatWasCutOffKeepsLeadingInTheNextTerm) {
  const Client a(fake_.Options("a"));
  const Elector first(a, notes_.Options("orders"));
  fake_.Settle();
  const Client b(fake_.Options("b"));
  const Elector second(b, {.election = "orders"});
  fake_.Settle();

  fake_.Cut({"a"});
  fake_.Advance(9s + 200ms);
  EXPECT_FALSE(first.IsLeader());
  fake_.Restore();
  fake_.Advance(600ms);

  EXPECT_EQ(LeaderOf(fake_), "a 2");
  EXPECT_EQ(first.term(), 2u);
  EXPECT_THAT(fake_.Queue("orders"), ElementsAre("b"));
  EXPECT_THAT(notes_.Lines(), ElementsAre("elected 1", "suspended", "lost 1 EXPIRED", "elected 2"));
}

TEST_F(FakeTenureTest, ACandidateStandsAgainAfterAnOutage) {
  const Client client(fake_.Options("a"));
  const Elector elector(client, notes_.Options("orders"));
  fake_.Settle();

  fake_.Cut();
  fake_.Advance(1min);
  EXPECT_EQ(LeaderOf(fake_), "nobody");
  fake_.Restore();
  fake_.Advance(10s);

  EXPECT_EQ(LeaderOf(fake_), "a 2");
  EXPECT_EQ(elector.term(), 2u);
}

TEST_F(FakeTenureTest, AShortOutageCostsNoSeat) {
  const Client client(fake_.Options("a"));
  const Elector elector(client, notes_.Options("orders"));
  fake_.Settle();

  fake_.Cut({"a"});
  fake_.Advance(6s);
  fake_.Restore({"a"});
  fake_.Advance(10s);

  EXPECT_EQ(elector.term(), 1u);
  const auto lines = notes_.Lines();
  EXPECT_EQ(lines.back(), "resumed") << ::testing::PrintToString(lines);
}

TEST_F(FakeTenureTest, AnOperatorDeposesTheLeader) {
  EXPECT_FALSE(fake_.Depose("orders"));
  const Client a(fake_.Options("a"));
  const Elector first(a, notes_.Options("orders"));
  fake_.Settle();
  const Client b(fake_.Options("b"));
  const Elector second(b, {.election = "orders"});
  fake_.Settle();

  EXPECT_TRUE(fake_.Depose("orders"));

  EXPECT_EQ(LeaderOf(fake_), "b 2");
  EXPECT_FALSE(first.IsLeader());
  EXPECT_TRUE(second.IsLeader());
  EXPECT_THAT(notes_.Lines(), ElementsAre("elected 1", "lost 1 DEPOSED", "standing 1"));
  EXPECT_THAT(fake_.Queue("orders"), ElementsAre("a")) << "it stands again";
}

TEST_F(FakeTenureTest, AnAppointedCandidateLeadsWhenTheLeadersWorkHasEnded) {
  std::promise<void> may_end;
  const Client a(fake_.Options("a"));
  auto options = notes_.Options("orders");
  options.lead = [ended = may_end.get_future().share()](const auto&, const std::stop_token& stop) {
    std::promise<void> asked;
    const std::stop_callback on_stop(stop, [&] { asked.set_value(); });
    asked.get_future().wait();
    ended.wait();
  };
  const Elector first(a, options);
  fake_.Settle();
  const Client b(fake_.Options("b"));
  const Elector second(b, {.election = "orders"});
  fake_.Settle();

  EXPECT_FALSE(fake_.Appoint("orders", "c"));
  EXPECT_TRUE(fake_.Appoint("orders", "b"));
  EXPECT_EQ(LeaderOf(fake_), "a 1");
  EXPECT_THAT(notes_.Lines(), ElementsAre("elected 1", "asked for b"));
  may_end.set_value();

  EXPECT_EQ(fake_.AwaitLeader("orders", "b"), 2u);
  EXPECT_TRUE(second.IsLeader());
}

TEST_F(FakeTenureTest, TheSeatGoesToTheHighestPriorityAndThenInOrderOfArrival) {
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<std::unique_ptr<Elector>> electors;
  const auto stand = [&](const std::string& candidate, int32_t priority) {
    clients.push_back(std::make_unique<Client>(fake_.Options(candidate)));
    electors.push_back(std::make_unique<Elector>(
        *clients.back(), ElectorOptions{.election = "orders", .priority = priority}));
    fake_.Settle();
  };
  stand("a", 0);
  stand("b", 0);
  stand("c", 1);
  stand("d", 0);
  EXPECT_THAT(fake_.Queue("orders"), ElementsAre("c", "b", "d"));

  electors.front()->Resign();
  fake_.Advance(3s);  // without `lead`, a quarter of the lease is left for what has begun

  EXPECT_EQ(LeaderOf(fake_), "c 2");
  EXPECT_TRUE(electors[2]->IsLeader());
}

TEST_F(FakeTenureTest, TheLawRefusesWhatTenuredRefuses) {
  auto options = fake_.Options("a");
  options.lease_ttl = 10ms;
  const Client hasty(options);
  const Elector elector(hasty, notes_.Options("orders"));

  fake_.Settle();

  EXPECT_THAT(notes_.Lines(), ElementsAre("refused INVALID_LEASE_TTL"));
  EXPECT_EQ(LeaderOf(fake_), "nobody");
}

TEST_F(FakeTenureTest, ARestartedProcessTakesOverFromItsOlderSession) {
  const Client before(fake_.Options("a"));
  const Elector old(before, notes_.Options("orders"));
  fake_.Settle();
  auto options = fake_.Options("a");
  options.supersede = true;
  const Client after(options);
  const Elector elector(after, {.election = "orders"});

  fake_.Settle();

  EXPECT_EQ(elector.term(), 2u);
  EXPECT_THAT(notes_.Lines(), ElementsAre("elected 1", "lost 1 SUPERSEDED",
                                          "refused superseded by a newer session of a"));
}

TEST_F(FakeTenureTest, ASetIsLedTogetherOrNotAtAll) {
  const Client a(fake_.Options("a"));
  auto one = std::make_unique<Elector>(a, ElectorOptions{.election = "stock/9"});
  fake_.Settle();
  const Client b(fake_.Options("b"));
  const Elector both(b, {.elections = {"stock/7", "stock/9"},
                         .on_blocked = [&](const std::vector<std::string>& elections) {
                           for (const auto& it : elections) notes_.Write("blocked by " + it);
                         }});
  fake_.Advance(1min);
  EXPECT_FALSE(both.IsLeader());
  EXPECT_FALSE(fake_.Leader("stock/7"));
  EXPECT_THAT(notes_.Lines(), ElementsAre("blocked by stock/9"));

  one.reset();
  fake_.Advance(1s);

  EXPECT_TRUE(both.IsLeader());
  EXPECT_EQ(fake_.Leader("stock/7")->candidate(), "b");
  EXPECT_EQ(fake_.Leader("stock/9")->term(), 2u);
}

TEST_F(FakeTenureTest, AnObserverSeesEachChangeOnceAcrossAnOutage) {
  const tenure::Observer observer(
      {.endpoints = fake_.endpoint(),
       .log = nullptr,
       .names = {"orders"},
       .on_snapshot = [&](const v1::Snapshot&) { notes_.Write("snapshot"); },
       .on_event =
           [&](const v1::Event& it) {
             notes_.Write(std::to_string(it.revision()) + " " + v1::Event::Type_Name(it.type()));
           },
       .on_broken = [&](const grpc::Status&) { notes_.Write("broken"); }});
  notes_.WaitFor("snapshot");
  const Client client(fake_.Options("a"));
  Elector elector(client, {.election = "orders", .value = "v"});
  notes_.WaitFor("1 TYPE_ELECTED");

  fake_.Cut();
  notes_.WaitFor("broken");
  fake_.Restore();
  elector.Proclaim("w");
  fake_.Advance(5s);
  EXPECT_TRUE(fake_.Depose("orders"));
  notes_.WaitFor("3 TYPE_VACATED");

  auto lines = notes_.Lines();
  std::erase(lines, "broken");
  lines.resize(4);
  EXPECT_THAT(lines,
              ElementsAre("snapshot", "1 TYPE_ELECTED", "2 TYPE_PROCLAIMED", "3 TYPE_VACATED"));
}

TEST_F(FakeTenureTest, AnObserverBeginsWithTheRevisionThatItWants) {
  const Client client(fake_.Options("a"));
  const Elector jobs(client, {.election = "jobs/1"});
  const Elector orders(client, {.election = "orders"});
  fake_.Settle();
  EXPECT_TRUE(fake_.Depose("jobs/1"));

  const tenure::Observer observer(
      {.endpoints = fake_.endpoint(),
       .log = nullptr,
       .names = {"jobs/"},
       .prefix = true,
       .from_revisions = {{"jobs/1", 2}},
       .on_snapshot = [&](const v1::Snapshot& it) { notes_.Write("snapshot " + it.election()); },
       .on_event = [&](const v1::Event& it) { notes_.Write(std::to_string(it.revision())); },
       .on_progress = [&](const v1::Progress&) { notes_.Write("progress"); }});

  notes_.WaitFor("progress");
  EXPECT_EQ(notes_.Lines().front(), "2");
}

TEST_F(FakeTenureTest, ACacheKnowsTheLeader) {
  const LeaderCache cache({.endpoints = fake_.endpoint(),
                           .log = nullptr,
                           .names = {""},
                           .prefix = true,
                           .on_change = [&](const std::string& election, const CachedSeat& seat) {
                             notes_.Write(election + " " +
                                          (seat.leader ? seat.leader->candidate() : "nobody"));
                           }});
  ASSERT_TRUE(cache.WaitUntilReady(30s));
  const Client client(fake_.Options("a"));
  auto elector = std::make_unique<Elector>(client, ElectorOptions{.election = "orders"});
  notes_.WaitFor("orders a");
  elector.reset();
  notes_.WaitFor("orders nobody");
  EXPECT_FALSE(cache.Get("orders").leader);
}

TEST_F(FakeTenureTest, AClientCanBeClosedInAnOutageWhileTheClockStandsStill) {
  Client client(fake_.Options("a"));
  const Elector elector(client, {.election = "orders"});
  fake_.Settle();
  fake_.Cut();

  EXPECT_FALSE(client.Close(100ms).ok());

  EXPECT_FALSE(elector.IsLeader());
  EXPECT_EQ(LeaderOf(fake_), "a 1");
  fake_.Advance(10s);
  EXPECT_EQ(LeaderOf(fake_), "nobody");
}

TEST_F(FakeTenureTest, AClosedClientHasGivenUpItsSeat) {
  Client client(fake_.Options("a"));
  const Elector elector(client, {.election = "orders"});
  fake_.Settle();

  EXPECT_TRUE(client.Close(30s).ok());

  EXPECT_EQ(LeaderOf(fake_), "nobody");
  fake_.Advance(1min);
  EXPECT_THAT(fake_.Queue("orders"), IsEmpty());
}

TEST(FakeTenureEndTest, AClientMayOutliveTheService) {
  auto fake = std::make_unique<FakeTenure>();
  const Client client(fake->Options("a"));
  const Elector elector(client, {.election = "orders"});
  fake->Settle();
  fake.reset();

  EXPECT_TRUE(elector.IsLeader()) << "the clock stands";
}

// Random pauses are the same, too.
TEST(FakeTenureRunTest, TwoRunsAreTheSame) {
  const auto run = [] {
    FakeTenure fake;
    const Client client(fake.Options("a"));
    const Elector elector(client, {.election = "orders"});
    fake.Settle();
    fake.Cut();
    fake.Advance(1min);
    fake.Restore();
    std::vector<bool> leads;
    for (int i = 0; i < 100; ++i) {
      fake.Advance(10ms);
      leads.push_back(elector.IsLeader());
    }
    return leads;
  };
  EXPECT_EQ(run(), run());
}

TEST_F(FakeTenureTest, TheClockIsNotSetBack) {
  EXPECT_THROW(fake_.Advance(-1ns), std::invalid_argument);
}

}  // namespace
}  // namespace tenure
