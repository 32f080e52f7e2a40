// The texts about unusable endpoints. tests/rpc/tool_endpoints_test.cc checks how gRPC words each
// failure, against real servers.
#include "client/cpp/machine/trouble.h"

#include <gtest/gtest.h>

#include "client/cpp/machine/client_testing.h"
#include "client/cpp/machine/endpoints.h"
#include "proto/rich_status.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using Kind = Trouble::Kind;

TEST(ExplainedTest, AnErrorOfGrpcNamesTheEndpointAndKeepsItsCode) {
  const grpc::Status status(
      grpc::StatusCode::UNAVAILABLE,
      "failed to connect to all addresses; last error: UNKNOWN: "
      "ipv4:127.0.0.1:1: Failed to connect to remote host: Connection refused");

  const auto explained = Explained(status, "a:1", false);

  EXPECT_EQ(explained.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(explained.error_message(), "a:1: connection refused");
}

TEST(ExplainedTest, AnAttemptThatWasGivenUpGotNoAnswer) {
  for (const char* cause : {"connection attempt timed out before receiving SETTINGS frame",
                            "No such file or directory"}) {
    const grpc::Status status(grpc::StatusCode::UNAVAILABLE,
                              std::string("failed to connect to all addresses; last error: "
                                          "UNKNOWN: ipv4:127.0.0.1:1: ") +
                                  cause);
    EXPECT_EQ(Explained(status, "a:1", false).error_message(), "a:1: no answer");
  }
}

TEST(ExplainedTest, TheServicesOwnTextIsKept) {
  const auto status = RichStatus(grpc::StatusCode::INVALID_ARGUMENT, "the lease is too short",
                                 {.reason = "INVALID_LEASE_TTL"});

  EXPECT_EQ(Explained(status, "a:1", false).error_message(), "the lease is too short");
}

TEST(ExplainedTest, AnUnreachableDatabaseIsReportedAsTheCause) {
  const auto status = RichStatus(grpc::StatusCode::UNAVAILABLE, "MySQL error 2002",
                                 {.reason = "STORE_UNAVAILABLE"});

  EXPECT_EQ(Explained(status, "a:1", false).error_message(),
            "a:1: the service runs, but cannot reach its database: MySQL error 2002");
}

TEST(TroubleLogTest, ATroubleIsLoggedOnce) {
  TroubleLog log;

  EXPECT_TRUE(log.Failed("a:1", Kind::kRefused, kStart));
  EXPECT_FALSE(log.Failed("a:1", Kind::kRefused, kStart + 1s));
  EXPECT_FALSE(log.Failed("a:1", Kind::kRefused, kStart + 1h));
}

TEST(TroubleLogTest, TroublesAreTrackedPerEndpoint) {
  TroubleLog log;
  EXPECT_TRUE(log.Failed("a:1", Kind::kRefused, kStart));

  EXPECT_TRUE(log.Failed("b:1", Kind::kRefused, kStart));
  EXPECT_FALSE(log.Answered("c:1", kStart));
}

TEST(TroubleLogTest, AnotherKindIsLoggedAfterAMinute) {
  TroubleLog log;
  EXPECT_TRUE(log.Failed("a:1", Kind::kRefused, kStart));

  EXPECT_FALSE(log.Failed("a:1", Kind::kNoAnswer, kStart + 59s));
  EXPECT_TRUE(log.Failed("a:1", Kind::kNoAnswer, kStart + 60s));
  EXPECT_FALSE(log.Failed("a:1", Kind::kRefused, kStart + 119s));
}

TEST(TroubleLogTest, RecoveryIsLoggedOnceWithTheLengthOfTheOutage) {
  TroubleLog log;
  EXPECT_TRUE(log.Failed("a:1", Kind::kRefused, kStart));
  EXPECT_FALSE(log.Failed("a:1", Kind::kNoAnswer, kStart + 5s));

  EXPECT_EQ(log.Answered("a:1", kStart + 12s), 12s);
  EXPECT_FALSE(log.Answered("a:1", kStart + 13s));
  EXPECT_TRUE(log.Failed("a:1", Kind::kRefused, kStart + 14s));
}

TEST(EndpointsTest, BlanksAroundAnEndpointAreIgnored) {
  EXPECT_EQ(ParseEndpoints("a:7070, b:7070 ,,[::1]:7"),
            (std::vector<std::string>{"a:7070", "b:7070", "[::1]:7"}));
}

TEST(EndpointsTest, AMalformedEndpointIsNamed) {
  const auto mistake = [](const std::string& text) { return ParseEndpoints(text).error(); };
  const std::string form = "; write HOST:PORT[,HOST:PORT...]";

  EXPECT_EQ(mistake(" , "), "' , ' names no replica" + form);
  EXPECT_EQ(mistake("a"), "'a' has no port" + form);
  EXPECT_EQ(mistake("a:"), "'a:' has no port" + form);
  EXPECT_EQ(mistake(":7070"), "':7070' has no host" + form);
  EXPECT_EQ(mistake("a:0"), "'a:0' has no port from 1 to 65535" + form);
  EXPECT_EQ(mistake("a:65536"), "'a:65536' has no port from 1 to 65535" + form);
  EXPECT_EQ(mistake("a:http"), "'a:http' has no port from 1 to 65535" + form);
  EXPECT_EQ(mistake("https://a:7070"), "'https://a:7070' is a URL" + form);
  EXPECT_EQ(mistake("a:7070/"), "'a:7070/' is not an address" + form);
  EXPECT_EQ(mistake("b:1,::1:7070"),
            "'::1:7070' is ambiguous; an IPv6 address is written [ADDRESS]:PORT" + form);
  EXPECT_EQ(mistake("[::1]"), "'[::1]' has no port" + form);
}

}  // namespace
}  // namespace tenure
