#include "client/cpp/io/client_metrics.h"

#include <chrono>
#include <string_view>
#include <utility>
#include <variant>

namespace tenure {
namespace {

prometheus::Family<prometheus::Counter>& Counters(prometheus::Registry& registry, const char* name,
                                                  const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

prometheus::Histogram& Seconds(prometheus::Registry& registry, const char* name, const char* help,
                               prometheus::Histogram::BucketBoundaries bounds) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add(
      {}, std::move(bounds));
}

// "EXPIRED" for CAUSE_EXPIRED. A cause that this library does not know counts as unspecified.
std::string Word(v1::Cause cause) {
  const v1::Cause known = v1::Cause_IsValid(cause) ? cause : v1::CAUSE_UNSPECIFIED;
  return v1::Cause_Name(known).substr(std::string_view("CAUSE_").size());
}

double InSeconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

ClientMetrics::ClientMetrics(std::shared_ptr<prometheus::Registry> registry)
    : asked_for_(registry != nullptr),
      registry_(registry != nullptr ? std::move(registry)
                                    : std::make_shared<prometheus::Registry>()),
      master_status_(prometheus::BuildGauge()
                         .Name("leader_election_master_status")
                         .Help("1 if this process leads the election, otherwise 0.")
                         .Register(*registry_)),
      slow_path_(Counters(*registry_, "leader_election_slowpath_total",
                          "Times that a leader went half its lease without a renewal.")),
      elected_(Counters(*registry_, "tenure_client_elected_total",
                        "Terms in which this process was the leader.")),
      overruns_(Counters(*registry_, "tenure_client_overruns_total",
                         "Times that a leader's work was still running at its deadline.")),
      lost_(Counters(*registry_, "tenure_client_lost_total",
                     "Ended terms of this process, by cause.")),
      renewal_seconds_(Seconds(*registry_, "tenure_client_renewal_seconds",
                               "Time from sending a renewal to its answer.",
                               {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5})),
      renewal_margin_seconds_(
          Seconds(*registry_, "tenure_client_renewal_margin_seconds",
                  "Time left until the process's own deadline when a renewal was answered.",
                  {0, 0.1, 0.25, 0.5, 1, 2, 3, 5, 7.5, 10, 20, 30, 60})),
      replica_changes_(Counters(*registry_, "tenure_client_replica_changes_total",
                                "Switches to another replica after one failed.")
                           .Add({})) {}

void ClientMetrics::Count(const ClientSession::Renewal& renewal) {
  renewal_seconds_.Observe(InSeconds(renewal.round_trip));
  renewal_margin_seconds_.Observe(InSeconds(renewal.margin));
}

ClientMetrics::Election::Election(ClientMetrics& metrics, const std::string& election)
    : election_(metrics.asked_for_ ? election : ""),
      master_status_(metrics.master_status_.Add({{"name", election_}})),
      slow_path_(metrics.slow_path_.Add({{"name", election_}})),
      elected_(metrics.elected_.Add({{"name", election_}})),
      overruns_(metrics.overruns_.Add({{"name", election_}})),
      lost_(metrics.lost_) {}

void ClientMetrics::Election::Count(const SeatEvent& event) {
  if (std::holds_alternative<Elected>(event)) {
    elected_.Increment();
    master_status_.Set(1);
  } else if (const auto* lost = std::get_if<Lost>(&event)) {
    lost_.Add({{"name", election_}, {"cause", Word(lost->cause)}}).Increment();
    master_status_.Set(0);
  } else if (std::holds_alternative<Suspended>(event)) {
    slow_path_.Increment();
  } else if (std::holds_alternative<Overrun>(event)) {
    overruns_.Increment();
  }
}

}  // namespace tenure
