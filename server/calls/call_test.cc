#include "server/calls/call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/calls/campaign.h"
#include "server/calls/keep_alive.h"
#include "server/calls/observe.h"
#include "server/engine/engine_testing.h"

namespace tenure::calls {
namespace {

using namespace std::chrono_literals;
using namespace tenure::testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Calls on the engine of a replica with an in-memory database. Its tasks run when a test says so.
class CallTest : public ::testing::Test {
 protected:
  using CampaignCall = Call<WaitingCampaign>;

  ~CallTest() override {
    for (const auto& weak : calls_) {
      if (const auto call = weak.lock()) call->Leave();
    }
  }

  // Session `name` campaigns in `orders`; the answer goes to `told_`.
  std::shared_ptr<CampaignCall> Start(const std::string& name,
                                      std::optional<Duration> wait = std::nullopt) {
    Campaign campaign = testing::Stand("orders", name);
    campaign.call_id = {++last_call_id_};
    WaitingCampaign machine(campaign, {{}, wait});
    const auto watches = machine.Watches();
    const auto call = std::make_shared<CampaignCall>(
        replica_.engine, std::move(machine),
        [this, name](OpenCampaign::Outward outward) { told_.push_back(name + Text(outward)); });
    calls_.push_back(call);
    if (const auto begun = call->Begin(watches); !begun) {
      told_.push_back(name + " is refused: " + begun.error().message);
    }
    return call;
  }
  // A hook of the store that cancels the call, once it exists, at the next transaction.
  static FaultyStore::Hook CancelAtTransaction(std::shared_ptr<CampaignCall>& running) {
    return [&running](const std::string& call) {
      if (call != "Transact" || running == nullptr) return;
      std::exchange(running, nullptr)->Happened(Cancelled{});
    };
  }
  static std::string Text(const OpenCampaign::Outward& outward) {
    const auto* reply = std::get_if<Reply<CampaignReply>>(&outward);
    if (reply == nullptr) return " hangs up";
    if (!reply->reply) return ": " + reply->reply.error().message;
    const auto* elected = std::get_if<Leadership>(&reply->reply->outcome);
    if (elected != nullptr) return " leads in term " + std::to_string(elected->term.value);
    return " stands";
  }
  // How many wait for `orders`.
  uint64_t Waiting() { return (*replica_.Read({"orders"}))->waiting; }
  std::string Leader() {
    const auto election = *replica_.Read({"orders"});
    return election && election->leader ? election->leader->candidate : "";
  }

