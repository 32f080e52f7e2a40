// Fenced gRPC calls: a server of this process whose handlers are guarded, and clients of it.
#include "tenure/fence.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <stdexcept>
#include <thread>

#include "tests/client/elector_fixture.h"

namespace tenure::testing {
namespace {

using ::testing::ElementsAre;

// A resource that leaders write to. Its methods have the shape of an existing service.
class Resource final : public v1::ElectionService::Service {
 public:
  explicit Resource(TermGuardOptions options = {}) : guard(std::move(options)) {}

  grpc::Status Proclaim(grpc::ServerContext* context, const v1::ProclaimRequest* request,
                        v1::ProclaimResponse*) override {
    const auto entry = guard.Enter(*context, request->election());
    if (!entry.ok()) return entry.status();
    return Write();
  }
  grpc::Status Leader(grpc::ServerContext* context, const v1::LeaderRequest* request,
                      v1::LeaderResponse*) override {
    const grpc::Status checked = guard.Check(*context, request->election());
    return checked.ok() ? Write() : checked;
  }
  grpc::Status Observe(grpc::ServerContext*, const v1::ObserveRequest*,
                       grpc::ServerWriter<v1::ObserveResponse>*) override {
    return Write();
  }
  grpc::Status KeepAlive(
      grpc::ServerContext*,
      grpc::ServerReaderWriter<v1::KeepAliveResponse, v1::KeepAliveRequest>*) override {
    return Write();
  }

  grpc::Status Write() {
    ++writes;
    return grpc::Status::OK;
  }

  TermGuard guard;
  std::atomic<int> writes = 0;
};

// A resource behind a port.
class Served {
 public:
  explicit Served(
      TermGuardOptions options = {},
      std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>>
          interceptors = {})
      : resource(std::move(options)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(&resource);
    builder.experimental().SetInterceptorCreators(std::move(interceptors));
    server_ = builder.BuildAndStart();
    client_ = NewClient();
  }

  // All calls of this client are fenced by an interceptor, if there is a term.
  [[nodiscard]] std::unique_ptr<v1::ElectionService::Stub> NewClient(
      const std::string& election = "", std::function<uint64_t()> term = nullptr) const {
    std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>> factories;
    if (term) factories.push_back(FenceCalls(election, std::move(term)));
    return v1::ElectionService::NewStub(grpc::experimental::CreateCustomChannelWithInterceptors(
        "127.0.0.1:" + std::to_string(port_), grpc::InsecureChannelCredentials(), {},
        std::move(factories)));
  }

  // One call, with these metadata.
  [[nodiscard]] grpc::Status Call(const std::multimap<std::string, std::string>& metadata,
                                  const std::string& election = "e") const {
    grpc::ClientContext context;
    for (const auto& [key, value] : metadata) context.AddMetadata(key, value);
    return Call(context, election);
  }
  [[nodiscard]] grpc::Status Call(const Fence& fence) const {
    grpc::ClientContext context;
    Attach(fence, context);
    return Call(context, fence.election);
  }
  [[nodiscard]] grpc::Status Call(grpc::ClientContext& context, const std::string& election) const {
    v1::ProclaimRequest request;
    request.set_election(election);
    v1::ProclaimResponse response;
    return client_->Proclaim(&context, request, &response);
  }

  Resource resource;

