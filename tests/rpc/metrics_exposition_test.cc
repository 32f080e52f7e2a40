// What /metrics shows of a running server: exactly the catalogue, and calls as they happen.
#include <grpcpp/generic/generic_stub.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tests/rpc/service_fixture.h"

namespace tenure::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string ReadSource(const std::string& name) {
  std::ifstream file(std::string(TENURE_SOURCE_DIR) + "/" + name);
  EXPECT_TRUE(file) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string Page(Tenured& server) { return server.Get("/metrics").second; }

// The samples of a page, by their names and labels.
std::map<std::string, double> SamplesOf(const std::string& page) {
  std::map<std::string, double> samples;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    const size_t space = line.rfind(' ');
    samples[line.substr(0, space)] = std::stod(line.substr(space + 1));
  }
  return samples;
}

double Sample(Tenured& server, const std::string& name) {
  const auto samples = SamplesOf(Page(server));
  const auto found = samples.find(name);
  EXPECT_NE(found, samples.end()) << name;
  return found == samples.end() ? -1 : found->second;
}

// "a,b" of "name{b=\"x\",a=\"y\",le=\"1\"}".
std::string LabelNames(const std::string& sample) {
  std::set<std::string> names;
  size_t at = sample.find('{');
  while (at != std::string::npos && sample[at] != '}') {
    const size_t equals = sample.find('=', at);
    names.insert(sample.substr(at + 1, equals - at - 1));
    at = sample.find('"', sample.find('"', equals) + 1) + 1;
  }
  names.erase("le");
  std::string joined;
  for (const std::string& name : names) joined += (joined.empty() ? "" : ",") + name;
  return joined;
}

// One line for each metric: its name, its type, and its labels.
std::string CatalogueOf(const std::string& page) {
  std::set<std::string> lines;
  std::istringstream input(page);
  std::string name_and_type;
  for (std::string line; std::getline(input, line);) {
    const std::string type = "# TYPE ";
    if (line.starts_with(type)) {
      name_and_type = line.substr(type.size());
    } else if (!line.starts_with('#')) {
      const std::string labels = LabelNames(line.substr(0, line.rfind(' ')));
      lines.insert(name_and_type + (labels.empty() ? "" : " " + labels));
    }
  }
  std::string joined;
  for (const std::string& line : lines) joined += line + "\n";
  return joined;
}

std::string CallsOf(const std::string& what, const std::string& method, const std::string& type,
                    const std::string& code = "") {
  const std::string with_code = code.empty() ? "" : "grpc_code=\"" + code + "\",";
  return "grpc_server_" + what + "{" + with_code + "grpc_method=\"" + method +
         "\",grpc_service=\"tenure.v1.ElectionService\",grpc_type=\"" + type + "\"}";
}

class MetricsExpositionTest : public ServiceTest {};

