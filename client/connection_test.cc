// What a client makes of the server's errors, which come from the server's own code.
#include "client/connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "client/tool/exit_code.h"
#include "proto/status.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;

// --- Errors of the server ---

std::vector<Reason> AllReasons() {
  std::vector<Reason> all;
  for (int i = 1; i <= static_cast<int>(Reason::kWrongService); ++i) {
    all.push_back(static_cast<Reason>(i));
  }
  return all;
}

class ServerErrorTest : public ::testing::TestWithParam<Reason> {
 protected:
  const grpc::Status status_ = ToStatus({GetParam(), "what went wrong"});
};

INSTANTIATE_TEST_SUITE_P(Reasons, ServerErrorTest, ::testing::ValuesIn(AllReasons()),
                         [](const auto& info) { return ReasonName(info.param); });

TEST_P(ServerErrorTest, AnErrorIsIdentifiedByItsReason) {
  EXPECT_EQ(ReasonOf(status_), ReasonName(GetParam()));
}

TEST_P(ServerErrorTest, RefusalsInTheCurrentStateHaveTheirOwnExitCode) {
  const std::set<Reason> not_found = {Reason::kElectionNotFound, Reason::kSessionNotFound};
  const std::set<Reason> refused = {Reason::kSessionEnded,       Reason::kNotLeader,
                                    Reason::kStaleTerm,          Reason::kElectionPaused,
                                    Reason::kCandidacyWithdrawn, Reason::kCandidateNotStanding,
                                    Reason::kQueueFull,          Reason::kTooManyCoolDowns};

  const std::set<Reason> unavailable = {Reason::kOverloaded, Reason::kStoreUnavailable,
                                        Reason::kDraining, Reason::kWrongService};

  constexpr int kExitUsage = 2;
  EXPECT_EQ(ExitCodeOf(status_), not_found.contains(GetParam())     ? kExitNotFound
                                 : refused.contains(GetParam())     ? kExitRefused
                                 : unavailable.contains(GetParam()) ? kExitUnavailable
                                 : status_.error_code() == grpc::StatusCode::INVALID_ARGUMENT
                                     ? kExitUsage
                                     : kExitError);
}

TEST(MetadataTest, MetadataBelongsToItsError) {
  const auto status = ToStatus({Reason::kSessionEnded, "over", {{"cause", "EXPIRED"}}});

  EXPECT_EQ(MetadataOf(status, "cause"), "EXPIRED");
  EXPECT_EQ(MetadataOf(status, "other"), "");
  EXPECT_EQ(MetadataOf(grpc::Status::OK, "cause"), "");
}

TEST_P(ServerErrorTest, OnlyRetriableErrorsAreTransient) {
  const std::set<Reason> transient = {Reason::kOverloaded, Reason::kStoreUnavailable,
                                      Reason::kDraining, Reason::kWrongService};

  EXPECT_EQ(IsTransient(status_), transient.contains(GetParam()));
}

TEST_P(ServerErrorTest, OnlySessionErrorsMeanThatTheSessionIsGone) {
  const std::set<Reason> gone = {Reason::kSessionEnded, Reason::kSessionNotFound};

  EXPECT_EQ(IsSessionGone(status_), gone.contains(GetParam()));
}

// --- Errors of gRPC itself ---

TEST(GrpcErrorTest, AnErrorOfGrpcHasNoReason) {
  EXPECT_EQ(ReasonOf(grpc::Status::OK), "");
  EXPECT_EQ(ReasonOf({grpc::StatusCode::UNAVAILABLE, "connection refused"}), "");
  EXPECT_EQ(ReasonOf({grpc::StatusCode::UNKNOWN, "", "no details at all"}), "");
}

TEST(GrpcErrorTest, AConnectionErrorIsTransient) {
  for (const auto code : {grpc::StatusCode::UNAVAILABLE, grpc::StatusCode::DEADLINE_EXCEEDED,
                          grpc::StatusCode::CANCELLED, grpc::StatusCode::RESOURCE_EXHAUSTED}) {
    EXPECT_TRUE(IsTransient({code, ""}));
  }
}

TEST(GrpcErrorTest, ARequestErrorIsNotTransient) {
  EXPECT_FALSE(IsTransient(grpc::Status::OK));
  for (const auto code : {grpc::StatusCode::INVALID_ARGUMENT, grpc::StatusCode::UNIMPLEMENTED,
                          grpc::StatusCode::FAILED_PRECONDITION, grpc::StatusCode::NOT_FOUND}) {
    EXPECT_FALSE(IsTransient({code, ""}));
  }
}

TEST(GrpcErrorTest, AServerThatIsNotTenureMayBeReplacedByOneThatIs) {
  EXPECT_TRUE(IsRefusedForNow({grpc::StatusCode::UNIMPLEMENTED, ""}));
}

TEST(GrpcErrorTest, AnErrorOfGrpcDoesNotMeanThatTheSessionIsGone) {
  EXPECT_FALSE(IsSessionGone(grpc::Status::OK));
  EXPECT_FALSE(IsSessionGone({grpc::StatusCode::NOT_FOUND, ""}));
}

// --- Replicas ---

TEST(ConnectionTest, ReplicasAreUsedInTurn) {
  Connection connection("127.0.0.1:1,127.0.0.1:2,127.0.0.1:3");
  std::set<std::string> used;

  for (int i = 0; i < 3; ++i) {
    used.insert(connection.endpoint());
    connection.MoveOn();
  }

  EXPECT_EQ(used.size(), 3u);
  EXPECT_TRUE(used.contains(connection.endpoint()));
}

TEST(ConnectionTest, EmptyEndpointsAreSkipped) {
  Connection connection(",127.0.0.1:1,,");

  connection.MoveOn();

  EXPECT_EQ(connection.endpoint(), "127.0.0.1:1");
}

TEST(ConnectionTest, AConnectionInProgressIsKept) {
  Connection connection("127.0.0.1:1");
  const auto before = connection.stub();

  connection.Reconnect();
  connection.MoveOn();

  EXPECT_EQ(connection.stub(), before);
}

TEST(ConnectionTest, AConnectionEndsAfterItsLastCall) {
  auto connection = std::make_unique<Connection>("127.0.0.1:1");
  auto first = connection->Mark();
  auto last = connection->Mark();
  bool ended = false;

  first.reset();
  std::thread call([&] {
    ended = true;
    last.reset();
  });
  connection.reset();

  EXPECT_TRUE(ended);
  call.join();
}

TEST(BackoffTest, TheBackoffGrowsToItsMaximumAndStaysThere) {
  Connection connection("127.0.0.1:1");

  const auto first = connection.Backoff();
  EXPECT_GE(first, 10ms);
  EXPECT_LE(first, 20ms);
  for (int i = 0; i < 100; ++i) EXPECT_LE(connection.Backoff(), 500ms);
  EXPECT_GE(connection.Backoff(), 250ms);
}

TEST(BackoffTest, TheBackoffStartsAgainAfterASuccess) {
  Connection connection("127.0.0.1:1");
  for (int i = 0; i < 100; ++i) (void)connection.Backoff();

  connection.Succeeded();

  EXPECT_LE(connection.Backoff(), 20ms);
}

}  // namespace
}  // namespace tenure
