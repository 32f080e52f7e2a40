#include "server/access/memory_file.h"

#include <gtest/gtest.h>

#include "server/access/read_file.h"

namespace tenure::access {
namespace {

TEST(MemoryFileTest, ThePathLeadsToTheLastContent) {
  MemoryFile file;

  ASSERT_TRUE(file.Replace("first"));
  const std::string path = file.path();
  EXPECT_EQ(ReadFile(path), "first");

  ASSERT_TRUE(file.Replace(std::string(1 << 20, 'x')));
  EXPECT_EQ(file.path(), path);
  EXPECT_EQ(ReadFile(path), std::string(1 << 20, 'x'));
}

TEST(MemoryFileTest, AReaderKeepsTheContentThatItOpened) {
  MemoryFile file;
  ASSERT_TRUE(file.Replace("first"));
  std::ifstream reader(file.path());

  ASSERT_TRUE(file.Replace("second"));

  std::string text;
  reader >> text;
  EXPECT_EQ(text, "first");
}

}  // namespace
}  // namespace tenure::access
