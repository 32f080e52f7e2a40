// Callers that have permission, and ask for more than anybody needs.
#include <fmt/format.h>

#include <latch>
#include <map>
#include <mutex>

#include "tests/hostile/hostile_fixture.h"

namespace tenure::testing {
namespace {

using HostileCallersTest = OneAttackTest;

TEST_P(HostileCallersTest, IsSurvived) { SurviveFor(3s); }

INSTANTIATE_TEST_SUITE_P(All, HostileCallersTest, ::testing::ValuesIn(AttacksByCallers()),
                         AttackName);

// Two identities: one leads, the other one wants all there is.
class HostileIdentityTest : public HostileTlsTest {
 protected:
  void SetUp() override {
    StartWithTls({"--policy", WriteFile("policy.yaml", R"(
identities:
  - name: leader
    sans: [leader]
    rules: [{verbs: [campaign, observe], prefixes: [""]}]
  - name: attacker
    sans: [attacker]
    rules: [{verbs: [campaign, observe], prefixes: [""]}]
    limits: {requests_per_second: 500, sessions: 1}
...
)")});
  }

  // `count` streams on some connections, each opened by `open`, held for more than a lease.
  template <typename Stream>
  void Hold(int count, const std::function<std::unique_ptr<Stream>(v1::ElectionService::Stub&,
                                                                   grpc::ClientContext*)>& open) {
    constexpr size_t kConnections = 6;
    std::vector<std::unique_ptr<v1::ElectionService::Stub>> stubs;
    for (size_t i = 0; i < kConnections; ++i) {
      stubs.push_back(Connect(Server().endpoint(), CredentialsOf("attacker")));
    }
    std::vector<std::pair<std::unique_ptr<grpc::ClientContext>, std::unique_ptr<Stream>>> streams;
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      auto context = std::make_unique<grpc::ClientContext>();
      auto stream = open(*stubs[i % kConnections], context.get());
      streams.emplace_back(std::move(context), std::move(stream));
    }
    Leader().AwaitRenewals(4);  // for more than its lease
    ExpectUnharmed();
    for (auto& [context, stream] : streams) {
      context->TryCancel();
      (void)stream->Finish();
    }
  }
};

TEST_F(HostileIdentityTest, StreamsForSessionsThatDoNotExist) {
  using Stream = grpc::ClientReaderWriter<v1::KeepAliveRequest, v1::KeepAliveResponse>;
  int opened = 0;
  Hold<Stream>(50'000, [&](v1::ElectionService::Stub& stub, grpc::ClientContext* context) {
    auto stream = stub.KeepAlive(context);
    v1::KeepAliveRequest request;
    request.add_session_ids(fmt::format("{:032x}", ++opened));
    stream->Write(request);
    return stream;
  });
}

TEST_F(HostileIdentityTest, ObserversWhoNeverRead) {
  const auto leader = Connect(Server().endpoint(), CredentialsOf("leader"));
  for (int set = 0; set < 20; ++set) {
    CampaignArguments arguments{.candidate = "many", .value = std::string(4'096, 'v')};
    for (int i = 0; i < 32; ++i) arguments.elections.push_back(fmt::format("{} of {}", i, set));
    grpc::ClientContext context;
    v1::CampaignResponse response;
    ASSERT_TRUE(leader->Campaign(&context, ToRequest(arguments), &response).ok());
  }

  Hold<grpc::ClientReader<v1::ObserveResponse>>(
      400, [](v1::ElectionService::Stub& stub, grpc::ClientContext* context) {
        v1::ObserveRequest request;
        request.add_selectors()->set_prefix("");
        return stub.Observe(context, request);
      });
}

// Nobody means harm: a client begins many calls at once, on the connection of its renewals.
TEST_F(HostileTest, ABurstOfOneClientIsServedBesideItsRenewals) {
  if (!grpc::Version().ends_with("(patched)")) GTEST_SKIP() << "nothing is refused without it";
  constexpr size_t kCalls = 5'000;
  const auto stub = Connect(Server().endpoint());
  grpc::ClientContext renewing;
  const auto renewals = stub->KeepAlive(&renewing);
  v1::KeepAliveRequest renewal;
  renewal.add_session_ids(std::string(32, '0'));
  v1::KeepAliveResponse renewed;
  ASSERT_TRUE(renewals->Write(renewal) && renewals->Read(&renewed));

  std::vector<v1::ProclaimRequest> requests(kCalls);  // each is read as a whole, and then refused
  std::vector<grpc::ClientContext> contexts(kCalls);
  std::vector<v1::ProclaimResponse> responses(kCalls);
  std::map<std::string, int> outcomes;
  std::mutex mutex;
  std::latch unanswered(kCalls);
  for (size_t i = 0; i < kCalls; ++i) {
    requests[i].set_election(std::to_string(i));
    requests[i].set_session_id(std::string(32, '0'));
    requests[i].set_term(1);
    requests[i].set_value(std::string(4'000, 'v'));
    stub->async()->Proclaim(&contexts[i], &requests[i], &responses[i],
                            [&](const grpc::Status& status) {
                              const std::lock_guard lock(mutex);
                              ++outcomes[OutcomeOf(status)];
                              unanswered.count_down();
                            });
  }
  unanswered.wait();

  EXPECT_THAT(outcomes, ::testing::ElementsAre(::testing::Pair("SESSION_NOT_FOUND", kCalls)));
  EXPECT_TRUE(renewals->Write(renewal) && renewals->Read(&renewed));
  renewing.TryCancel();
}

}  // namespace
}  // namespace tenure::testing
