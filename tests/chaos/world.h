// Everything that chaos may break: databases, replicas, the processes of candidates, and the links
// between them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/chaos/candidates.h"
#include "tests/chaos/databases.h"
#include "tests/chaos/history.h"
#include "tests/support/link.h"
#include "tests/support/process.h"
#include "tests/support/tenured.h"

namespace tenure::testing {

struct WorldPlan {
  int replicas = 3;
  int candidates = 200;
  int candidates_per_process = 4;
  int elections = 20;
  uint64_t seed = 1;
  DatabaseKind databases = DatabaseKind::kMariaDb;
  std::string small_disk;          // see StartDatabases
  std::string tenured;             // the program; empty: of this build
  std::vector<std::string> flags;  // of tenured
};

class World {
 public:
  // Starts everything, and waits until each election has a leader.
  explicit World(const WorldPlan& plan);

  [[nodiscard]] const WorldPlan& plan() const { return plan_; }
  [[nodiscard]] Databases& databases() { return *databases_; }
  [[nodiscard]] Tenured& replica(size_t number) { return *replicas_.at(number); }
  // From this replica to the databases, and from clients to it.
  [[nodiscard]] std::vector<Link*> LinksToDatabases(size_t replica) const;
  [[nodiscard]] Link& client_link(size_t replica) const { return *client_links_.at(replica); }
  [[nodiscard]] size_t processes() const { return commands_.size(); }
  [[nodiscard]] Process& process(size_t number) { return *processes_.at(number); }
  // Starts a process in place of a killed one.
  void StartProcess(size_t number);

  [[nodiscard]] const std::vector<std::string>& elections() const { return elections_; }
  // The URL of the application's database on each database server.
  [[nodiscard]] std::vector<std::string> ApplicationUrls() const;
  // The endpoints of all replicas, through their links, beginning with this one.
  [[nodiscard]] std::string Endpoints(size_t first = 0) const;
  // The term of each election that is led.
  [[nodiscard]] std::map<std::string, uint64_t> Leaders();
  void WaitUntilAllAreLed();

  // Ends the candidates, and adds everything they have reported.
  void End(History& history);

 private:
  const WorldPlan plan_;
  const std::unique_ptr<Databases> databases_;
  std::vector<std::string> elections_;
  std::vector<std::vector<std::unique_ptr<Link>>> database_links_;  // of each replica
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
