// Three nodes of a Galera cluster of MariaDB, on loopback if nobody names other hosts. The clock of
// each is a minute ahead of the one before.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/database_server.h"

namespace tenure::testing {

class Galera {
 public:
  // All of them synchronised.
  explicit Galera(const std::vector<Host>& hosts = std::vector<Host>(3));

  DatabaseServer& server(size_t number) { return *nodes_.at(number); }
  // A store URL that names all of them, beginning with this one.
  [[nodiscard]] std::string Url(const std::string& database, size_t first = 0) const;
  // Restarts a killed node, which gets what it has missed.
  void Rejoin(size_t number);
  void WaitUntilSynchronised(size_t number);
  // Until each node sees the others, and is synchronised: a node that was frozen does not know at
  // once that the others have expelled it.
  void WaitUntilWhole();
  // Makes a node apply, for some time, what another one commits: it lags behind.
  void MakeLag(size_t number);

 private:
  void WaitForStatus(size_t number, const std::string& name, const std::string& value);
  [[nodiscard]] std::vector<std::string> FlagsOf(size_t number) const;
  [[nodiscard]] std::string Address(size_t number, size_t kind) const;

  std::array<std::array<int, 3>, 3>
      ports_;  // of each node: for the group, and for two kinds of state transfer
  std::vector<std::unique_ptr<DatabaseServer>> nodes_;
};

}  // namespace tenure::testing
