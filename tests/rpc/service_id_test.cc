// The id of a service: which calls name it, and what happens to calls that are meant for another
// service, because a replica works on the wrong database. Also the state of a replica:
// AdminService.Status.
#include <grpcpp/generic/generic_stub.h>

#include <filesystem>
#include <future>
#include <regex>

#include "tests/contract/raw_sql.h"
#include "tests/rpc/service_fixture.h"

namespace tenure::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr char kServiceId[] = "[0-9a-f]{32}";
constexpr char kMetadata[] = "tenure-service-id";
const std::string kAnotherService(32, 'b');

void SetPatience(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() + kPatience);
  context.set_wait_for_ready(true);
}

// The status and the id that Identify returns.
std::pair<std::string, std::string> Identify(Tenured& server) {
  grpc::ClientContext context;
  SetPatience(context);
  v1::IdentifyResponse response;
  const auto status = server.stub().Identify(&context, {}, &response);
  return {OutcomeOf(status), response.service_id()};
}
std::string IdOf(Tenured& server) {
  const auto [outcome, id] = Identify(server);
  EXPECT_EQ(outcome, "OK");
  return id;
}

v1::StatusResponse StatusOf(Tenured& server) {
  grpc::ClientContext context;
  SetPatience(context);
  v1::StatusResponse response;
  EXPECT_EQ(OutcomeOf(server.admin().Status(&context, {}, &response)), "OK");
  return response;
}
v1::StatusResponse StatusWhen(Tenured& server,
                              const std::function<bool(const v1::StatusResponse&)>& condition) {
  v1::StatusResponse status;
  EXPECT_TRUE(Eventually([&] { return condition(status = StatusOf(server)); }))
      << status.DebugString();
  return status;
}

// How a call ends that names a service and sends no field at all. A stream is closed at once.
grpc::Status CallFor(const std::string& service_id, Tenured& server,
                     const google::protobuf::MethodDescriptor& method) {
  grpc::GenericStub stub(server.channel());
  grpc::ClientContext context;
  SetPatience(context);
  context.AddMetadata(kMetadata, service_id);
  const grpc::ByteBuffer request = [] {
    const grpc::Slice nothing;
    return grpc::ByteBuffer(&nothing, 1);
  }();
  grpc::ByteBuffer response;
  std::promise<grpc::Status> done;
  stub.UnaryCall(&context, "/" + method.service()->full_name() + "/" + method.name(), {}, &request,
                 &response, [&](grpc::Status status) { done.set_value(std::move(status)); });
  return done.get_future().get();
}

class ServiceIdTest : public ServiceTest {};

