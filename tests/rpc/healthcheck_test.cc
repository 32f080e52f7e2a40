// `tenured healthcheck`, which a container runs to learn whether its tenured is alive.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/support/tenured.h"

namespace tenure::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::string_literals;

class HealthcheckTest : public ::testing::Test {
 protected:
  // A server whose database is away.
  std::unique_ptr<Process> Serve() {
    const std::string listen = "127.0.0.1:" + std::to_string(FreePort());
    const std::string store = "mysql://root@127.0.0.1:" + std::to_string(FreePort()) + "/tenure";
    return std::make_unique<Process>(std::vector{Program("tenured"), "--listen"s, listen,
                                                 "--store"s, store, "--http-listen"s, http_});
  }
  Finished Healthcheck() {
    return RunToEnd({Program("tenured"), "healthcheck"}, {{"TENURE_HTTP_LISTEN", http_}});
  }
  bool Healthy() { return Healthcheck().exit_code == 0; }

  std::string http_ = "127.0.0.1:" + std::to_string(FreePort());
};

TEST_F(HealthcheckTest, AServerIsHealthyWhileItsDatabaseIsAway) {
  const auto server = Serve();

  ASSERT_TRUE(Eventually([&] { return Healthy(); }));

  EXPECT_TRUE(server->Running());
}

TEST_F(HealthcheckTest, AStoppedServerIsNotHealthy) {
  const auto server = Serve();
  ASSERT_TRUE(Eventually([&] { return Healthy(); }));
  server->Signal(SIGTERM);
  server->Wait();

  const auto checked = Healthcheck();

  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_EQ(checked.errors, "tenured: " + http_ + " does not answer (HTTP)\n");
}

TEST_F(HealthcheckTest, AServerThatHangsIsNotHealthy) {
  const auto server = Serve();
  ASSERT_TRUE(Eventually([&] { return Healthy(); }));
  server->Signal(SIGSTOP);

  EXPECT_EQ(Healthcheck().exit_code, 1);
}

TEST_F(HealthcheckTest, AnotherServerOnThePortIsNotHealthy) {
  Tenured other("sqlite::memory:");
  http_ = other.endpoint();  // gRPC

  EXPECT_EQ(Healthcheck().exit_code, 1);
}

TEST_F(HealthcheckTest, AnInvalidAddressIsRefused) {
  http_ = "nonsense";

  EXPECT_THAT(Healthcheck().errors, HasSubstr("'nonsense' is not an address"));
}

}  // namespace
}  // namespace tenure::testing
