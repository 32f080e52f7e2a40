// The C++ library's observer, against running servers.
#include "tenure/observer.h"

#include <atomic>
#include <future>
#include <stdexcept>

#include "proto/rich_status.h"
#include "tests/client/elector_fixture.h"
#include "tests/support/administration.h"
#include "tests/support/relay.h"

namespace tenure::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

// Options of an observer that writes everything except progress into a diary.
ObserverOptions Writing(Diary& diary, const std::string& endpoints,
                        const std::vector<std::string>& names, bool prefix = false) {
  ObserverOptions options{.endpoints = endpoints, .names = names, .prefix = prefix};
  options.on_snapshot = [&](const v1::Snapshot& it) {
    const bool resync = it.reason() == v1::Snapshot::REASON_RESYNC;
    diary.Write(it.election() + " " + std::to_string(it.revision()) +
                (resync ? " RESYNC " : " SNAPSHOT ") +
                (it.has_leader() ? it.leader().candidate() : "nobody"));
  };
  options.on_event = [&](const v1::Event& it) {
    diary.Write(it.election() + " " + std::to_string(it.revision()) + " " + Text(it));
  };
  options.on_failed = [&](const grpc::Status& status) {
    diary.Write("failed " + ReasonOf(status));
  };
  return options;
}

class ObserverTest : public ElectorTest {
 protected:
  // Everything goes through `relay_`.
  void SetUp() override {
    ElectorTest::SetUp();
    relay_ = std::make_unique<Relay>(A().endpoint());
  }
  // Nothing can be reached until Mend.
  void Break() { relay_->BreakAndLeadTo("127.0.0.1:" + std::to_string(FreePort())); }
  void Mend() { relay_->BreakAndLeadTo(B().endpoint()); }

  std::unique_ptr<Relay> relay_;
};

