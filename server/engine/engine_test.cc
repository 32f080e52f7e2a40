// The engine, driven by hand on a real store in memory. What a command does is tested with the law;
// these tests are about batches, the order of notifications, the end of sessions, and failures.
#include "server/engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/engine/engine_testing.h"

namespace tenure::engine {
namespace {

using namespace tenure::testing;

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// Maximum delay before a search for work that becomes due between two beats.
constexpr auto kJitterMax = 20ms;
constexpr auto kBeat = 1s;
constexpr auto kGoodFor = 3s;  // kHomeGoodFor

MATCHER_P2(IsLedBy, name, term, "") {
  return arg && *arg && (*arg)->leader && (*arg)->leader->candidate == name &&
         (*arg)->term == Term{term};
}

MATCHER_P(IsVacantAfter, term, "") {
  return arg && *arg && !(*arg)->leader && (*arg)->term == Term{term};
}

MATCHER_P(IsOver, cause, "") { return arg && arg->ended == cause; }

class EngineTest : public ::testing::Test {
 protected:
  // The history of an election, as it is in the store.
  std::vector<std::string> History(const std::string& election) {
    Recorder recorder;
    const auto events = world_.store().ReadEvents({election}, {1}, 1000);
    for (const Event& event : *events) recorder.OnEvent(std::make_shared<Event>(event));
    return recorder.lines;
  }
  std::vector<PlaceKey> PlacesOf(const std::string& name) {
    return world_.store().FindPlaces({Id(name)}).value();
  }
  // Behind the back of all replicas: the next beat shows it.
  void EndUnnoticed(const std::string& name) {
    EXPECT_TRUE(world_.store().Transact({{}, {Id(name)}}, {}, [&](TransactionState& transaction) {
      EXPECT_TRUE(EndSession(transaction, Id(name), Cause::kDeposed));
    }));
  }
  std::vector<SessionId> Unsettled() { return world_.store().FindDueWork(100).value().unsettled; }
  // A name of the same partition, or of another.
  static std::string NameInPartitionOf(const std::string& election, bool same) {
    std::string name = election;
    do name += "x";
    while ((PartitionOf({name}) == PartitionOf({election})) != same);
    return name;
  }

