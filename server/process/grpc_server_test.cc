#include "server/process/grpc_server.h"

#include <gtest/gtest.h>

#include "client/connection.h"
#include "tests/support/process.h"

namespace tenure::process {
namespace {

TEST(GrpcServerTest, ANewServerSaysThatItDoesNotServe) {
  const std::string address = "127.0.0.1:" + std::to_string(testing::FreePort());
  Metrics metrics;
  const auto server =
      GrpcServer::Start({address, grpc::InsecureServerCredentials(), {10, 10}}, {}, metrics);
  ASSERT_TRUE(server) << server.error();
  const auto connects = [&](HealthCheck health_check) {
    return Connection(address, nullptr, health_check).Connect();
  };
  ASSERT_TRUE(testing::Eventually([&] { return connects(HealthCheck::kOff); }));

  EXPECT_FALSE(connects(HealthCheck::kOn));

  (*server)->health().SetServingStatus(true);
  EXPECT_TRUE(testing::Eventually([&] { return connects(HealthCheck::kOn); }));
  (*server)->Shutdown(std::chrono::system_clock::now());
}

}  // namespace
}  // namespace tenure::process
