// TLS, client certificates, tokens and the policy: who is let in, and what goes on when
// certificates and policies change. Scenario 25 is the last of these.
#include <cmath>
#include <fstream>
#include <thread>

#include "client/cpp/io/connection.h"
#include "tenure/credentials.h"
#include "tests/rpc/service_fixture.h"
#include "tests/support/certificates.h"
#include "tls/serial.h"

namespace tenure::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using Credentials = std::shared_ptr<grpc::ChannelCredentials>;

constexpr char kPolicy[] = R"(
identities:
  - name: orders
    sans: ["spiffe://prod/orders"]
    rules: [{verbs: [campaign, observe], prefixes: ["orders/"]}]
  - name: reports
    subjects: ["CN=reports"]
    token_files: [%/tokens]
    rules: [{verbs: [observe], prefixes: [""]}]
    limits: {requests_per_second: 3}
  - name: operators
    sans: [operators.prod.svc]
    rules: [{verbs: [inspect, administer], prefixes: [""]}]
  - name: nobody
    sans: [nobody.prod.svc]
  - name: elsewhere
    sans: [elsewhere.prod.svc]
    rules: [{verbs: [campaign, observe, inspect, administer], prefixes: [elsewhere/]}]
)";
constexpr char kToken[] = "a-token-of-the-reports";

// One replica that serves TLS, asks for certificates, and has a policy.
class AccessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    PublishTls();
    PublishPolicy(kPolicy);
    std::ofstream(folder_.path() / "tokens") << kToken << "\n";
    Start(Tls("ca.crt"));
  }
  // Trusts the clients' certificates that `authority` signed.
  void Start(const std::string& authority) {
    server_ = std::make_unique<Tenured>(
        "sqlite::memory:",
        std::vector<std::string>{"--tls-cert", Tls("tls.crt"), "--tls-key", Tls("tls.key"),
                                 "--tls-client-ca", authority, "--tls-client-certs", "optional",
                                 "--policy", File("policy.yaml")});
  }

  [[nodiscard]] std::string File(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  [[nodiscard]] std::string Tls(const std::string& name) const { return File("tls/" + name); }

  // A new certificate for the server.
  void PublishTls() {
    const KeyPair pair = authority_.Issue("tenured", "IP:127.0.0.1");
    PublishFiles(File("tls"), {{"tls.crt", pair.certificate},
                               {"tls.key", pair.key},
                               {"ca.crt", authority_.certificate()}});
  }
  void PublishPolicy(std::string text) {
    if (const size_t at = text.find('%'); at != std::string::npos) {
      text.replace(at, 1, folder_.path().string());
    }
    std::ofstream(File("policy.new")) << text;
    std::filesystem::rename(File("policy.new"), File("policy.yaml"));
  }

  // Credentials with a certificate of this name.
  [[nodiscard]] Credentials With(const std::string& name, const std::string& san,
                                 std::chrono::seconds valid_for = std::chrono::hours(1)) const {
    return Showing(authority_.Issue(name, san, valid_for));
  }
  [[nodiscard]] Credentials Showing(const KeyPair& pair) const {
    return grpc::SslCredentials({authority_.certificate(), pair.key, pair.certificate});
  }
  [[nodiscard]] Credentials Orders() const { return With("worker", "URI:spiffe://prod/orders"); }
  [[nodiscard]] Credentials Operators() const { return With("op", "DNS:operators.prod.svc"); }
  [[nodiscard]] Credentials Reports() const {
    std::ofstream(File("token")) << kToken << "\n";
    return TlsCredentials({.ca = Tls("ca.crt"), .token = File("token")});
  }

  // A channel on a connection of its own.
  [[nodiscard]] std::shared_ptr<grpc::Channel> Channel(const Credentials& credentials) const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(server_->endpoint(), credentials, arguments);
  }
  [[nodiscard]] std::string Try(const Credentials& credentials, const std::string& election) const {
    return TryOn(*v1::ElectionService::NewStub(Channel(credentials)), election);
  }
  static std::string TryOn(v1::ElectionService::Stub& stub, const std::string& election) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    v1::CampaignResponse response;
    const auto status = stub.Campaign(
        &context, ToRequest({.election = election, .candidate = "c", .lease_ttl = 30s}), &response);
    return OutcomeOf(status);
  }
  [[nodiscard]] std::string TryLeader(const Credentials& credentials) const {
    return TryLeaderOn(*v1::ElectionService::NewStub(Channel(credentials)));
  }
  static std::string TryLeaderOn(v1::ElectionService::Stub& stub) {
    grpc::ClientContext context;
    v1::LeaderRequest request;
    request.set_election("orders/eu");
    v1::LeaderResponse response;
    const auto status = stub.Leader(&context, request, &response);
    return OutcomeOf(status);
  }

  // The serial number of the server's certificate, as a client sees it.
  [[nodiscard]] std::string SerialOfTheServer() const {
    return RunToEnd({"sh", "-c",
                     "openssl s_client -alpn h2 -connect " + server_->endpoint() +
                         " </dev/null 2>/dev/null | openssl x509 -noout -serial"})
        .output;
  }
  [[nodiscard]] bool Logged(const std::string& text) const {
    return server_->process().Errors().find(text) != std::string::npos;
  }
  [[nodiscard]] bool Shows(const std::string& metric) const {
    return server_->Get("/metrics").second.find("\n" + metric + "\n") != std::string::npos;
  }

  // The outcome of each call, by its method's name.
  [[nodiscard]] std::map<std::string, std::string> OutcomesOfAllCalls(
      const Credentials& credentials) const {
    const auto channel = Channel(credentials);
    std::map<std::string, std::string> outcomes;
    for (const auto* method : AllMethods()) {
      outcomes[method->name()] = OutcomeOf(SendBytes(channel, *method, ""));
    }
    return outcomes;
  }

  const CertificateAuthority authority_{"the authority"};
  TempDir folder_;
  std::unique_ptr<Tenured> server_;
};