  World world_;
  Replica& a_ = world_.Start();
};

// --- Before it serves ---

TEST_F(EngineTest, NothingIsAnsweredBeforeTheStart) {
  Replica& unstarted = world_.Add();
  const Reply<Answer> submitted;
  const Reply<Session> renewed;
  const Reply<Session> closed;
  const Reply<std::optional<Election>> read;
  const Reply<Place> place;
  const Reply<std::vector<Leadership>> seats;
  const Reply<std::vector<Event>> events;
  const Reply<std::vector<ElectionName>> names;

  unstarted.engine.Submit(Stand("orders", "a"), submitted);
  unstarted.engine.Renew(Id("a"), {}, renewed);
  unstarted.engine.CloseSession(Id("a"), {}, closed);
  unstarted.engine.ReadElection({"orders"}, false, read);
  unstarted.engine.ReadPlace({{"orders"}, Id("a")}, true, place);
  unstarted.engine.ReadSeats({{Id("a")}}, seats);
  unstarted.engine.ReadEvents({"orders"}, {1}, 10, events);
  unstarted.engine.ReadNames("", "", 10, names);
  EXPECT_FALSE(submitted.arrived());
  unstarted.Run();

  EXPECT_THAT(submitted.get(), FailsWith(Reason::kStoreUnavailable));
  EXPECT_THAT(renewed.get(), FailsWith(Reason::kStoreUnavailable));
  EXPECT_THAT(closed.get(), FailsWith(Reason::kStoreUnavailable));
  EXPECT_THAT(read.get(), FailsWith(Reason::kStoreUnavailable));
  EXPECT_THAT(place.get(), FailsWith(Reason::kStoreUnavailable));
  EXPECT_THAT(seats.get(), FailsWith(Reason::kStoreUnavailable));
  EXPECT_THAT(events.get(), FailsWith(Reason::kStoreUnavailable));
  EXPECT_THAT(names.get(), FailsWith(Reason::kStoreUnavailable));
  EXPECT_EQ(unstarted.store.Calls("Transact"), 0);
  EXPECT_FALSE(unstarted.engine.StoreAnswers());
}

TEST_F(EngineTest, BeforeTheStartCallsAreAnsweredWithWhatIsWrongWithTheStore) {
  Replica& unstarted = world_.Add();

  unstarted.engine.SetStoreFault("db:3306: connection refused");

  EXPECT_EQ(unstarted.Do(Stand("orders", "a")).error().message, "db:3306: connection refused");
  EXPECT_EQ(unstarted.engine.session_key().error().message, "db:3306: connection refused");
  EXPECT_EQ(unstarted.engine.status().why_not, "db:3306: connection refused");
}

TEST_F(EngineTest, TheEngineStartsOnceTheStoreAnswers) {
  Replica& late = world_.Add();
  late.store.FailNext(1);

  EXPECT_THAT(late.engine.Start(), FailsWith(Reason::kStoreUnavailable));
  EXPECT_TRUE(late.engine.Start());

  EXPECT_THAT(late.Do(Stand("orders", "a")), AnswersElected());
  EXPECT_TRUE(late.engine.StoreAnswers());
}

TEST_F(EngineTest, AnswersComeAsTasksAndNeverFromWithinTheCall) {
  const Reply<Answer> reply;

  a_.engine.Submit(Stand("orders", "a"), reply);

  EXPECT_FALSE(reply.arrived());
  a_.Run();
  EXPECT_THAT(reply.get(), AnswersElected());
}

// --- Group commit ---

TEST_F(EngineTest, CommandsThatWaitTogetherMakeOneTransaction) {
  const double transactions = a_.metrics.transactions.Value();
  std::vector<Reply<Answer>> replies(50);

  for (int i = 0; i < 50; ++i) {
    a_.engine.Submit(Stand("orders", "c" + std::to_string(i)), replies[static_cast<size_t>(i)]);
  }
  a_.Run();

  EXPECT_EQ(a_.metrics.transactions.Value() - transactions, 1);
  const auto batches = a_.metrics.batch_commands.Collect().histogram;
  EXPECT_EQ(batches.sample_count, 1u);
  EXPECT_EQ(batches.sample_sum, 50);
  EXPECT_THAT(replies.front().get(), AnswersElected());
  EXPECT_THAT(replies.back().get(), AnswersStanding());
  EXPECT_EQ(a_.Read({"orders"}).value()->waiting, 49u);
}

TEST_F(EngineTest, ABatchIsBounded) {
  for (int i = 0; i < 300; ++i) a_.engine.Submit(Leave("orders", "a"), Reply<Answer>());

  a_.Run();

  const auto batches = a_.metrics.batch_commands.Collect().histogram;
  EXPECT_EQ(batches.sample_count, 2u);
  EXPECT_EQ(batches.sample_sum, 300);
}

TEST_F(EngineTest, CommandsThatWaitTogetherMakeOneTransactionWhateverTheirPartitions) {
  const double transactions = a_.metrics.transactions.Value();
  const Watching all(a_.engine.hub(), {WatchPrefix{""}});

  a_.engine.Submit(Stand("orders", "a"), Reply<Answer>());
  a_.engine.Submit(Stand(NameInPartitionOf("orders", true), "a"), Reply<Answer>());
  a_.engine.Submit(Stand(NameInPartitionOf("orders", false), "a"), Reply<Answer>());
  a_.Run();

  EXPECT_EQ(a_.metrics.transactions.Value() - transactions, 1);
  EXPECT_THAT(all.lines(), SizeIs(3)) << "one line each";
}

TEST_F(EngineTest, EachPartitionThatATransactionChangesIsAnnouncedToOtherReplicas) {
  std::vector<int> announced;
  EngineOptions options;
  options.on_commit = [&](PartitionOffset at) { announced.push_back(at.partition); };
  Replica& b = world_.Add(options);
  ASSERT_TRUE(b.engine.Start());
  b.Run();
  const std::string other = NameInPartitionOf("orders", false);

  for (const std::string& name : {std::string("orders"), other}) {
    b.engine.Submit(Stand(name, "a"), Reply<Answer>());
  }
  b.Run();

  EXPECT_THAT(announced, UnorderedElementsAre(PartitionOf({"orders"}), PartitionOf({other})));
}

TEST_F(EngineTest, CommandsOfOneBatchAreAppliedInTheOrderOfTheirArrival) {
  const Reply<Answer> left;
  a_.engine.Submit(Stand("orders", "a"), Reply<Answer>());
  a_.engine.Submit(Stand("orders", "b"), Reply<Answer>());
  a_.engine.Submit(Leave("orders", "a"), left);
  a_.Run();

  EXPECT_THAT(left.get(), AnswersResigned(Term{1}));
  EXPECT_THAT(History("orders"),
              ElementsAre("orders 1 ELECTED a term 1", "orders 2 VACATED a term 1 RESIGNED",
                          "orders 3 ELECTED b term 2"));
}

TEST_F(EngineTest, ASeatIsNotGrantedToACandidateThatWithdrawsInTheSameBatch) {
  Campaign waiting = Stand("orders", "b");
  waiting.call_id = {5};
  (void)a_.Do(Stand("orders", "a"));
  (void)a_.Do(waiting);
  (void)a_.Do(Stand("orders", "c"));
  const Reply<Answer> left;
  const Reply<Answer> withdrawn;

  a_.engine.Submit(Leave("orders", "a"), left);
  a_.engine.Submit(Withdraw{{"orders"}, Id("b"), {5}}, withdrawn);
  a_.Run();

  EXPECT_THAT(left.get(), AnswersResigned(Term{1}));
  EXPECT_THAT(withdrawn.get(), AnswersDone());
  EXPECT_THAT(a_.Read({"orders"}), IsLedBy("c", Term{2}));
}

// The first of them finds that the leader's session has ended.
TEST_F(EngineTest, ASeatIsGrantedToNoneOfSeveralThatWithdrawInTheSameBatch) {
  Campaign first = Stand("orders", "b");
  Campaign second = Stand("orders", "c");
  first.call_id = {5};
  second.call_id = {6};
  (void)a_.Do(Stand("orders", "a"));
  (void)a_.Do(first);
  (void)a_.Do(second);
  (void)a_.Do(Stand("orders", "d"));
  EXPECT_TRUE(world_.store().Transact({{}, {Id("a")}}, {}, [](TransactionState& transaction) {
    EXPECT_TRUE(EndSession(transaction, Id("a"), Cause::kDeposed));
  }));

  a_.engine.Submit(Withdraw{{"orders"}, Id("c"), {6}}, Reply<Answer>());
  a_.engine.Submit(Withdraw{{"orders"}, Id("b"), {5}}, Reply<Answer>());
  a_.Run();

  EXPECT_THAT(a_.Read({"orders"}), IsLedBy("d", Term{2}));
}

TEST_F(EngineTest, APlaceThatALaterCallOfTheSameBatchWantsIsKept) {
  Campaign waiting = Stand("orders", "b");
  waiting.call_id = {5};
  Campaign again = waiting;
  again.call_id = {6};
  (void)a_.Do(Stand("orders", "a"));
  (void)a_.Do(waiting);
  (void)a_.Do(Stand("orders", "c"));

  a_.engine.Submit(again, Reply<Answer>());
  a_.engine.Submit(Withdraw{{"orders"}, Id("b"), {5}}, Reply<Answer>());
  a_.Run();
  (void)a_.Do(Leave("orders", "a"));

  EXPECT_THAT(a_.Read({"orders"}), IsLedBy("b", Term{2}));
}

TEST_F(EngineTest, RenewalsThatWaitTogetherMakeOneTransaction) {
  (void)a_.Do(Stand("orders", "a"));
  (void)a_.Do(Stand("orders", "b"));
  const double transactions = a_.metrics.transactions.Value();
  const Reply<Session> first;
  const Reply<Session> second;
  const Reply<Session> unknown;

  a_.engine.Renew(Id("a"), {}, first);
  a_.engine.Renew(Id("b"), {}, second);
  a_.engine.Renew(Id("nobody"), {}, unknown);
  a_.Run();

  EXPECT_EQ(a_.metrics.transactions.Value() - transactions, 1);
  EXPECT_EQ(first.get().value().candidate, "a");
  EXPECT_EQ(second.get().value().candidate, "b");
  EXPECT_THAT(unknown.get(), FailsWith(Reason::kSessionNotFound));
}

TEST_F(EngineTest, RenewalsRunWhileCommandsAreBlocked) {
  (void)a_.Do(Stand("orders", "a", 2s));
  a_.scheduler.Hold(Work::kCommands);
  a_.scheduler.Hold(Work::kReads);
  a_.scheduler.Hold(Work::kBackground);
  const Reply<Answer> blocked;
  a_.engine.Submit(Stand("orders", "b"), blocked);

  for (int i = 0; i < 5; ++i) {
    world_.Advance(1s);
    EXPECT_TRUE(a_.Renew(Id("a")));
  }

  EXPECT_FALSE(blocked.arrived());
  EXPECT_THAT(History("orders"), ElementsAre("orders 1 ELECTED a term 1"));
}

TEST_F(EngineTest, ReadsThatWaitTogetherMakeOneRead) {
  (void)a_.Do(Stand("orders", "a"));
  const int reads = a_.store.Calls("ReadAttendance");
  std::vector<Reply<std::optional<Election>>> replies(20);

  for (const auto& reply : replies) a_.engine.ReadElection({"orders"}, false, reply);
  a_.Run();

  EXPECT_EQ(a_.store.Calls("ReadAttendance") - reads, 1);
  EXPECT_THAT(replies.back().get(), IsLedBy("a", 1u));
}

TEST_F(EngineTest, AChangeOfAnotherReplicaIsReadBeforeItIsAnnounced) {
  Replica& b = world_.Start();
  (void)a_.Do(Stand("orders", "a"));
  EXPECT_THAT(a_.Read({"orders"}), IsLedBy("a", 1u));

  (void)b.Do(Leave("orders", "a"));
  EXPECT_THAT(a_.Read({"orders"}), IsVacantAfter(1u));

  (void)b.Do(Stand("orders", "b"));
  EXPECT_THAT(a_.Read({"orders"}), IsLedBy("b", 2u));
}

TEST_F(EngineTest, AReplicaThatOnlyReadsRemembersWhatItHasRead) {
  Replica& b = world_.Start();
  (void)b.Do(Stand("orders", "b"));
  world_.Advance(100ms);
  EXPECT_THAT(a_.Read({"orders"}), IsLedBy("b", 1u));
  const int rows = a_.store.Calls("ReadElections");

  EXPECT_THAT(a_.Read({"orders"}), IsLedBy("b", 1u));

  EXPECT_EQ(a_.store.Calls("ReadElections"), rows);
}

TEST_F(EngineTest, ALeaderWhoseSessionHasEndedIsNotReadFromMemory) {
  (void)a_.Do(Stand("orders", "a"));
  EXPECT_TRUE(world_.store().Transact({{}, {Id("a")}}, {}, [](TransactionState& it) {
    EXPECT_TRUE(EndSession(it, Id("a"), Cause::kDeposed));
  }));

  EXPECT_THAT(a_.Read({"orders"}), IsVacantAfter(1u));
}

TEST_F(EngineTest, ARequestBeyondAFullQueueIsRefused) {
  constexpr int kQueueMax = 20'000;
  a_.scheduler.Hold(Work::kCommands);
  const Reply<Answer> waiting;
  for (int i = 0; i < kQueueMax; ++i) a_.engine.Submit(Stand("orders", "a"), waiting);

  EXPECT_THAT(a_.Do(Stand("orders", "b")), FailsWith(Reason::kOverloaded));
  EXPECT_FALSE(waiting.arrived());
}

TEST_F(EngineTest, ACampaignThatWouldBeAnsweredTooLateIsRefused) {
  a_.scheduler.Hold(Work::kCommands);
  const Reply<Answer> first;
  a_.engine.Submit(Stand("orders", "a"), first);
  world_.Advance(1s);
  EXPECT_TRUE(a_.engine.AdmitCampaign().has_value());

  world_.Advance(1ms);
  EXPECT_THAT(a_.engine.AdmitCampaign(), FailsWith(Reason::kOverloaded));

  a_.scheduler.Release(Work::kCommands);
  a_.Run();
  EXPECT_THAT(first.get(), AnswersElected());
  EXPECT_TRUE(a_.engine.AdmitCampaign().has_value());
}

TEST_F(EngineTest, AReadThatWouldBeAnsweredTooLateIsRefused) {
  a_.scheduler.Hold(Work::kReads);
  const Reply<std::optional<Election>> first;
  a_.engine.ReadElection({"orders"}, false, first);
  world_.Advance(1s);
  EXPECT_TRUE(a_.engine.AdmitRead().has_value());

  world_.Advance(1ms);
  EXPECT_THAT(a_.engine.AdmitRead(), FailsWith(Reason::kOverloaded));

  a_.scheduler.Release(Work::kReads);
  a_.Run();
  EXPECT_TRUE(first.get().has_value());
  EXPECT_TRUE(a_.engine.AdmitRead().has_value());
}

// --- A session that another transaction has locked ---

TEST_F(EngineTest, ALockedSessionIsAdoptedWhenTheLockIsGoneAndDelaysNoOther) {
  Replica& other = world_.Start();
  EXPECT_THAT(other.Do(Stand("orders", "a")), AnswersElected());
  EXPECT_THAT(other.Do(Stand("mail", "b")), AnswersElected());
  a_.store.LockSession(Id("a"));
  const Reply<Session> of_a, of_b;

  a_.engine.Renew(Id("a"), {}, of_a);
  a_.engine.Renew(Id("b"), {}, of_b);
  a_.Run();

  EXPECT_EQ(of_b.get().value().id, Id("b"));
  ASSERT_FALSE(of_a.arrived());
  a_.store.UnlockSession(Id("a"));
  world_.Advance(50ms);
  EXPECT_EQ(of_a.get().value().id, Id("a"));
}

TEST_F(EngineTest, ALockedSessionIsClosedWhenTheLockIsGoneAndDelaysNoOther) {
  EXPECT_THAT(a_.Do(Stand("orders", "a")), AnswersElected());
  EXPECT_THAT(a_.Do(Stand("mail", "b")), AnswersElected());
  a_.store.LockSession(Id("a"));
  const Reply<Session> of_a, of_b;

  a_.engine.CloseSession(Id("a"), {}, of_a);
  a_.engine.CloseSession(Id("b"), {}, of_b);
  a_.Run();

  EXPECT_EQ(of_b.get().value().id, Id("b"));
  ASSERT_FALSE(of_a.arrived());
  a_.store.UnlockSession(Id("a"));
  world_.Advance(50ms);
  EXPECT_EQ(of_a.get().value().id, Id("a"));
}

// --- An election that another transaction has locked ---

TEST_F(EngineTest, ACommandForALockedElectionRunsWhenTheLockIsGone) {
  a_.store.Lock({"orders"});
  const Reply<Answer> reply;
  a_.engine.Submit(Stand("orders", "a"), reply);
  world_.Advance(5s);
  ASSERT_FALSE(reply.arrived());

  a_.store.Unlock({"orders"});
  world_.Advance(50ms);

  EXPECT_THAT(reply.get(), AnswersElected());
  EXPECT_GT(a_.metrics.commands_busy.Value(), 0);
}

TEST_F(EngineTest, ACommandForALockedElectionIsGivenUpEventually) {
  a_.store.Lock({"orders"});
  const Reply<Answer> reply;

  a_.engine.Submit(Stand("orders", "a"), reply);
  world_.Advance(11s);

  EXPECT_THAT(reply.get(), FailsWith(Reason::kOverloaded));
  EXPECT_THAT(History("orders"), IsEmpty());
}

TEST_F(EngineTest, ASetWithALockedElectionRunsWhenTheLockIsGone) {
  a_.store.Lock({"mail"});
  const Reply<Answer> reply;
  a_.engine.Submit(
      CampaignForAll{{{"orders"}, {"mail"}}, Id("a"), Campaign::Opening{"a", kLease}, {}, "", {}},
      reply);
  world_.Advance(1s);
  ASSERT_FALSE(reply.arrived());

  a_.store.Unlock({"mail"});
  world_.Advance(50ms);

  EXPECT_THAT(std::get<CampaignForAllAnswer>(reply.get().value()).leaderships, SizeIs(2));
}

TEST_F(EngineTest, ALockedElectionDelaysNobodyElseInItsPartition) {
  a_.store.Lock({"orders"});
  a_.engine.Submit(Stand("orders", "a"), Reply<Answer>());

  EXPECT_THAT(a_.Do(Stand(NameInPartitionOf("orders", true), "b")), AnswersElected());
}

TEST_F(EngineTest, ACommandNobodyWaitsForIsDroppedWhenItsTurnComes) {
  a_.store.Lock({"orders"});
  bool wanted = true;
  const Reply<Answer> reply;
  a_.engine.Submit(Stand("orders", "a"), reply, [&] { return wanted; });
  world_.Advance(1s);
  const double transactions = a_.metrics.transactions.Value();

  wanted = false;
  a_.store.Unlock({"orders"});
  world_.Advance(50ms);

  EXPECT_FALSE(reply.arrived());
  EXPECT_THAT(History("orders"), IsEmpty());
  EXPECT_EQ(a_.metrics.transactions.Value(), transactions);
}

// Its transaction may have waited for a lock since its turn came.
TEST_F(EngineTest, ACommandNobodyWaitsForWhenItIsDecidedIsDropped) {
  int asked = 0;
  const Reply<Answer> reply;
  a_.engine.Submit(Stand("orders", "a"), reply, [&] { return asked++ == 0; });

  world_.Advance(1s);

  EXPECT_FALSE(reply.arrived());
  EXPECT_THAT(History("orders"), IsEmpty());
  EXPECT_EQ(a_.metrics.commands_busy.Value(), 0);  // it is not tried again
}

TEST_F(EngineTest, TheOtherCommandsOfItsBatchAreAnswered) {
  int asked = 0;
  const std::vector<Reply<Answer>> replies(4);
  for (size_t i = 0; i < replies.size(); ++i) {
    const auto wanted = [&, i] { return i % 2 == 0 || asked++ < 2; };
    a_.engine.Submit(Stand("e" + std::to_string(i), "a"), replies[i], wanted);
  }

  world_.Advance(1s);

  for (size_t i = 0; i < replies.size(); ++i) EXPECT_EQ(replies[i].arrived(), i % 2 == 0) << i;
  for (size_t i = 0; i < replies.size(); i += 2) {
    EXPECT_EQ(std::get<CampaignAnswer>(*replies[i].get()).election.name.bytes,
              "e" + std::to_string(i));
  }
}

// --- Notifications ---

TEST_F(EngineTest, LocalChangesAreReportedAtOnce) {
  const Watching watching(a_.engine.hub(), {WatchElection{{"orders"}}});

  (void)a_.Do(Stand("orders", "a"));
  (void)a_.Do(Leave("orders", "a"));

  EXPECT_THAT(watching.lines(),
              ElementsAre("orders 1 ELECTED a term 1", "orders 2 VACATED a term 1 RESIGNED"));
}

TEST_F(EngineTest, RemoteChangesAreReportedOnceAndInOrder) {
  Replica& b = world_.Start();
  const Watching watching(b.engine.hub(), {WatchElection{{"orders"}}});

  (void)a_.Do(Stand("orders", "a"));
  (void)a_.Do(Say("orders", "a", {1}, "v"));
  EXPECT_THAT(watching.lines(), IsEmpty());
  world_.Advance(1s);

  EXPECT_THAT(watching.lines(),
              ElementsAre("orders 1 ELECTED a term 1", "orders 2 PROCLAIMED a term 1 v"));
}

TEST_F(EngineTest, InterleavedChangesAreInTheOrderOfRevisionsOnBothReplicas) {
  Replica& b = world_.Start();
  const Watching on_a(a_.engine.hub(), {WatchElection{{"orders"}}});
  const Watching on_b(b.engine.hub(), {WatchElection{{"orders"}}});

  (void)a_.Do(Stand("orders", "a"));
  (void)b.Do(Stand("orders", "b"));
  (void)b.Do(Say("orders", "a", {1}, "v"));
  (void)a_.Do(Say("orders", "a", {1}, "w"));
  (void)b.Do(Leave("orders", "a"));
  (void)a_.Do(Leave("orders", "b"));
  world_.Advance(1s);

  const std::vector<std::string> all = {
      "orders 1 ELECTED a term 1",      "orders 2 PROCLAIMED a term 1 v",
      "orders 3 PROCLAIMED a term 1 w", "orders 4 VACATED a term 1 RESIGNED",
      "orders 5 ELECTED b term 2",      "orders 6 VACATED b term 2 RESIGNED"};
  EXPECT_THAT(on_a.lines(), ElementsAreArray(all));
  EXPECT_THAT(on_b.lines(), ElementsAreArray(all));
}

TEST_F(EngineTest, AChangeWithALostReplyIsReportedByThePoll) {
  const Watching watching(a_.engine.hub(), {WatchElection{{"orders"}}});
  a_.store.LoseReplies(1, "Transact");

  EXPECT_THAT(a_.Do(Stand("orders", "a")), FailsWith(Reason::kStoreUnavailable));
  EXPECT_THAT(watching.lines(), IsEmpty());
  world_.Advance(20ms);

  EXPECT_THAT(watching.lines(), ElementsAre("orders 1 ELECTED a term 1"));
}

TEST_F(EngineTest, AReplacedDatabaseIsReported) {
  (void)a_.Do(Stand("orders", "a"));
  const Watching watching(a_.engine.hub(), {WatchElection{{"orders"}}});
  Database other(a_.scheduler);

  a_.store.Become(other.store());
  world_.Advance(20ms);
  EXPECT_FALSE(a_.engine.Ready());
  EXPECT_THAT(a_.Do(Stand("orders", "b")), FailsWith(Reason::kStoreUnavailable));
  world_.Advance(kLease - 1s);
  EXPECT_FALSE(a_.engine.Ready()) << "somebody may still believe that they lead";
  EXPECT_THAT(watching.lines(), IsEmpty());
  world_.Advance(kGoodFor + 2 * kBeat);

  EXPECT_TRUE(a_.engine.Ready());
  EXPECT_THAT(watching.lines(), ElementsAre("reset"));
  EXPECT_TRUE(a_.Do(Stand("orders", "b")));
}

// A database that another service works on: bob leads in it. Each of its partitions is further than
// that of the test's database.
struct OtherService {
  explicit OtherService(const Scheduler& time) : database(time) {
    EXPECT_TRUE(replica.engine.Start());
    replica.Run();
    for (int i = 0; i < 100; ++i) {
      const std::string election = "other/" + std::to_string(i);
      EXPECT_TRUE(replica.Do(Stand(election, "bob")));
    }
    EXPECT_TRUE(replica.Do(Stand("orders", "bob")));
    before = database.store().ReadPartitions().value();
  }
  static EngineOptions Options() {
    EngineOptions options;
    options.seed = 7;
    return options;
  }
  std::string Id() { return replica.engine.service_id(); }
  void ExpectUntouched() {
    const auto view = database.store().ReadElections({{"orders"}}).value().at({"orders"});
    EXPECT_EQ(view.election.term.value, 1u);
    EXPECT_TRUE(view.election.leader);
    const auto now = database.store().ReadPartitions().value();
    EXPECT_EQ(now.epoch, before.epoch);
    EXPECT_EQ(now.offsets, before.offsets);
  }

