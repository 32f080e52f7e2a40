// The server is one of a cluster: a node of Galera, or the primary of Group Replication, as
// TENURE_TEST_CLUSTER says.
#include <cstdlib>
#include <string>

#include "tests/contract/server.h"
#include "tests/support/galera.h"
#include "tests/support/group_replication.h"

namespace tenure::testing {
namespace {

bool IsGalera() {
  const char* cluster = std::getenv("TENURE_TEST_CLUSTER");
  return cluster == nullptr || std::string(cluster) == "galera";
}

}  // namespace

DatabaseServer& Server() {
  if (IsGalera()) {
    static Galera galera;
    return galera.server(0);
  }
  static GroupReplication group;
  return group.server(0);
}

std::string ServerName() { return IsGalera() ? "Galera" : "GroupReplication"; }

}  // namespace tenure::testing