INSTANTIATE_TEST_SUITE_P(Stores, MetricsExpositionTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

TEST_P(MetricsExpositionTest, TheMetricsAreExactlyTheCatalogue) {
  const auto elected = Campaign(A(), {.election = "orders", .candidate = "a"});
  Resign(A(), elected.session().session_id());
  Campaign(A(), {.election = "billing", .candidate = "b"});

  EXPECT_EQ(CatalogueOf(Page(A())), ReadSource("metrics/catalogue.txt"));
}

TEST_P(MetricsExpositionTest, TheFirstCensusComesAtOnceAndFromBothReplicas) {
  Campaign(A(), {.election = "orders", .candidate = "a"});
  Campaign(A(), {.election = "orders", .candidate = "b"});
  Tenured late(url_);

  ASSERT_TRUE(Eventually([&] { return Sample(late, "tenure_elections") == 1; }));
  EXPECT_EQ(Sample(late, "tenure_candidates"), 1);
  EXPECT_EQ(Sample(late, "tenure_sessions"), 2);
  EXPECT_EQ(Sample(late, "tenure_election_has_leader{election=\"orders\"}"), 1);
}

TEST_P(MetricsExpositionTest, EveryReplicaShowsTheTermOfAnElection) {
  Campaign(A(), {.election = "orders", .candidate = "a"});

  EXPECT_TRUE(Eventually(
      [&] { return SamplesOf(Page(B())).contains("tenure_election_term{election=\"orders\"}"); }));
  EXPECT_EQ(Sample(B(), "tenure_election_term{election=\"orders\"}"), 1);
}

TEST_P(MetricsExpositionTest, OnlyACampaignThatWaitedIsMeasured) {
  const auto leader = Campaign(A(), {.election = "orders", .candidate = "a"});
  WaitingCampaign waiting(A(), {.election = "orders", .candidate = "b", .wait = 1h});
  ASSERT_TRUE(Eventually([&] { return Describe(A(), "orders").election().candidates() == 1; }));

  Resign(A(), leader.session().session_id());

  ASSERT_TRUE(waiting.Response().has_elected());
  EXPECT_EQ(Sample(A(), "tenure_campaign_wait_seconds_count"), 1);
}

class CallMetricsTest : public ::testing::Test {
 protected:
  Tenured server_{"sqlite::memory:", {"--queue-max", "1"}};
};

TEST_F(CallMetricsTest, TheDocumentationNamesEveryMetric) {
  const std::string page = ReadSource("docs/metrics.md");
  std::istringstream catalogue(ReadSource("metrics/catalogue.txt"));
  for (std::string line; std::getline(catalogue, line);) {
    EXPECT_THAT(page, HasSubstr("`" + line.substr(0, line.find(' ')) + "`"));
  }
}

TEST_F(CallMetricsTest, AUnaryCallIsCountedByItsCode) {
  Campaign(server_, {.election = "orders", .candidate = "a"});
  grpc::ClientContext context;
  v1::LeaderResponse response;
  (void)server_.stub().Leader(&context, {}, &response);

  EXPECT_EQ(Sample(server_, CallsOf("started_total", "Campaign", "unary")), 1);
  EXPECT_EQ(Sample(server_, CallsOf("handled_total", "Campaign", "unary", "OK")), 1);
  EXPECT_EQ(Sample(server_, CallsOf("msg_received_total", "Campaign", "unary")), 1);
  EXPECT_EQ(Sample(server_, CallsOf("msg_sent_total", "Campaign", "unary")), 1);
  EXPECT_EQ(Sample(server_, CallsOf("handling_seconds_count", "Campaign", "unary")), 1);
  EXPECT_EQ(Sample(server_, CallsOf("handled_total", "Leader", "unary", "InvalidArgument")), 1);
  EXPECT_EQ(Sample(server_, CallsOf("msg_sent_total", "Leader", "unary")), 0);
}

TEST_F(CallMetricsTest, AMalformedRequestIsCountedAsItIsAnswered) {
  (void)SendBytes(server_.channel(), *AllMethods().front(), "\xff");

  EXPECT_EQ(Sample(server_, CallsOf("handled_total", "Campaign", "unary", "InvalidArgument")), 1);
  EXPECT_EQ(Sample(server_, CallsOf("msg_received_total", "Campaign", "unary")), 0);
}

TEST_F(CallMetricsTest, EachMessageOfAStreamIsCounted) {
  const auto elected = Campaign(server_, {.election = "orders", .candidate = "a"});
  {
    KeepAliveStream stream(server_, {elected.session().session_id()});
    stream.WaitForRenewal();
    EXPECT_EQ(Sample(server_, CallsOf("started_total", "KeepAlive", "bidi_stream")), 1);
  }

  const std::string ends = CallsOf("handling_seconds_count", "KeepAlive", "bidi_stream");
  EXPECT_TRUE(Eventually([&] { return Sample(server_, ends) == 1; }));
  EXPECT_EQ(Sample(server_, CallsOf("msg_received_total", "KeepAlive", "bidi_stream")), 1);
  EXPECT_EQ(Sample(server_, CallsOf("msg_sent_total", "KeepAlive", "bidi_stream")), 1);
}

TEST_F(CallMetricsTest, AnObserverIsCountedUntilItLeaves) {
  {
    Observer observer(server_, Election("orders"));
    observer.WaitUntilOpen();
    EXPECT_EQ(Sample(server_, "tenure_observers"), 1);
  }

  EXPECT_TRUE(Eventually([&] { return Sample(server_, "tenure_observers") == 0; }));
  EXPECT_EQ(Sample(server_, CallsOf("handled_total", "Observe", "server_stream", "Canceled")), 1);
}

TEST_F(CallMetricsTest, AnObserverThatCannotContinueCountsAsAResync) {
  Observer observer(server_, Election("orders", 100));
  observer.WaitUntilOpen();

  EXPECT_EQ(Sample(server_, "tenure_observe_resyncs_total"), 1);
}

TEST_F(CallMetricsTest, ACancelledCampaignIsCountedAsCancelled) {
  Campaign(server_, {.election = "orders", .candidate = "a"});
  WaitingCampaign waiting(server_, {.election = "orders", .candidate = "b", .wait = 1h});
  ASSERT_TRUE(Eventually([&] { return Describe(server_, "orders").election().candidates() == 1; }));

  waiting.Cancel();
  (void)waiting.Status();

  const std::string cancelled = CallsOf("handled_total", "Campaign", "unary", "Canceled");
  EXPECT_TRUE(Eventually([&] { return Sample(server_, cancelled) == 1; }));
}

TEST_F(CallMetricsTest, ARefusedCallIsCountedByItsReason) {
  Campaign(server_, {.election = "orders", .candidate = "a"});
  Campaign(server_, {.election = "orders", .candidate = "b"});
  grpc::ClientContext context;
  v1::CampaignResponse response;

  const auto status = server_.stub().Campaign(
      &context, ToRequest(CampaignArguments{.election = "orders", .candidate = "c"}), &response);

  ASSERT_EQ(ReasonOf(status), "QUEUE_FULL");
  EXPECT_EQ(Sample(server_, "tenure_refused_total{reason=\"QUEUE_FULL\"}"), 1);
  EXPECT_EQ(Sample(server_, "tenure_refused_total{reason=\"OVERLOADED\"}"), 0);
}

TEST_F(CallMetricsTest, CallsOfUnknownMethodsMakeNoSeries) {
  const auto before = SamplesOf(Page(server_)).size();
  grpc::GenericStub stub(
      grpc::CreateChannel(server_.endpoint(), grpc::InsecureChannelCredentials()));
  for (const char* method : {"/tenure.v1.ElectionService/Nonsense", "/nobody.Nothing/Campaign"}) {
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    grpc::ByteBuffer response;
    grpc::Status status;
    const auto call = stub.PrepareUnaryCall(&context, method, grpc::ByteBuffer(), &queue);
    call->StartCall();
    call->Finish(&response, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    ASSERT_TRUE(queue.Next(&tag, &ok));
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  }

  EXPECT_EQ(SamplesOf(Page(server_)).size(), before);
}

TEST_F(CallMetricsTest, NoMoreElectionsHaveSeriesThanTheSettingAllows) {
  Tenured server("sqlite::memory:", {"--metrics-elections", "2", "--metrics-election-prefix",
                                     "jobs/", "--metrics-election-prefix", "pay"});

  for (const char* election : {"orders", "jobs/b", "payments", "jobs/a"}) {
    Campaign(server, {.election = election, .candidate = "a"});
  }

  const std::string page = Page(server);
  EXPECT_THAT(page, HasSubstr("tenure_election_term{election=\"jobs/b\"} 1"));
  EXPECT_THAT(page, HasSubstr("tenure_election_term{election=\"payments\"} 1"));
  EXPECT_THAT(page, Not(HasSubstr("orders")));
  EXPECT_THAT(page, Not(HasSubstr("jobs/a")));
}

TEST_P(MetricsExpositionTest, SettingsThatPutCommitsAtRiskAreCounted) {
  if (GetParam() == StoreKind::kSqlite) GTEST_SKIP() << "SQLite has no such settings";
  EXPECT_THAT(Page(A()), HasSubstr("\ntenure_database_warnings 0\n"));
  Database().Ask("SET GLOBAL innodb_flush_log_at_trx_commit = 2");

  Tenured server(url_);

  Database().Ask("SET GLOBAL innodb_flush_log_at_trx_commit = 1");
  EXPECT_THAT(Page(server), HasSubstr("\ntenure_database_warnings 1\n"));
  EXPECT_THAT(server.process().Errors(), HasSubstr("innodb_flush_log_at_trx_commit is 2"));
}

}  // namespace
}  // namespace tenure::testing
