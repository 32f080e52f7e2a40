// Contests with SQL statements only.
#pragma once

#include <memory>
#include <string>

#include "bench/systems/sql_scheme.h"
#include "bench/works/contest.h"
#include "tests/support/database_server.h"

namespace tenure::bench {

class SqlVenue : public Venue {
 public:
  // Creates an empty database, with the scheme's table.
  SqlVenue(testing::DatabaseServer& server, const SqlScheme& scheme);

  [[nodiscard]] std::string name() const override { return scheme_.name; }
  [[nodiscard]] std::unique_ptr<Contest> Open(const ContestPlan& plan) override;
  [[nodiscard]] std::unique_ptr<testing::Process> StartHolder(const std::string& election) override;
  void Depose(const testing::Process& holder, const std::string& election) override;
  [[nodiscard]] bool held_by_connection() const override { return scheme_.held_by_connection; }
  [[nodiscard]] CpuTimes CpuTime() override;

 private:
  // Inserts the row of an election, if the scheme needs one.
  void Seed(const std::string& election) const;

  testing::DatabaseServer& server_;
  const SqlScheme& scheme_;
};

}  // namespace tenure::bench
