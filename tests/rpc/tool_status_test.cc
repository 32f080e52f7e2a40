// `tenure status`.
#include <grpcpp/generic/async_generic_service.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/rpc/service_fixture.h"
#include "tests/rpc/tool.h"

namespace tenure::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Json = nlohmann::json;

class StatusTest : public ServiceTest {
 protected:
  Finished Run(const std::string& endpoints, std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(), {"status", "--endpoint", endpoints});
    return RunToEnd(ToolCommand(std::move(arguments)));
  }
  std::vector<Json> Objects(const std::string& endpoints) {
    std::vector<Json> objects;
    std::istringstream lines(Run(endpoints, {"--json"}).output);
    for (std::string line; std::getline(lines, line);) objects.push_back(Json::parse(line));
    return objects;
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, StatusTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

TEST_P(StatusTest, ShowsEachEndpointAndWhatTheServiceHolds) {
  const auto finished = Run(A().endpoint() + "," + B().endpoint());

  EXPECT_EQ(finished.exit_code, 0) << finished.errors << finished.output;
  EXPECT_THAT(finished.output, AllOf(HasSubstr(A().endpoint()), HasSubstr(B().endpoint()),
                                     HasSubstr("ready"), HasSubstr("elections: ")));
  const auto objects = Objects(A().endpoint());
  ASSERT_THAT(objects, SizeIs(2));
  EXPECT_EQ(objects[0].at("ready"), true);
  EXPECT_EQ(objects[0].at("why_not"), nullptr);
  EXPECT_EQ(objects[0].at("tls"), false);
  EXPECT_EQ(objects[0].at("service_id").get<std::string>().size(), 32u);
  EXPECT_EQ(objects[0].at("database").at("available"), true);
  EXPECT_TRUE(objects[1].contains("sessions"));
}

TEST_P(StatusTest, AnEndpointThatCannotBeUsedIsNamedWithTheCause) {
  const auto finished = Run(A().endpoint() + ",127.0.0.1:1");

  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.output, HasSubstr("connection refused"));
  EXPECT_EQ(Run("127.0.0.1:1").exit_code, 7);
  EXPECT_EQ(Objects("127.0.0.1:1").front().at("reachable"), false);
}

TEST_P(StatusTest, EndpointsOfDifferentServicesAreAnError) {
  Tenured other("sqlite::memory:");

  const auto finished = Run(A().endpoint() + "," + other.endpoint());

  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.errors, AllOf(HasSubstr("the endpoints belong to different services"),
                                     HasSubstr(other.endpoint() + " to ")));
}

TEST_P(StatusTest, AnEndpointThatIsNotTenureIsNamed) {
  grpc::CallbackGenericService refuses_all;
  grpc::ServerBuilder builder;
  const std::string endpoint = "127.0.0.1:" + std::to_string(FreePort());
  builder.AddListeningPort(endpoint, grpc::InsecureServerCredentials());
  builder.RegisterCallbackGenericService(&refuses_all);
  const auto server = builder.BuildAndStart();

  const auto finished = Run(endpoint);

  EXPECT_EQ(finished.exit_code, 7);
  EXPECT_THAT(finished.output, HasSubstr("not Tenure"));
  EXPECT_THAT(Run(A().http_endpoint()).output, HasSubstr("HTTP, not gRPC"));
}

TEST(StatusOfAStoreTest, ADatabaseThatCannotBeReachedIsNamed) {
  const std::string nobody = "127.0.0.1:" + std::to_string(FreePort());
  Tenured server("mysql://root@" + nobody + "/tenure", {}, false);

  EXPECT_TRUE(Eventually([&] {
    const auto finished = RunToEnd(ToolCommand({"status", "--endpoint", server.endpoint()}));
    return finished.exit_code == 7 &&
           finished.output.find("cannot reach its database") != std::string::npos &&
           finished.output.find(nobody) != std::string::npos;
  }));
}

}  // namespace
}  // namespace tenure::testing
