// Who breaks HTTP/2, or uses it up. Row 2.
#include "tests/hostile/hostile_fixture.h"

namespace tenure::testing {
namespace {

using http2::Frame;
using http2::Type;

class HostileHttp2Test : public HostileTest {
 protected:
  void SetUp() override {
    if (grpc::Version().starts_with("1.51."))
      GTEST_SKIP() << "Debian's gRPC does not survive this: SECURITY.md";
    HostileTest::SetUp();
  }
};

TEST_F(HostileHttp2Test, CallsThatAreResetAtOnce) {
  const size_t calls = ResetRapidly(Server().endpoint(), 2, 12s);

  std::cout << calls << " calls reset" << std::endl;
  ExpectUnharmed();
}

TEST_F(HostileHttp2Test, NumbersWithoutAnEnd) {
  // A string's length, of which each byte says that more follow.
  const std::string more(16'000, '\x80');
  Flood(Server().endpoint(), 2,
        http2::Greeting() + Frame(Type::kHeaders, 0, 1, std::string("\0\x7f", 2)),
        Frame(Type::kContinuation, 0, 1, more), 5s);

  ExpectUnharmed();
}

TEST_F(HostileHttp2Test, HeadersWithoutAnEnd) {
  std::string more;
  while (more.size() < 16'000) more += http2::Literal("x-name", std::string(100, 'v'));
  Flood(Server().endpoint(), 2,
        http2::Greeting() +
            Frame(Type::kHeaders, 0, 1, http2::CallHeaders("/tenure.v1.ElectionService/Leader")),
        Frame(Type::kContinuation, 0, 1, more), 5s);

  ExpectUnharmed();
}

TEST_F(HostileHttp2Test, PingsWithoutAnEnd) {
  std::string pings;
  for (int i = 0; i < 1'000; ++i) pings += Frame(Type::kPing, 0, 0, std::string(8, 'p'));
  Flood(Server().endpoint(), 2, http2::Greeting(), pings, 5s);

  ExpectUnharmed();
}

TEST_F(HostileHttp2Test, SettingsWithoutAnEnd) {
  std::string settings;
  for (int i = 0; i < 1'000; ++i) settings += Frame(Type::kSettings, 0, 0, "");
  Flood(Server().endpoint(), 2, http2::Greeting(), settings, 5s);

  ExpectUnharmed();
}

}  // namespace
}  // namespace tenure::testing
