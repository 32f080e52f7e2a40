// What is in the image, and what is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

#include "tests/image/podman.h"

namespace tenure::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Key;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;
using ::testing::UnorderedElementsAreArray;
using Json = nlohmann::json;

constexpr uintmax_t kBytesMax = 50 << 20;

class ImageContentsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { root_ = MountImage(); }

  static std::vector<fs::directory_entry> Files() {
    std::vector<fs::directory_entry> files;
    for (const auto& entry : fs::recursive_directory_iterator(root_)) {
      if (!entry.is_symlink() && entry.is_regular_file()) files.push_back(entry);
    }
    EXPECT_THAT(files, Not(IsEmpty()));
    return files;
  }
  static std::string Inside(const fs::path& path) {
    return "/" + path.lexically_relative(root_).string();
  }
  static std::string Content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static Json BillOfMaterials() {
    return Json::parse(Content(root_ / "usr/share/doc/tenure/sbom.spdx.json"));
  }

  static fs::path root_;
};
fs::path ImageContentsTest::root_;

TEST_F(ImageContentsTest, TheOnlyProgramsAreTenureAndTenured) {
  std::vector<std::string> programs;
  for (const std::string folder : {"usr/bin", "usr/sbin", "usr/local/bin"}) {
    for (const auto& entry : fs::directory_iterator(root_ / folder)) {
      programs.push_back(Inside(entry.path()));
    }
  }

  EXPECT_THAT(programs, UnorderedElementsAre("/usr/local/bin/tenure", "/usr/local/bin/tenured"));
}

TEST_F(ImageContentsTest, NoFileIsSetuidOrSetgid) {
  std::vector<std::string> privileged;
  for (const auto& file : Files()) {
    const auto set_id = fs::perms::set_uid | fs::perms::set_gid;
    if ((file.status().permissions() & set_id) != fs::perms::none) {
      privileged.push_back(Inside(file.path()));
    }
  }

  EXPECT_THAT(privileged, IsEmpty());
}

TEST_F(ImageContentsTest, TheImageIsSmall) {
  uintmax_t bytes = 0;
  for (const auto& file : Files()) bytes += file.file_size();

  EXPECT_LE(bytes, kBytesMax);
  RecordProperty("bytes", std::to_string(bytes));
}

TEST_F(ImageContentsTest, TheProgramsAreStrippedAndHoldNoBuildPaths) {
  for (const std::string program : {"tenured", "tenure"}) {
    EXPECT_THAT(Content(root_ / "usr/local/bin" / program),
                AllOf(Not(HasSubstr(".debug_info")), Not(HasSubstr(TENURE_SOURCE_DIR)),
                      Not(HasSubstr("/src/build"))));
  }
}

TEST_F(ImageContentsTest, TheSettingsHoldNoSecret) {
  const Json config = ImageConfig();
  for (const std::string setting : config.at("Env")) {
    for (const char* word : {"PASSWORD", "SECRET", "TOKEN", "KEY"}) {
      EXPECT_THAT(setting, Not(HasSubstr(word)));
    }
  }
}

TEST_F(ImageContentsTest, TheBillOfMaterialsNamesEveryPackageOfTheImage) {
  const Finished installed =
      RunToEnd({"dpkg-query", "--admindir=" + (root_ / "var/lib/dpkg").string(), "--show",
                "--showformat=${Package} ${Version}\n"});
  ASSERT_EQ(installed.exit_code, 0) << installed.errors;
  std::istringstream lines(installed.output);
  std::set<std::string> expected;
  for (std::string line; std::getline(lines, line);) expected.insert(line);
  ASSERT_THAT(installed.output, AllOf(HasSubstr("libc6 "), HasSubstr("libmysqlcppconn7v5 ")));

  const Json bill = BillOfMaterials();

  std::set<std::string> contained;
  for (const Json& relation : bill.at("relationships")) {
    if (relation.at("relationshipType") == "CONTAINS") {
      contained.insert(relation.at("relatedSpdxElement"));
    }
  }
  std::set<std::string> named;
  for (const Json& package : bill.at("packages")) {
    if (!contained.contains(package.at("SPDXID"))) continue;
    named.insert(package.at("name").get<std::string>() + " " +
                 package.at("versionInfo").get<std::string>());
  }
  const auto version = ImageConfig().at("Labels").at("org.opencontainers.image.version");
  expected.insert("tenure " + version.get<std::string>());
  EXPECT_THAT(named, UnorderedElementsAreArray(expected));
}

