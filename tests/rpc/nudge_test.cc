// Replicas announce their commits to each other. The replicas here poll so rarely that nothing
// would arrive in time otherwise, except where they are cut off from each other.
#include <fstream>

#include "tenure/replicas.grpc.pb.h"
#include "tests/contract/raw_sql.h"
#include "tests/rpc/service_fixture.h"
#include "tests/support/certificates.h"
#include "tests/support/relay.h"

namespace tenure::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kRarely[] = "1h";

class NudgeTest : public ::testing::Test {
 protected:
  static DatabaseServer& Database() {
    static DatabaseServer server;
    return server;
  }

  static double Metric(const Tenured& server, const std::string& name) {
    const std::string page = server.Get("/metrics").second;
    const size_t at = page.find("\n" + name + " ");
    return at == page.npos ? -1 : std::stod(page.substr(at + name.size() + 2));
  }
  static bool Follows(const Tenured& server, int others) {
    return Metric(server, "tenure_replicas_followed") == others &&
           Metric(server, "tenure_followers") == others;
  }

  const std::string url_ = Database().FreshDatabase("tenure");
};

TEST_F(NudgeTest, ACommitAtOneReplicaReachesObserversOfTheOthersAtOnce) {
  Tenured a(url_, {"--poll-interval", kRarely});
  Tenured b(url_, {"--poll-interval", kRarely});
  Tenured c(url_, {"--poll-interval", kRarely});
  for (const Tenured* server : {&a, &b, &c}) {
    ASSERT_TRUE(Eventually([&] { return Follows(*server, 2); }));
  }
  Observer at_b(b, Election("e"));
  Observer at_c(c, Election("e"));
  at_b.WaitUntilOpen();
  at_c.WaitUntilOpen();

  const auto leader = Campaign(a, {"e", "a"});
  WaitingCampaign next(b, {.election = "e", .candidate = "b", .wait = 1min});
  ASSERT_TRUE(Eventually([&] { return Describe(b, "e").queue_size() == 1; }));
  Resign(c, leader.session().session_id(), "e");

  EXPECT_EQ(next.Response().elected().term(), 2u);
  const auto told = ElementsAre("ELECTED a 1", "VACATED a 1 RESIGNED", "ELECTED b 2");
  EXPECT_THAT(Texts(at_b.WaitForEvents(3)), told);
  EXPECT_THAT(Texts(at_c.WaitForEvents(3)), told);
}

TEST_F(NudgeTest, AReplicaThatStartsAgainIsFoundAgain) {
  Tenured a(url_, {"--poll-interval", kRarely});
  Tenured b(url_, {"--poll-interval", kRarely});
  ASSERT_TRUE(Eventually([&] { return Follows(a, 1) && Follows(b, 1); }));

  b.Kill();
  ASSERT_TRUE(Eventually([&] { return Metric(a, "tenure_followers") == 0; }));
  b.Start();
  ASSERT_TRUE(Eventually([&] { return Follows(a, 1) && Follows(b, 1); }));

  Observer at_b(b, Election("e"));
  at_b.WaitUntilOpen();
  Campaign(a, {"e", "a"});
  EXPECT_THAT(Texts(at_b.WaitForEvents(1)), ElementsAre("ELECTED a 1"));
}

// gRPC does not survive it if its own thread releases the last channel of a process.
TEST_F(NudgeTest, ReplicasThatFollowEachOtherEndCleanly) {
  for (int i = 0; i < 10; ++i) {
    Tenured a(url_);
    Tenured b(url_);
    ASSERT_TRUE(Eventually([&] { return Follows(a, 1) && Follows(b, 1); }));
    EXPECT_EQ(a.Terminate(), 0);
    EXPECT_EQ(b.Terminate(), 0);
  }
}

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != text.npos; ++at) ++count;
  return count;
}

TEST_F(NudgeTest, AReplicaThatCannotBeFollowedIsNamedOnce) {
  Tenured a(url_);
  Relay wire("127.0.0.1:1");
  Tenured b(url_, {"--advertise", wire.endpoint()});
  const std::string named =
      "cannot follow another replica; what it commits is noticed by polling "
      "replica=" +
      wire.endpoint();
  ASSERT_TRUE(Eventually([&] { return Count(a.process().Errors(), named) == 1; }))
      << a.process().Errors();

  wire.BreakAndLeadTo(b.endpoint());

  EXPECT_TRUE(Eventually([&] {
    return Count(a.process().Errors(),
                 "follows another replica again replica=" + wire.endpoint()) == 1;
  })) << a.process().Errors();
  EXPECT_EQ(Count(a.process().Errors(), "cannot follow"), 1u);
}

