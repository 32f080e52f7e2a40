// What operators see, held to reality: a Prometheus watches real replicas while leaders are killed.
// Every query of the dashboards, the runbooks and the alerts is asked.
//
// TENURE_TEST_ROUNDS makes more happen (1); TENURE_TEST_RESULTS names a folder for what the
// panels show, for scripts/render-dashboards.py.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>

#include "tests/monitoring/contest.h"
#include "tests/monitoring/dashboard.h"
#include "tests/monitoring/watched_service.h"
#include "tests/support/administration.h"

namespace tenure::testing {
namespace {

using Json = nlohmann::json;
using ::testing::IsEmpty;
using ::testing::Not;

const std::filesystem::path kRoot = TENURE_SOURCE_DIR;

// --- What is asked ---

// The text of all blocks of a language in the runbooks.
std::vector<std::string> RunbookBlocks(const std::string& language) {
  std::vector<std::string> blocks;
  for (const auto& file : std::filesystem::directory_iterator(kRoot / "docs/runbooks")) {
    std::ifstream input(file.path());
    bool inside = false;
    for (std::string line; std::getline(input, line);) {
      if (line == "```" + language) {
        inside = true;
        blocks.emplace_back();
      } else if (line == "```") {
        inside = false;
      } else if (inside) {
        blocks.back() += line + "\n";
      }
    }
  }
  return blocks;
}

// One query is one line.
std::vector<std::string> RunbookQueries() {
  std::vector<std::string> queries;
  for (const std::string& block : RunbookBlocks("promql")) {
    std::istringstream lines(block);
    for (std::string line; std::getline(lines, line);) queries.push_back(line);
  }
  return queries;
}

// The series of replicas that a query selects: `tenure_store_up`,
// `tenure_queue_depth{queue="reads"}`.
std::set<std::string> SelectorsIn(const std::string& query) {
  static const std::regex kSelector(R"((tenure|grpc_server)_\w+(\{[^}]*\})?)");
  return {std::sregex_token_iterator(query.begin(), query.end(), kSelector),
          std::sregex_token_iterator()};
}

// The labels in "{{grpc_method}} of {{instance}}".
std::set<std::string> LabelsIn(const std::string& legend) {
  static const std::regex kLabel(R"(\{\{(\w+)\}\})");
  return {std::sregex_token_iterator(legend.begin(), legend.end(), kLabel, 1),
          std::sregex_token_iterator()};
}

// --- What is answered ---

// Whether any value is a number.
bool HasData(const Json& series) {
  for (const Json& one : series) {
    const Json values = one.contains("values") ? one["values"] : Json::array({one["value"]});
    for (const Json& value : values) {
      if (std::isfinite(std::stod(value[1].get<std::string>()))) return true;
    }
  }
  return false;
}

// Two elections that are contested and watched, and one that nobody cares for any more.
struct Clients {
  explicit Clients(WatchedService& service)
      : orders(service.replica(), service.endpoints(), "orders", "2s"),
        payments(service.replica(), service.endpoints(), "payments", "6s"),
        observer({Program("tenure"), "--endpoint", service.endpoints(), "observe", "orders"}) {
    const auto led = Campaign(service.replica(), {.election = "reports", .candidate = "weekly"});
    Resign(service.replica(), led.session().session_id());
  }

  Contest orders;
  Contest payments;
  Process observer;
};

class MonitoringTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    begin_ = std::chrono::system_clock::now();
    service_ = std::make_unique<WatchedService>();
    clients_ = std::make_unique<Clients>(*service_);
    Contest& orders = clients_->orders;
    const char* rounds = std::getenv("TENURE_TEST_ROUNDS");
    for (int round = rounds == nullptr ? 1 : std::atoi(rounds); round > 0; --round) {
      orders.CrashTheLeader();
      orders.HandOver();
      PassASeatToAWaitingCall();
      if (round > 1) clients_->payments.CrashTheLeader();
    }
    const std::string seen =
        "max(tenure_election_term{election=\"orders\"}) == " + std::to_string(orders.term());
    EXPECT_TRUE(Eventually([&] { return HasData(Query(seen)); })) << seen;
  }
  static void TearDownTestSuite() {
    clients_.reset();
    service_.reset();
  }

  // The library waits without an open call; other clients do not.
  static void PassASeatToAWaitingCall() {
    Tenured& replica = service_->replica();
    const auto led = Campaign(replica, {.election = "reports", .candidate = "weekly"});
    WaitingCampaign next(replica,
                         {.election = "reports", .candidate = "monthly", .wait = kPatience});
    EXPECT_TRUE(Eventually([&] { return ListQueue(replica, "reports").size() == 1; }));
    Resign(replica, led.session().session_id());
    Resign(replica, next.Response().session().session_id());
  }

