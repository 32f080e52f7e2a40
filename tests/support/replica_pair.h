// Two servers of MySQL or MariaDB on loopback, with a database `tenure`: a source, and a replica
// that is read-only until it is promoted.
#pragma once

#include <memory>
#include <string>

#include "tests/support/database_server.h"

namespace tenure::testing {

struct ReplicationDialect;

class ReplicaPair {
 public:
  enum class Kind {
    kAsynchronous,
    kSemiSynchronous,  // AFTER_SYNC, and it never falls back
  };

  ReplicaPair(Kind kind, DatabaseServer::Engine engine);

  DatabaseServer& source() { return *source_; }
  DatabaseServer& replica() { return *replica_; }
  // A store URL that names both, the source first. Its user owns the database, and has no other
  // right: root may write to a server that is read-only.
  [[nodiscard]] std::string Url() const;

  // The replica gets nothing more, as when the network between the two is cut.
  void Disconnect();
  // Makes the replica the server to write to. The source must be gone. Even if the pair is
  // semi-synchronous, the new one waits for nobody: it would wait indefinitely.
  void Promote();
  // An orderly switch: the source is made read-only, the replica gets all that is missing, and the
  // two change places.
  void SwitchOver();

 private:
  // From then on the replica follows the source, which waits for it if they are semi-synchronous.
  void Follow();
  void SetSemiSync(const DatabaseServer& server, bool enabled) const;

  const Kind kind_;
  const ReplicationDialect& dialect_;
  std::unique_ptr<DatabaseServer> source_;
  std::unique_ptr<DatabaseServer> replica_;
};

}  // namespace tenure::testing
