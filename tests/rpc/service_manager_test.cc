// What tenured tells the service manager that has started it, as systemd does with Type=notify.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "tests/support/notify_socket.h"
#include "tests/support/tenured.h"

namespace tenure::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::string_literals;

class ServiceManagerTest : public ::testing::Test {
 protected:
  std::unique_ptr<Process> Start(const std::string& store,
                                 std::map<std::string, std::string> environment = {}) {
    environment.emplace("NOTIFY_SOCKET", manager_.address());
    return std::make_unique<Process>(std::vector{Program("tenured"), "--store"s, store, "--listen"s,
                                                 Address(), "--http-listen"s, Address()},
                                     std::move(environment));
  }
  static std::string Address() { return "127.0.0.1:" + std::to_string(FreePort()); }

  void WaitFor(const std::string& message) {
    EXPECT_TRUE(Eventually([&] {
      for (const auto& heard : manager_.Messages()) {
        if (heard.find(message) != std::string::npos) return true;
      }
      return false;
    })) << message
        << " is missing among " << ::testing::PrintToString(manager_.Messages());
  }

  NotifySocket manager_;
};

TEST_F(ServiceManagerTest, AServerReportsThatItIsReadyAndLaterThatItStops) {
  const auto server = Start("sqlite::memory:");
  WaitFor("READY=1");
  WaitFor("STATUS=Serving");
  EXPECT_THAT(manager_.Messages(), Not(Contains("STOPPING=1")));

  server->Signal(SIGTERM);

  EXPECT_EQ(server->Wait(), 0);
  EXPECT_EQ(manager_.Messages().back(), "STOPPING=1");
}

TEST_F(ServiceManagerTest, AServerReportsWhatItWaitsForUntilItIsReady) {
  const auto server = Start("mysql://root@" + Address() + "/tenure");

  WaitFor("STATUS=Waiting for the store: ");

  EXPECT_THAT(manager_.Messages(), Not(Contains("READY=1")));
}

TEST_F(ServiceManagerTest, AServerKeepsReportingThatItIsAlive) {
  const auto server = Start("sqlite::memory:", {{"WATCHDOG_USEC", "1000000"}});
  const auto pings = [&] {
    const auto& messages = manager_.Messages();
    return std::count(messages.begin(), messages.end(), "WATCHDOG=1");
  };

  EXPECT_TRUE(Eventually([&] { return pings() >= 3; }));
}

TEST_F(ServiceManagerTest, WithoutAWatchdogThereAreNoPings) {
  const auto server = Start("sqlite::memory:");
  WaitFor("STATUS=Serving");

  server->Signal(SIGTERM);
  server->Wait();

  EXPECT_THAT(manager_.Messages(), Not(Contains("WATCHDOG=1")));
}

TEST_F(ServiceManagerTest, AServerWithABadSettingReportsNothing) {
  const auto server = Start("postgres://somewhere");

  EXPECT_EQ(server->Wait(), 2);

  EXPECT_THAT(server->Errors(), ::testing::MatchesRegex("tenured: [^\n]*postgres[^\n]*\n"));
  EXPECT_THAT(manager_.Messages(), ::testing::IsEmpty());
}

TEST_F(ServiceManagerTest, TheServiceManagerNeedNotListen) {
  const auto server =
      Start("sqlite::memory:", {{"NOTIFY_SOCKET", manager_.address() + "-elsewhere"}});

  EXPECT_TRUE(Eventually([&] { return server->Errors().find("ready") != std::string::npos; }));
  EXPECT_TRUE(Eventually([&] {
    return server->Errors().find("cannot reach the service manager") != std::string::npos;
  }));
  server->Signal(SIGTERM);
  EXPECT_EQ(server->Wait(), 0);
  const std::string log = server->Errors();
  EXPECT_EQ(log.find("service manager"), log.rfind("service manager")) << log << "said once";
}

}  // namespace
}  // namespace tenure::testing