TEST_F(ImageContentsTest, TheBillOfMaterialsNamesTheCompiledInHeaderLibraries) {
  const Json bill = BillOfMaterials();
  std::vector<std::string> compiled_in;
  for (const Json& relation : bill.at("relationships")) {
    if (relation.at("relationshipType") == "BUILD_DEPENDENCY_OF") {
      compiled_in.push_back(relation.at("spdxElementId"));
    }
  }

  EXPECT_THAT(compiled_in, IsSupersetOf({"SPDXRef-libcli11-dev", "SPDXRef-libexpected-dev",
                                         "SPDXRef-libsqlitecpp-dev"}));
}

TEST_F(ImageContentsTest, TheBillOfMaterialsNamesTheGrpcThatTheProgramsContain) {
  const Json bill = BillOfMaterials();
  std::set<std::string> linked_in;
  for (const Json& relation : bill.at("relationships")) {
    if (relation.at("relationshipType") == "STATIC_LINK") {
      linked_in.insert(relation.at("relatedSpdxElement"));
    }
  }
  std::set<std::string> named;
  for (const Json& package : bill.at("packages")) {
    const std::string name = package.at("name");
    EXPECT_THAT(name, Not(HasSubstr("libgrpc")));
    if (!linked_in.contains(package.at("SPDXID"))) continue;
    named.insert(name + " " + package.at("versionInfo").get<std::string>());
  }

  EXPECT_THAT(named, IsSupersetOf({"gRPC 1.56.2", "Abseil 20230125.3", "RE2 2022-04-01"}));
  EXPECT_THAT(Content(root_ / "usr/share/doc/tenure/copyright.grpc"),
              HasSubstr("third_party/re2/LICENSE"));
}

TEST_F(ImageContentsTest, TheImageHasNoSharedGrpc) {
  for (const auto& file : Files()) {
    EXPECT_THAT(file.path().filename().string(), Not(StartsWith("libgrpc")));
  }
}

TEST_F(ImageContentsTest, TheImageRunsAsTheUserOfTheHelmChart) {
  EXPECT_EQ(ImageConfig().at("User"), "65532:65532");
  EXPECT_THAT(Content(fs::path(TENURE_SOURCE_DIR) / "helm/tenure/values.yaml"),
              AllOf(HasSubstr("runAsUser: 65532\n"), HasSubstr("runAsGroup: 65532\n")));
}

TEST_F(ImageContentsTest, TheImageSaysWhatItIs) {
  const auto labels = ImageConfig().at("Labels").get<std::map<std::string, std::string>>();
  const std::string prefix = "org.opencontainers.image.";

  for (const char* label : {"title", "description", "licenses", "version", "revision"}) {
    EXPECT_THAT(labels, Contains(Key(prefix + label)));
  }
  EXPECT_THAT(labels.at(prefix + "revision"), MatchesRegex("[0-9a-f]{40}"));
}

TEST_F(ImageContentsTest, TheImageDeclaresItsPortsAndItsHealthCheck) {
  const Json config = ImageConfig();

  const auto ports = config.at("ExposedPorts").get<std::map<std::string, Json>>();
  EXPECT_THAT(ports, ElementsAre(Key("7070/tcp"), Key("7071/tcp")));
  EXPECT_EQ(config.at("Healthcheck").at("Test"), Json({"CMD", "tenured", "healthcheck"}));
}

}  // namespace
}  // namespace tenure::testing
