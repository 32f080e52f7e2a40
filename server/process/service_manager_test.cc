// The watchdog's pings, with a clock and an engine of the test's own.
// tests/rpc/service_manager_test.cc tests the messages of a running tenured.
#include "server/process/service_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/support/notify_socket.h"

namespace tenure::process {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PingTest : public ::testing::Test {
 protected:
  PingTest() {
    setenv("NOTIFY_SOCKET", socket_.address().c_str(), 1);
    setenv("WATCHDOG_USEC", "60000000", 1);
    unsetenv("WATCHDOG_PID");
  }
  ~PingTest() override {
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
  }

  static engine::SteadyTime At(std::chrono::seconds time) { return engine::SteadyTime(time); }

  testing::NotifySocket socket_;
};

TEST_F(PingTest, APingIsSentTwicePerInterval) {
  ServiceManager manager;

  for (auto time = 1s; time <= 61s; time += 1s) manager.Ping(At(time), 0s);

  EXPECT_THAT(socket_.Messages(), ElementsAre("WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1"));
}

TEST_F(PingTest, NoPingIsSentWhileTheEngineIsStalled) {
  ServiceManager manager;

  manager.Ping(At(1s), 31s);

  EXPECT_THAT(socket_.Messages(), IsEmpty());
}

TEST_F(PingTest, PingsContinueWhenTheEngineDoes) {
  ServiceManager manager;
  manager.Ping(At(1s), 31s);

  manager.Ping(At(2s), 0s);

  EXPECT_THAT(socket_.Messages(), ElementsAre("WATCHDOG=1"));
}

TEST_F(PingTest, NoPingIsSentIfTheWatchdogWatchesAnotherProcess) {
  setenv("WATCHDOG_PID", std::to_string(getppid()).c_str(), 1);

  ServiceManager().Ping(At(1s), 0s);

  EXPECT_THAT(socket_.Messages(), IsEmpty());
}

TEST_F(PingTest, NoPingIsSentWithoutAWatchdog) {
  unsetenv("WATCHDOG_USEC");

  ServiceManager().Ping(At(1s), 0s);

  EXPECT_THAT(socket_.Messages(), IsEmpty());
}

TEST_F(PingTest, NoPingIsSentIfTheIntervalIsNotANumber) {
  setenv("WATCHDOG_USEC", "soon", 1);

  ServiceManager().Ping(At(1s), 0s);

  EXPECT_THAT(socket_.Messages(), IsEmpty());
}

TEST_F(PingTest, APingReachesAnAbstractSocket) {
  testing::NotifySocket abstract("@tenure-test-" + std::to_string(getpid()));
  setenv("NOTIFY_SOCKET", abstract.address().c_str(), 1);

  ServiceManager().Ping(At(1s), 0s);

  EXPECT_THAT(abstract.Messages(), ElementsAre("WATCHDOG=1"));
}

TEST_F(PingTest, AMessageThatCouldNotBeSentIsSentAgain) {
  const std::string address = "@tenure-late-" + std::to_string(getpid());
  setenv("NOTIFY_SOCKET", address.c_str(), 1);
  ServiceManager manager;
  manager.Ready();
  manager.Ping(At(1s), 0s);

  testing::NotifySocket late(address);
  manager.Ping(At(2s), 0s);
  manager.Ping(At(3s), 0s);

  EXPECT_THAT(late.Messages(), ElementsAre("READY=1", "WATCHDOG=1"));
}

TEST(ServiceStatusTest, AStatusIsSentWhenItChanges) {
  testing::NotifySocket socket;
  setenv("NOTIFY_SOCKET", socket.address().c_str(), 1);
  ServiceManager manager;

  for (const std::string text : {"waiting", "waiting", "serving"}) manager.Status(text);

  EXPECT_THAT(socket.Messages(), ElementsAre("STATUS=waiting", "STATUS=serving"));
  unsetenv("NOTIFY_SOCKET");
}

}  // namespace
}  // namespace tenure::process
