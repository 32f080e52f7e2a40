// A process whose leaders, each in its own election, renew on time regardless of the load.
#pragma once

#include <chrono>
#include <string>

namespace tenure::bench {

struct HealthyOptions {
  std::string endpoint;
  size_t count;
  std::chrono::seconds lease;
  std::chrono::seconds duration;
};

// Runs in this process. Prints a line when all of them lead, and at the end a line of JSON with the
// fields of HealthyOutcome. Throws std::runtime_error if they cannot be elected.
void RunHealthyLeaders(const HealthyOptions& options);

struct HealthyOutcome {
  size_t terms_lost = 0;     // terms that differ at the end
  size_t leases_missed = 0;  // renewals answered only after the lease had expired
  size_t streams_lost = 0;   // each is reopened at once
  size_t renewals = 0;
  double worst_trip_ms = 0;
  double least_margin_ms = 0;  // time left of a lease when its renewal was answered
};

[[nodiscard]] HealthyOutcome HealthyOutcomeFromJson(const std::string& line);

}  // namespace tenure::bench
