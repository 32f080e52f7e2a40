// Two MySQL servers on loopback: a source, and a replica that is read-only until it is promoted.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/database_server.h"

namespace tenure::testing {

class ReplicaPair {
 public:
  enum class Kind {
    kAsynchronous,
    kSemiSynchronous,  // AFTER_SYNC, and it never falls back
  };

  explicit ReplicaPair(Kind kind);

  DatabaseServer& source() { return *source_; }
  DatabaseServer& replica() { return *replica_; }
  // A store URL that names both, the source first.
  [[nodiscard]] std::string Url(const std::string& database) const;

  // The replica gets nothing more, as when the network between the two is cut.
  void Disconnect();
  // Makes the replica the server to write to. The source must be gone, or read-only.
  void Promote();
  // An orderly switch: the source is made read-only, the replica gets all that is missing, and is
  // promoted.
  void SwitchOver();

 private:
  const Kind kind_;
  const std::unique_ptr<DatabaseServer> source_;
  const std::unique_ptr<DatabaseServer> replica_;
};

}  // namespace tenure::testing
