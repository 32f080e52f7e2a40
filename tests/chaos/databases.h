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
  // One of those that take writes.
  virtual DatabaseServer& Writable() { return server(0); }
  // One that was killed is started again, and has what it missed.
  virtual void Restart(size_t number) = 0;
  // All serve together, whatever was done to them.
  virtual void WaitUntilWhole() = 0;
};

// `small_disk`: a folder for the files of a single server; empty: among all other files. The clock
// of a single server can be set. Group Replication needs MySQL (DatabaseServer).
[[nodiscard]] std::unique_ptr<Databases> StartDatabases(DatabaseKind kind,
                                                        const std::string& small_disk);

}  // namespace tenure::testing
