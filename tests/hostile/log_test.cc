// Who writes into the log what was never so, or more than it can take. Row 3.
#include <sstream>

#include "tests/hostile/hostile_fixture.h"

namespace tenure::testing {
namespace {

using http2::Frame;
using http2::Literal;
using http2::Type;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kPath[] = "/tenure.v1.ElectionService/Leader";
constexpr char kForged[] = "2026-01-01 info leader changed election=forged";

class HostileLogTest : public HostileTest {
 protected:
  // A call with a header that gRPC complains about.
  static std::string Call(uint32_t stream) {
    const std::string headers =
        http2::CallHeaders(kPath, Literal("grpc-timeout", std::string("1x\n") + kForged + "\n") +
                                      Literal("grpc-encoding", std::string("\n") + kForged + "\n"));
    return Frame(Type::kHeaders, http2::kEndHeaders | http2::kEndStream, stream, headers);
  }
};

TEST_F(HostileLogTest, LinesAreNotForged) {
  const Descriptor connection = ConnectTo(Server().endpoint());
  ASSERT_TRUE(Send(connection, http2::Greeting() + Call(1)));
  EXPECT_TRUE(Eventually([&] {
    return Server().process().Errors().find(kForged) != std::string::npos;
  })) << Server().process().Errors();

  std::istringstream lines(Server().process().Errors());
  for (std::string line; std::getline(lines, line);) EXPECT_THAT(line, Not(StartsWith(kForged)));
  ExpectUnharmed();
}

TEST_F(HostileLogTest, AFloodOfComplaintsIsNotAFloodOfLines) {
  std::string calls;
  for (uint32_t stream = 1; stream < 2'000; stream += 2) calls += Call(stream);
  Flood(Server().endpoint(), 2, http2::Greeting(), calls, 3s);

  ExpectUnharmed();
  EXPECT_LT(Server().process().Errors().size(), 1'000'000u);
}

}  // namespace
}  // namespace tenure::testing