TEST_F(AccessTest, TheRightClientCampaignsAndTheWrongOneIsRefused) {
  EXPECT_EQ(Try(Orders(), "orders/eu"), "OK");

  EXPECT_EQ(Try(Orders(), "billing"), "PERMISSION_DENIED");
  EXPECT_EQ(Try(Operators(), "orders/eu"), "PERMISSION_DENIED");
  EXPECT_EQ(Try(With("stranger", "DNS:stranger.prod.svc"), "orders/eu"), "PERMISSION_DENIED");
  EXPECT_EQ(Try(TlsCredentials({.ca = Tls("ca.crt")}), "orders/eu"), "PERMISSION_DENIED");
}

// gRPC itself would end the process at some of these, though their authority is trusted.
TEST_F(AccessTest, FaultyNamesInACertificateAreRefusedInTheHandshake) {
  std::string many = "URI:spiffe://prod/orders";
  for (int i = 0; i < 256; ++i) many += ",DNS:" + std::to_string(i);
  for (const std::string& names :
       {std::string("DER:30:02:87:00"),                 // no IP address
        std::string("DER:30:07:87:05:01:02:03:04:05"),  // of 5 bytes
        "DER:30:13:87:11" + std::string(":00:00:00:00:00:00:00:00") + ":00:00:00:00:00:00:00:00:01",
        std::string("DER:30:05:82:03:61:00:62"),  // "a\0b"
        std::string("DER:30:02:86:00"),           // ""
        std::string("DER:30:05:82"),              // cut off
        many}) {
    EXPECT_EQ(Try(With("worker", names), "orders/eu"), "UNREACHABLE") << names;
    ASSERT_TRUE(server_->process().Running()) << names << server_->process().Errors();
  }

  EXPECT_EQ(Try(Orders(), "orders/eu"), "OK");
}

TEST_F(AccessTest, ACertificateNeedsNoSubject) {
  EXPECT_EQ(Try(With("", "URI:spiffe://prod/orders"), "orders/eu"), "OK");
  EXPECT_EQ(Try(With("", ""), "orders/eu"), "PERMISSION_DENIED");
}

class NameConstraintsTest : public AccessTest {
 protected:
  // What a client gets whose certificate has these names, if the authority has these constraints.
  std::string TryUnder(const std::string& constraints, const std::string& names) {
    const CertificateAuthority constrained("constrained", constraints);
    std::ofstream(File("constrained.crt")) << constrained.certificate();
    Start(File("constrained.crt"));
    const KeyPair pair = constrained.Issue("worker", names);
    const std::string outcome = Try(Showing(pair), "orders/eu");
    EXPECT_TRUE(server_->process().Running()) << server_->process().Errors();
    return outcome;
  }
};

