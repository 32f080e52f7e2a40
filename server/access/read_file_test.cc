#include "server/access/read_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace tenure::access {
namespace {

TEST(ReadFileTest, AFileIsReadWhole) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "read_file_test";
  const std::string content = std::string(10'000, 'x') + '\0' + "end";
  std::ofstream(path, std::ios::binary) << content;

  EXPECT_EQ(ReadFile(path), content);
}

TEST(ReadFileTest, AnUnreadableFileIsAnError) {
  EXPECT_EQ(ReadFile("/nowhere"), tl::unexpected<std::string>("cannot read /nowhere"));
  // It can be opened, but not read.
  EXPECT_EQ(ReadFile("/"), tl::unexpected<std::string>("cannot read /"));
}

TEST(ReadFileTest, APipeIsRefusedAtOnce) {
  const std::string path = std::filesystem::path(::testing::TempDir()) / "read_file_pipe";
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);

  EXPECT_EQ(ReadFile(path), tl::unexpected<std::string>(
                                path + " is a pipe; use a file, since it is read more than once"));
  std::filesystem::remove(path);
}

TEST(ReadFileTest, AnEndlessFileIsRefused) {
  EXPECT_EQ(ReadFile("/dev/zero"), tl::unexpected<std::string>("/dev/zero is larger than 4 MB"));
}

}  // namespace
}  // namespace tenure::access
