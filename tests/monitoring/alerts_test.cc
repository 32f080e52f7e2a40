// Alerts, their cases and their runbooks belong together: none is without the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace tenure::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::filesystem::path kRoot = TENURE_SOURCE_DIR;
const std::filesystem::path kRunbooks = kRoot / "docs/runbooks";

std::vector<YAML::Node> Alerts() {
  std::vector<YAML::Node> alerts;
  const YAML::Node file = YAML::LoadFile(kRoot / "helm/tenure/alerts/tenure.yaml");
  for (const YAML::Node& group : file["groups"]) {
    for (const YAML::Node& rule : group["rules"]) alerts.push_back(rule);
  }
  return alerts;
}

std::string NameOf(const YAML::Node& alert) { return alert["alert"].as<std::string>(); }

std::set<std::string> AlertNames() {
  std::set<std::string> names;
  for (const YAML::Node& alert : Alerts()) names.insert(NameOf(alert));
  return names;
}

// The names, without extension, of the files in a folder that are each about one alert.
std::set<std::string> StemsIn(const std::filesystem::path& folder) {
  std::set<std::string> stems;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    stems.insert(file.path().stem());
  }
  stems.erase("README");
  return stems;
}

std::vector<std::string> LinesOf(const std::filesystem::path& file) {
  std::vector<std::string> lines;
  std::ifstream input(file);
  for (std::string line; std::getline(input, line);) lines.push_back(line);
  return lines;
}

TEST(AlertsTest, EveryAlertHasARunbookAndEveryRunbookAnAlert) {
  EXPECT_THAT(StemsIn(kRunbooks), Eq(AlertNames()));
}

TEST(AlertsTest, EveryAlertHasADescriptionAndALinkToItsRunbook) {
  for (const YAML::Node& alert : Alerts()) {
    const YAML::Node says = alert["annotations"];
    EXPECT_THAT(says["summary"].as<std::string>(""), Not(IsEmpty())) << NameOf(alert);
    EXPECT_THAT(says["description"].as<std::string>(""), Not(IsEmpty())) << NameOf(alert);
    EXPECT_EQ(says["runbook_url"].as<std::string>(""), "docs/runbooks/" + NameOf(alert) + ".md");
  }
}

TEST(AlertsTest, EveryRunbookHasTheSameFourParts) {
  for (const std::string& name : AlertNames()) {
    std::vector<std::string> headings;
    for (const std::string& line : LinesOf(kRunbooks / (name + ".md"))) {
      if (line.starts_with("#")) headings.push_back(line);
    }
    EXPECT_THAT(headings, ElementsAre("# " + name, "## Meaning", "## Impact", "## Diagnosis",
                                      "## Mitigation"));
  }
}

TEST(AlertsTest, TheIndexOfRunbooksNamesEachWithItsSeverity) {
  const std::vector<std::string> index = LinesOf(kRunbooks / "README.md");

  for (const YAML::Node& alert : Alerts()) {
    const std::string link = "| [" + NameOf(alert) + "](" + NameOf(alert) + ".md) | ";
    EXPECT_THAT(index, ::testing::Contains(
                           HasSubstr(link + alert["labels"]["severity"].as<std::string>() + " |")));
  }
}

TEST(AlertsTest, EveryAlertHasAFiringAndASilentTestCase) {
  EXPECT_THAT(StemsIn(kRoot / "tests/alerts"), Eq(AlertNames()));
  for (const std::string& name : AlertNames()) {
    int firing = 0;
    int silent = 0;
    const YAML::Node file = YAML::LoadFile(kRoot / "tests/alerts" / (name + ".yaml"));
    for (const YAML::Node& test : file["tests"]) {
      for (const YAML::Node& expected : test["alert_rule_test"]) {
        ASSERT_EQ(expected["alertname"].as<std::string>(), name);
        ++(expected["exp_alerts"].size() > 0 ? firing : silent);
      }
    }
    EXPECT_GE(firing, 1) << name;
    EXPECT_GE(silent, 1) << name;
  }
}

}  // namespace
}  // namespace tenure::testing