  // The answer to a query, or the end of the test if there is none.
  static Json Query(const std::string& query) {
    return AnswerTo(query, service_->prometheus().Query(query));
  }
  static Json AnswerTo(const std::string& query, const Prometheus::Answer& answer) {
    if (!answer) throw std::runtime_error(query + ": " + answer.error());
    return *answer;
  }
  // What a panel shows, query by query.
  static std::vector<Json> Show(const Panel& panel) {
    std::vector<Json> shown;
    for (const std::string& query : panel.queries) {
      shown.push_back(panel.instant
                          ? Query(query)
                          : AnswerTo(query, service_->prometheus().QuerySince(begin_, query)));
    }
    return shown;
  }

  // One file for each dashboard: its panels, and beside each of them what it shows.
  static void WriteResults(const std::filesystem::path& folder) {
    for (const Dashboard& dashboard : Dashboards()) {
      Json panels = Json::array();
      for (const Panel& panel : dashboard.Panels(service_->prometheus())) {
        panels.push_back({{"panel", panel.source}, {"shown", Show(panel)}});
      }
      const auto name = dashboard.source()["uid"].get<std::string>() + ".json";
      std::ofstream(folder / name) << Json{{"dashboard", dashboard.source()},
                                           {"variables", dashboard.Choose(service_->prometheus())},
                                           {"panels", panels}};
    }
  }

  static inline std::chrono::system_clock::time_point begin_;
  static inline std::unique_ptr<WatchedService> service_;
  static inline std::unique_ptr<Clients> clients_;
};

TEST_F(MonitoringTest, EveryQueryOfEveryDashboardHasData) {
  for (const Dashboard& dashboard : Dashboards()) {
    for (const Panel& panel : dashboard.Panels(service_->prometheus())) {
      EXPECT_TRUE(Eventually([&] { return std::ranges::all_of(Show(panel), HasData); }))
          << panel.title << ::testing::PrintToString(panel.queries);
    }
  }
  const char* folder = std::getenv("TENURE_TEST_RESULTS");
  if (folder != nullptr) WriteResults(folder);
}

TEST_F(MonitoringTest, EveryLegendNamesLabelsOfItsSeries) {
  for (const Dashboard& dashboard : Dashboards()) {
    for (const Panel& panel : dashboard.Panels(service_->prometheus())) {
      for (size_t i = 0; i < panel.queries.size(); ++i) {
        const auto legend = panel.source["targets"][i]["legendFormat"].get<std::string>();
        for (const std::string& label : LabelsIn(legend)) {
          for (const Json& series : Query(panel.queries[i])) {
            EXPECT_TRUE(series["metric"].contains(label)) << panel.title << ": " << legend;
          }
        }
      }
    }
  }
}

TEST_F(MonitoringTest, EveryQueryOfARunbookUsesExistingSeries) {
  const std::vector<std::string> queries = RunbookQueries();

  EXPECT_THAT(queries, Not(IsEmpty()));
  for (const std::string& query : queries) {
    Query(query);
    for (const std::string& selector : SelectorsIn(query)) {
      EXPECT_TRUE(HasData(Query(selector))) << query << selector;
    }
  }
}

TEST_F(MonitoringTest, EverySqlStatementOfARunbookRuns) {
  const std::vector<std::string> blocks = RunbookBlocks("sql");

  EXPECT_THAT(blocks, Not(IsEmpty()));
  for (const std::string& block : blocks) {
    const Finished answer = service_->database().Query("USE tenure; " + block);
    EXPECT_EQ(answer.exit_code, 0) << block << answer.errors;
  }
}

TEST_F(MonitoringTest, PrometheusEvaluatesEveryAlert) {
  EXPECT_TRUE(Eventually([] {
    const std::vector<Json> rules = service_->prometheus().Rules();
    return !rules.empty() &&
           std::ranges::all_of(rules, [](const Json& rule) { return rule["health"] == "ok"; });
  })) << Json(service_->prometheus().Rules());
}

TEST_F(MonitoringTest, EveryAlertUsesExistingSeries) {
  for (const Json& rule : service_->prometheus().Rules()) {
    for (const std::string& selector : SelectorsIn(rule["query"].get<std::string>())) {
      EXPECT_TRUE(HasData(Query(selector))) << rule["name"] << selector;
    }
  }
}

TEST_F(MonitoringTest, OneFailoverRaisesNoAlert) {
  EXPECT_TRUE(Eventually([] { return service_->prometheus().Alerts().empty(); }))
      << Json(service_->prometheus().Alerts());
}

}  // namespace
}  // namespace tenure::testing
