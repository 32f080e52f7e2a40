#include "proto/status.h"

#include "proto/rich_status.h"

namespace tenure {
namespace {

constexpr std::string_view kReasonPrefix = "ERROR_REASON_";
// Headers carry a status twice, and clients accept 8 KB of them. Longer messages end in "...".
constexpr size_t kMessageBytesMax = 1'000;

// Cuts between characters.
std::string Bounded(std::string message) {
  if (message.size() <= kMessageBytesMax) return message;
  size_t end = kMessageBytesMax - 3;
  while (end > 0 && (message[end] & 0xC0) == 0x80) --end;
  message.resize(end);
  return message + "...";
}

struct Row {
  v1::ErrorReason reason;
  grpc::StatusCode code;
  int retry_delay_ms = 0;  // 0: sending the same request again does not help
};

Row RowOf(Reason reason) {
  using enum Reason;
  using enum grpc::StatusCode;
  switch (reason) {
    case kInvalidElectionName: return {v1::ERROR_REASON_INVALID_ELECTION_NAME, INVALID_ARGUMENT};
    case kInvalidCandidate: return {v1::ERROR_REASON_INVALID_CANDIDATE, INVALID_ARGUMENT};
    case kInvalidValue: return {v1::ERROR_REASON_INVALID_VALUE, INVALID_ARGUMENT};
    case kInvalidLeaseTtl: return {v1::ERROR_REASON_INVALID_LEASE_TTL, INVALID_ARGUMENT};
    case kInvalidWait: return {v1::ERROR_REASON_INVALID_WAIT, INVALID_ARGUMENT};
    case kInvalidSessionId: return {v1::ERROR_REASON_INVALID_SESSION_ID, INVALID_ARGUMENT};
    case kInvalidRequestId: return {v1::ERROR_REASON_INVALID_REQUEST_ID, INVALID_ARGUMENT};
    case kInvalidTerm: return {v1::ERROR_REASON_INVALID_TERM, INVALID_ARGUMENT};
    case kInvalidSelector: return {v1::ERROR_REASON_INVALID_SELECTOR, INVALID_ARGUMENT};
    case kSessionNotFound: return {v1::ERROR_REASON_SESSION_NOT_FOUND, NOT_FOUND};
    case kSessionEnded: return {v1::ERROR_REASON_SESSION_ENDED, FAILED_PRECONDITION};
    case kElectionNotFound: return {v1::ERROR_REASON_ELECTION_NOT_FOUND, NOT_FOUND};
    case kNotLeader: return {v1::ERROR_REASON_NOT_LEADER, FAILED_PRECONDITION};
    case kStaleTerm: return {v1::ERROR_REASON_STALE_TERM, FAILED_PRECONDITION};
    case kCandidacyWithdrawn: return {v1::ERROR_REASON_CANDIDACY_WITHDRAWN, FAILED_PRECONDITION};
    case kQueueFull: return {v1::ERROR_REASON_QUEUE_FULL, RESOURCE_EXHAUSTED};
    case kOverloaded: return {v1::ERROR_REASON_OVERLOADED, RESOURCE_EXHAUSTED, 500};
    case kObserveTooWide: return {v1::ERROR_REASON_OBSERVE_TOO_WIDE, RESOURCE_EXHAUSTED};
    case kStoreUnavailable: return {v1::ERROR_REASON_STORE_UNAVAILABLE, UNAVAILABLE, 500};
    case kDraining: return {v1::ERROR_REASON_DRAINING, UNAVAILABLE, 100};
    case kInvalidElectionSet: return {v1::ERROR_REASON_INVALID_ELECTION_SET, INVALID_ARGUMENT};
    case kInvalidSetting: return {v1::ERROR_REASON_INVALID_SETTING, INVALID_ARGUMENT};
    case kInvalidReason: return {v1::ERROR_REASON_INVALID_REASON, INVALID_ARGUMENT};
    case kInvalidPage: return {v1::ERROR_REASON_INVALID_PAGE, INVALID_ARGUMENT};
    case kElectionPaused: return {v1::ERROR_REASON_ELECTION_PAUSED, FAILED_PRECONDITION};
    case kCandidateNotStanding:
      return {v1::ERROR_REASON_CANDIDATE_NOT_STANDING, FAILED_PRECONDITION};
    case kTooManyCoolDowns: return {v1::ERROR_REASON_TOO_MANY_COOL_DOWNS, RESOURCE_EXHAUSTED};
    case kPermissionDenied: return {v1::ERROR_REASON_PERMISSION_DENIED, PERMISSION_DENIED};
    case kLimitReached: return {v1::ERROR_REASON_LIMIT_REACHED, RESOURCE_EXHAUSTED};
    case kMalformedRequest: return {v1::ERROR_REASON_MALFORMED_REQUEST, INVALID_ARGUMENT};
    case kWrongService: return {v1::ERROR_REASON_WRONG_SERVICE, FAILED_PRECONDITION};
  }
  return {v1::ERROR_REASON_UNSPECIFIED, UNKNOWN};
}

}  // namespace

v1::ErrorReason ToProto(Reason reason) { return RowOf(reason).reason; }

grpc::StatusCode CodeOf(Reason reason) { return RowOf(reason).code; }

std::string ReasonName(Reason reason) {
  return v1::ErrorReason_Name(ToProto(reason)).substr(kReasonPrefix.size());
}

grpc::Status ToStatus(const Error& error) {
  const Row row = RowOf(error.reason);
  return RichStatus(
      row.code, Bounded(error.message),
      {ReasonName(error.reason), error.metadata, std::chrono::milliseconds(row.retry_delay_ms)});
}

}  // namespace tenure
