// What a MySQL or MariaDB server says about itself: which engine it is, whether Tenure can be safe
// on it, and which other servers have the same history.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::mysql {

enum class Engine {
  kMySql,
  kMariaDb,
  kGalera,
  kGroupReplication,
  kAurora,
  kTiDb,
  kVitess,
};

// One row of performance_schema.replication_group_members.
struct GroupMember {
  std::string id;  // its server_uuid
  std::string state;
  std::string role;
};

// The server's global variables and status variables, by name in lower case.
struct ServerFacts {
  std::map<std::string, std::string> variables;
  std::map<std::string, std::string> status;
  // Only asked for where the variables say that it is configured.
  std::vector<GroupMember> group = {};
  // Likewise. Whether the user that asks can write despite `read_only`.
  bool writes_always = false;
  // The variables of the session that asks: storage/mysql/session.h. Describe does not use them.
  std::map<std::string, std::string> session = {};
};

struct Server {
  Engine engine = Engine::kMySql;
  bool mariadb = false;  // its code base
  std::string name;      // for people: "MySQL 9.7.4, Group Replication, single primary, 3 members"
  // Distinguishes it from every other server that may answer at the same address.
  std::string node;
  // Same for all nodes of a cluster, which share every commit. Otherwise distinct, also for a
  // replica that was promoted; but MariaDB servers that do not replicate may share a server_id.
  std::string history;
  // A replica may be promoted in its place without losing a commit that was acknowledged.
  bool lossless = false;
  // Other servers of the cluster take writes too: they do not know each other's row locks, and so
  // fence guards have to write.
  bool many_writers = false;
  bool has_binlog = false;            // commits are logged for other servers
  std::string refusal;                // why it must not be used; empty: it may
  std::vector<std::string> warnings;  // what puts commits at risk
};

// Whether the facts need `group`, and `writes_always`.
[[nodiscard]] bool InGroupReplication(const ServerFacts& facts);
[[nodiscard]] bool IsSemiSynchronous(const ServerFacts& facts);
// Whether a line of SHOW GRANTS gives a privilege to write to a read-only server.
[[nodiscard]] bool MayWriteAlways(std::string_view grant);
// Pure.
[[nodiscard]] Server Describe(const ServerFacts& facts);

}  // namespace tenure::mysql
