// The main program of a suite of many files. `rpc_test scenario_test` runs the tests of
// scenario_test.cc, as CTest does: one process, and so one database server, for each file.
// `rpc_test` runs all of them, and takes GoogleTest's flags.
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>

namespace {

// A filter for the suites that are written in `file`.cc; empty if there are none.
std::string FilterFor(std::string_view file) {
  std::string filter;
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *all.GetTestSuite(i);
    const std::filesystem::path written_in = suite.GetTestInfo(0)->file();
    if (written_in.stem() == file) filter.append(suite.name()).append(".*:");
  }
  return filter;
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc > 1) {
    const std::string filter = FilterFor(argv[1]);
    if (filter.empty()) {
      std::cerr << "no test is written in " << argv[1] << ".cc" << std::endl;
      return EXIT_FAILURE;
    }
    GTEST_FLAG_SET(filter, filter);
  }
  return RUN_ALL_TESTS();
}
