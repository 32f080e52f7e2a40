// A process whose leaders, each of an election of its own, renew in time, whatever others do.
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

// In this process. Prints a line when all of them lead, and at its end a line of JSON: the fields
// of HealthyOutcome. Throws std::runtime_error if they cannot be elected.
void RunHealthyLeaders(const HealthyOptions& options);

struct HealthyOutcome {
  size_t terms_lost = 0;     // terms that are not the same at the end
  size_t leases_missed = 0;  // renewals that were answered only after the lease was over
  size_t streams_lost = 0;   // and opened again at once
  size_t renewals = 0;
  double worst_trip_ms = 0;
  double least_margin_ms = 0;  // of a lease, when its renewal was answered
};

[[nodiscard]] HealthyOutcome HealthyOutcomeFromJson(const std::string& line);

}  // namespace tenure::bench
