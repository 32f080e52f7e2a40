#include "server/process/grpc_server.h"

#include <gtest/gtest.h>

#include "tests/support/process.h"

namespace tenure::process {
namespace {

using namespace std::chrono_literals;

constexpr char kWithHealthChecks[] =
    R"({"loadBalancingConfig": [{"round_robin": {}}], "healthCheckConfig": {"serviceName": ""}})";

bool Connects(const std::string& address, const char* service_config = "{}") {
  grpc::ChannelArguments arguments;
  arguments.SetServiceConfigJSON(service_config);
  const auto channel =
      grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  return channel->WaitForConnected(std::chrono::system_clock::now() + 500ms);
}

TEST(GrpcServerTest, ANewServerSaysThatItDoesNotServe) {
  const std::string address = "127.0.0.1:" + std::to_string(testing::FreePort());
  Metrics metrics;
  const auto server = GrpcServer::Start(
      {address, grpc::InsecureServerCredentials(), {10, 10}}, [](wire::Dispatcher&) {}, metrics);
  ASSERT_TRUE(server) << server.error();
  ASSERT_TRUE(testing::Eventually([&] { return Connects(address); }));

  EXPECT_FALSE(Connects(address, kWithHealthChecks));

  (*server)->health().SetServing(true);
  EXPECT_TRUE(testing::Eventually([&] { return Connects(address, kWithHealthChecks); }));
  (*server)->Shutdown(std::chrono::system_clock::now());
}

}  // namespace
}  // namespace tenure::process