TEST_F(NameConstraintsTest, TheNamesThatAnAuthorityMaySignAreServedAndNoOthers) {
  EXPECT_EQ(TryUnder("permitted;URI:prod", "URI:spiffe://prod/orders"), "OK");
  EXPECT_EQ(TryUnder("permitted;URI:prod", "URI:spiffe://test/orders"), "UNREACHABLE");
  EXPECT_EQ(TryUnder("excluded;URI:prod", "URI:spiffe://prod/orders"), "UNREACHABLE");
  EXPECT_EQ(TryUnder("excluded;URI:prod", ""), "PERMISSION_DENIED");
}

TEST_F(NameConstraintsTest, AMalformedConstraintIsRefusedInTheHandshake) {
  const std::string address_of_two_bytes = "DER:30:08:A1:06:30:04:87:02:7F:00";

  EXPECT_EQ(TryUnder(address_of_two_bytes, "IP:127.0.0.1"), "UNREACHABLE");
}

TEST_F(AccessTest, EveryRefusalIsLoggedButNeverAToken) {
  (void)Try(Orders(), "billing");
  (void)Try(Reports(), "orders/eu");

  EXPECT_TRUE(Eventually([&] {
    return server_->process().Errors().find(
               "identity 'orders' lacks the verb 'campaign' for election 'billing'") !=
               std::string::npos &&
           server_->process().Errors().find("identity 'reports' lacks the verb 'campaign'") !=
               std::string::npos;
  })) << server_->process().Errors();
  EXPECT_THAT(server_->process().Errors(), Not(HasSubstr(kToken)));
}

TEST_F(AccessTest, AnIdentityWithoutRulesIsRefusedEveryCall) {
  auto outcomes = OutcomesOfAllCalls(With("nobody", "DNS:nobody.prod.svc"));

  EXPECT_THAT(outcomes, SizeIs(21));
  EXPECT_EQ(outcomes.extract("Identify").mapped(), "OK");  // any identity may
  for (const auto& [method, outcome] : outcomes) EXPECT_EQ(outcome, "PERMISSION_DENIED") << method;
}

// All requests are empty, so they are about an election without a name, or about none.
TEST_F(AccessTest, AnIdentityOfOtherElectionsIsRefusedEveryCallHere) {
  auto outcomes = OutcomesOfAllCalls(With("else", "DNS:elsewhere.prod.svc"));

  for (const std::string about_a_session : {"KeepAlive", "Resign"}) {
    EXPECT_EQ(outcomes.extract(about_a_session).mapped(), "INVALID_SESSION_ID");
  }
  EXPECT_EQ(outcomes.extract("Observe").mapped(), "INVALID_SELECTOR");
  for (const std::string about_the_replica : {"Identify", "Status"}) {
    EXPECT_EQ(outcomes.extract(about_the_replica).mapped(), "OK");
  }
  for (const auto& [method, outcome] : outcomes) EXPECT_EQ(outcome, "PERMISSION_DENIED") << method;
}

TEST_F(AccessTest, OperatorsAreRecordedByTheirNameInThePolicy) {
  ASSERT_EQ(Try(Orders(), "orders/eu"), "OK");
  const auto admin = v1::AdminService::NewStub(Channel(Operators()));
  grpc::ClientContext context;
  v1::PauseRequest request;
  request.set_election("orders/eu");
  v1::PauseResponse response;
  ASSERT_TRUE(admin->Pause(&context, request, &response).ok());

  grpc::ClientContext next_context;
  v1::ListChangesRequest list;
  v1::ListChangesResponse changes;
  ASSERT_TRUE(admin->ListChanges(&next_context, list, &changes).ok());

  ASSERT_EQ(changes.changes_size(), 1);
  EXPECT_EQ(changes.changes(0).identity(), "operators");
}

TEST_F(AccessTest, AnExpiredOrForeignCertificateIsRefused) {
  const CertificateAuthority another("the authority");

  EXPECT_EQ(Try(With("worker", "URI:spiffe://prod/orders", -1s), "orders/eu"), "UNREACHABLE");
  EXPECT_EQ(Try(Showing(another.Issue("worker", "URI:spiffe://prod/orders")), "orders/eu"),
            "UNREACHABLE");
}

TEST_F(AccessTest, ATokenIsEnough) { EXPECT_EQ(TryLeader(Reports()), "OK"); }

