// Who may call, and asks for more than anybody needs.
#include "tests/hostile/hostile_fixture.h"

namespace tenure::testing {
namespace {

using HostileCallersTest = OneAttackTest;

TEST_P(HostileCallersTest, IsSurvived) { SurviveFor(3s); }

INSTANTIATE_TEST_SUITE_P(All, HostileCallersTest, ::testing::ValuesIn(AttacksByCallers()),
                         AttackName);

}  // namespace
}  // namespace tenure::testing