 private:
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1::ElectionService::Stub> client_;
};

// "OK", or the code's reason.
std::string Outcome(const grpc::Status& status) { return status.ok() ? "OK" : ReasonOf(status); }

constexpr auto kNoDeadline = std::chrono::system_clock::time_point::max();

TEST(FenceTest, ATermIsLetInUntilAHigherOneIsSeen) {
  Served served;

  EXPECT_EQ(Outcome(served.Call({"e", 7})), "OK");
  EXPECT_EQ(Outcome(served.Call({"e", 7})), "OK");
  EXPECT_EQ(Outcome(served.Call({"e", 9})), "OK");
  EXPECT_EQ(Outcome(served.Call({"e", 8})), "STALE_TERM");
  EXPECT_EQ(Outcome(served.Call({"f", 1})), "OK");

  EXPECT_EQ(served.resource.writes, 4);
  EXPECT_EQ(served.resource.guard.highest("e"), 9);
}

TEST(FenceTest, AStaleCallGetsTheHighestTerm) {
  const Served served;
  EXPECT_EQ(Outcome(served.Call({"e", 9})), "OK");

  const grpc::Status status = served.Call({"e", 8});

  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(InfoOf(status).domain(), "tenure.v1");
  EXPECT_EQ(InfoOf(status).metadata().at("current_term"), "9");
}

TEST(FenceTest, ANameMayBeAnyUtf8AndATermAnyNumber) {
  const Served served;

  for (const std::string name :
       {"r\xc3\xa4te/\xe2\x98\x83", "a b", "\xf0\x9f\x97\xb3 ,;=\"", " "}) {
    EXPECT_EQ(Outcome(served.Call({name, UINT64_MAX})), "OK") << name;
    EXPECT_EQ(Outcome(served.Call({name, UINT64_MAX - 1})), "STALE_TERM") << name;
  }
}

TEST(FenceTest, ACallWithoutExactlyOneFenceIsRefused) {
  using Metadata = std::multimap<std::string, std::string>;
  const Served served;
  const std::pair<std::string, std::string> election{kElectionMetadata, "e"},
      term{kTermMetadata, "7"};

  EXPECT_EQ(Outcome(served.Call(Metadata{})), "INVALID_ELECTION_NAME");
  EXPECT_EQ(Outcome(served.Call(Metadata{term})), "INVALID_ELECTION_NAME");
  EXPECT_EQ(Outcome(served.Call(Metadata{election})), "INVALID_TERM");
  EXPECT_EQ(Outcome(served.Call(Metadata{election, term, term})), "INVALID_TERM");
  EXPECT_EQ(Outcome(served.Call(Metadata{election, election, term})), "INVALID_ELECTION_NAME");
  for (const std::string wrong :
       {"0", "", " 7", "7 ", "-7", "+7", "7x", "0x7", "18446744073709551616"}) {
    EXPECT_EQ(Outcome(served.Call(Metadata{election, {kTermMetadata, wrong}})), "INVALID_TERM")
        << wrong;
  }

  EXPECT_EQ(served.resource.writes, 0);
}

TEST(FenceTest, ATermOfAnotherElectionIsRefused) {
  const Served served;
  grpc::ClientContext context;
  Attach({"f", 7}, context);

  EXPECT_EQ(Outcome(served.Call(context, "e")), "INVALID_ELECTION_NAME");

  EXPECT_EQ(served.resource.writes, 0);
  EXPECT_EQ(served.resource.guard.highest("e"), 0);
}

TEST(FenceTest, AHandlerMayCheckWithoutStaying) {
  Served served;
  served.resource.guard.Raise({"e", 9});
  const auto client = served.NewClient();
  const auto call = [&](uint64_t term) {
    grpc::ClientContext context;
    Attach({"e", term}, context);
    v1::LeaderRequest request;
    request.set_election("e");
    v1::LeaderResponse response;
    return Outcome(client->Leader(&context, request, &response));
  };

  EXPECT_EQ(call(8), "STALE_TERM");
  EXPECT_EQ(call(9), "OK");
  EXPECT_EQ(call(10), "OK");
}

TEST(TermGuardTest, AHigherTermWaitsUntilLowerOnesHaveLeft) {
  TermGuard guard;
  Diary diary;
  std::optional<TermGuard::Entry> first = guard.Enter({"e", 1}, kNoDeadline);
  std::optional<TermGuard::Entry> also_first = guard.Enter({"e", 1}, kNoDeadline);

  std::thread second([&] {
    const auto entry = guard.Enter({"e", 2}, kNoDeadline);
    diary.Write(entry.ok() ? "second" : "refused");
  });
  EXPECT_TRUE(Eventually([&] { return guard.highest("e") == 2; }));
  EXPECT_EQ(Outcome(guard.Enter({"e", 1}, kNoDeadline).status()), "STALE_TERM");
  first.reset();
  diary.Write("first");
  also_first.reset();
  second.join();

  EXPECT_THAT(diary.Lines(), ElementsAre("first", "second"));
}

TEST(TermGuardTest, AWaitingCallIsRefusedWhenAHigherTermComes) {
  TermGuard guard;
  std::optional<TermGuard::Entry> first = guard.Enter({"e", 1}, kNoDeadline);

  std::thread second([&] {
    EXPECT_EQ(Outcome(guard.Enter({"e", 2}, kNoDeadline).status()), "STALE_TERM");
  });
  EXPECT_TRUE(Eventually([&] { return guard.highest("e") == 2; }));
  guard.Raise({"e", 3});

  second.join();
}

TEST(TermGuardTest, RaiseMayThrow) {
  bool broken = true;
  TermGuard guard({.raise = [&](const Fence& fence) -> tl::expected<uint64_t, grpc::Status> {
    if (broken) throw std::runtime_error("no connection");
    return fence.term;
  }});

  const auto refused = guard.Enter({"e", 1}, kNoDeadline).status();
  broken = false;

  EXPECT_EQ(refused.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_EQ(refused.error_message(), "no connection");
  EXPECT_TRUE(guard.Enter({"e", 1}, std::chrono::system_clock::now() + kPatience).ok());
}

TEST(TermGuardTest, ACallWaitsNoLongerThanAllowed) {
  TermGuard impatient({.wait_max = 0ms});
  TermGuard patient;
  const auto within = impatient.Enter({"e", 1}, kNoDeadline);
  const auto also_within = patient.Enter({"e", 1}, kNoDeadline);

  EXPECT_EQ(impatient.Enter({"e", 2}, kNoDeadline).status().error_code(),
            grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(patient.Enter({"e", 2}, std::chrono::system_clock::now()).status().error_code(),
            grpc::StatusCode::UNAVAILABLE);
}

TEST(TermGuardTest, EntriesMayOutliveTheirGuard) {
  auto guard = std::make_unique<TermGuard>();
  const auto entry = guard->Enter({"e", 1}, kNoDeadline);

  guard.reset();

  EXPECT_TRUE(entry.ok());
}

TEST(TermGuardTest, AFullGuardRefusesFurtherElectionsAndForgetsNone) {
  TermGuard guard({.elections_max = 2});
  EXPECT_TRUE(guard.Enter({"a", 5}, kNoDeadline).ok());
  EXPECT_TRUE(guard.Enter({"b", 5}, kNoDeadline).ok());

  EXPECT_EQ(guard.Enter({"c", 5}, kNoDeadline).status().error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(Outcome(guard.Enter({"a", 4}, kNoDeadline).status()), "STALE_TERM");
}

TEST(TermGuardTest, AHigherTermIsStoredBeforeItIsLetIn) {
  Diary diary;
  uint64_t kept = 3;  // by an earlier process
  TermGuard guard({.raise = [&](const Fence& fence) -> tl::expected<uint64_t, grpc::Status> {
    diary.Write(fence.election + " " + std::to_string(fence.term));
    return kept = std::max(kept, fence.term);
  }});

  EXPECT_EQ(Outcome(guard.Enter({"e", 2}, kNoDeadline).status()), "STALE_TERM");
  EXPECT_EQ(Outcome(guard.Enter({"e", 3}, kNoDeadline).status()), "OK");
  guard.Raise({"e", 4});
  EXPECT_EQ(Outcome(guard.Enter({"e", 4}, kNoDeadline).status()), "OK");
  EXPECT_EQ(Outcome(guard.Enter({"e", 4}, kNoDeadline).status()), "OK");

  EXPECT_THAT(diary.Lines(), ElementsAre("e 2", "e 4"));
}

TEST(TermGuardTest, ATermThatCannotBeStoredIsNotLetIn) {
  bool broken = true;
  TermGuard guard({.raise = [&](const Fence& fence) -> tl::expected<uint64_t, grpc::Status> {
    if (broken) return tl::unexpected(grpc::Status(grpc::StatusCode::INTERNAL, "disk full"));
    return fence.term;
  }});

  EXPECT_EQ(guard.Enter({"e", 1}, kNoDeadline).status().error_message(), "disk full");
  EXPECT_EQ(guard.highest("e"), 0);
  broken = false;

  EXPECT_TRUE(guard.Enter({"e", 1}, kNoDeadline).ok());
}

TEST(TermGuardTest, ALowerTermThanTheCallsIsNotStored) {
  uint64_t kept = 0;
  TermGuard guard({.raise = [&](const Fence& fence) { return std::exchange(kept, fence.term); }});

  EXPECT_EQ(guard.Enter({"e", 5}, kNoDeadline).status().error_message(),
            "term 5 of election 'e' is not stored: `raise` returned 0");
  EXPECT_EQ(guard.highest("e"), 0);

  EXPECT_TRUE(guard.Enter({"e", 5}, kNoDeadline).ok());
}

TEST(TermGuardTest, TheEffectsOfTermsNeverMix) {
  TermGuard guard({.raise = [](const Fence& fence) { return fence.term; }});
  std::mutex mutex;
  std::vector<uint64_t> effects;  // guarded by mutex

  std::vector<std::thread> callers;
  for (uint64_t caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&, caller] {
      for (uint64_t i = 0; i < 500; ++i) {
        const uint64_t term = 1 + i / 4 + caller % 3;
        const auto entry = guard.Enter({"e", term}, kNoDeadline);
        if (!entry.ok()) continue;
        const std::lock_guard lock(mutex);
        effects.push_back(term);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();

  EXPECT_TRUE(std::ranges::is_sorted(effects));
  EXPECT_EQ(effects.back(), 127);
}

TEST(FenceCallsTest, EachCallCarriesTheTermAtItsStart) {
  const Served served;
  std::atomic<uint64_t> term = 7;
  const auto client = served.NewClient("e", [&] { return term.load(); });
  const auto call = [&] {
    grpc::ClientContext context;
    v1::ProclaimRequest request;
    request.set_election("e");
    v1::ProclaimResponse response;
    return Outcome(client->Proclaim(&context, request, &response));
  };

  EXPECT_EQ(call(), "OK");
  EXPECT_EQ(served.resource.guard.highest("e"), 7);
  term = 8;
  EXPECT_EQ(call(), "OK");
  EXPECT_EQ(served.resource.guard.highest("e"), 8);
  term = 7;
  EXPECT_EQ(call(), "STALE_TERM");
}

TEST(FenceCallsTest, ANonLeaderSendsNothing) {
  const Served served;
  const auto client = served.NewClient("e", [] { return 0; });

  {
    grpc::ClientContext context;
    v1::ProclaimResponse response;
    const grpc::Status status = client->Proclaim(&context, {}, &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
    EXPECT_EQ(Outcome(status), "NOT_LEADER");
  }
  {
    grpc::ClientContext context;
    v1::ProclaimRequest request;
    v1::ProclaimResponse response;
    std::promise<grpc::Status> done;
    client->async()->Proclaim(&context, &request, &response,
                              [&](const grpc::Status& status) { done.set_value(status); });
    EXPECT_EQ(Outcome(done.get_future().get()), "NOT_LEADER");
  }
  {
    grpc::ClientContext context;
    const auto reader = client->Observe(&context, {});
    v1::ObserveResponse response;
    EXPECT_FALSE(reader->Read(&response));
    EXPECT_EQ(Outcome(reader->Finish()), "NOT_LEADER");
  }
  {
    grpc::ClientContext context;
    const auto stream = client->KeepAlive(&context);
    v1::KeepAliveResponse response;
    EXPECT_FALSE(stream->Write({}));
    EXPECT_FALSE(stream->Read(&response));
    EXPECT_EQ(Outcome(stream->Finish()), "NOT_LEADER");
  }

  EXPECT_EQ(served.resource.writes, 0);
}

TEST(FenceCallsTest, ACallPreparedInATermIsNotSentAfterIt) {
  const Served served;
  std::atomic<uint64_t> term;
  const auto client = served.NewClient("e", [&] { return term.load(); });
  v1::ProclaimRequest request;
  request.set_election("e");
  const auto call = [&](uint64_t at_its_start) {
    term = 7;
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    v1::ProclaimResponse response;
    grpc::Status status;
    const auto prepared = client->PrepareAsyncProclaim(&context, request, &queue);
    term = at_its_start;
    prepared->StartCall();
    prepared->Finish(&response, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    return Outcome(status);
  };

  EXPECT_EQ(call(7), "OK");
  EXPECT_EQ(call(0), "NOT_LEADER");
  EXPECT_EQ(call(9), "NOT_LEADER");  // what it says was decided in term 7

  EXPECT_EQ(served.resource.writes, 1);
  EXPECT_EQ(served.resource.guard.highest("e"), 7);
}

// Why fence.h has nothing for whole services. If this fails, gRPC can do it now: reconsider.
TEST(GrpcTest, AServersInterceptorCannotKeepAHandlerFromRunning) {
  class Cancelling final : public grpc::experimental::Interceptor {
   public:
    explicit Cancelling(grpc::experimental::ServerRpcInfo* info) : info_(info) {}
    void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
      using grpc::experimental::InterceptionHookPoints;
      if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_INITIAL_METADATA)) {
        info_->server_context()->TryCancel();
      }
      methods->Proceed();
    }

   private:
    grpc::experimental::ServerRpcInfo* const info_;
  };
  class Factory final : public grpc::experimental::ServerInterceptorFactoryInterface {
   public:
    grpc::experimental::Interceptor* CreateServerInterceptor(
        grpc::experimental::ServerRpcInfo* info) override {
      return new Cancelling(info);
    }
  };
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> factories;
  factories.push_back(std::make_unique<Factory>());
  const Served served({}, std::move(factories));

  EXPECT_EQ(served.Call({"e", 1}).error_code(), grpc::StatusCode::CANCELLED);

  EXPECT_TRUE(Eventually([&] { return served.resource.writes == 1; }));
}

using FencedElectorTest = ElectorTest;
INSTANTIATE_TEST_SUITE_P(Stores, FencedElectorTest, ::testing::Values(StoreKind::kSqlite),
                         StoreKindName);

TEST_P(FencedElectorTest, AnOldLeaderIsRefusedAsOfItsSuccessorsFirstCall) {
  const Served served;
  Diary diary_a, diary_b;
  Elector a(NewClient("a", 4s), diary_a.Options("e"));
  diary_a.WaitFor("elected 1");
  const auto client_a = served.NewClient("e", [&] { return a.term(); });
  EXPECT_EQ(Outcome(served.Call({"e", a.term()})), "OK");

  a.Resign();
  diary_a.WaitFor("lost 1 RESIGNED");
  const Elector b(NewClient("b"), diary_b.Options("e"));
  diary_b.WaitFor("elected 2");
  EXPECT_EQ(Outcome(served.Call({"e", b.term()})), "OK");

  EXPECT_EQ(Outcome(served.Call({"e", 1})), "STALE_TERM");
  grpc::ClientContext context;
  v1::ProclaimResponse response;
  EXPECT_EQ(Outcome(client_a->Proclaim(&context, {}, &response)), "NOT_LEADER");
}

TEST_P(FencedElectorTest, ALeaderWhoseLeaseHasEndedSendsNothing) {
  const Served served;
  Diary diary;
  const Elector elector(NewClient("a", 3s), diary.Options("e"));
  diary.WaitFor("elected 1");
  const auto client = served.NewClient("e", [&] { return elector.term(); });
  for (auto& server : servers_) server->Kill();

  EXPECT_TRUE(Eventually([&] { return !elector.IsLeader(); }));

  grpc::ClientContext context;
  v1::ProclaimResponse response;
  EXPECT_EQ(Outcome(client->Proclaim(&context, {}, &response)), "NOT_LEADER");
  EXPECT_EQ(elector.term(), 0);
  EXPECT_LE(elector.remaining(), 0ns);
}

}  // namespace
}  // namespace tenure::testing