// The library's connections also watch the replica's health.
TEST_F(AccessTest, ATokenThatIsMissingForAMomentDoesNotKeepAConnectionAway) {
  const auto credentials = Reports();
  std::ofstream(File("token")) << "";
  Connection connection(server_->endpoint(), credentials, HealthCheck::kOn);

  EXPECT_TRUE(Eventually([&] { return connection.Connect(); }));
  EXPECT_EQ(TryLeaderOn(*connection.stub()), "UNREACHABLE");
  std::ofstream(File("token")) << kToken << "\n";

  EXPECT_EQ(TryLeaderOn(*connection.stub()), "OK");
}

TEST_F(AccessTest, AWrongTokenIsRefused) {
  std::ofstream(File("wrong")) << "another-token-than-theirs\n";

  EXPECT_EQ(TryLeader(TlsCredentials({.ca = Tls("ca.crt"), .token = File("wrong")})),
            "PERMISSION_DENIED");
}

TEST_F(AccessTest, ATokenRemovedFromItsFileIsRefused) {
  ASSERT_EQ(TryLeader(Reports()), "OK");

  std::ofstream(File("tokens")) << "";

  EXPECT_TRUE(Eventually([&] { return TryLeader(Reports()) == "PERMISSION_DENIED"; }));
}

TEST_F(AccessTest, AMalformedNameIsNotRepeated) {
  const std::string endless(60'000, 'x');

  EXPECT_EQ(Try(Orders(), endless), "PERMISSION_DENIED");

  EXPECT_THAT(server_->process().Errors(), Not(HasSubstr("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")));
}

TEST_F(AccessTest, RequestsBeyondTheLimitAreRefused) {
  const auto stub = v1::ElectionService::NewStub(Channel(Reports()));
  int refused = 0;
  for (int i = 0; i < 50 && refused == 0; ++i) refused += TryLeaderOn(*stub) == "LIMIT_REACHED";

  EXPECT_EQ(refused, 1);
  EXPECT_EQ(TryLeader(Orders()), "OK");
}

TEST_F(AccessTest, AWideObserveCountsAsManyRequests) {
  const auto stub = v1::ElectionService::NewStub(Channel(Reports()));
  v1::ObserveRequest request;
  for (int i = 0; i < 64; ++i) request.add_selectors()->set_prefix("a");
  grpc::ClientContext context;
  const auto stream = stub->Observe(&context, request);
  v1::ObserveResponse response;
  EXPECT_TRUE(stream->Read(&response));

  EXPECT_EQ(TryLeaderOn(*stub), "LIMIT_REACHED");
  context.TryCancel();
}

// Two certificates of the same name: one was stolen.
TEST_F(AccessTest, ADeniedCertificateEndsAtOnceAndNoOther) {
  const KeyPair kept = authority_.Issue("worker", "URI:spiffe://prod/orders");
  const KeyPair stolen = authority_.Issue("worker", "URI:spiffe://prod/orders");
  const auto serial = tls::SerialOfPem(stolen.certificate);
  ASSERT_TRUE(serial);
  struct Watcher {
    explicit Watcher(const std::shared_ptr<grpc::Channel>& channel)
        : stub(v1::ElectionService::NewStub(channel)) {
      v1::ObserveRequest request;
      request.add_selectors()->set_election("orders/eu");
      stream = stub->Observe(&context, request);
      EXPECT_TRUE(stream->Read(&response));
    }
    // Reads until it ends.
    std::string End() {
      while (stream->Read(&response)) continue;
      return stream->Finish().error_code() == grpc::StatusCode::CANCELLED ? "CANCELLED" : "another";
    }
    grpc::ClientContext context;
    v1::ObserveResponse response;
    std::unique_ptr<v1::ElectionService::Stub> stub;
    std::unique_ptr<grpc::ClientReader<v1::ObserveResponse>> stream;
  };
  Watcher of_the_thief(Channel(Showing(stolen))), of_the_owner(Channel(Showing(kept)));

  PublishPolicy(std::string(kPolicy) + "deny: [\"00:" + *serial + "\"]\n");

  EXPECT_EQ(of_the_thief.End(), "CANCELLED");
  EXPECT_EQ(TryOn(*of_the_thief.stub, "orders/eu"), "PERMISSION_DENIED");
  EXPECT_EQ(Try(Showing(stolen), "orders/eu"), "UNREACHABLE");  // in the handshake
  EXPECT_EQ(Try(Showing(kept), "orders/eu"), "OK");
  EXPECT_TRUE(of_the_owner.stream->Read(&of_the_owner.response));
  of_the_owner.context.TryCancel();

  PublishPolicy(kPolicy);
  EXPECT_TRUE(Eventually([&] { return TryLeader(Showing(stolen)) == "OK"; }));
}

TEST_F(AccessTest, SessionsAndCandidaciesBeyondTheLimitAreRefused) {
  PublishPolicy(R"(
identities:
  - name: orders
    sans: ["spiffe://prod/orders"]
    rules: [{verbs: [campaign], prefixes: [orders/]}]
    limits: {sessions: 2, candidacies: 2}
)");
  ASSERT_TRUE(Eventually([&] { return TryLeader(Orders()) == "PERMISSION_DENIED"; }));

  EXPECT_EQ(Try(Orders(), "orders/eu"), "OK");
  EXPECT_EQ(Try(Orders(), "orders/eu"), "OK");
  EXPECT_EQ(Try(Orders(), "orders/eu"), "LIMIT_REACHED");
  EXPECT_EQ(Try(Orders(), "orders/asia"), "LIMIT_REACHED");
}

TEST_F(AccessTest, ElectionsBeyondTheLimitAreRefused) {
  PublishPolicy(R"(
identities:
  - name: orders
    sans: ["spiffe://prod/orders"]
    rules: [{verbs: [campaign, administer], prefixes: [orders/]}]
    limits: {elections: 2}
)");
  ASSERT_TRUE(Eventually([&] { return TryLeader(Orders()) == "PERMISSION_DENIED"; }));
  const auto admin = v1::AdminService::NewStub(Channel(Orders()));
  const auto create = [&](const std::string& election) {
    grpc::ClientContext context;
    v1::UpdateElectionRequest request;
    request.set_election(election);
    request.set_allow_missing(true);
    v1::UpdateElectionResponse response;
    return OutcomeOf(admin->UpdateElection(&context, request, &response));
  };

  EXPECT_EQ(Try(Orders(), "orders/eu"), "OK");
  EXPECT_EQ(create("orders/us"), "OK");
  EXPECT_EQ(Try(Orders(), "orders/asia"), "LIMIT_REACHED");
  EXPECT_EQ(create("orders/asia"), "LIMIT_REACHED");
  EXPECT_EQ(Try(Orders(), "orders/us"), "OK");
  EXPECT_EQ(create("orders/eu"), "OK");
}

TEST_F(AccessTest, AChangedPolicyIsReloaded) {
  ASSERT_EQ(Try(Orders(), "billing"), "PERMISSION_DENIED");

  PublishPolicy(R"(
identities:
  - name: orders
    sans: ["spiffe://prod/orders"]
    rules: [{verbs: [campaign], prefixes: [billing]}]
)");

  EXPECT_TRUE(Eventually([&] { return Try(Orders(), "billing") == "OK"; }));
  EXPECT_EQ(Try(Orders(), "orders/eu"), "PERMISSION_DENIED");
}

TEST_F(AccessTest, AnUnreadablePolicyChangesNothing) {
  PublishPolicy("identities: nonsense");

  EXPECT_TRUE(Eventually([&] { return Logged("the previous one stays in force"); }));
  EXPECT_TRUE(
      Eventually([&] { return Shows("tenure_last_reload_successful{files=\"policy\"} 0"); }));
  EXPECT_EQ(Try(Orders(), "orders/eu"), "OK");
  PublishPolicy(kPolicy);
  EXPECT_TRUE(
      Eventually([&] { return Shows("tenure_last_reload_successful{files=\"policy\"} 1"); }));
}

TEST_F(AccessTest, APolicyThatBreaksAgainIsLoggedAgain) {
  const auto complaints = [&] {
    int count = 0;
    const std::string log = server_->process().Errors();
    for (size_t at = 0; (at = log.find("the previous one stays", at)) != log.npos; ++at) ++count;
    return count;
  };
  PublishPolicy("identities: nonsense");
  ASSERT_TRUE(Eventually([&] { return complaints() == 1; }));
  PublishPolicy(kPolicy);
  ASSERT_TRUE(
      Eventually([&] { return Shows("tenure_last_reload_successful{files=\"policy\"} 1"); }));

  PublishPolicy("identities: nonsense");

  EXPECT_TRUE(Eventually([&] { return complaints() == 2; }));
}

// A policy that is cut off may still be one, and allow less, or more.
TEST_F(AccessTest, APolicyThatIsCutShortChangesNothing) {
  const std::string whole = std::string(kPolicy) + "...\n";
  PublishPolicy(whole);
  ASSERT_TRUE(Eventually([&] { return Logged("policy reloaded identities=5"); }));

  PublishPolicy(whole.substr(0, whole.find("  - name: reports")));

  EXPECT_TRUE(Eventually([&] { return Logged("policy.yaml is cut short"); }));
  EXPECT_TRUE(
      Eventually([&] { return Shows("tenure_last_reload_successful{files=\"policy\"} 0"); }));
  EXPECT_EQ(TryLeader(Reports()), "OK");
  PublishPolicy(std::string(kPolicy) + "# more\n...\n");
  EXPECT_TRUE(
      Eventually([&] { return Shows("tenure_last_reload_successful{files=\"policy\"} 1"); }));
}

TEST_F(AccessTest, AChangedTokenIsAcceptedAndTheOldOneIsNot) {
  ASSERT_EQ(TryLeader(Reports()), "OK");

  std::ofstream(File("tokens")) << "the-next-token-of-the-reports\n";

  EXPECT_TRUE(Eventually([&] { return TryLeader(Reports()) == "PERMISSION_DENIED"; }));
  const Credentials reports = Reports();  // its file is read again with each call
  std::ofstream(File("token")) << "the-next-token-of-the-reports\n";
  EXPECT_TRUE(Eventually([&] { return TryLeader(reports) == "OK"; }));
}

TEST_F(AccessTest, CertificatesAreReplacedUnderLoadWithoutAFailedCall) {
  std::atomic<bool> stopping = false;
  std::atomic<int> calls = 0;
  std::vector<std::thread> load;
  for (int i = 0; i < 4; ++i) {
    load.emplace_back([&, i] {
      const std::string election = "orders/" + std::to_string(i);
      const auto kept = v1::ElectionService::NewStub(Channel(Orders()));
      while (!stopping) {
        EXPECT_EQ(TryOn(*kept, election), "OK");
        EXPECT_EQ(Try(Orders(), election), "OK");  // by a handshake of its own
        ++calls;
      }
    });
  }

  for (int rotation = 0; rotation < 3; ++rotation) {
    const std::string before = SerialOfTheServer();
    const int calls_before = calls;
    PublishTls();
    EXPECT_TRUE(Eventually([&] { return SerialOfTheServer() != before; }));
    EXPECT_TRUE(Eventually([&] { return calls > calls_before + 20; }));
  }

  stopping = true;
  for (std::thread& thread : load) thread.join();
}

// What is wrong with one of the files.
struct Spoiled {
  std::string name;
  std::string file;
  std::string content;  // empty: the file is deleted
};

class SpoiledTlsTest : public AccessTest, public ::testing::WithParamInterface<Spoiled> {};

std::string KeyOfAnother() { return CertificateAuthority("another").Issue("x", "").key; }
std::string CutOff(const std::string& pem) { return pem + pem.substr(0, pem.size() / 2); }

INSTANTIATE_TEST_SUITE_P(
    Files, SpoiledTlsTest,
    ::testing::Values(Spoiled{"Certificate", "tls.crt", "garbage"},
                      Spoiled{"NoCertificate", "tls.crt", ""}, Spoiled{"Key", "tls.key", "garbage"},
                      Spoiled{"NoKey", "tls.key", ""},
                      Spoiled{"KeyOfAnother", "tls.key", KeyOfAnother()},
                      Spoiled{"Ca", "ca.crt", "garbage"}, Spoiled{"NoCa", "ca.crt", ""},
                      Spoiled{"HalfOfACa", "ca.crt",
                              CutOff(CertificateAuthority("another").certificate())}),
    [](const auto& info) { return info.param.name; });

TEST_P(SpoiledTlsTest, TheLastGoodFilesStayInForce) {
  const std::string before = SerialOfTheServer();
  EXPECT_TRUE(Shows("tenure_last_reload_successful{files=\"tls\"} 1"));

  if (GetParam().content.empty()) {
    std::filesystem::remove(Tls(GetParam().file));
  } else {
    std::ofstream(Tls(GetParam().file)) << GetParam().content;
  }

  const std::string complaint = "the changed TLS files cannot be used, the previous ones stay";
  EXPECT_TRUE(Eventually([&] { return Logged(complaint); }));
  EXPECT_TRUE(Eventually([&] { return Shows("tenure_last_reload_successful{files=\"tls\"} 0"); }));
  EXPECT_EQ(SerialOfTheServer(), before);
  EXPECT_EQ(Try(Orders(), "orders/eu"), "OK");
  PublishTls();
  EXPECT_TRUE(Eventually([&] {
    EXPECT_EQ(Try(Orders(), "orders/eu"), "OK");
    return SerialOfTheServer() != before;
  }));
  EXPECT_TRUE(Logged("TLS files reloaded"));
  EXPECT_TRUE(Eventually([&] { return Shows("tenure_last_reload_successful{files=\"tls\"} 1"); }));
}

// --- When the certificate expires ---

TEST_F(AccessTest, TheExpiryOfTheCertificateIsShownAndWarnedOf) {
  const auto shows = [&](double end) {
    return Eventually([&] {
      const double shown = server_->Metric("tenure_tls_certificate_expiry_timestamp_seconds");
      return std::abs(shown - end) < 60;
    });
  };
  // A chain of certificates that expire then. Returns when the last one does.
  const auto publish = [&](const std::vector<std::chrono::seconds>& valid_for) {
    std::string chain, key;
    for (const std::chrono::seconds duration : valid_for) {
      const KeyPair pair = authority_.Issue("tenured", "IP:127.0.0.1", duration);
      chain += pair.certificate;
      if (key.empty()) key = pair.key;
    }
    PublishFiles(File("tls"),
                 {{"tls.crt", chain}, {"tls.key", key}, {"ca.crt", authority_.certificate()}});
    return std::chrono::duration<double>(
               (std::chrono::system_clock::now() + valid_for.back()).time_since_epoch())
        .count();
  };
  const auto warnings = [&] {
    int count = 0;
    const std::string log = server_->process().Errors();
    for (size_t at = 0; (at = log.find("expires soon", at)) != log.npos; ++at) ++count;
    return count;
  };
  EXPECT_TRUE(Eventually([&] { return Logged("the TLS certificate expires soon"); }));

  EXPECT_TRUE(shows(publish({15 * 24h})));
  EXPECT_TRUE(shows(publish({15 * 24h, 2h}))) << "the first to expire counts";
  EXPECT_TRUE(Eventually([&] { return warnings() == 2; })) << warnings();
  EXPECT_TRUE(shows(publish({3h})));
  EXPECT_TRUE(Eventually([&] { return warnings() == 3; })) << "of each certificate";
  EXPECT_TRUE(shows(publish({-5s})));

  EXPECT_TRUE(Eventually([&] { return Logged("the TLS certificate has expired"); }));
  EXPECT_TRUE(server_->process().Running());
  EXPECT_EQ(warnings(), 3);
  EXPECT_EQ(Tenured("sqlite::memory:").Metric("tenure_tls_certificate_expiry_timestamp_seconds"),
            0);
}

// --- What everybody may do ---

class ExposureTest : public ::testing::Test {
 protected:
  ExposureTest() {
    const KeyPair pair = authority_.Issue("tenured", "IP:127.0.0.1");
    std::ofstream(File("tls.crt")) << pair.certificate;
    std::ofstream(File("tls.key")) << pair.key;
    std::ofstream(File("ca.crt")) << authority_.certificate();
    std::ofstream(File("policy.yaml")) << "identities: []\n";
  }
  [[nodiscard]] std::string File(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  // The log of a replica that listens there.
  std::string LogOf(const std::string& host, const std::vector<std::string>& flags) const {
    std::vector<std::string> command = {Program("tenured"),
                                        "--store",
                                        "sqlite::memory:",
                                        "--listen",
                                        host + ":" + std::to_string(FreePort()),
                                        "--http-listen",
                                        "127.0.0.1:" + std::to_string(FreePort())};
    command.insert(command.end(), flags.begin(), flags.end());
    Process server(command);
    EXPECT_TRUE(Eventually([&] { return server.Errors().find(" ready\n") != std::string::npos; }))
        << server.Errors();
    return server.Errors();
  }

  TempDir folder_;
  const CertificateAuthority authority_{"the authority"};
  const std::vector<std::string> tls_ = {"--tls-cert", File("tls.crt"), "--tls-key",
                                         File("tls.key")};
  const std::vector<std::string> certified_ = {"--tls-cert",    File("tls.crt"),   "--tls-key",
                                               File("tls.key"), "--tls-client-ca", File("ca.crt")};
  const std::vector<std::string> policy_ = {"--tls-cert",    File("tls.crt"), "--tls-key",
                                            File("tls.key"), "--policy",      File("policy.yaml")};
};

TEST_F(ExposureTest, AnOpenServerLogsAWarning) {
  const std::string may = "every client that can reach --listen may do everything";

  for (const std::string host : {"0.0.0.0", "", "[::]"}) {
    EXPECT_THAT(LogOf(host, {}), AllOf(HasSubstr(may), HasSubstr("nothing is encrypted")));
  }
  EXPECT_THAT(LogOf("0.0.0.0", tls_), AllOf(HasSubstr(may), Not(HasSubstr("encrypted"))));
  for (const std::string host : {"127.0.0.1", "127.1.2.3", "localhost"}) {
    EXPECT_THAT(LogOf(host, {}), Not(HasSubstr(may))) << host;
  }
  EXPECT_THAT(LogOf("0.0.0.0", certified_), Not(HasSubstr(may)));
  EXPECT_THAT(LogOf("0.0.0.0", policy_), Not(HasSubstr(may)));
}

TEST_F(AccessTest, TheToolPresentsItsCertificate) {
  const KeyPair pair = authority_.Issue("worker", "URI:spiffe://prod/orders");
  std::ofstream(File("worker.crt")) << pair.certificate;
  std::ofstream(File("worker.key")) << pair.key;
  const std::vector<std::string> tool = {Program("tenure"),  "--endpoint",  server_->endpoint(),
                                         "--tls-ca",         Tls("ca.crt"), "--tls-cert",
                                         File("worker.crt"), "--tls-key",   File("worker.key")};
  const auto with = [&](std::vector<std::string> more) {
    auto command = tool;
    command.insert(command.end(), more.begin(), more.end());
    return RunToEnd(command);
  };

  const auto ran = with({"run", "orders/eu", "--", "echo", "leads"});
  const auto refused = with({"leader", "billing"});
  const auto deposed = with({"depose", "orders/eu"});

  EXPECT_EQ(ran.output, "leads\n") << ran.errors;
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.errors, HasSubstr("lacks the verb 'observe' for election 'billing'"));
  // Depose first reads the election, which either verb allows.
  EXPECT_THAT(deposed.errors,
              HasSubstr("lacks the verbs 'inspect' and 'administer' for election 'orders/eu'"));
}

// 25
TEST_F(AccessTest, ACampaignOutlivesItsCertificate) {
  const auto first = v1::ElectionService::NewStub(Channel(Orders()));
  grpc::ClientContext context;
  v1::CampaignResponse leader;
  ASSERT_TRUE(
      first->Campaign(&context, ToRequest({.election = "orders/eu", .candidate = "first"}), &leader)
          .ok());
  const Credentials brief = With("worker", "URI:spiffe://prod/orders", 5s);
  const auto second = v1::ElectionService::NewStub(Channel(brief));
  WaitingCampaign waiting(*second, {.election = "orders/eu", .candidate = "second", .wait = 60s});
  ASSERT_TRUE(Eventually([&] {
    return server_->Get("/metrics").second.find("tenure_watchers 1") != std::string::npos;
  }));

  EXPECT_TRUE(Eventually([&] { return Try(brief, "orders/other") == "UNREACHABLE"; }));
  PublishPolicy("identities: []");
  EXPECT_TRUE(Eventually([&] { return Try(Orders(), "orders/other") == "PERMISSION_DENIED"; }));
  PublishPolicy(kPolicy);
  EXPECT_TRUE(Eventually([&] { return Try(Orders(), "orders/other") == "OK"; }));
  EXPECT_FALSE(waiting.Done());
  grpc::ClientContext leave_context;
  v1::ResignRequest leave;
  leave.set_session_id(leader.session().session_id());
  v1::ResignResponse left;
  ASSERT_TRUE(first->Resign(&leave_context, leave, &left).ok());

  EXPECT_EQ(waiting.Response().elected().term(), 2u);
}

}  // namespace
}  // namespace tenure::testing