  World world_;
  Replica& replica_ = world_.Start();
  uint64_t last_call_id_ = 0;
  std::vector<std::string> told_;
  std::vector<std::weak_ptr<CampaignCall>> calls_;
};

TEST_F(CallTest, ACallWaitsUntilItsSessionIsElected) {
  const auto a = Start("a");
  const auto b = Start("b");
  replica_.Run();
  EXPECT_THAT(told_, ElementsAre("a leads in term 1"));

  EXPECT_TRUE(replica_.Do(Leave("orders", "a")));
  EXPECT_THAT(told_, ElementsAre("a leads in term 1", "b leads in term 2"));
}

TEST_F(CallTest, ACallThatWaitsKeepsItsSessionAlive) {
  const auto a = Start("a");
  const auto b = Start("b");
  world_.Advance(3 * kLease);

  EXPECT_THAT(told_, ElementsAre("a leads in term 1", "b leads in term 2"));
  EXPECT_EQ(Leader(), "");  // nobody renews the leader
}

TEST_F(CallTest, ACallWhoseWaitEndsKeepsItsPlace) {
  const auto a = Start("a");
  const auto b = Start("b", 2s);
  world_.Advance(2s);

  EXPECT_THAT(told_, ElementsAre("a leads in term 1", "b stands"));
  EXPECT_EQ(Waiting(), 1u);
}

TEST_F(CallTest, ACallCancelledWhileItWaitsLosesItsPlace) {
  const auto a = Start("a");
  const auto b = Start("b");
  replica_.Run();
  b->Happened(Cancelled{});
  replica_.Run();

  EXPECT_THAT(told_, ElementsAre("a leads in term 1", "b hangs up"));
  EXPECT_EQ(Waiting(), 0u);
}

TEST_F(CallTest, ASeatThatIsGrantedWhileTheCallIsCancelledIsKept) {
  std::shared_ptr<CampaignCall> a;
  replica_.store.After(CancelAtTransaction(a));
  a = Start("a");
  replica_.Run();

  EXPECT_THAT(told_, ElementsAre("a hangs up"));
  EXPECT_EQ((*replica_.Read({"orders"}))->term, Term{1});
  EXPECT_EQ(Leader(), "a");
}

TEST_F(CallTest, ACallCancelledBeforeItsTransactionIsNotInIt) {
  const auto a = Start("a");
  a->Happened(Cancelled{});
  replica_.Run();

  EXPECT_THAT(told_, ElementsAre("a hangs up"));
  EXPECT_EQ(*replica_.Read({"orders"}), std::nullopt);
}

TEST_F(CallTest, ACallCancelledBeforeTheDecisionGetsNothing) {
  std::shared_ptr<CampaignCall> a;
  replica_.store.Before(CancelAtTransaction(a));
  a = Start("a");
  replica_.Run();

  EXPECT_THAT(told_, ElementsAre("a hangs up"));
  EXPECT_EQ(*replica_.Read({"orders"}), std::nullopt);
}

TEST_F(CallTest, AShutdownEndsAllWaitingCalls) {
  const auto a = Start("a");
  const auto b = Start("b");
  replica_.Run();
  replica_.engine.hub().Drain();

  EXPECT_THAT(told_, ElementsAre("a leads in term 1", ::testing::StartsWith("b: this replica")));
  EXPECT_EQ(Waiting(), 1u);
}

TEST_F(CallTest, NoCallBeginsAfterAShutdown) {
  replica_.engine.hub().Drain();
  const auto a = Start("a");
  a->Happened(Cancelled{});  // it has ended already
  replica_.Run();

  EXPECT_THAT(told_, ElementsAre("a is refused: this replica is shutting down"));
  EXPECT_EQ(*replica_.Read({"orders"}), std::nullopt);
}

TEST_F(CallTest, AShutdownBeforeACallBeginsEndsItLikeALaterOne) {
  EXPECT_TRUE(replica_.Do(testing::Stand("orders", "a")));
  WaitingCampaign machine(testing::Stand("orders", "b"), {{}, {}});
  const auto watches = machine.Watches();
  const auto b = std::make_shared<CampaignCall>(
      replica_.engine, std::move(machine),
      [this](OpenCampaign::Outward outward) { told_.push_back("b" + Text(outward)); });
  calls_.push_back(b);
  ASSERT_TRUE(b->Join(watches));
  replica_.engine.hub().Drain();
  EXPECT_THAT(told_, IsEmpty());
  b->Start();
  replica_.Run();

  EXPECT_THAT(told_, ElementsAre(::testing::StartsWith("b: this replica")));
  EXPECT_EQ(Waiting(), 1u);
}

TEST_F(CallTest, ACancelledCampaignOfASessionKeptElsewhereLeavesNoPlace) {
  Replica& other = world_.Start();
  EXPECT_TRUE(replica_.Do(testing::Stand("orders", "a")));
  EXPECT_TRUE(other.Do(testing::Stand("else", "b")));
  std::shared_ptr<CampaignCall> b;
  replica_.store.After(CancelAtTransaction(b));
  b = Start("b");
  replica_.Run();
  replica_.store.After({});
  world_.Advance(1s);

  EXPECT_THAT(told_, ElementsAre("b hangs up"));
  EXPECT_EQ(Waiting(), 0u);
}

// A machine that reports its events.
struct ListeningMachine {
  using Event = std::variant<Begun, Changed, SessionOver, HistoryReset, Drained>;
  using Outward = std::variant<Write<std::string>>;
  using Effect = std::variant<Outward>;

