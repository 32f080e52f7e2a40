// With a policy, only the identity that opened a session can use it, even if others know its id or
// the request_id that it was opened with.
#include <fstream>

#include "tests/rpc/service_fixture.h"

namespace tenure::testing {
namespace {

constexpr char kPolicy[] = R"(
identities:
  - name: alice
    token_files: [%/alice]
    rules: [{verbs: [campaign, observe], prefixes: [a/, shared/]}]
  - name: mallory
    token_files: [%/mallory]
    rules: [{verbs: [campaign, observe], prefixes: [m/, shared/]}]
  - name: operators
    token_files: [%/operators]
    rules: [{verbs: [inspect, administer], prefixes: [""]}]
)";

// A replica with two tenants, each known by a token.
class SessionOwnerTest : public ::testing::Test {
 protected:
  SessionOwnerTest() {
    for (const std::string name : {"alice", "mallory", "operators"}) {
      std::ofstream(folder_.path() / name) << TokenOf(name) << "\n";
    }
    std::string policy = kPolicy;
    while (policy.find('%') != std::string::npos) {
      policy.replace(policy.find('%'), 1, folder_.path().string());
    }
    std::ofstream(folder_.path() / "policy.yaml") << policy;
    server_ = std::make_unique<Tenured>(Store(), WithPolicy());
  }

  [[nodiscard]] std::string Store() const {
    return "sqlite:" + (folder_.path() / "tenure.db").string();
  }
  [[nodiscard]] std::vector<std::string> WithPolicy() const {
    return {"--policy", (folder_.path() / "policy.yaml").string()};
  }
  static std::string TokenOf(const std::string& name) { return "a-long-token-of-" + name; }

  static void ActAs(grpc::ClientContext& context, const std::string& name) {
    context.AddMetadata("authorization", "Bearer " + TokenOf(name));
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    context.set_wait_for_ready(true);  // a slow machine may not connect at once
  }
  static std::string Outcome(const grpc::Status& status) {
    return status.ok() ? "OK" : ReasonOf(status);
  }

  // Returns the session's id, or the reason of a refusal.
  std::string TryCampaign(const std::string& name, const CampaignArguments& arguments) {
    grpc::ClientContext context;
    ActAs(context, name);
    v1::CampaignResponse response;
    const auto status = server_->stub().Campaign(&context, ToRequest(arguments), &response);
    return status.ok() ? response.session().session_id() : ReasonOf(status);
  }
  std::string TryResign(const std::string& name, const std::string& session,
                        const std::string& election = "") {
    grpc::ClientContext context;
    ActAs(context, name);
    v1::ResignRequest request;
    request.set_session_id(session);
    request.set_election(election);
    v1::ResignResponse response;
    return Outcome(server_->stub().Resign(&context, request, &response));
  }
  std::string TryProclaim(const std::string& name, const std::string& session,
                          const std::string& election) {
    grpc::ClientContext context;
    ActAs(context, name);
    v1::ProclaimRequest request;
    request.set_session_id(session);
    request.set_election(election);
    request.set_term(1);
    request.set_value("mine");
    v1::ProclaimResponse response;
    return Outcome(server_->stub().Proclaim(&context, request, &response));
  }
  // Renews on a stream of its own.
  v1::SessionRenewal TryRenew(const std::string& name, const std::string& session) {
    grpc::ClientContext context;
    ActAs(context, name);
    const auto stream = server_->stub().KeepAlive(&context);
    v1::KeepAliveRequest request;
    request.add_session_ids(session);
    stream->Write(request);
    stream->WritesDone();
    v1::KeepAliveResponse response;
    v1::SessionRenewal renewal;
    while (stream->Read(&response)) {
      if (response.has_renewal()) renewal = response.renewal().sessions(0);
    }
    EXPECT_EQ(Outcome(stream->Finish()), "OK");
    return renewal;
  }
  v1::LeaderResponse Leader(const std::string& election) {
    grpc::ClientContext context;
    ActAs(context, "alice");
    v1::LeaderRequest request;
    request.set_election(election);
    v1::LeaderResponse response;
    EXPECT_EQ(Outcome(server_->stub().Leader(&context, request, &response)), "OK");
    return response;
  }