  Database database;
  Replica replica{database.store(), Options()};
  Partitions before;
};

class OtherServiceTest : public EngineTest, public ::testing::WithParamInterface<bool> {
 protected:
  // With the service that it serves as an option, or without.
  Replica& Start() {
    EngineOptions options;
    if (GetParam()) options.service_id = a_.engine.service_id();
    Replica& replica = world_.Add(options);
    EXPECT_TRUE(replica.engine.Start());
    replica.Run();
    return replica;
  }
};

INSTANTIATE_TEST_SUITE_P(Pinned, OtherServiceTest, ::testing::Bool(),
                         [](const auto& it) { return it.param ? "Yes" : "No"; });

TEST_P(OtherServiceTest, ItsDatabaseIsLeftAlone) {
  Replica& replica = Start();
  const std::string id = replica.engine.service_id();
  (void)replica.Do(Stand("orders", "a"));
  (void)replica.Do(Leave("orders", "a"));
  const Watching watching(replica.engine.hub(), {WatchElection{{"orders"}}});
  OtherService other(a_.scheduler);

  replica.store.Become(other.database.store());
  world_.Advance(kLease + kGoodFor + 2 * kBeat);

  EXPECT_FALSE(replica.engine.Ready());
  EXPECT_THAT(replica.engine.status().why_not,
              HasSubstr("the database belongs to service " + other.Id()));
  EXPECT_THAT(replica.Do(Stand("orders", "b")), FailsWith(Reason::kStoreUnavailable));
  EXPECT_EQ(replica.engine.ExposeMetrics().find("\ntenure_service_info{"), std::string::npos);
  EXPECT_EQ(replica.metrics.database_resets.Value(), 0);
  EXPECT_THAT(watching.lines(), IsEmpty());
  other.ExpectUntouched();

  replica.store.Become(world_.store());
  world_.Advance(1s);

  EXPECT_TRUE(replica.engine.Ready());
  EXPECT_EQ(replica.engine.service_id(), id);
  EXPECT_THAT(replica.engine.ExposeMetrics(),
              HasSubstr("\ntenure_service_info{service_id=\"" + id + "\"} 1"));
}

TEST_F(EngineTest, ADatabaseThatWasWipedComesBackFromABackup) {
  (void)a_.Do(Stand("orders", "a"));
  const std::string before = a_.engine.service_id();
  Database wiped(a_.scheduler);
  a_.store.Become(wiped.store());
  world_.Advance(kLease + kGoodFor + 2 * kBeat);
  ASSERT_TRUE(a_.engine.Ready());
  ASSERT_NE(a_.engine.service_id(), before);

  a_.store.Become(world_.store());
  world_.Advance(kLease + kGoodFor + 2 * kBeat);

  EXPECT_TRUE(a_.engine.Ready());
  EXPECT_EQ(a_.engine.service_id(), before);
  EXPECT_EQ(a_.metrics.database_resets.Value(), 2) << "terms of after the backup are lost";
}

TEST_F(EngineTest, TermsAreNotRaisedInTheDatabaseOfAnotherService) {
  (void)a_.Do(Stand("orders", "a"));
  Database wiped(a_.scheduler);
  OtherService other(a_.scheduler);
  a_.store.Become(wiped.store());
  world_.Advance(kLease - 1s);
  ASSERT_EQ(a_.metrics.database_resets.Value(), 1);

  a_.store.Become(other.database.store());
  world_.Advance(kLease + kGoodFor + 2 * kBeat);

  other.ExpectUntouched();
}

TEST_F(EngineTest, AReplicaOfAGivenServiceStartsWithNoOther) {
  EngineOptions options;
  options.service_id = a_.engine.service_id();
  Database unused(a_.scheduler);
  Replica pinned(unused.store(), options);

  EXPECT_THAT(pinned.engine.Start(), FailsWith(Reason::kStoreUnavailable));

  EXPECT_THAT(pinned.engine.status().why_not, HasSubstr("the database belongs to no service yet"));
  EXPECT_EQ(unused.store().FindSessionKey().value(), std::nullopt);
  EXPECT_EQ(unused.store().ReadPartitions().value().epoch, 0u);
}

TEST_F(EngineTest, HoweverRareThePollIsAReplacedDatabaseIsNoticedByABeat) {
  EngineOptions options;
  options.feed_interval = 1h;
  Replica& rare = world_.Add(options);
  ASSERT_TRUE(rare.engine.Start());
  world_.Advance(10s);
  EXPECT_TRUE(rare.engine.Ready());
  (void)rare.Do(Stand("orders", "a"));
  Database other(rare.scheduler);

  rare.store.Become(other.store());
  world_.Advance(kBeat);

  EXPECT_FALSE(rare.engine.Ready());
  EXPECT_THAT(rare.Do(Stand("orders", "b")), FailsWith(Reason::kStoreUnavailable));
}

TEST_F(EngineTest, HoweverRareThePollIsADatabaseThatIsBackIsJoinedSoon) {
  EngineOptions options;
  options.feed_interval = 1h;
  Replica& rare = world_.Add(options);
  ASSERT_TRUE(rare.engine.Start());
  rare.store.FailAll();
  world_.Advance(10s);
  EXPECT_FALSE(rare.engine.Ready());

  rare.store.Heal();
  world_.Advance(550ms);

  EXPECT_TRUE(rare.engine.Ready());
}

// --- The end of leases ---

TEST_F(EngineTest, AnExpiredLeaderIsReplacedSoonAfterItsLeaseAndNotBefore) {
  (void)a_.Do(Stand("orders", "a", 5s));
  (void)a_.Do(Stand("orders", "b", 60s));
  const Watching watching(a_.engine.hub(), {WatchElection{{"orders"}}});

  world_.Advance(5s - 1us);
  EXPECT_THAT(watching.lines(), IsEmpty());
  world_.Advance(1us + kJitterMax);

  EXPECT_THAT(watching.lines(),
              ElementsAre("orders 2 VACATED a term 1 EXPIRED", "orders 3 ELECTED b term 2"));
  EXPECT_EQ(a_.metrics.terms_ended[Cause::kExpired].Value(), 1);
  EXPECT_EQ(a_.metrics.sessions_ended[Cause::kExpired].Value(), 1);
}

TEST_F(EngineTest, ALeaderThatRenewsIsNotReplaced) {
  (void)a_.Do(Stand("orders", "a", 5s));
  (void)a_.Do(Stand("orders", "b", 60s));

  for (int i = 0; i < 10; ++i) {
    world_.Advance(4s);
    EXPECT_TRUE(a_.Renew(Id("a")));
  }

  EXPECT_THAT(History("orders"), ElementsAre("orders 1 ELECTED a term 1"));
}

TEST_F(EngineTest, AnyReplicaEndsAnExpiredSession) {
  Replica& b = world_.Start();
  const Watching watching(b.engine.hub(), {WatchElection{{"orders"}}});
  (void)a_.Do(Stand("orders", "a", 5s));
  a_.scheduler.Die();

  world_.Advance(5s + kGoodFor - kBeat);
  EXPECT_THAT(watching.lines(), SizeIs(1));
  world_.Advance(2 * kBeat);

  EXPECT_THAT(watching.lines(),
              ElementsAre("orders 1 ELECTED a term 1", "orders 2 VACATED a term 1 EXPIRED"));
}

TEST_F(EngineTest, AnExpiryIsCommittedOnceHoweverManyReplicasSearch) {
  Replica& b = world_.Start();
  for (const char* election : {"e1", "e2", "e3"}) {
    (void)a_.Do(Stand(election, "a", 5s));
    (void)b.Do(Stand(election, "b", 60s));
  }

  world_.Advance(10s);

  for (const char* election : {"e1", "e2", "e3"}) EXPECT_THAT(History(election), SizeIs(3));
  EXPECT_EQ(a_.metrics.sessions_ended[Cause::kExpired].Value() +
                b.metrics.sessions_ended[Cause::kExpired].Value(),
            1);
}

TEST_F(EngineTest, AnExpiredSessionLosesEverySeatAndPlaceAndIsSettled) {
  (void)a_.Do(Stand("led", "a", 5s));
  (void)a_.Do(Stand("other", "b", 60s));
  (void)a_.Do(Stand("other", "a", 5s));

  world_.Advance(5s + kBeat);

  EXPECT_THAT(PlacesOf("a"), IsEmpty());
  EXPECT_THAT(Unsettled(), IsEmpty());
  EXPECT_EQ(a_.Read({"other"}).value()->waiting, 0u);
}

TEST_F(EngineTest, MoreExpiredSessionsThanOneTransactionEndsAreAllEnded) {
  for (int i = 0; i < 1100; ++i) {
    a_.engine.Submit(Stand("orders", "c" + std::to_string(i), 5s), Reply<Answer>());
  }
  a_.Run();

  world_.Advance(5s + kBeat);

  EXPECT_EQ(a_.metrics.sessions_ended[Cause::kExpired].Value(), 1100);
  EXPECT_THAT(Unsettled(), IsEmpty());
  EXPECT_FALSE(a_.Read({"orders"}).value()->leader);
  EXPECT_EQ(a_.Read({"orders"}).value()->waiting, 0u);
}

TEST_F(EngineTest, AnExpiryDoesNotWaitForTheNextBeat) {
  constexpr auto kOddLease = kLease + kBeat / 2;
  EXPECT_THAT(a_.Do(Stand("orders", "a", kOddLease)), AnswersElected());

  world_.Advance(kOddLease + kJitterMax);

  EXPECT_EQ(History("orders").back(), "orders 2 VACATED a term 1 EXPIRED");
}

TEST_F(EngineTest, AnEndedSessionDoesNotComeBackWhenTheDatabasesClockStepsBack) {
  (void)a_.Do(Stand("orders", "a", 5s));
  world_.Advance(5s + kBeat);
  ASSERT_THAT(History("orders"), SizeIs(2));

  world_.database().StepClock(-1min);
  world_.Advance(kBeat);

  EXPECT_THAT(a_.Renew(Id("a")), FailsWith(Reason::kSessionEnded));
  EXPECT_THAT(a_.Do(Stand("orders", "a")), FailsWith(Reason::kSessionEnded));
}

// --- Reading ---

TEST_F(EngineTest, AReadThatFindsTheLeadersSessionEndedCommitsTheEndOfItsTermFirst) {
  (void)a_.Do(Stand("orders", "a"));
  (void)a_.Do(Stand("orders", "b"));
  const Watching watching(a_.engine.hub(), {WatchElection{{"orders"}}});
  EndUnnoticed("a");
  ASSERT_THAT(watching.lines(), IsEmpty());

  EXPECT_THAT(a_.Read({"orders"}), IsLedBy("b", 2u));

  EXPECT_THAT(watching.lines(),
              ElementsAre("orders 2 VACATED a term 1 DEPOSED", "orders 3 ELECTED b term 2"));
}

TEST_F(EngineTest, AReadThatFindsTheLeadersSessionEndedShowsAVacantSeatIfNobodyWaits) {
  (void)a_.Do(Stand("orders", "a"));
  EndUnnoticed("a");

  EXPECT_THAT(a_.Read({"orders"}), IsVacantAfter(1u));
}

// The heads of the queue are sessions of the candidate that was deposed just now.
TEST_F(EngineTest, ASeatThatWasLeftUndecidedIsFilledByTheSearchIfItsReplicaCannot) {
  (void)a_.Do(Stand("orders", "a", 1h));
  for (const std::string name : {"a2", "a3", "a4"}) {
    Campaign campaign = Stand("orders", name, 1h);
    campaign.opening->candidate = "a";
    ASSERT_THAT(a_.Do(campaign), AnswersStanding());
  }
  (void)a_.Do(Stand("orders", "b", 1h));
  a_.store.After([this](const std::string& call) {
    if (call != "Transact") return;
    a_.store.After({});
    a_.store.FailNext(1, "Transact");
  });
  ASSERT_TRUE(a_.Do(Depose{{"orders"}, {1}, 10min, {}}));
  ASSERT_THAT(a_.Read({"orders"}), IsVacantAfter(1u));

  world_.Advance(kBeat);

  EXPECT_THAT(a_.Read({"orders"}), IsLedBy("b", 2u));
}

TEST_F(EngineTest, AReadShowsNoLeaderWhoseSessionHasEndedEvenIfTheEndOfItsTermCannotBeCommitted) {
  (void)a_.Do(Stand("orders", "a"));
  EndUnnoticed("a");
  a_.store.FailNext(1, "Transact");

  EXPECT_THAT(a_.Read({"orders"}), FailsWith(Reason::kStoreUnavailable));
  EXPECT_THAT(a_.Read({"orders"}), IsVacantAfter(1u));
}

TEST_F(EngineTest, AnUnknownElectionIsAnAnswer) {
  EXPECT_EQ(a_.Read({"orders"}).value(), std::nullopt);
}

TEST_F(EngineTest, AReadSeesWhatAnotherReplicaHasCommitted) {
  Replica& b = world_.Start();
  (void)b.Read({"orders"});

  (void)a_.Do(Stand("orders", "a"));

  EXPECT_THAT(b.Read({"orders"}), IsLedBy("a", 1u));
}

TEST_F(EngineTest, AStaleReadIsAnsweredFromMemoryForASecond) {
  Replica& b = world_.Start();
  EXPECT_EQ(b.Read({"orders"}, true).value(), std::nullopt);
  (void)a_.Do(Stand("orders", "a"));
  const int reads = b.store.Calls("ReadElections");

  world_.Advance(999ms);
  EXPECT_EQ(b.Read({"orders"}, true).value(), std::nullopt);
  EXPECT_EQ(b.store.Calls("ReadElections"), reads);

  world_.Advance(1ms);
  EXPECT_THAT(b.Read({"orders"}, true), IsLedBy("a", 1u));
}

TEST_F(EngineTest, TheAgeOfAStaleReadIsCountedFromBeforeItWasRead) {
  Replica& b = world_.Start();
  b.store.After([&](const std::string& call) {
    if (call == "ReadElections") b.scheduler.SetNow(b.scheduler.Now() + 800ms);
  });
  (void)b.Read({"orders"});
  b.store.After({});
  (void)a_.Do(Stand("orders", "a"));

  b.scheduler.SetNow(b.scheduler.Now() + 300ms);

  EXPECT_THAT(b.Read({"orders"}, true), IsLedBy("a", 1u));
}

TEST_F(EngineTest, APlaceIsTheSeatAPositionOrNeither) {
  for (const char* name : {"a", "b", "c"}) (void)a_.Do(Stand("orders", name));
  const auto place_of = [&](const char* name, bool with_position) {
    return a_
        .Ask<Place>([&](auto reply) {
          a_.engine.ReadPlace({{"orders"}, Id(name)}, with_position, reply);
        })
        .value();
  };

  EXPECT_FALSE(place_of("a", true).waiting);
  EXPECT_EQ(place_of("a", true).election->election.leader->session, Id("a"));
  EXPECT_TRUE(place_of("c", true).waiting);
  EXPECT_EQ(place_of("c", true).position, 2u);
  EXPECT_TRUE(place_of("c", false).waiting);
  EXPECT_EQ(place_of("c", false).position, 0u);
  EXPECT_FALSE(place_of("nobody", true).waiting);
}

TEST_F(EngineTest, APlaceIsReadWithAndWithoutItsPositionInOneBatch) {
  for (const char* name : {"a", "b"}) (void)a_.Do(Stand("orders", name));
  const Reply<Place> plain;
  const Reply<Place> positioned;

  a_.engine.ReadPlace({{"orders"}, Id("b")}, false, plain);
  a_.engine.ReadPlace({{"orders"}, Id("b")}, true, positioned);
  a_.Run();

  EXPECT_TRUE(plain.get()->waiting);
  EXPECT_TRUE(positioned.get()->waiting);
  EXPECT_EQ(positioned.get()->position, 1u);
  ASSERT_TRUE(positioned.get()->election);
  EXPECT_EQ(positioned.get()->election->election.leader->session, Id("a"));
}

TEST_F(EngineTest, ACandidateElectedDuringAReadOfItsPlaceHasOne) {
  Replica& b = world_.Start();
  for (const char* name : {"a", "b"}) (void)a_.Do(Stand("orders", name));
  bool read = false;
  a_.store.After([&](const std::string&) {
    if (!std::exchange(read, true)) (void)b.Do(Leave("orders", "a"));
  });

  const Place place = a_.Ask<Place>([&](auto reply) {
                          a_.engine.ReadPlace({{"orders"}, Id("b")}, false, reply);
                        }).value();

  EXPECT_TRUE(place.waiting || place.LedBy(Id("b")));
}

TEST_F(EngineTest, SeatsAndEventsCanBeRead) {
  (void)a_.Do(Stand("orders", "a"));
  (void)a_.Do(Stand("stock", "a"));
  (void)a_.Do(Leave("stock", "a"));

  const auto seats =
      a_.Ask<std::vector<Leadership>>([&](auto reply) { a_.engine.ReadSeats({{Id("a")}}, reply); });
  const auto events = a_.Ask<std::vector<Event>>(
      [&](auto reply) { a_.engine.ReadEvents({"stock"}, {2}, 10, reply); });

  ASSERT_THAT(seats.value(), SizeIs(1));
  EXPECT_EQ(seats.value()[0].election.bytes, "orders");
  ASSERT_THAT(events.value(), SizeIs(1));
  EXPECT_EQ(events.value()[0].type, EventType::kVacated);
}

TEST_F(EngineTest, TheNamesOfAPrefixAreReadInPages) {
  for (const char* name : {"shop/a", "shop/b", "stock"}) (void)a_.Do(Stand(name, "a"));
  const auto names = [&](const char* prefix, const char* after, size_t limit) {
    const auto read = a_.Ask<std::vector<ElectionName>>(
        [&](auto reply) { a_.engine.ReadNames(prefix, after, limit, reply); });
    std::vector<std::string> texts;
    for (const ElectionName& name : read.value()) texts.push_back(name.bytes);
    return texts;
  };

  EXPECT_THAT(names("shop/", "", 3), ElementsAre("shop/a", "shop/b"));
  EXPECT_THAT(names("none", "", 3), IsEmpty());
  EXPECT_THAT(names("", "", 2), ElementsAre("shop/a", "shop/b"));
  EXPECT_THAT(names("", "shop/b", 2), ElementsAre("stock"));
}

TEST_F(EngineTest, AReadThatNobodyWaitsForIsNotMade) {
  bool wanted = true;
  const Reply<std::vector<ElectionName>> names;
  const Reply<std::vector<Event>> events;
  a_.engine.ReadNames("", "", 2, names, [&] { return wanted; });
  a_.engine.ReadEvents({"orders"}, {1}, 10, events, [&] { return wanted; });
  wanted = false;
  a_.Run();

  EXPECT_FALSE(names.arrived());
  EXPECT_FALSE(events.arrived());
  EXPECT_EQ(a_.store.Calls("ListElections"), 0);
  EXPECT_EQ(a_.store.Calls("ReadEvents"), 0);
}

TEST_F(EngineTest, OtherReadsTakeTurnsWithReadsOfLeaders) {
  std::vector<std::string> order;
  for (int i = 0; i < 3; ++i) {
    a_.engine.Read<int>([](OperatorStore&) -> Result<int> { return 0; },
                        [&](Result<int>) { order.emplace_back("other"); });
  }
  a_.engine.ReadElection({"orders"}, false, [&](const auto&) { order.emplace_back("leader"); });
  a_.Run();

  EXPECT_THAT(order, ElementsAre("other", "leader", "other", "other"));
}

// --- The end of a session by its owner ---

class CloseSessionTest : public EngineTest {
 protected:
  // "a" leads one election, with "b" behind it, and waits in another.
  CloseSessionTest() {
    (void)a_.Do(Stand("led", "a"));
    (void)a_.Do(Stand("led", "b", 60s));
    (void)a_.Do(Stand("awaited", "b", 60s));
    (void)a_.Do(Stand("awaited", "a"));
  }
};

TEST_F(CloseSessionTest, EverySeatAndPlaceIsGivenUpBeforeTheAnswer) {
  const Reply<Session> reply;
  std::vector<PlaceKey> held_when_answered;

  a_.engine.CloseSession(Id("a"), {}, [&](Result<Session> closed) {
    held_when_answered = PlacesOf("a");
    reply(std::move(closed));
  });
  a_.Run();

  EXPECT_THAT(reply.get(), IsOver(Cause::kSessionClosed));
  EXPECT_THAT(held_when_answered, IsEmpty());
  EXPECT_THAT(Unsettled(), IsEmpty());
  EXPECT_THAT(a_.Read({"led"}), IsLedBy("b", 2u));
  EXPECT_EQ(a_.Read({"awaited"}).value()->waiting, 0u);
}

TEST_F(CloseSessionTest, TheWatchersOfTheSessionAndItsSeatsAreNotified) {
  const Watching session(a_.engine.hub(), {WatchSession{Id("a")}});
  const Watching election(a_.engine.hub(), {WatchElection{{"led"}}});

  (void)a_.Close(Id("a"));

  EXPECT_THAT(session.lines(),
              ElementsAre("ended a SESSION_CLOSED", "led 2 VACATED a term 1 SESSION_CLOSED"));
  EXPECT_THAT(election.lines(),
              ElementsAre("led 2 VACATED a term 1 SESSION_CLOSED", "led 3 ELECTED b term 2"));
  EXPECT_EQ(a_.metrics.sessions_ended[Cause::kSessionClosed].Value(), 1);
}

TEST_F(CloseSessionTest, AnOperatorsEndOfASessionIsCountedAndLogged) {
  ::testing::internal::CaptureStdout();
  a_.engine.DeposeSession(Id("a"), {"olga", "why"}, Reply<Closed>());
  a_.Run();
  const std::string log = ::testing::internal::GetCapturedStdout();

  EXPECT_THAT(log, HasSubstr("operator change action=SESSION_ENDED"));
  EXPECT_THAT(log, HasSubstr("by=olga reason=why"));
  EXPECT_EQ(a_.metrics.admin_changes.Value(), 1);
}

TEST_F(CloseSessionTest, AnOperatorLearnsWhetherItsCallEndedTheSession) {
  const auto depose = [&](const SessionId& session, const Reply<Closed>& reply) {
    a_.engine.DeposeSession(session, {"operator", "why"}, reply);
  };
  a_.scheduler.Hold(Work::kBackground);  // nobody marks the expiry of "a"
  world_.Advance(kLease / 2);
  ASSERT_TRUE(a_.Renew(Id("b")));
  world_.Advance(kLease / 2);
  const Reply<Closed> of_expired;
  const Reply<Closed> of_living;
  const Reply<Closed> of_deposed;

  depose(Id("a"), of_expired);
  depose(Id("b"), of_living);
  a_.scheduler.Release(Work::kBackground);
  a_.Run();
  depose(Id("b"), of_deposed);
  a_.Run();

  EXPECT_FALSE(of_expired.get()->deposed);
  EXPECT_TRUE(of_living.get()->deposed);
  EXPECT_FALSE(of_deposed.get()->deposed);
}

TEST_F(CloseSessionTest, ClosingTwiceGivesTheSameAnswer) {
  (void)a_.Close(Id("a"));

  EXPECT_THAT(a_.Close(Id("a")), IsOver(Cause::kSessionClosed));
  EXPECT_EQ(a_.metrics.sessions_ended[Cause::kSessionClosed].Value(), 1);
  EXPECT_THAT(History("led"), SizeIs(3));
}

TEST_F(CloseSessionTest, ClosingAnExpiredSessionKeepsItsCause) {
  a_.scheduler.Hold(Work::kBackground);
  world_.Advance(kLease);
  const Reply<Session> reply;
  a_.engine.CloseSession(Id("a"), {}, reply);

  a_.scheduler.Release(Work::kBackground);
  a_.Run();

  EXPECT_THAT(reply.get(), IsOver(Cause::kExpired));
  EXPECT_THAT(PlacesOf("a"), IsEmpty());
}

TEST_F(CloseSessionTest, ASessionOfAnotherIdentityIsNotFound) {
  Campaign campaign = Stand("jobs", "z");
  campaign.principal = {"team", {}};
  ASSERT_THAT(a_.Do(campaign), AnswersElected());
  const Watching watching(a_.engine.hub(), {engine::WatchSession{Id("z")}});

  EXPECT_THAT(a_.Close(Id("z"), {"others", {}}), FailsWith(Reason::kSessionNotFound));

  EXPECT_THAT(watching.lines(), IsEmpty());
  EXPECT_TRUE(a_.Close(Id("z"), {"team", {}}));
}

TEST_F(CloseSessionTest, AnUnknownSessionIsRefused) {
  EXPECT_THAT(a_.Close(Id("nobody")), FailsWith(Reason::kSessionNotFound));
}

TEST_F(CloseSessionTest, SessionsClosedTogetherEachGetTheirOwnAnswer) {
  const Reply<Session> a;
  const Reply<Session> again;
  const Reply<Session> b;
  const Reply<Session> nobody;

  a_.engine.CloseSession(Id("a"), {}, a);
  a_.engine.CloseSession(Id("nobody"), {}, nobody);
  a_.engine.CloseSession(Id("b"), {}, b);
  a_.engine.CloseSession(Id("a"), {}, again);
  a_.Run();

  EXPECT_THAT(a.get(), IsOver(Cause::kSessionClosed));
  EXPECT_EQ(a.get()->id, Id("a"));
  EXPECT_THAT(again.get(), IsOver(Cause::kSessionClosed));
  EXPECT_EQ(b.get()->id, Id("b"));
  EXPECT_THAT(nobody.get(), FailsWith(Reason::kSessionNotFound));
  EXPECT_EQ(a_.metrics.sessions_ended[Cause::kSessionClosed].Value(), 2);
  EXPECT_THAT(a_.Read({"led"}), IsVacantAfter(1u));
  EXPECT_THAT(a_.Read({"awaited"}), IsVacantAfter(1u));
  EXPECT_THAT(Unsettled(), IsEmpty());
}

// Until then, its client can learn why it ended.
TEST(EndedSessionTest, ItIsRememberedForAnHourAfterItsLease) {
  World world;
  EngineOptions calm;
  calm.feed_interval = 1min;
  Replica& replica = world.Add(calm);
  ASSERT_TRUE(replica.engine.Start());
  replica.Run();
  ASSERT_TRUE(replica.Do(Stand("orders", "a")));
  ASSERT_TRUE(replica.Close(Id("a")));

  world.Advance(kLease + 59min);
  EXPECT_THAT(replica.Renew(Id("a")), FailsWith(Reason::kSessionEnded, "cause", "SESSION_CLOSED"));

  world.Advance(3min);
  EXPECT_THAT(replica.Renew(Id("a")), FailsWith(Reason::kSessionNotFound));
}

TEST_F(EngineTest, EndedSessionsAreLookedForOnceAMinute) {
  const int before = a_.store.Calls("ForgetSessions");

  world_.Advance(3min);

  EXPECT_EQ(a_.store.Calls("ForgetSessions"), before + 3);
}

TEST_F(CloseSessionTest, AFailureToEndTheSessionChangesNothing) {
  a_.store.FailNext(1, "Transact");

  EXPECT_THAT(a_.Close(Id("a")), FailsWith(Reason::kStoreUnavailable));

  EXPECT_TRUE(a_.Renew(Id("a")));
  EXPECT_THAT(PlacesOf("a"), SizeIs(2));
}

// The call of the store that fails after the session was ended.
class CloseSessionFaultTest : public CloseSessionTest,
                              public ::testing::WithParamInterface<std::string> {
 protected:
  // One failure of that call, later than the end of the session.
  void PlantAfterTheEnd(Replica& replica) {
    replica.store.After([this, &replica](const std::string& call) {
      if (call != "Transact") return;
      replica.store.After({});
      replica.store.FailNext(1, GetParam());
    });
  }
};

INSTANTIATE_TEST_SUITE_P(Calls, CloseSessionFaultTest,
                         ::testing::Values("FindPlaces", "Transact", "MarkSettled"),
                         [](const auto& info) { return info.param; });

TEST_P(CloseSessionFaultTest, TheSearchDoesTheRestAfterAFault) {
  PlantAfterTheEnd(a_);

  EXPECT_THAT(a_.Close(Id("a")), FailsWith(Reason::kStoreUnavailable));
  EXPECT_THAT(a_.Renew(Id("a")), FailsWith(Reason::kSessionEnded, "cause", "SESSION_CLOSED"));
  EXPECT_THAT(Unsettled(), ElementsAre(Id("a")));
  world_.Advance(kBeat);

  EXPECT_THAT(PlacesOf("a"), IsEmpty());
  EXPECT_THAT(Unsettled(), IsEmpty());
  EXPECT_THAT(a_.Read({"led"}), IsLedBy("b", 2u));
}

TEST_P(CloseSessionFaultTest, AFailedCallCanBeSentAgain) {
  PlantAfterTheEnd(a_);
  ASSERT_THAT(a_.Close(Id("a")), FailsWith(Reason::kStoreUnavailable));

  EXPECT_THAT(a_.Close(Id("a")), IsOver(Cause::kSessionClosed));

  EXPECT_THAT(PlacesOf("a"), IsEmpty());
  EXPECT_THAT(Unsettled(), IsEmpty());
}

TEST_F(CloseSessionTest, ACallWithALostReplyCanBeSentAgain) {
  a_.store.LoseReplies(1, "Transact");
  ASSERT_THAT(a_.Close(Id("a")), FailsWith(Reason::kStoreUnavailable));

  EXPECT_THAT(a_.Close(Id("a")), IsOver(Cause::kSessionClosed));
  EXPECT_THAT(PlacesOf("a"), IsEmpty());
}

TEST_F(CloseSessionTest, AnotherReplicaFinishesAfterAKill) {
  Replica& b = world_.Start();
  const Watching watching(b.engine.hub(), {WatchElection{{"led"}}});

  a_.engine.CloseSession(Id("a"), {}, Reply<Session>());
  ASSERT_TRUE(a_.scheduler.RunOne());
  ASSERT_THAT(Unsettled(), ElementsAre(Id("a")));
  ASSERT_THAT(PlacesOf("a"), SizeIs(2));
  a_.scheduler.Die();
  world_.Advance(kBeat);

  EXPECT_THAT(watching.lines(),
              ElementsAre("led 2 VACATED a term 1 SESSION_CLOSED", "led 3 ELECTED b term 2"));
  EXPECT_THAT(PlacesOf("a"), IsEmpty());
  EXPECT_THAT(Unsettled(), IsEmpty());
}

// Kills the replica after the given number of tasks; another one finishes its work.
class CloseSessionKillTest : public CloseSessionTest, public ::testing::WithParamInterface<int> {};

INSTANTIATE_TEST_SUITE_P(AfterTasks, CloseSessionKillTest, ::testing::Range(0, 8));

TEST_P(CloseSessionKillTest, ClosingIsCompletedOrNeverStarted) {
  Replica& b = world_.Start();
  a_.engine.CloseSession(Id("a"), {}, Reply<Session>());
  for (int i = 0; i < GetParam(); ++i) (void)a_.scheduler.RunOne();

  a_.scheduler.Die();
  world_.Advance(kLease + kGoodFor + 3 * kBeat);

  EXPECT_THAT(PlacesOf("a"), IsEmpty());
  EXPECT_THAT(Unsettled(), IsEmpty());
  EXPECT_THAT(b.Read({"led"}), IsLedBy("b", 2u));
  EXPECT_THAT(History("led"), SizeIs(3));
}

// --- The store is away ---

TEST_F(EngineTest, AStoreThatFailsIsAnErrorAndChangesNothing) {
  (void)a_.Do(Stand("orders", "a"));
  a_.store.FailAll();

  EXPECT_THAT(a_.Do(Leave("orders", "a")), FailsWith(Reason::kStoreUnavailable));
  EXPECT_TRUE(a_.Renew(Id("a")));  // its beat is still good
  EXPECT_THAT(a_.Close(Id("a")), FailsWith(Reason::kStoreUnavailable));
  EXPECT_THAT(a_.Read({"orders"}), FailsWith(Reason::kStoreUnavailable));
  const auto place = a_.Ask<Place>([&](auto reply) {
    a_.engine.ReadPlace({{"orders"}, Id("a")}, true, reply);
  });
  EXPECT_THAT(place, FailsWith(Reason::kStoreUnavailable));
  const auto names =
      a_.Ask<std::vector<ElectionName>>([&](auto reply) { a_.engine.ReadNames("", "", 1, reply); });
  EXPECT_THAT(names, FailsWith(Reason::kStoreUnavailable));
  EXPECT_EQ(a_.metrics.transactions_failed.Value(), 2);

  a_.store.Heal();
  EXPECT_THAT(a_.Read({"orders"}), IsLedBy("a", 1u));
}

TEST_F(EngineTest, EveryCommandOfABatchThatFailsIsAnswered) {
  std::vector<Reply<Answer>> replies(3);
  a_.store.FailNext(1, "Transact");

  for (const auto& reply : replies) a_.engine.Submit(Stand("orders", "a"), reply);
  a_.Run();

  for (const auto& reply : replies) {
    EXPECT_THAT(reply.get(), FailsWith(Reason::kStoreUnavailable));
  }
}

TEST_F(EngineTest, ASilentStoreIsReportedAsUnavailable) {
  world_.Advance(1min);
  EXPECT_TRUE(a_.engine.StoreAnswers());
  EXPECT_THAT(a_.engine.ExposeMetrics(), HasSubstr("tenure_store_up 1"));
  a_.store.FailAll();

  world_.Advance(1600ms);
  EXPECT_TRUE(a_.engine.StoreAnswers());
  world_.Advance(1200ms);
  EXPECT_FALSE(a_.engine.StoreAnswers());
  EXPECT_THAT(a_.engine.ExposeMetrics(), HasSubstr("tenure_store_up 0"));

  a_.store.Heal();
  world_.Advance(600ms);
  EXPECT_TRUE(a_.engine.StoreAnswers());
}

TEST_F(EngineTest, ExpiriesThatFailedAreCommittedWhenTheStoreIsBack) {
  (void)a_.Do(Stand("orders", "a", 5s));
  (void)a_.Do(Stand("orders", "b", 60s));
  a_.store.FailAll();
  world_.Advance(10s);
  ASSERT_THAT(History("orders"), SizeIs(1));

  a_.store.Heal();
  world_.Advance(5s);  // the outage has not counted

  EXPECT_THAT(History("orders"),
              ElementsAre("orders 1 ELECTED a term 1", "orders 2 VACATED a term 1 EXPIRED",
                          "orders 3 ELECTED b term 2"));
}

TEST_F(EngineTest, AStoreWithoutSessionsIsAskedOncePerBeat) {
  world_.Advance(10s);

  EXPECT_EQ(a_.store.Calls("FindDueWork"), 0);
  EXPECT_LE(a_.store.Calls("Beat"), 10s / kBeat + 1);
}

TEST_F(EngineTest, AStoreThatReadsButDoesNotWriteIsNotAskedEndlessly) {
  for (int i = 0; i < 600; ++i) {
    a_.engine.Submit(Stand("orders", "c" + std::to_string(i), 5s), Reply<Answer>());
  }
  a_.Run();
  a_.store.FailNext(1'000'000'000, "Transact");

  world_.Advance(10s);

  EXPECT_LT(a_.store.Calls("FindDueWork") + a_.store.Calls("Transact"), 100);
}

// --- Metrics ---

TEST_F(EngineTest, TermsAreCountedByTheReplicaThatGrantedOrEndedThem) {
  Replica& b = world_.Start();
  (void)a_.Do(Stand("orders", "a"));
  world_.Advance(1s);
  (void)b.Do(Leave("orders", "a"));
  world_.Advance(1s);

  EXPECT_EQ(a_.metrics.terms_granted[Cause::kNone].Value(), 1);
  EXPECT_EQ(b.metrics.terms_granted[Cause::kNone].Value(), 0);
  EXPECT_EQ(a_.metrics.terms_ended[Cause::kResigned].Value(), 0);
  EXPECT_EQ(b.metrics.terms_ended[Cause::kResigned].Value(), 1);
  EXPECT_EQ(b.metrics.feed_events.Value(), 1);
}

}  // namespace
}  // namespace tenure::engine