TEST_F(NudgeTest, SettingsThatDifferAreNamedOnceByBothUntilTheyAgree) {
  const std::string differ = "another replica on this database has other settings";
  const std::string agree = "another replica has the same settings again";
  Relay wire("127.0.0.1:1");
  Tenured a(url_);
  auto b = std::make_unique<Tenured>(
      url_, std::vector<std::string>{"--advertise", wire.endpoint(), "--history-max-age", "1h"});
  wire.BreakAndLeadTo(b->endpoint());
  ASSERT_TRUE(Eventually([&] { return Follows(a, 1) && Follows(*b, 1); }));
  const auto says = [](Tenured& server, const std::string& what) {
    return Eventually([&] { return Count(server.process().Errors(), what) == 1; });
  };

  EXPECT_TRUE(says(a, "replica=" + wire.endpoint() +
                          " settings=\"--history-max-age is 720h here and 1h there\""));
  EXPECT_TRUE(says(
      *b, "replica=" + a.endpoint() + " settings=\"--history-max-age is 1h here and 720h there\""));

  // A new connection is not logged, nor are unchanged settings.
  wire.BreakAndLeadTo(b->endpoint());
  ASSERT_TRUE(Eventually([&] { return Follows(a, 1); }));
  b.reset();
  b = std::make_unique<Tenured>(url_, std::vector<std::string>{"--advertise", wire.endpoint()});
  wire.BreakAndLeadTo(b->endpoint());
  EXPECT_TRUE(says(a, agree + " replica=" + wire.endpoint()));
  EXPECT_EQ(Count(a.process().Errors(), differ), 1u);
  ASSERT_TRUE(Eventually([&] { return Follows(*b, 1); }));
  EXPECT_EQ(Count(b->process().Errors(), differ), 0u);
}

// Each advertises an address at which nobody answers.
TEST_F(NudgeTest, ReplicasThatCannotReachEachOtherPoll) {
  Tenured a(url_, {"--advertise", "127.0.0.1:1"});
  Tenured b(url_, {"--advertise", "127.0.0.1:1"});
  Observer at_b(b, Election("e"));
  at_b.WaitUntilOpen();

  const auto leader = Campaign(a, {"e", "a"});
  WaitingCampaign next(b, {.election = "e", .candidate = "b", .wait = 1min});
  ASSERT_TRUE(Eventually([&] { return Describe(b, "e").queue_size() == 1; }));
  Resign(a, leader.session().session_id(), "e");

  EXPECT_EQ(next.Response().elected().term(), 2u);
  EXPECT_THAT(Texts(at_b.WaitForEvents(3)),
              ElementsAre("ELECTED a 1", "VACATED a 1 RESIGNED", "ELECTED b 2"));
  EXPECT_EQ(Metric(b, "tenure_nudges_total"), 0);
}

// Messages between them are lost, and neither notices.
TEST_F(NudgeTest, ReplicasThatAreCutOffFromEachOtherPoll) {
  Relay wire("127.0.0.1:1");
  Tenured a(url_, {"--advertise", wire.endpoint()});
  wire.BreakAndLeadTo(a.endpoint());
  Tenured b(url_);
  ASSERT_TRUE(Eventually([&] { return Follows(a, 1) && Follows(b, 1); }));
  Observer at_b(b, Election("e"));
  at_b.WaitUntilOpen();

  wire.LoseAnswers();
  const double told = Metric(b, "tenure_nudges_total");
  Campaign(a, {"e", "a"});

  EXPECT_THAT(Texts(at_b.WaitForEvents(1)), ElementsAre("ELECTED a 1"));
  EXPECT_EQ(Metric(b, "tenure_nudges_total"), told);
}

// Replicas that require certificates of each other.
class TlsNudgeTest : public NudgeTest {
 protected:
  // Starts a replica with files of its own, of this name.
  [[nodiscard]] Tenured Start(const std::string& name,
                              const std::vector<std::string>& more_flags = {}) const {
    Write(name, "DNS:another.name");
    std::vector<std::string> flags = {"--poll-interval",   kRarely,           "--tls-cert",
                                      File(name + ".crt"), "--tls-key",       File(name + ".key"),
                                      "--tls-client-ca",   File(name + ".ca")};
    flags.insert(flags.end(), more_flags.begin(), more_flags.end());
    return Tenured(url_, flags);
  }
  void Write(const std::string& name, const std::string& alternative_names) const {
    const KeyPair pair = authority_.Issue("tenured", alternative_names);
    std::ofstream(File(name + ".ca")) << authority_.certificate();
    std::ofstream(File(name + ".crt")) << pair.certificate;
    std::ofstream(File(name + ".key")) << pair.key;
  }
  [[nodiscard]] std::string File(const std::string& name) const { return folder_.path() / name; }

  const TempDir folder_;
  const CertificateAuthority authority_{"Tests"};
};

TEST_F(TlsNudgeTest, ReplicasReachEachOther) {
  const Tenured a = Start("a");
  const Tenured b = Start("b");

  EXPECT_TRUE(Eventually([&] { return Follows(a, 1) && Follows(b, 1); }));
}

