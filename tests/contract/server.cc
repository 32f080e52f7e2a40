#include "tests/contract/server.h"

#include <cstdlib>

namespace tenure::testing {

DatabaseServer& Server() {
  static DatabaseServer server;
  return server;
}

std::string ServerName() { return std::getenv("TENURE_TEST_MYSQL_ROOT") ? "MySql" : "MariaDb"; }

}  // namespace tenure::testing
