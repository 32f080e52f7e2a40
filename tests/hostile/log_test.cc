// Callers that try to forge lines of the log, or to flood it.
#include <sstream>

#include "tests/hostile/hostile_fixture.h"

namespace tenure::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using HostileLogTest = OneAttackTest;

TEST_P(HostileLogTest, NeitherForgesLinesNorFloods) {
  SurviveFor(3s);

  const std::string log = Server().process().Errors();
  EXPECT_THAT(log, HasSubstr("a library says library=gRPC"));
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);)
    EXPECT_THAT(line, Not(StartsWith(kForgedLine)));
  EXPECT_LT(log.size(), 1'000'000u);
}

INSTANTIATE_TEST_SUITE_P(All, HostileLogTest, ::testing::ValuesIn(AttacksOnTheLog()), AttackName);

}  // namespace
}  // namespace tenure::testing
