// What the programs do when their output cannot be written.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/rpc/service_fixture.h"
#include "tests/rpc/tool.h"

namespace tenure::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

class ToolOutputTest : public ::testing::Test {
 protected:
  // Runs a command whose standard output is this descriptor, and expects exit code 1 and one line.
  void ExpectOneLine(std::vector<std::string> arguments, int output, const std::string& why) {
    SCOPED_TRACE(::testing::PrintToString(arguments));
    Process process(ToolCommand(std::move(arguments)), ToolEnvironment(server_),
                    {.output = output});
    EXPECT_EQ(process.Wait(), 1);
    // The cause is lost where the parser of the command line writes.
    EXPECT_THAT(process.Errors(), AnyOf("tenure: cannot write the output: " + why + "\n",
                                        "tenure: cannot write the output\n"));
  }
  // Each command that prints something on standard output.
  static std::vector<std::vector<std::string>> Commands() {
    return {{"leader", "e"},
            {"leader", "e", "--json"},
            {"list"},
            {"list", "--json"},
            {"top"},
            {"describe", "e"},
            {"history", "e"},
            {"sessions"},
            {"status"},
            {"status", "--json"},
            {"observe", "e"},
            {"observe", "e", "--json"},
            {"campaign", "f"},
            {"campaign", "f", "g", "--json"},
            {"campaign", "e", "--try"},
            {"appoint", "e", "a"},
            {"pause", "e"},
            {"resume", "e"},
            {"configure", "e", "--lock-delay", "1s"},
            {"purge", "--unused-for", "24h"},
            {"completion", "bash"},
            {"--help"},
            {"--version"},
            {"campaign", "--help"},
            {"depose", "e"},
            {"delete", "e"}};
  }

  // Whether a thread of it is in the system call that writes standard output.
  static bool WritesOutput(const Process& process) {
    const std::string call = std::to_string(SYS_write) + " 0x1 ";
    const std::filesystem::path threads = "/proc/" + std::to_string(process.pid()) + "/task";
    for (const auto& thread : std::filesystem::directory_iterator(threads)) {
      std::string line;
      std::getline(std::ifstream(thread.path() / "syscall"), line);
      if (line.starts_with(call)) return true;
    }
    return false;
  }

  void SetUp() override { Campaign(server_, {"e", "a"}); }

  Tenured server_{"sqlite::memory:"};
};

TEST_F(ToolOutputTest, AFullDiskIsAnError) {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);

  for (const auto& command : Commands()) ExpectOneLine(command, full, "No space left on device");

  EXPECT_FALSE(Leader(server_, "f").has_leader()) << "the campaigns have resigned";
  close(full);
}

TEST_F(ToolOutputTest, AClosedPipeIsAnError) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  close(ends[0]);

  for (const auto& command : Commands()) ExpectOneLine(command, ends[1], "Broken pipe");

  close(ends[1]);
}

TEST_F(ToolOutputTest, ACommandWhoseOutputNobodyReadsStillEnds) {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"campaign", "f"}, {"observe", "e"}}) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const auto size = static_cast<size_t>(fcntl(ends[1], F_SETPIPE_SZ, 4096));
    const std::string bytes(size, 'x');
    ASSERT_EQ(write(ends[1], bytes.data(), size), static_cast<ssize_t>(size));
    Process process(ToolCommand(command), ToolEnvironment(server_), {.output = ends[1]});
    ASSERT_TRUE(Eventually([&] { return WritesOutput(process); }));

    process.Signal(SIGTERM);

    EXPECT_EQ(process.Wait(), 1) << command.front();
    EXPECT_EQ(process.Errors(), "tenure: cannot write the output: nobody reads it\n");
    close(ends[0]);
    close(ends[1]);
  }
  EXPECT_FALSE(Leader(server_, "f").has_leader()) << "the campaign has resigned";
}

TEST(TenuredOutputTest, AFullDiskIsAnError) {
  const TempDir folder;
  const std::string url = "sqlite:" + (folder.path() / "tenure.db").string();
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);

  for (const std::string command : {"--help", "--version", "migrate", "check", "bump-terms"}) {
    Process process({Program("tenured"), command, "--store", url}, {}, {.output = full});
    EXPECT_EQ(process.Wait(), 1) << command;
    EXPECT_THAT(process.Errors(), HasSubstr("tenured: cannot write the output")) << command;
  }

  close(full);
}

}  // namespace
}  // namespace tenure::testing
