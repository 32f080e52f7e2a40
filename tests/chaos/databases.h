// The database that chaos breaks: one server, or a cluster of three.
#pragma once

#include <memory>
#include <string>

#include "tests/support/database_server.h"

namespace tenure::testing {

enum class DatabaseKind : uint8_t { kMariaDb, kGalera, kGroupReplication };

class Databases {
 public:
  virtual ~Databases() = default;

  [[nodiscard]] virtual size_t size() const = 0;
  virtual DatabaseServer& server(size_t number) = 0;
  // A server that takes writes.
  virtual DatabaseServer& Writable() { return server(0); }
  // Restarts a server that was killed; it catches up.
  virtual void Restart(size_t number) = 0;
  // Waits until all servers work together, and restarts those that were expelled.
  virtual void WaitUntilWhole() = 0;
};

// `small_disk`: the folder for the files of a single server; empty: the usual one. The clock of a
// single server can be set. Group Replication needs MySQL (DatabaseServer).
[[nodiscard]] std::unique_ptr<Databases> StartDatabases(DatabaseKind kind,
                                                        const std::string& small_disk);

}  // namespace tenure::testing
