// The database server that the contract suites run on, for as long as their program lives. Each of
// their programs defines it: contract/server.cc or clusters/contract_server.cc.
#pragma once

#include <string>

#include "tests/support/database_server.h"

namespace tenure::testing {

DatabaseServer& Server();
// Its name in the names of tests.
std::string ServerName();

}  // namespace tenure::testing
