#include "client/tool/exit_code.h"

#include <gtest/gtest.h>

#include <set>

#include "proto/status.h"

namespace tenure {
namespace {

TEST(ExitCodeTest, RefusalsInTheCurrentStateHaveTheirOwnExitCode) {
  const std::set<Reason> not_found = {Reason::kElectionNotFound, Reason::kSessionNotFound};
  const std::set<Reason> refused = {Reason::kSessionEnded,       Reason::kNotLeader,
                                    Reason::kStaleTerm,          Reason::kElectionPaused,
                                    Reason::kCandidacyWithdrawn, Reason::kCandidateNotStanding,
                                    Reason::kQueueFull,          Reason::kTooManyCoolDowns};

  const std::set<Reason> unavailable = {Reason::kOverloaded, Reason::kStoreUnavailable,
                                        Reason::kDraining, Reason::kWrongService};

  constexpr int kExitUsage = 2;
  for (int i = 1; i <= static_cast<int>(Reason::kWrongService); ++i) {
    const auto reason = static_cast<Reason>(i);
    const grpc::Status status = ToStatus({reason, "what went wrong"});
    EXPECT_EQ(ExitCodeOf(status), not_found.contains(reason)     ? kExitNotFound
                                  : refused.contains(reason)     ? kExitRefused
                                  : unavailable.contains(reason) ? kExitUnavailable
                                  : status.error_code() == grpc::StatusCode::INVALID_ARGUMENT
                                      ? kExitUsage
                                      : kExitError)
        << ReasonName(reason);
  }
}

}  // namespace
}  // namespace tenure
