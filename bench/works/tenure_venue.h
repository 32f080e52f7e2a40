// Contests on Tenure: one replica, on the database where other schemes use statements.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "bench/systems/servers.h"
#include "bench/systems/tenure_system.h"
#include "bench/works/contest.h"

namespace tenure::bench {

class TenureVenue : public Venue {
 public:
  // Creates an empty database, and starts a replica.
  TenureVenue(testing::DatabaseServer& database, std::chrono::seconds lease);

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::unique_ptr<Contest> Open(const ContestPlan& plan) override;
  [[nodiscard]] std::unique_ptr<testing::Process> StartHolder(const std::string& election) override;
  void Depose(const testing::Process& holder, const std::string& election) override;
  [[nodiscard]] CpuTimes CpuTime() override { return server_.CpuTime(); }

 private:
  const std::chrono::seconds lease_;
  TenureServer server_;
  TenureSystem system_;
};

}  // namespace tenure::bench
