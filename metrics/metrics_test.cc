// Each value has its own label: the compiler accepts swapped names.
#include "metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <sstream>

namespace tenure {
namespace {

using ::testing::ElementsAre;

// The samples that are not 0, as "name{labels} value", of one metric.
std::vector<std::string> Moved(const Metrics& metrics, const std::string& name) {
  std::vector<std::string> moved;
  std::istringstream lines(metrics.Expose());
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name + "{") && !line.ends_with(" 0")) moved.push_back(line);
  }
  return moved;
}

TEST(MetricsTest, EachOperationHasItsName) {
  const std::pair<Operation, std::string> operations[] = {{Operation::kTransaction, "transaction"},
                                                          {Operation::kRead, "read"},
                                                          {Operation::kPoll, "poll"},
                                                          {Operation::kSearch, "search"},
                                                          {Operation::kBeat, "beat"}};
  for (const auto& [operation, name] : operations) {
    const Metrics metrics;
    ObserveSeconds(metrics.database_seconds[operation], std::chrono::seconds(2));

    EXPECT_THAT(Moved(metrics, "tenure_database_seconds_count"),
                ElementsAre("tenure_database_seconds_count{operation=\"" + name + "\"} 1"));
    EXPECT_THAT(Moved(metrics, "tenure_database_seconds_sum"),
                ElementsAre("tenure_database_seconds_sum{operation=\"" + name + "\"} 2"));
  }
}

TEST(MetricsTest, EachCauseHasItsName) {
  const std::pair<Cause, std::string> causes[] = {
      {Cause::kResigned, "RESIGNED"},     {Cause::kExpired, "EXPIRED"},
      {Cause::kDeposed, "DEPOSED"},       {Cause::kAppointedAway, "APPOINTED_AWAY"},
      {Cause::kSuperseded, "SUPERSEDED"}, {Cause::kSessionClosed, "SESSION_CLOSED"},
      {Cause::kDeleted, "DELETED"},
  };
  for (const auto& [cause, name] : causes) {
    const Metrics metrics;
    metrics.terms_granted[cause].Increment();
    metrics.terms_ended[cause].Increment();
    metrics.sessions_ended[cause].Increment();

    for (const std::string family :
         {"tenure_terms_granted_total", "tenure_terms_ended_total", "tenure_sessions_ended_total"})
      EXPECT_THAT(Moved(metrics, family), ElementsAre(family + "{cause=\"" + name + "\"} 1"));
  }
  const Metrics metrics;
  metrics.terms_granted[Cause::kNone].Increment();
  EXPECT_THAT(Moved(metrics, "tenure_terms_granted_total"),
              ElementsAre("tenure_terms_granted_total{cause=\"VACANT\"} 1"));
}

TEST(MetricsTest, TheVersionAndTheStoreAreThoseOfThisProcess) {
  EXPECT_THAT(Moved(Metrics({.version = "1.2", .store = "sqlite"}), "tenure_build_info"),
              ElementsAre("tenure_build_info{store=\"sqlite\",version=\"1.2\"} 1"));
}

TEST(MetricsTest, EachMemberHasItsLabel) {
  struct Labelled {
    std::function<void(Metrics&)> move;
    std::string sample;
  };
  const Labelled all[] = {
      {[](Metrics& it) { it.transactions.Increment(); },
       "tenure_transactions_total{outcome=\"committed\"}"},
      {[](Metrics& it) { it.transactions_failed.Increment(); },
       "tenure_transactions_total{outcome=\"failed\"}"},
      {[](Metrics& it) { it.transactions_from_memory.Increment(); },
       "tenure_remembered_transactions_total{outcome=\"committed\"}"},
      {[](Metrics& it) { it.transactions_refused.Increment(); },
       "tenure_remembered_transactions_total{outcome=\"refused\"}"},
      {[](Metrics& it) { it.connections_refused_in_all.Increment(); },
       "tenure_connections_refused_total{limit=\"all\"}"},
      {[](Metrics& it) { it.connections_refused_per_address.Increment(); },
       "tenure_connections_refused_total{limit=\"address\"}"},
      {[](Metrics& it) { it.newcomers_handshakes.Set(1); },
       "tenure_newcomers{kind=\"handshakes\"}"},
      {[](Metrics& it) { it.newcomers_calls.Set(1); }, "tenure_newcomers{kind=\"calls\"}"},
      {[](Metrics& it) { it.newcomers_message_bytes.Set(1); },
       "tenure_newcomers{kind=\"message_bytes\"}"},
      {[](Metrics& it) { it.newcomers_handshakes_refused.Increment(); },
       "tenure_newcomers_refused_total{kind=\"handshakes\"}"},
      {[](Metrics& it) { it.newcomers_calls_refused.Increment(); },
       "tenure_newcomers_refused_total{kind=\"calls\"}"},
      {[](Metrics& it) { it.newcomers_messages_refused.Increment(); },
       "tenure_newcomers_refused_total{kind=\"message_bytes\"}"},
      {[](Metrics& it) { it.store_connections_busy.Set(1); },
       "tenure_store_connections{state=\"busy\"}"},
      {[](Metrics& it) { it.store_connections_idle.Set(1); },
       "tenure_store_connections{state=\"idle\"}"},
      {[](Metrics& it) { it.policy_reloaded.Set(1); },
       "tenure_last_reload_successful{files=\"policy\"}"},
      {[](Metrics& it) { it.tls_reloaded.Set(1); }, "tenure_last_reload_successful{files=\"tls\"}"},
  };
  for (const auto& [move, sample] : all) {
    Metrics metrics;
    move(metrics);
    EXPECT_THAT(Moved(metrics, sample.substr(0, sample.find('{'))), ElementsAre(sample + " 1"));
  }
}

}  // namespace
}  // namespace tenure
