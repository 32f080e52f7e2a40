// Both programs, the metrics and the log name the version of the build.
#include <gtest/gtest.h>

#include "base/version.h"
#include "tests/rpc/tool.h"

namespace tenure::testing {
namespace {

using namespace std::string_literals;

TEST(VersionTest, BothProgramsPrintIt) {
  for (const std::string program : {"tenured", "tenure"}) {
    const auto printed = RunToEnd({Program(program), "--version"});

    EXPECT_TRUE(printed.output.starts_with(program + " " + kVersion + "\n")) << printed.output;
    EXPECT_EQ(printed.exit_code, 0);
  }
}

TEST(VersionTest, TheServerNamesItsGrpc) {
  const auto printed = RunToEnd({Program("tenured"), "--version"});

  EXPECT_TRUE(printed.output.ends_with("\ngRPC " + grpc::Version() + "\n")) << printed.output;
}

TEST(VersionTest, ARunningServerShowsItInItsMetricsAndItsLog) {
  Tenured server("sqlite::memory:");

  const std::string build_info = "version=\""s + kVersion + "\"} 1\n";
  const std::string logged = "listening version="s + kVersion + " ";
  EXPECT_NE(server.Get("/metrics").second.find(build_info), std::string::npos) << build_info;
  EXPECT_TRUE(Eventually([&] {
    return server.process().Errors().find(logged) != std::string::npos;
  })) << server.process().Errors();
}

}  // namespace
}  // namespace tenure::testing
