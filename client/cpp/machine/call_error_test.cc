// The server's own code makes its errors here.
#include "client/cpp/machine/call_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "proto/status.h"

namespace tenure {
namespace {

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

}  // namespace
}  // namespace tenure
