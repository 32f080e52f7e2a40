// All that chaos may break: databases, replicas, the processes of candidates, and the links between
// them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/chaos/candidates.h"
#include "tests/chaos/history.h"
#include "tests/chaos/link.h"
#include "tests/support/database_server.h"
#include "tests/support/process.h"
#include "tests/support/tenured.h"

namespace tenure::testing {

struct WorldPlan {
  int replicas = 3;
  int candidates = 200;
  int candidates_per_process = 4;
  int elections = 20;
  uint64_t seed = 1;
  std::string tenured;     // the program; empty: of this build
  std::string small_disk;  // a folder for the database; empty: among all other files
};

// One database that may lose its process and its clock, and whose disk may be full.
class World {
 public:
  // Everything is started, and each election has a leader.
  explicit World(const WorldPlan& plan);

  [[nodiscard]] const WorldPlan& plan() const { return plan_; }
  [[nodiscard]] DatabaseServer& database() { return database_; }
  [[nodiscard]] Tenured& replica(size_t number) { return *replicas_.at(number); }
  // From this replica to the database, and from clients to it.
  [[nodiscard]] Link& database_link(size_t number) { return *database_links_.at(number); }
  [[nodiscard]] Link& client_link(size_t number) { return *client_links_.at(number); }
  [[nodiscard]] size_t processes() const { return commands_.size(); }
  [[nodiscard]] Process& process(size_t number) { return *processes_.at(number); }
  // In place of one that was killed.
  void StartProcess(size_t number);

  [[nodiscard]] const std::vector<std::string>& elections() const { return elections_; }
  [[nodiscard]] const std::string& application() const { return application_; }
  // Of all replicas, by way of their links, beginning with this one.
  [[nodiscard]] std::string Endpoints(size_t first = 0) const;
  // Who leads each election, and in which term; nothing of one that nobody leads.
  [[nodiscard]] std::map<std::string, uint64_t> Leaders();
  void WaitUntilAllAreLed();

  // Ends the candidates, and adds what they have said, from the first on.
  void End(History& history);

 private:
  const WorldPlan plan_;
  DatabaseServer database_;
  std::string application_;
  std::vector<std::string> elections_;
  std::vector<std::unique_ptr<Link>> database_links_;
  std::vector<std::unique_ptr<Tenured>> replicas_;
  std::vector<std::unique_ptr<Link>> client_links_;
  std::vector<std::vector<std::string>> commands_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<std::string> names_;                // of each of processes_
  std::vector<std::unique_ptr<Process>> former_;  // that were killed
  std::vector<std::string> former_names_;
  int starts_ = 0;
};

}  // namespace tenure::testing
