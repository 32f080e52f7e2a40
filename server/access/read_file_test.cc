#include "server/access/read_file.h"

#include <gtest/gtest.h>

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

TEST(ReadFileTest, WhatCannotBeReadIsAnError) {
  EXPECT_EQ(ReadFile("/nowhere"), tl::unexpected<std::string>("cannot read /nowhere"));
  // It can be opened, but not read.
  EXPECT_EQ(ReadFile("/"), tl::unexpected<std::string>("cannot read /"));
}

}  // namespace
}  // namespace tenure::access