  [[nodiscard]] static std::vector<Effect> Step(const Event& event, SteadyTime) {
    constexpr const char* kNames[] = {"begun", "changed", "over", "reset", "drained"};
    return {Outward{Write<std::string>{kNames[event.index()]}}};
  }
  [[nodiscard]] static bool finished() { return false; }
};

TEST_F(CallTest, AMachineGetsNoEventsBeforeItBegins) {
  std::vector<std::string> heard;
  const auto call = std::make_shared<Call<ListeningMachine>>(
      replica_.engine, ListeningMachine(), [&](ListeningMachine::Outward outward) {
        heard.push_back(std::get<Write<std::string>>(outward).message);
      });
  const auto session = Id("a");
  ASSERT_TRUE(call->Join({engine::WatchElection{{"orders"}}, engine::WatchSession{session}}));
  engine::WatchHub& hub = replica_.engine.hub();
  const auto happen = [&] {
    Event event;
    event.election = {"orders"};
    hub.Notify(event);
    Session over;
    over.id = session;
    hub.NotifySessionEnded(over);
    hub.NotifyReset();
  };
  happen();
  EXPECT_THAT(heard, IsEmpty());
  call->Start();
  EXPECT_THAT(heard, ElementsAre("begun"));
  happen();
  hub.Drain();
  EXPECT_THAT(heard, ElementsAre("begun", "changed", "over", "reset", "drained"));
  call->Leave();
}

TEST_F(CallTest, AnObserverThatResumesDuringAChangeContinuesFromItsRevision) {
  EXPECT_TRUE(replica_.Do(testing::Stand("orders", "a")));
  EXPECT_TRUE(replica_.Do(Leave("orders", "a")));
  std::vector<uint64_t> revisions;
  Observe machine(Selection({{ElectionName{"orders"}, Revision{3}}}), {});
  const auto watches = machine.Watches();
  const auto stream = std::make_shared<Call<Observe>>(
      replica_.engine, std::move(machine), [&](Observe::Outward outward) {
        auto* write = std::get_if<Write<ObserveMessage>>(&outward);
        ASSERT_NE(write, nullptr);
        const auto* event = std::get_if<std::shared_ptr<const Event>>(&write->message);
        revisions.push_back(event != nullptr ? (*event)->revision.value : 0);
      });
  ASSERT_TRUE(stream->Join(watches));
  EXPECT_TRUE(replica_.Do(testing::Stand("orders", "b")));
  stream->Start();
  for (int i = 0; i < 3; ++i) {
    replica_.Run();
    stream->Happened(Written{true});
  }

  EXPECT_THAT(revisions, ElementsAre(3, 0));  // the change, then progress
  stream->Leave();
}

TEST_F(CallTest, AFinishedCallLeavesNothingBehind) {
  auto a = Start("a");
  replica_.Run();
  const std::weak_ptr<CampaignCall> weak = a;
  const size_t tasks = replica_.scheduler.Waiting();
  auto b = Start("b");
  replica_.Run();
  b->Happened(Cancelled{});
  replica_.Run();
  for (auto* call : {&a, &b}) {
    (*call)->Leave();
    call->reset();
  }

  EXPECT_TRUE(weak.expired());
  EXPECT_EQ(replica_.scheduler.Waiting(), tasks);
  EXPECT_EQ(replica_.engine.hub().watchers(), 0u);
}

// A machine that sets a timer, or stops it, as the test asks.
struct TimerMachine {
  using Event = std::variant<Begun, Cancelled, Written, Due>;
  using Outward = std::variant<Write<int>>;
  using Effect = std::variant<SetTimer, StopTimer, Outward>;

  [[nodiscard]] std::vector<Effect> Step(const Event& event, SteadyTime now) {
    if (std::holds_alternative<Due>(event)) return {Outward{Write<int>{++fired}}};
    if (std::holds_alternative<Cancelled>(event)) return {StopTimer{TimerId::kRetry}};
    return {SetTimer{TimerId::kRetry, now + 1s}};
  }
  [[nodiscard]] static bool finished() { return false; }