INSTANTIATE_TEST_SUITE_P(Stores, ServiceIdTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

TEST_P(ServiceIdTest, AllReplicasOfADatabaseHaveOneIdAndKeepIt) {
  const std::string id = IdOf(A());
  EXPECT_THAT(id, MatchesRegex(kServiceId));
  EXPECT_EQ(IdOf(B()), id);

  A().Kill();
  A().Start();

  EXPECT_EQ(IdOf(A()), id);
}

TEST_P(ServiceIdTest, AnotherDatabaseIsAnotherService) {
  Tenured other("sqlite:" + (folder_.path() / "other.db").string());

  EXPECT_THAT(IdOf(other), MatchesRegex(kServiceId));
  EXPECT_NE(IdOf(other), IdOf(A()));
}

TEST_P(ServiceIdTest, SessionsAndTheFirstMessagesOfStreamsNameIt) {
  const std::string id = IdOf(A());

  const auto session = Campaign(A(), {"e", "alice"}).session();
  EXPECT_EQ(session.service_id(), id);

  grpc::ClientContext context;
  SetPatience(context);
  const auto stream = A().stub().KeepAlive(&context);
  v1::KeepAliveRequest request;
  request.add_session_ids(session.session_id());
  v1::KeepAliveResponse renewal;
  ASSERT_TRUE(stream->Write(request));
  ASSERT_TRUE(stream->Read(&renewal));
  EXPECT_EQ(renewal.service_id(), id);
  ASSERT_TRUE(stream->Write(request));
  ASSERT_TRUE(stream->Read(&renewal));
  EXPECT_THAT(renewal.service_id(), IsEmpty());
  context.TryCancel();

  Observer observer(A(), Election("e"));
  observer.WaitUntilOpen();
  EXPECT_EQ(observer.Messages().at(0).service_id(), id);
}

TEST_P(ServiceIdTest, EveryCallForAnotherServiceIsRefused) {
  for (const auto* method : AllMethods()) {
    if (method->name() == "Identify") continue;
    const grpc::Status status = CallFor(kAnotherService, A(), *method);

    EXPECT_EQ(OutcomeOf(status), "WRONG_SERVICE") << method->name();
    EXPECT_EQ(InfoOf(status).metadata().at("service_id"), IdOf(A())) << method->name();
    EXPECT_THAT(status.error_message(), HasSubstr("not to " + kAnotherService));
  }
}

TEST_P(ServiceIdTest, AMalformedServiceIdIsRefused) {
  for (const std::string wrong :
       {"", "b", "not-an-id", "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
        "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}) {
    for (const auto* method : AllMethods()) {
      if (method->name() == "Identify") continue;
      EXPECT_EQ(OutcomeOf(CallFor(wrong, A(), *method)), "MALFORMED_REQUEST")
          << method->name() << " with '" << wrong << "'";
    }
  }
}

TEST_P(ServiceIdTest, IdentifyAnswersWhicheverServiceIsNamed) {
  for (const auto* method : AllMethods()) {
    if (method->name() != "Identify") continue;
    EXPECT_EQ(OutcomeOf(CallFor(kAnotherService, A(), *method)), "OK");
  }
}

TEST_P(ServiceIdTest, ACallForAnotherServiceChangesNothing) {
  const auto session = Campaign(A(), {"e", "alice"}).session();
  grpc::ClientContext context;
  SetPatience(context);
  context.AddMetadata(kMetadata, kAnotherService);
  v1::ResignRequest request;
  request.set_session_id(session.session_id());
  v1::ResignResponse response;

  EXPECT_EQ(OutcomeOf(A().stub().Resign(&context, request, &response)), "WRONG_SERVICE");

  EXPECT_EQ(Leader(B(), "e").leader().candidate(), "alice");
}

TEST_P(ServiceIdTest, TheMetricsAndTheLogNameIt) {
  const std::string id = IdOf(A());

  EXPECT_THAT(A().Get("/metrics").second,
              HasSubstr("\ntenure_service_info{service_id=\"" + id + "\"} 1\n"));
  EXPECT_THAT(A().process().Errors(), HasSubstr("service service_id=" + id));
}

// `tenured --service-id`.
TEST_P(ServiceIdTest, AReplicaOfAGivenServiceServesItAndNoOther) {
  const std::string id = IdOf(A());
  const std::string another = "sqlite:" + (folder_.path() / "another.db").string();
  ASSERT_EQ(RunToEnd({Program("tenured"), "migrate", "--store", another}).exit_code, 0);
  const std::vector<std::string> flags = {"--service-id", id};

  Tenured right(url_, flags);
  EXPECT_EQ(IdOf(right), id);

  Tenured wrong(another, flags, false);
  const auto status = StatusWhen(wrong, [](const v1::StatusResponse& it) {
    return it.not_ready_reason().find("--service-id is") != std::string::npos;
  });
  EXPECT_FALSE(status.ready());
  EXPECT_EQ(wrong.Get("/readyz").first, 503);
  EXPECT_EQ(Identify(wrong).first, "STORE_UNAVAILABLE");
}

TEST_P(ServiceIdTest, CommandsForAGivenServiceChangeNoOther) {
  const std::string id = IdOf(A());
  Campaign(A(), {"e", "alice"});
  const std::vector<std::string> flags = {"--store", url_, "--service-id", kAnotherService};
  for (const std::string command : {"bump-terms", "migrate", "check"}) {
    std::vector<std::string> line = {Program("tenured"), command};
    line.insert(line.end(), flags.begin(), flags.end());

    const Finished end = RunToEnd(line);

    EXPECT_EQ(end.exit_code, 1) << command;
    EXPECT_THAT(end.output + end.errors, HasSubstr("the database belongs to service " + id));
  }
  EXPECT_EQ(Leader(B(), "e").leader().candidate(), "alice");
}

TEST(GivenServiceTest, NothingIsMadeInAnEmptyDatabase) {
  DatabaseServer database;
  const std::string url = database.FreshDatabase("empty");
  const std::vector<std::string> flags = {"--service-id", kAnotherService};
  EXPECT_EQ(
      RunToEnd({Program("tenured"), "migrate", "--store", url, "--service-id", kAnotherService})
          .exit_code,
      1);

  Tenured server(url, flags, false);

  (void)StatusWhen(server, [](const v1::StatusResponse& it) {
    return it.not_ready_reason().find("the database belongs to no service yet") !=
           std::string::npos;
  });
  EXPECT_THAT(QueryRows(url, "SHOW TABLES"), IsEmpty());
}

TEST(GivenServiceTest, NoFileIsMade) {
  const TempDir folder;
  const std::string file = folder.path() / "empty.db";

  const Finished end =
      RunToEnd({Program("tenured"), "--store", "sqlite:" + file, "--service-id", kAnotherService});

  EXPECT_EQ(end.exit_code, 1);
  EXPECT_THAT(end.errors, HasSubstr("is not there"));
  EXPECT_FALSE(std::filesystem::exists(file));
}

// One address of --store leads to the database of another service, where bob leads. Runs with and
// without --service-id.
class WrongFailoverTest : public ::testing::TestWithParam<bool> {
 protected:
  WrongFailoverTest() {
    Lead(other_, "bob");
    Tenured first(right_url_);
    id_ = IdOf(first);
  }

  static void Lead(Tenured& server, const std::string& name) {
    Campaign(server, {.election = "e", .candidate = name, .lease_ttl = 10min});
  }

  [[nodiscard]] std::vector<std::string> Flags() const {
    return GetParam() ? std::vector<std::string>{"--service-id", id_} : std::vector<std::string>{};
  }
  [[nodiscard]] std::string UrlOf(const std::string& addresses) const {
    return std::regex_replace(right_url_, std::regex(right_.address()), addresses);
  }
  void ExpectItsDatabaseIsLeftAlone() {
    const auto leader = Leader(other_, "e").leader();
    EXPECT_EQ(leader.candidate(), "bob");
    EXPECT_EQ(leader.term(), 1u);
    EXPECT_EQ(QueryRows(wrong_url_, "SELECT COUNT(*) FROM lineage"), Rows{"1"});
    EXPECT_EQ(QueryRows(wrong_url_, "SELECT COUNT(*) FROM homes"), Rows{"1"});
  }

  using Rows = std::vector<std::string>;
  DatabaseServer right_;
  DatabaseServer wrong_;
  const std::string right_url_ = right_.FreshDatabase("tenure");
  const std::string wrong_url_ = wrong_.FreshDatabase("tenure");
  Tenured other_{wrong_url_};
  std::string id_;
};

INSTANTIATE_TEST_SUITE_P(Pinned, WrongFailoverTest, ::testing::Bool(),
                         [](const auto& it) { return it.param ? "Yes" : "No"; });

TEST_P(WrongFailoverTest, AReplicaLeavesTheOtherDatabaseAlone) {
  Tenured replica(UrlOf(right_.address() + "," + wrong_.address()), Flags());
  Lead(replica, "alice");

  right_.Kill();

  const std::string why = "the database belongs to service " + IdOf(other_);
  (void)StatusWhen(replica, [&](const v1::StatusResponse& it) {
    return !it.ready() && it.not_ready_reason().find(why) != std::string::npos;
  });
  EXPECT_TRUE(Eventually([&] {
    return replica.process().Errors().find("another service's database is not used") !=
           std::string::npos;
  })) << replica.process().Errors();
  EXPECT_THAT(replica.Get("/metrics").second, Not(HasSubstr("\ntenure_service_info{")));
  EXPECT_THAT(replica.process().Errors(), Not(HasSubstr("the database lost commits")));
  ExpectItsDatabaseIsLeftAlone();

  right_.Start();
  replica.WaitUntilReady();
  EXPECT_EQ(IdOf(replica), id_);
  EXPECT_EQ(Leader(replica, "e").leader().candidate(), "alice");
}

TEST_P(WrongFailoverTest, AnAddressBehindWrongOnesIsTried) {
  if (!GetParam()) GTEST_SKIP() << "it would serve the first that it finds";

  const std::string again = std::regex_replace(wrong_.address(), std::regex("^.*:"), "localhost:");
  Tenured replica(UrlOf(wrong_.address() + "," + again + "," + right_.address()), Flags());

  EXPECT_EQ(IdOf(replica), id_);
  ExpectItsDatabaseIsLeftAlone();
}

TEST_P(ServiceIdTest, TheStatusShowsTheDatabaseAndWhatItHolds) {
  Campaign(A(), {"led", "alice"});
  const auto bob = Campaign(A(), {"vacant", "bob"}).session();
  Resign(A(), bob.session_id(), "vacant");

  // Counts are taken every 10 s, and when a replica starts.
  B().Terminate();
  B().Start();
  const auto status = StatusWhen(B(), [](const auto& it) { return it.has_counts(); });

  EXPECT_TRUE(status.ready());
  EXPECT_THAT(status.not_ready_reason(), IsEmpty());
  EXPECT_THAT(status.version(), Not(IsEmpty()));
  EXPECT_EQ(status.service_id(), IdOf(B()));
  const bool sqlite = GetParam() == StoreKind::kSqlite;
  EXPECT_THAT(status.database().engine(), HasSubstr(sqlite ? "SQLite 3." : "MariaDB "));
  EXPECT_THAT(status.database().server(), HasSubstr(sqlite ? "tenure.db" : "127.0.0.1:"));
  EXPECT_TRUE(status.database().available());
  EXPECT_THAT(status.database().error(), IsEmpty());
  EXPECT_EQ(status.counts().elections(), 2u);
  EXPECT_EQ(status.counts().leaders(), 1u);
  EXPECT_EQ(status.counts().sessions(), 2u);
}

TEST(ServiceStatusTest, AReplicaWithoutItsDatabaseSaysWhatItWaitsFor) {
  Tenured server("mysql://tenure@127.0.0.1:1/tenure", {}, false);

  const auto status = StatusWhen(server, [](const auto& it) {
    return it.not_ready_reason().find("2002") != std::string::npos;
  });

  EXPECT_FALSE(status.ready());
  EXPECT_THAT(status.service_id(), IsEmpty());
  EXPECT_THAT(status.database().engine(), IsEmpty());
  EXPECT_EQ(status.database().server(), "mysql://tenure@127.0.0.1:1/tenure");
  EXPECT_FALSE(status.database().available());
  EXPECT_EQ(status.database().error(), status.not_ready_reason());
  EXPECT_FALSE(status.has_counts());
  EXPECT_EQ(Identify(server).first, "STORE_UNAVAILABLE");
}

TEST(ServiceStatusTest, AFlagThatIsNoServiceIdIsRefused) {
  const auto end =
      RunToEnd({Program("tenured"), "--store", "sqlite::memory:", "--service-id", "x"});

  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(end.errors, HasSubstr("--service-id must be 32 lower-case hexadecimal digits"));
}

}  // namespace
}  // namespace tenure::testing
