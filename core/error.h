// The closed list of errors, and the value that carries one between rooms.
//
// `proto/tenure/v1/election.proto` documents each reason for callers; `proto/status.h` gives each
// its gRPC code.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace tenure {

enum class Reason {
  kInvalidElectionName = 1,
  kInvalidCandidate,
  kInvalidValue,
  kInvalidLeaseTtl,
  kInvalidWait,
  kInvalidSessionId,
  kInvalidRequestId,
  kInvalidTerm,
  kInvalidSelector,
  kSessionNotFound,
  kSessionEnded,
  kElectionNotFound,
  kNotLeader,
  kStaleTerm,
  kCandidacyWithdrawn,
  kQueueFull,
  kOverloaded,
  kObserveTooWide,
  kStoreUnavailable,
  kDraining,
  kInvalidElectionSet,
  kInvalidSetting,
  kInvalidReason,
  kInvalidPage,
  kElectionPaused,
  kCandidateNotStanding,
  kTooManyCoolDowns,
  kPermissionDenied,
  kLimitReached,
  kMalformedRequest,
  kWrongService,
};

// `message` is one sentence for people, without secrets; `metadata` is for programs.
struct Error {
  Reason reason;
  std::string message;
  std::map<std::string, std::string> metadata = {};
};

template <typename T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> Fail(Reason reason, std::string message,
                                                std::map<std::string, std::string> metadata = {}) {
  return tl::unexpected<Error>(Error{reason, std::move(message), std::move(metadata)});
}

}  // namespace tenure
