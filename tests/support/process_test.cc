#include "tests/support/process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tenure::testing {
namespace {

using ::testing::Each;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::Lt;
using ::testing::SizeIs;

TEST(FreePortTest, APortIsGivenOnlyOnce) {
  constexpr int kThreads = 4;
  constexpr int kPortsEach = 50;
  std::vector<std::vector<int>> ports(kThreads);
  std::vector<std::jthread> threads;
  for (auto& own : ports) {
    threads.emplace_back([&own] {
      for (int i = 0; i < kPortsEach; ++i) own.push_back(FreePort());
    });
  }
  threads.clear();

  std::set<int> all;
  for (const auto& own : ports) all.insert(own.begin(), own.end());
  EXPECT_THAT(all, SizeIs(kThreads * kPortsEach));
}

// Otherwise a connection that somebody opens may take the port before the server that it was chosen
// for.
TEST(FreePortTest, NoPortIsOneThatOutgoingConnectionsGet) {
  int first_of_connections = 0;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first_of_connections;

  EXPECT_THAT((std::vector{FreePort(), FreePort(), FreePort()}), Each(Lt(first_of_connections)));
}

TEST(ProcessTest, AProcessHoldsMemoryAndDescriptorsUntilItIsGone) {
  Process process({"sleep", "1000"});
  EXPECT_THAT(process.ResidentBytes(), Gt(0));
  EXPECT_THAT(process.Descriptors(), Ge(3));

  process.Signal(SIGKILL);
  process.Wait();
  EXPECT_THROW((void)process.ResidentBytes(), std::runtime_error);
  EXPECT_THROW((void)process.Descriptors(), std::runtime_error);
}

TEST(ProcessTest, AProcessReadsAndWritesWhatItIsGiven) {
  int input[2];
  int output[2];
  ASSERT_EQ(pipe2(input, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(output, O_CLOEXEC), 0);
  Process process({"cat"}, {}, {.input = input[0], .output = output[1]});
  for (const int given : {input[0], output[1]}) close(given);

  ASSERT_EQ(write(input[1], "line\n", 5), 5);
  std::string said(5, '\0');
  EXPECT_EQ(read(output[0], said.data(), said.size()), 5);
  EXPECT_EQ(said, "line\n");

  close(input[1]);
  EXPECT_EQ(process.Wait(), 0);
  close(output[0]);
}

}  // namespace
}  // namespace tenure::testing