INSTANTIATE_TEST_SUITE_P(Stores, ObserverTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

TEST_P(ObserverTest, ASnapshotComesFirstAndEachEventFollows) {
  const auto session = Campaign(A(), {"e", "a"}).session().session_id();
  Diary diary;
  auto options = Writing(diary, BothEndpoints(), {"e", "f"});
  options.on_progress = [&](const v1::Progress&) { diary.Write("progress"); };
  const tenure::Observer observer(options);
  diary.WaitFor("progress");

  Proclaim(A(), session, "e", 1, "v");
  Campaign(A(), {"f", "b"});
  Resign(B(), session);

  diary.WaitFor("e 3 VACATED a 1 SESSION_CLOSED");
  diary.WaitFor("f 1 ELECTED b 1");
  EXPECT_THAT(diary.Lines(),
              IsSupersetOf({"e 1 SNAPSHOT a", "f 0 SNAPSHOT nobody", "e 2 PROCLAIMED a 1"}));
}

TEST_P(ObserverTest, AfterABreakThereIsNoGapAndNoRepetition) {
  const auto session = Campaign(A(), {"e", "a"}).session().session_id();
  Diary diary;
  auto options = Writing(diary, relay_->endpoint(), {"e"});
  options.on_broken = [&](const grpc::Status&) { diary.Write("broken"); };
  const tenure::Observer observer(options);
  diary.WaitFor("e 1 SNAPSHOT a");

  std::vector<std::string> expected{"e 1 SNAPSHOT a"};
  for (int i = 2; i <= 9; ++i) {
    if (i % 3 == 0) Break();
    Proclaim(A(), session, "e", 1, std::to_string(i));
    if (i % 3 == 1) Mend();
    expected.push_back("e " + std::to_string(i) + " PROCLAIMED a 1");
  }
  Mend();

  diary.WaitFor("e 9 PROCLAIMED a 1");
  diary.WaitFor("broken");
  auto lines = diary.Lines();
  std::erase(lines, "broken");
  EXPECT_EQ(lines, expected);
}

TEST_P(ObserverTest, EachElectionContinuesAfterTheRevisionThatTheProgramHasStored) {
  const auto session = Campaign(A(), {"jobs/1", "a"}).session().session_id();
  Campaign(A(), {"jobs/2", "a", session});
  Campaign(A(), {"jobs/3", "a", session});
  Proclaim(A(), session, "jobs/1", 1, "v");
  Resign(A(), session, "jobs/1");
  Resign(A(), session, "jobs/2");
  for (const bool prefix : {false, true}) {
    Diary diary;
    auto options = Writing(diary, relay_->endpoint(), {"jobs/1", "jobs/2", "jobs/3"}, prefix);
    options.from_revisions = {{"jobs/1", 3}, {"jobs/2", 2}};
    options.on_progress = [&](const v1::Progress&) { diary.Write("progress"); };
    const tenure::Observer observer(options);
    diary.WaitFor("progress");

    auto lines = diary.Lines();
    std::erase(lines, "progress");
    EXPECT_THAT(lines,
                UnorderedElementsAre("jobs/1 3 VACATED a 1 RESIGNED",
                                     "jobs/2 2 VACATED a 1 RESIGNED", "jobs/3 1 SNAPSHOT a"));
  }
}

TEST_P(ObserverTest, ElectionsCreatedDuringABreakStartWithTheirFirstEvent) {
  Campaign(A(), {"jobs/1", "a"});
  Diary diary;
  auto options = Writing(diary, relay_->endpoint(), {"jobs/"}, true);
  options.on_progress = [&](const v1::Progress&) { diary.Write("progress"); };
  const tenure::Observer observer(options);
  diary.WaitFor("progress");

  Break();
  const auto session = Campaign(A(), {"jobs/2", "b"}).session().session_id();
  Resign(A(), session, "jobs/2");
  Mend();

  diary.WaitFor("jobs/2 2 VACATED b 1 RESIGNED");
  auto lines = diary.Lines();
  std::erase(lines, "progress");
  EXPECT_THAT(lines, ElementsAre("jobs/1 1 SNAPSHOT a", "jobs/2 1 ELECTED b 1",
                                 "jobs/2 2 VACATED b 1 RESIGNED"));
}

// After `bump-terms`, new elections do not begin with revision 1.
TEST_P(ObserverTest, ElectionsOfARestoredDatabaseStartWithTheirFirstEvent) {
  for (const auto& server : servers_) server->Kill();
  const std::string first = std::to_string(BumpTerms(url_) + 1);
  for (const auto& server : servers_) server->Start();
  Diary diary;
  auto options = Writing(diary, relay_->endpoint(), {"jobs/"}, true);
  options.on_progress = [&](const v1::Progress&) { diary.Write("progress"); };
  options.on_broken = [&](const grpc::Status&) { diary.Write("broken"); };
  const tenure::Observer observer(options);
  diary.WaitFor("progress");

  Campaign(A(), {"jobs/a", "a"});
  diary.WaitFor("jobs/a " + first + " ELECTED a " + first);
  EXPECT_THAT(diary.Lines(), Not(Contains("broken")));
  Break();
  diary.WaitFor("broken");
  Campaign(B(), {"jobs/b", "b"});
  Mend();

  diary.WaitFor("jobs/b " + first + " ELECTED b " + first);
  EXPECT_THAT(diary.Lines(), Not(Contains(HasSubstr("RESYNC"))));
}

TEST_P(ObserverTest, MoreThanAThousandElectionsContinueAfterABreak) {
  constexpr int kElections = 1'100;
  const auto name = [](int i) { return "e" + std::to_string(i); };
  const auto session =
      Campaign(A(), {.election = "e0", .candidate = "a", .lease_ttl = 300s}).session().session_id();
  for (int i = 1; i < kElections; ++i) Campaign(A(), {name(i), "a", session});
  Diary diary;
  const tenure::Observer observer(Writing(diary, relay_->endpoint(), {"e"}, true));
  for (int i = 0; i < kElections; ++i) diary.WaitFor(name(i) + " 1 SNAPSHOT a");

  Break();
  for (int i = 0; i < kElections; i += 10) {
    Proclaim(A(), session, name(i), 1, "one");
    Proclaim(A(), session, name(i), 1, "two");
  }
  Mend();

  for (int i = 0; i < kElections; i += 10) diary.WaitFor(name(i) + " 3 PROCLAIMED a 1");
  for (int i = 0; i < kElections; i += 10) diary.WaitFor(name(i) + " 2 PROCLAIMED a 1");
  EXPECT_EQ(diary.Lines().size(), kElections + 2 * kElections / 10);
}

TEST_P(ObserverTest, AResyncReportsThatEarlierEventsAreVoid) {
  const auto session = Campaign(A(), {"e", "a"}).session().session_id();
  Diary diary;
  const tenure::Observer observer(Writing(diary, relay_->endpoint(), {"e"}));
  diary.WaitFor("e 1 SNAPSHOT a");

  Break();
  Proclaim(A(), session, "e", 1, "v");
  v1::DeleteElectionRequest request;  // with its history
  request.set_election("e");
  request.set_term(1);
  Ask(A(), &AdminStub::DeleteElection, request);
  Mend();

  diary.WaitFor("e 3 RESYNC nobody");
  Campaign(A(), {"e", "b"});
  diary.WaitFor("e 4 ELECTED b 2");
}

TEST_P(ObserverTest, ASilentStreamIsGivenUp) {
  Diary diary;
  auto options = Writing(diary, relay_->endpoint(), {"e"});
  options.silence_max = 500ms;
  options.on_broken = [&](const grpc::Status& status) { diary.Write(status.error_message()); };
  relay_->LoseAnswers();
  const tenure::Observer observer(options);

  diary.WaitFor(relay_->endpoint() + ": the stream was silent for 500 ms", 2);
  Mend();

  diary.WaitFor("e 0 SNAPSHOT nobody");
  Campaign(A(), {"e", "a"});
  diary.WaitFor("e 1 ELECTED a 1");
}

using ObserverOfTwoReplicasTest = ObserverTest;
INSTANTIATE_TEST_SUITE_P(Stores, ObserverOfTwoReplicasTest, ::testing::Values(StoreKind::kMariaDb),
                         StoreKindName);

TEST_P(ObserverOfTwoReplicasTest, EachEventIsReportedOnceWhileReplicasAreKilledInTurn) {
  const auto session = Campaign(A(), {"e", "a"}).session().session_id();
  Diary diary;
  const tenure::Observer observer(Writing(diary, BothEndpoints(), {"e"}));
  diary.WaitFor("e 1 SNAPSHOT a");

  std::vector<std::string> expected{"e 1 SNAPSHOT a"};
  for (int i = 2; i <= 9; ++i) {
    Tenured& killed = i % 2 == 0 ? A() : B();
    Tenured& other = i % 2 == 0 ? B() : A();
    killed.Kill();
    Proclaim(other, session, "e", 1, std::to_string(i));
    expected.push_back("e " + std::to_string(i) + " PROCLAIMED a 1");
    diary.WaitFor(expected.back());
    killed.Start();
  }

  EXPECT_EQ(diary.Lines(), expected);
}

TEST_P(ObserverTest, AnObserverMayBeDestroyedFromAnyOfItsCallbacks) {
  for (const std::string where : {"snapshot", "event", "progress", "broken"}) {
    Diary diary;
    std::unique_ptr<tenure::Observer> observer;
    std::promise<void> made;
    const auto ready = made.get_future().share();
    const auto destroy = [&, ready](const auto&) {
      ready.wait();
      observer.reset();
      diary.Write("destroyed");
    };
    ObserverOptions options{.endpoints = relay_->endpoint(), .names = {where}};
    if (where == "snapshot") options.on_snapshot = destroy;
    if (where == "event") {
      options.from_revision = 1;
      options.on_event = destroy;
    }
    if (where == "progress") options.on_progress = destroy;
    if (where == "broken") options.on_broken = destroy;
    observer = std::make_unique<tenure::Observer>(options);
    made.set_value();

    Campaign(A(), {where, "a"});
    if (where == "broken") Break();

    diary.WaitFor("destroyed");
    EXPECT_THAT(diary.Lines(), ElementsAre("destroyed")) << where;
  }
}

TEST_P(ObserverTest, AnObserverMayBeDestroyedAtAnyMoment) {
  for (int i = 0; i < 50; ++i) {
    Diary diary;
    const tenure::Observer observer(Writing(diary, BothEndpoints(), {"e"}));
    if (i % 3 == 1) std::this_thread::yield();
    if (i % 3 == 2) diary.WaitFor("e 0 SNAPSHOT nobody");
  }
}

TEST_P(ObserverTest, AnObserverIsDestroyedEvenIfTheServiceHangs) {
  Diary diary;
  auto observer = std::make_unique<tenure::Observer>(Writing(diary, BothEndpoints(), {"e"}));
  diary.WaitFor("e 0 SNAPSHOT nobody");

  for (auto& server : servers_) server->process().Signal(SIGSTOP);
  observer.reset();

  for (auto& server : servers_) server->process().Signal(SIGCONT);
}

// Refuses one stream with each of these, as a proxy in front of a service may.
class Refusing final : public v1::ElectionService::Service {
 public:
  explicit Refusing(std::vector<grpc::Status> refusals) : refusals_(std::move(refusals)) {}

  grpc::Status Observe(grpc::ServerContext*, const v1::ObserveRequest*,
                       grpc::ServerWriter<v1::ObserveResponse>* writer) override {
    const size_t stream = streams_++;
    if (stream < refusals_.size()) return refusals_[stream];
    v1::ObserveResponse response;
    response.mutable_snapshot()->set_election("e");
    writer->Write(response);
    return grpc::Status::OK;
  }

 private:
  const std::vector<grpc::Status> refusals_;
  std::atomic<size_t> streams_ = 0;
};

class RefusedObserverTest : public ::testing::Test {
 protected:
  // What an observer reports about a service that refuses its streams, up to this line.
  std::vector<std::string> TellUntil(const std::string& line, std::vector<grpc::Status> refusals) {
    Refusing service(std::move(refusals));
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&service);
    const auto server = builder.BuildAndStart();
    Diary diary;
    const tenure::Observer observer(Writing(diary, "127.0.0.1:" + std::to_string(port), {"e"}));
    diary.WaitFor(line);
    return diary.Lines();
  }
};

