#include "tests/monitoring/dashboard.h"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>

namespace tenure::testing {
namespace {

using Json = nlohmann::json;

// For a server that is scraped every second, and watched for some minutes.
constexpr const char* kRateInterval = "15s";
constexpr const char* kRange = "5m";

std::string Replace(std::string text,
                    const std::map<std::string, std::string, std::greater<>>& by) {
  for (const auto& [name, value] : by) {
    const std::string variable = "$" + name;
    for (size_t at = 0; (at = text.find(variable, at)) != std::string::npos; at += value.size()) {
      text.replace(at, variable.size(), value);
    }
  }
  return text;
}

}  // namespace

Dashboard::Dashboard(const std::filesystem::path& file)
    : source_([&] {
        std::ifstream input(file);
        return Json::parse(input);
      }()) {}

Dashboard::Values Dashboard::Choose(const Prometheus& prometheus) const {
  static const std::regex kLabelValues(R"(label_values\((.+), (\w+)\))");
  Values values = {{"__rate_interval", kRateInterval}, {"__range", kRange}};
  for (const Json& variable : source_["templating"]["list"]) {
    if (variable["type"] != "query") continue;
    const auto name = variable["name"].get<std::string>();
    const std::string query = Replace(variable["definition"].get<std::string>(), values);
    std::smatch match;
    EXPECT_TRUE(std::regex_match(query, match, kLabelValues)) << query;
    const auto choice = prometheus.LabelValues(match[1], match[2]);
    EXPECT_FALSE(choice.empty()) << query;
    const bool all = variable["includeAll"].get<bool>();
    values[name] = all              ? variable["allValue"].get<std::string>()
                   : choice.empty() ? ""
                                    : choice.front();
  }
  return values;
}

std::vector<Panel> Dashboard::Panels(const Prometheus& prometheus) const {
  const Values values = Choose(prometheus);
  std::vector<Panel> panels;
  for (const Json& source : source_["panels"]) {
    if (source["type"] == "row") continue;
    Panel panel{.source = source};
    panel.title = source_["title"].get<std::string>() + ": " + source["title"].get<std::string>();
    for (const Json& target : source.value("targets", Json::array())) {
      panel.instant = target["instant"].get<bool>();
      panel.queries.push_back(Replace(target["expr"].get<std::string>(), values));
    }
    panels.push_back(std::move(panel));
  }
  return panels;
}

std::vector<Dashboard> Dashboards() {
  std::vector<Dashboard> dashboards;
  const std::filesystem::path folder =
      std::filesystem::path(TENURE_SOURCE_DIR) / "helm/tenure/dashboards";
  for (const char* name : {"overview", "election", "server"}) {
    dashboards.emplace_back(folder / (std::string(name) + ".json"));
  }
  return dashboards;
}

}  // namespace tenure::testing