// As while TLS is being switched on, one replica after the other.
TEST_F(TlsNudgeTest, ReplicasWithAndWithoutTlsNameEachOtherOnce) {
  Tenured with = Start("with");
  Tenured without(url_);
  const auto names = [](Tenured& server, const Tenured& other) {
    return Count(server.process().Errors(), "replica=" + other.endpoint());
  };
  ASSERT_TRUE(Eventually([&] { return names(with, without) == 1 && names(without, with) == 1; }))
      << with.process().Errors() << without.process().Errors();
  EXPECT_THAT(with.process().Errors(),
              HasSubstr("reason=\"it does not speak TLS, which this replica uses\""));
  EXPECT_THAT(without.process().Errors(), HasSubstr("does it require TLS"));

  // They try again and again meanwhile.
  const auto beats = [&] { return Metric(without, "tenure_home_beats_total{outcome=\"good\"}"); };
  const double before = beats();
  ASSERT_TRUE(Eventually([&] { return beats() > before + 5; }));

  for (Tenured* server : {&with, &without}) {
    EXPECT_EQ(Count(server->process().Errors(), "cannot follow"), 1u);
    EXPECT_LE(Count(server->process().Errors(), "a library says"), 5u)
        << server->process().Errors();
  }
}

// An impostor at the address of a replica. gRPC itself would end the process.
TEST_F(TlsNudgeTest, AReplicaSurvivesAPeerWhoseCertificateIsFaulty) {
  Write("impostor", "DER:30:07:87:05:01:02:03:04:05");  // an IP address of 5 bytes
  const std::string port = std::to_string(FreePort());
  Process impostor({"openssl", "s_server", "-www", "-accept", port, "-alpn", "h2", "-cert",
                    File("impostor.crt"), "-key", File("impostor.key")});
  Tenured a = Start("a");

  const Tenured b = Start("b", {"--advertise", "127.0.0.1:" + port});

  // The first handshake fails, and so does the next.
  const auto handshakes_fail_twice = [&] {
    const std::string errors = impostor.Errors();
    const size_t first = errors.find(":error:");
    return first != errors.npos && errors.find(":error:", first + 1) != errors.npos;
  };
  EXPECT_TRUE(Eventually(handshakes_fail_twice)) << impostor.Errors();
  EXPECT_TRUE(a.process().Running()) << a.process().Errors();
  EXPECT_EQ(Metric(a, "tenure_replicas_followed"), 0);
}

TEST_F(TlsNudgeTest, AReplicaShowsItsLastGoodCertificate) {
  const Tenured a = Start("a");
  Tenured b = Start("b");
  ASSERT_TRUE(Eventually([&] { return Follows(a, 1) && Follows(b, 1); }));

  std::ofstream(File("a.crt")) << "garbage";
  ASSERT_TRUE(
      Eventually([&] { return Metric(a, "tenure_last_reload_successful{files=\"tls\"}") == 0; }));
  b.Kill();
  ASSERT_TRUE(Eventually([&] { return Metric(a, "tenure_followers") == 0; }));
  b.Start();

  EXPECT_TRUE(Eventually([&] { return Follows(a, 1) && Follows(b, 1); }));
}

class FollowTest : public NudgeTest {
 protected:
  replicas::FollowRequest RequestFor(const std::string& id) {
    grpc::ClientContext context;
    v1::IdentifyResponse identity;
    EXPECT_TRUE(server_.stub().Identify(&context, {}, &identity).ok());
    replicas::FollowRequest request;
    request.set_replica_id(id);
    request.set_service_id(identity.service_id());
    return request;
  }
  grpc::Status Follow(const std::string& id) {
    grpc::ClientContext context;
    const auto reader = stub_->Follow(&context, RequestFor(id));
    replicas::FollowResponse response;
    EXPECT_FALSE(reader->Read(&response));
    return reader->Finish();
  }

  Tenured server_{url_};
  const std::unique_ptr<replicas::ReplicaService::Stub> stub_ = replicas::ReplicaService::NewStub(
      grpc::CreateChannel(server_.endpoint(), grpc::InsecureChannelCredentials()));
};

TEST_F(FollowTest, OnlyReadersOfTheDatabaseCanFollow) {
  EXPECT_EQ(Follow("").error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Follow(std::string(16, 'x')).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Metric(server_, "tenure_followers"), 0);
}

TEST_F(FollowTest, TooManyFollowersAreRefused) {
  std::vector<std::string> ids;
  ASSERT_TRUE(Eventually([&] {
    ids = QueryRows(url_, "SELECT peer FROM homes WHERE dead = 0");
    return !ids.empty();
  }));
  const std::string& id = ids.front();
  const replicas::FollowRequest request = RequestFor(id);
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<replicas::FollowResponse>>> readers;
  for (int i = 0; i < 64; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    readers.push_back(stub_->Follow(contexts.back().get(), request));
    replicas::FollowResponse response;
    ASSERT_TRUE(readers.back()->Read(&response));
    EXPECT_EQ(response.offsets_size(), 4);
  }

  EXPECT_EQ(Follow(id).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(server_.Terminate(), 0);  // does not wait for them
  EXPECT_EQ(readers.front()->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace tenure::testing
