// The library as an application gets it: installed, found, compiled against, linked (with the
// gRPC of the system) and run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/process.h"
#include "tests/support/tenured.h"

namespace tenure::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

const std::string kCxxFlags = "-std=c++20 -Wall -Wextra -Werror ";

void RunWell(const std::vector<std::string>& command) {
  const Finished finished = RunToEnd(command);
  ASSERT_EQ(finished.exit_code, 0) << ::testing::PrintToString(command) << "\n"
                                   << finished.output << finished.errors;
}

// One installation for all tests. Nothing of the sources or of the build can be seen from there.
class InstallTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TempDir>();
    RunWell({TENURE_INSTALL, Prefix().string()});
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static std::filesystem::path Folder() { return folder_->path(); }
  static std::filesystem::path Prefix() { return Folder() / "installed"; }

  static void LeadsWhenItRuns(const std::filesystem::path& application) {
    Tenured server("sqlite::memory:");
    const Finished finished = RunToEnd({application.string(), server.endpoint()});
    EXPECT_EQ(finished.exit_code, 0) << finished.errors;
    EXPECT_EQ(finished.output, "term 1\n");
  }

  static void LeadsWithoutAServer(const std::filesystem::path& test) {
    const Finished finished = RunToEnd({test.string()});
    EXPECT_EQ(finished.exit_code, 0) << finished.errors;
    EXPECT_EQ(finished.output, "term 1\n");
  }

  static void CompileWithPkgConfig(const std::string& source, const std::string& package,
                                   const std::string& program) {
    RunWell({"sh", "-c",
             "PKG_CONFIG_PATH='" + (Prefix() / TENURE_LIBRARY_DIR / "pkgconfig").string() +
                 "' && " + "export PKG_CONFIG_PATH && '" + TENURE_CXX + "' " + kCxxFlags + " -o '" +
                 program + "' " + TENURE_PROGRAM_DIR + "/" + source + " " +
                 "$(pkg-config --cflags --libs " + package + ")"});
  }

  static std::unique_ptr<TempDir> folder_;
};
std::unique_ptr<TempDir> InstallTest::folder_;

TEST_F(InstallTest, AnApplicationFindsTheLibraryWithCMake) {
  const auto build = Folder() / "with-cmake";

  RunWell({TENURE_CMAKE, "-G", "Ninja", "-S", TENURE_PROGRAM_DIR, "-B", build.string(),
           "-DCMAKE_PREFIX_PATH=" + Prefix().string(),
           std::string("-DCMAKE_CXX_COMPILER=") + TENURE_CXX, "-DCMAKE_CXX_FLAGS=" + kCxxFlags});
  RunWell({TENURE_CMAKE, "--build", build.string()});

  LeadsWhenItRuns(build / "application");
  LeadsWithoutAServer(build / "application_test");
}

TEST_F(InstallTest, AnApplicationFindsTheLibraryWithPkgConfig) {
  const std::string application = Folder() / "with-pkg-config";
  CompileWithPkgConfig("application.cc", "tenure-client", application);
  LeadsWhenItRuns(application);

  const std::string test = Folder() / "test-with-pkg-config";
  CompileWithPkgConfig("application_test.cc", "tenure-testing", test);
  LeadsWithoutAServer(test);
}

TEST_F(InstallTest, EachHeaderCompilesByItself) {
  std::vector<std::filesystem::path> headers;
  for (const auto& entry : std::filesystem::directory_iterator(Prefix() / "include/tenure")) {
    if (entry.is_regular_file()) headers.push_back(entry.path());
  }
  ASSERT_THAT(headers, Not(IsEmpty()));

  for (const auto& header : headers) {
    RunWell({"sh", "-c",
             std::string("echo '#include <tenure/") + header.filename().string() + ">' | '" +
                 TENURE_CXX + "' " + kCxxFlags + " -I'" + (Prefix() / "include").string() +
                 "' -fsyntax-only -x c++ -"});
  }
}

TEST_F(InstallTest, NothingIsInstalledThatIsOnlyForPackages) {
  std::vector<std::string> folders;
  for (const auto& entry : std::filesystem::directory_iterator(Prefix())) {
    folders.push_back(entry.path().filename().string());
  }

  EXPECT_THAT(folders, UnorderedElementsAre("bin", "include", "lib"));
}

TEST_F(InstallTest, TheProgramsAreInstalled) {
  for (const std::string program : {"tenured", "tenure"}) {
    RunWell({(Prefix() / "bin" / program).string(), "--help"});
  }
}

}  // namespace
}  // namespace tenure::testing
