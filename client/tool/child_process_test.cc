#include "client/tool/child_process.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <string>

namespace tenure {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 30s;

std::filesystem::path ProgramOf(const std::string& process) {
  return std::filesystem::read_symlink("/proc/" + process + "/exe");
}

TEST(ChildProcessTest, TheCommandDoesNotStartBeforeThePreparation) {
  std::filesystem::path program;

  ChildProcess child({"true"}, {},
                     [&](pid_t group) { program = ProgramOf(std::to_string(group)); });

  EXPECT_EQ(program, ProgramOf("self"));
  EXPECT_TRUE(child.WaitForEnd(kPatience));
  EXPECT_EQ(child.Reap(), 0);
}

TEST(ChildProcessTest, TheProcessIdIsKeptUntilTheChildIsReaped) {
  ChildProcess child({"true"}, {}, [](pid_t) {});
  ASSERT_TRUE(child.WaitForEnd(kPatience));

  EXPECT_EQ(kill(child.group(), 0), 0);
  (void)child.Reap();

  EXPECT_NE(kill(child.group(), 0), 0);
}

TEST(ChildProcessTest, ACommandThatCannotBeRunIsAnError) {
  EXPECT_THROW(ChildProcess({"/no/such/command"}, {}, [](pid_t) {}), std::system_error);
}

}  // namespace
}  // namespace tenure