TEST_F(RefusedObserverTest, ATransientRefusalIsRetried) {
  TellUntil("e 0 SNAPSHOT nobody", {{grpc::StatusCode::UNAUTHENTICATED, "not now"},
                                    {grpc::StatusCode::UNKNOWN, "not now"},
                                    {grpc::StatusCode::INTERNAL, "not now"}});
}

TEST_F(RefusedObserverTest, ARetryWaitsAsLongAsTheServiceAsks) {
  const auto begun = std::chrono::steady_clock::now();

  TellUntil("e 0 SNAPSHOT nobody", {RichStatus(grpc::StatusCode::UNAVAILABLE, "not now",
                                               {.reason = "OVERLOADED", .retry_delay = 2s})});

  EXPECT_GE(std::chrono::steady_clock::now() - begun, 2s);
}

TEST_F(RefusedObserverTest, AForbiddenObserveIsNotRetried) {
  const auto told =
      TellUntil("failed code 7: not now", {{grpc::StatusCode::PERMISSION_DENIED, "not now"}});

  EXPECT_THAT(told, ElementsAre("failed code 7: not now"));
}

TEST(ObserverOptionsTest, MalformedOptionsAreAnErrorAtOnce) {
  const auto observe = [](const ObserverOptions& options) { const tenure::Observer it(options); };

  EXPECT_THROW(observe({}), std::invalid_argument);
  EXPECT_THROW(observe({.endpoints = ",", .names = {"e"}}), std::invalid_argument);
  EXPECT_THROW(observe({.names = {""}}), std::invalid_argument);
  EXPECT_THROW(observe({.names = std::vector<std::string>(1'001, "e"), .prefix = true}),
               std::invalid_argument);
  EXPECT_THROW(observe({.names = {"e"}, .from_revision = 0}), std::invalid_argument);
  EXPECT_THROW(observe({.names = {"e"}, .silence_max = 0ms}), std::invalid_argument);
}

// The error that these options cause; empty if they are accepted.
std::string Complaint(const ObserverOptions& options) {
  try {
    const tenure::Observer observer(options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(ObserverOptionsTest, MalformedFromRevisionsAreAnErrorAtOnce) {
  const auto by_name = [](std::map<std::string, uint64_t> from_revisions) {
    return Complaint({.log = nullptr, .names = {"e"}, .from_revisions = std::move(from_revisions)});
  };
  const auto by_prefix = [](std::map<std::string, uint64_t> from_revisions) {
    return Complaint({.log = nullptr,
                      .names = {"e"},
                      .prefix = true,
                      .from_revisions = std::move(from_revisions)});
  };

  EXPECT_EQ(by_name({{"e", 1}}), "");
  EXPECT_EQ(by_prefix({{"ef", 1}}), "");
  EXPECT_EQ(by_name({{"ef", 1}}), "from_revisions has the election 'ef', which is not observed");
  EXPECT_EQ(by_prefix({{"f", 1}}), "from_revisions has the election 'f', which is not observed");
  EXPECT_EQ(by_name({{"e", 0}}), "from_revisions has 0 for 'e'; revisions start at 1");
  EXPECT_THAT(by_prefix({{"e\n", 1}}), StartsWith("from_revisions: "));

  std::map<std::string, uint64_t> many;
  for (int i = 0; i < 9'999; ++i) many["e" + std::to_string(i)] = 1;
  EXPECT_EQ(by_prefix(many), "");
  many["e"] = 1;
  EXPECT_EQ(by_prefix(many), "from_revisions has 10000 entries; the maximum is 9999");
}

}  // namespace
}  // namespace tenure::testing
