// Clients that break HTTP/2, or exhaust it.
#include "tests/hostile/hostile_fixture.h"

namespace tenure::testing {
namespace {

class HostileHttp2Test : public OneAttackTest {
 protected:
  void SetUp() override {
    if (!grpc::Version().ends_with("(patched)"))
      GTEST_SKIP() << "gRPC does not survive this without our patches: SECURITY.md";
    OneAttackTest::SetUp();
  }
};

TEST_P(HostileHttp2Test, IsSurvived) { SurviveFor(6s); }

INSTANTIATE_TEST_SUITE_P(All, HostileHttp2Test, ::testing::ValuesIn(AttacksOnHttp2()), AttackName);

}  // namespace
}  // namespace tenure::testing
