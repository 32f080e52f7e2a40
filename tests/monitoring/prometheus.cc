#include "tests/monitoring/prometheus.h"

#include <gtest/gtest.h>
#include <httplib.h>

#include <fstream>

namespace tenure::testing {
namespace {

using Json = nlohmann::json;

std::string Seconds(Prometheus::Moment moment) {
  return std::to_string(std::chrono::duration<double>(moment.time_since_epoch()).count());
}

// JSON is YAML, too. The labels are those that the Prometheus operator gives to targets.
std::string Configuration(const std::vector<std::string>& targets,
                          const std::filesystem::path& rules) {
  const Json installation = {{"targets", targets}, {"labels", {{"namespace", "elections"}}}};
  return Json({
                  {"global", {{"scrape_interval", "1s"}, {"evaluation_interval", "1s"}}},
                  {"rule_files", {rules.string()}},
                  {"scrape_configs",
                   {{{"job_name", "tenure-headless"}, {"static_configs", {installation}}}}},
              })
      .dump();
}

}  // namespace

Prometheus::Prometheus(const std::vector<std::string>& targets, const std::filesystem::path& rules)
    : port_(FreePort()) {
  const auto configuration = folder_.path() / "prometheus.yml";
  std::ofstream(configuration) << Configuration(targets, rules);
  process_ = std::make_unique<Process>(std::vector<std::string>{
      "prometheus", "--config.file=" + configuration.string(),
      "--storage.tsdb.path=" + (folder_.path() / "data").string(),
      "--web.listen-address=127.0.0.1:" + std::to_string(port_), "--log.level=warn"});
  const bool watches = Eventually([&] {
    const Answer seen = Query("count(up == 1)");
    return seen && !seen->empty() && (*seen)[0]["value"][1] == std::to_string(targets.size());
  });
  EXPECT_TRUE(watches) << process_->Output() << process_->Errors();
}

Prometheus::Answer Prometheus::Get(const std::string& path, const Parameters& parameters) const {
  httplib::Client client("127.0.0.1", port_);
  const auto response =
      client.Get(path, httplib::Params(parameters.begin(), parameters.end()), httplib::Headers());
  if (!response) return tl::unexpected(std::string("Prometheus does not answer"));
  const Json body = Json::parse(response->body, nullptr, false);
  if (body.is_discarded()) return tl::unexpected(response->body);
  if (body["status"] != "success") return tl::unexpected(body["error"].get<std::string>());
  return body["data"];
}

Prometheus::Answer Prometheus::Query(const std::string& query) const {
  return Get("/api/v1/query", {{"query", query}}).map([](const Json& data) {
    return data["result"];
  });
}

Prometheus::Answer Prometheus::QuerySince(Moment begin, const std::string& query) const {
  return Get("/api/v1/query_range", {{"query", query},
                                     {"start", Seconds(begin)},
                                     {"end", Seconds(std::chrono::system_clock::now())},
                                     {"step", "1"}})
      .map([](const Json& data) { return data["result"]; });
}

std::vector<std::string> Prometheus::LabelValues(const std::string& series,
                                                 const std::string& label) const {
  return Get("/api/v1/label/" + label + "/values", {{"match[]", series}})
      .value_or(Json::array())
      .get<std::vector<std::string>>();
}

std::vector<Json> Prometheus::Rules() const {
  std::vector<Json> rules;
  const Json data = Get("/api/v1/rules").value_or(Json{{"groups", Json::array()}});
  for (const Json& group : data["groups"]) {
    for (const Json& rule : group["rules"]) rules.push_back(rule);
  }
  return rules;
}

std::vector<Json> Prometheus::Alerts() const {
  return Get("/api/v1/alerts").value_or(Json{{"alerts", Json::array()}})["alerts"];
}

}  // namespace tenure::testing
