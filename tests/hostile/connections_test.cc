// Clients that connect too often, or send too little.
#include "tests/hostile/hostile_fixture.h"

namespace tenure::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;

using HostileConnectionsTest = OneAttackTest;

TEST_P(HostileConnectionsTest, IsSurvived) { SurviveFor(3s); }

INSTANTIATE_TEST_SUITE_P(All, HostileConnectionsTest, ::testing::ValuesIn(AttacksOnConnections()),
                         AttackName);

class ConnectionLimitTest : public HostileTest {};

TEST_F(ConnectionLimitTest, RefusedConnectionsAreCountedAndLogged) {
  const auto connections = ConnectMany(Server().endpoint(), 1'100);

  EXPECT_TRUE(Eventually([&] {
    return Server().process().Errors().find(
               "connections refused limit=--connections-per-address-max") != std::string::npos;
  }));
  EXPECT_THAT(Server().Get("/metrics").second,
              AllOf(ContainsRegex("tenure_connections_refused_total.limit=\"address\". [1-9]"),
                    ContainsRegex("tenure_connections_refused_total.limit=\"all\". 0")));
}

}  // namespace
}  // namespace tenure::testing