  int fired = 0;
};

TEST_F(CallTest, ATimerFiresOnceAtItsLastSetting) {
  std::vector<int> fired;
  const auto call = std::make_shared<Call<TimerMachine>>(
      replica_.engine, TimerMachine(), [&](TimerMachine::Outward outward) {
        fired.push_back(std::get<Write<int>>(outward).message);
      });
  ASSERT_TRUE(call->Begin({}));
  world_.Advance(500ms);
  call->Happened(Written{true});  // set again
  world_.Advance(700ms);
  EXPECT_THAT(fired, IsEmpty());
  world_.Advance(300ms);
  EXPECT_THAT(fired, ElementsAre(1));

  call->Happened(Written{true});
  call->Happened(Cancelled{});  // stopped
  world_.Advance(2s);
  EXPECT_THAT(fired, ElementsAre(1));
  call->Leave();
}

// Cancels nothing, as if every task had already been taken to run.
class TooLateToCancel final : public engine::Scheduler {
 public:
  explicit TooLateToCancel(engine::Scheduler& next) : next_(next) {}
  [[nodiscard]] SteadyTime Now() const override { return next_.Now(); }
  void Post(engine::Work work, Task task) override { next_.Post(work, std::move(task)); }
  Plan PostAt(engine::Work work, SteadyTime when, Task task) override {
    return next_.PostAt(work, when, std::move(task));
  }
  void Cancel(const Plan&) override {}

 private:
  engine::Scheduler& next_;
};

TEST_F(CallTest, ATimerThatWasSetAgainTooLateStillFiresOnce) {
  TooLateToCancel scheduler(replica_.scheduler);
  engine::Engine engine(replica_.store, scheduler, replica_.metrics, {});
  std::vector<int> fired;
  const auto call = std::make_shared<Call<TimerMachine>>(
      engine, TimerMachine(), [&](TimerMachine::Outward outward) {
        fired.push_back(std::get<Write<int>>(outward).message);
      });
  ASSERT_TRUE(call->Begin({}));
  call->Happened(Written{true});  // set again
  call->Happened(Written{true});
  replica_.scheduler.Advance(2s);
  EXPECT_THAT(fired, ElementsAre(1));

  call->Happened(Written{true});
  call->Happened(Cancelled{});  // stopped
  replica_.scheduler.Advance(2s);
  EXPECT_THAT(fired, ElementsAre(1));
  call->Leave();
}

TEST_F(CallTest, AKeepAliveStreamWatchesTheSessionsThatItRenews) {
  EXPECT_TRUE(replica_.Do(testing::Stand("orders", "a")));
  std::vector<KeepAliveMessage> messages;
  bool reads = false;
  using Stream = Call<KeepAlive>;
  const auto stream =
      std::make_shared<Stream>(replica_.engine, KeepAlive(), [&](KeepAlive::Outward outward) {
        if (std::holds_alternative<ReadRequest>(outward)) reads = true;
        auto* write = std::get_if<Write<KeepAliveMessage>>(&outward);
        if (write != nullptr) messages.push_back(std::move(write->message));
      });
  ASSERT_TRUE(stream->Begin({}));
  EXPECT_TRUE(std::exchange(reads, false));
  stream->Happened(Received{RenewalRequest{1, {Id("a")}}});
  replica_.Run();
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(std::get<Renewal>(messages[0]).sessions[0].seats.size(), 1u);
  EXPECT_TRUE(reads);

  stream->Happened(Written{true});
  EXPECT_TRUE(replica_.Do(Leave("orders", "a")));
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(std::get<SeatNotice>(messages[1])->type, EventType::kVacated);
  stream->Leave();
}

TEST_F(CallTest, AnObserverGetsEachChange) {
  std::vector<ObserveMessage> messages;
  Observe machine(Selection({{ElectionName{"orders"}, {}}}), {});
  const auto watches = machine.Watches();
  const auto stream = std::make_shared<Call<Observe>>(
      replica_.engine, std::move(machine), [&](Observe::Outward outward) {
        auto* write = std::get_if<Write<ObserveMessage>>(&outward);
        if (write != nullptr) messages.push_back(std::move(write->message));
      });
  ASSERT_TRUE(stream->Begin(watches));
  for (int i = 0; i < 2; ++i) {  // a snapshot, and progress
    replica_.Run();
    stream->Happened(Written{true});
  }
  EXPECT_TRUE(replica_.Do(testing::Stand("orders", "a")));
  stream->Happened(Written{true});
  EXPECT_TRUE(replica_.Do(Leave("orders", "a")));

  ASSERT_EQ(messages.size(), 4u);
  using Change = std::shared_ptr<const Event>;
  EXPECT_EQ(std::get<Change>(messages[2])->type, EventType::kElected);
  EXPECT_EQ(std::get<Change>(messages[3])->type, EventType::kVacated);
  stream->Leave();
}

}  // namespace
}  // namespace tenure::calls