  TempDir folder_;
  std::unique_ptr<Tenured> server_;
};

constexpr char kRequestId[] = "sixteen bytes or more";

TEST_F(SessionOwnerTest, ARequestIdOfAnotherIdentityOpensAnotherSession) {
  const std::string alice =
      TryCampaign("alice", {.election = "a/1", .candidate = "worker", .request_id = kRequestId});
  ASSERT_EQ(alice.size(), 32u) << alice;

  const std::string mallory =
      TryCampaign("mallory", {.election = "m/1", .candidate = "worker", .request_id = kRequestId});

  ASSERT_EQ(mallory.size(), 32u) << mallory;
  EXPECT_NE(mallory, alice);
  EXPECT_EQ(TryResign("mallory", mallory), "OK");
  EXPECT_EQ(Leader("a/1").leader().candidate(), "worker");
  // The same identity finds the same session, even after a restart.
  server_->Kill();
  server_->Start();
  EXPECT_EQ(
      TryCampaign("alice", {.election = "a/1", .candidate = "worker", .request_id = kRequestId}),
      alice);
}

TEST_F(SessionOwnerTest, AStolenIdIsUseless) {
  const std::string session = TryCampaign("alice", {.election = "shared/1", .candidate = "worker"});
  ASSERT_EQ(session.size(), 32u) << session;
  const auto stolen = [&](CampaignArguments arguments) {
    arguments.session_id = session;
    return TryCampaign("mallory", arguments);
  };

  EXPECT_EQ(stolen({.election = "m/1"}), "SESSION_NOT_FOUND");
  EXPECT_EQ(stolen({.elections = {"m/1", "m/2"}}), "SESSION_NOT_FOUND");
  EXPECT_EQ(stolen({.election = "shared/1"}), "SESSION_NOT_FOUND");
  EXPECT_TRUE(TryRenew("mallory", session).not_found());
  EXPECT_EQ(TryRenew("mallory", session).seats_size(), 0);
  EXPECT_EQ(TryProclaim("mallory", session, "shared/1"), "SESSION_NOT_FOUND");
  EXPECT_EQ(TryResign("mallory", session, "shared/1"), "SESSION_NOT_FOUND");
  EXPECT_EQ(TryResign("mallory", session), "SESSION_NOT_FOUND");

  // Nothing has changed, and its owner may do all of that.
  EXPECT_EQ(Leader("shared/1").leader().value(), "");
  EXPECT_EQ(TryRenew("alice", session).seats_size(), 1);
  EXPECT_EQ(TryProclaim("alice", session, "shared/1"), "OK");
  EXPECT_EQ(TryCampaign("alice", {.election = "a/2", .session_id = session}), session);
  EXPECT_EQ(TryResign("alice", session, "shared/1"), "OK");
  EXPECT_EQ(TryResign("alice", session), "OK");
}

TEST_F(SessionOwnerTest, AStolenIdIsAnsweredLikeAnUnknownOne) {
  const std::string session = TryCampaign("alice", {.election = "a/1", .candidate = "worker"});
  ASSERT_EQ(TryResign("alice", session), "OK");
  const std::string nobodys(32, '7');

  for (const std::string& id : {session, nobodys}) {
    EXPECT_TRUE(TryRenew("mallory", id).not_found());
    EXPECT_EQ(TryResign("mallory", id), "SESSION_NOT_FOUND");
    EXPECT_EQ(TryCampaign("mallory", {.election = "m/1", .session_id = id}), "SESSION_NOT_FOUND");
  }
  EXPECT_EQ(TryRenew("alice", session).ended(), v1::CAUSE_SESSION_CLOSED);
}

TEST_F(SessionOwnerTest, AStreamShowsNothingOfAStolenSession) {
  const std::string session = TryCampaign("alice", {.election = "shared/1", .candidate = "worker"});
  const std::string own = TryCampaign("mallory", {.election = "m/1", .candidate = "m"});
  grpc::ClientContext context;
  ActAs(context, "mallory");
  const auto stream = server_->stub().KeepAlive(&context);
  v1::KeepAliveRequest request;
  request.add_session_ids(session);
  request.add_session_ids(own);
  stream->Write(request);
  v1::KeepAliveResponse response;
  ASSERT_TRUE(stream->Read(&response));
  ASSERT_TRUE(response.renewal().sessions(0).not_found());

  ASSERT_EQ(TryResign("alice", session, "shared/1"), "OK");
  ASSERT_EQ(TryResign("alice", session), "OK");
  ASSERT_EQ(TryResign("mallory", own), "OK");

  // The loss of the seat and the end of the session, in either order.
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(stream->Read(&response));
    EXPECT_EQ(response.has_notice() ? response.notice().session_id()
                                    : response.session_ended().session_id(),
              own)
        << response.ShortDebugString();
  }
  context.TryCancel();
  EXPECT_FALSE(stream->Read(&response));
  stream->Finish();
}

TEST_F(SessionOwnerTest, APolicyThatIsSwitchedOnCostsNobodyItsSeat) {
  server_.reset();
  server_ = std::make_unique<Tenured>(Store());
  const std::string session = TryCampaign("alice", {.election = "a/1", .candidate = "worker"});
  ASSERT_EQ(session.size(), 32u) << session;
  server_.reset();

  server_ = std::make_unique<Tenured>(Store(), WithPolicy());

  EXPECT_EQ(TryRenew("alice", session).seats_size(), 1);
  EXPECT_EQ(TryProclaim("alice", session, "a/1"), "OK");
}

TEST_F(SessionOwnerTest, OperatorsEndEverySession) {
  const std::string session = TryCampaign("alice", {.election = "a/1", .candidate = "worker"});
  grpc::ClientContext context;
  ActAs(context, "operators");
  v1::EndSessionRequest request;
  request.set_handle(session.substr(0, 16));
  v1::EndSessionResponse response;

  EXPECT_EQ(Outcome(server_->admin().EndSession(&context, request, &response)), "OK");

  EXPECT_TRUE(response.ended());
  EXPECT_EQ(TryRenew("alice", session).ended(), v1::CAUSE_DEPOSED);
}

}  // namespace
}  // namespace tenure::testing
