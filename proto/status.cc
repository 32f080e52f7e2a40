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
  using grpc::StatusCode;
  switch (reason) {
    case Reason::kInvalidElectionName:
      return {v1::ERROR_REASON_INVALID_ELECTION_NAME, StatusCode::INVALID_ARGUMENT};
    case Reason::kInvalidCandidate:
      return {v1::ERROR_REASON_INVALID_CANDIDATE, StatusCode::INVALID_ARGUMENT};
    case Reason::kInvalidValue:
      return {v1::ERROR_REASON_INVALID_VALUE, StatusCode::INVALID_ARGUMENT};
    case Reason::kInvalidLeaseTtl:
      return {v1::ERROR_REASON_INVALID_LEASE_TTL, StatusCode::INVALID_ARGUMENT};
    case Reason::kInvalidWait: return {v1::ERROR_REASON_INVALID_WAIT, StatusCode::INVALID_ARGUMENT};
    case Reason::kInvalidSessionId:
      return {v1::ERROR_REASON_INVALID_SESSION_ID, StatusCode::INVALID_ARGUMENT};
    case Reason::kInvalidRequestId:
      return {v1::ERROR_REASON_INVALID_REQUEST_ID, StatusCode::INVALID_ARGUMENT};
    case Reason::kInvalidTerm: return {v1::ERROR_REASON_INVALID_TERM, StatusCode::INVALID_ARGUMENT};
    case Reason::kInvalidSelector:
      return {v1::ERROR_REASON_INVALID_SELECTOR, StatusCode::INVALID_ARGUMENT};
    case Reason::kSessionNotFound:
      return {v1::ERROR_REASON_SESSION_NOT_FOUND, StatusCode::NOT_FOUND};
    case Reason::kSessionEnded:
      return {v1::ERROR_REASON_SESSION_ENDED, StatusCode::FAILED_PRECONDITION};
    case Reason::kElectionNotFound:
      return {v1::ERROR_REASON_ELECTION_NOT_FOUND, StatusCode::NOT_FOUND};
    case Reason::kNotLeader: return {v1::ERROR_REASON_NOT_LEADER, StatusCode::FAILED_PRECONDITION};
    case Reason::kStaleTerm: return {v1::ERROR_REASON_STALE_TERM, StatusCode::FAILED_PRECONDITION};
    case Reason::kCandidacyWithdrawn:
      return {v1::ERROR_REASON_CANDIDACY_WITHDRAWN, StatusCode::FAILED_PRECONDITION};
    case Reason::kQueueFull: return {v1::ERROR_REASON_QUEUE_FULL, StatusCode::RESOURCE_EXHAUSTED};
    case Reason::kOverloaded:
      return {v1::ERROR_REASON_OVERLOADED, StatusCode::RESOURCE_EXHAUSTED, 500};
    case Reason::kObserveTooWide:
      return {v1::ERROR_REASON_OBSERVE_TOO_WIDE, StatusCode::RESOURCE_EXHAUSTED};
    case Reason::kStoreUnavailable:
      return {v1::ERROR_REASON_STORE_UNAVAILABLE, StatusCode::UNAVAILABLE, 500};
    case Reason::kDraining: return {v1::ERROR_REASON_DRAINING, StatusCode::UNAVAILABLE, 100};
    case Reason::kInvalidElectionSet:
      return {v1::ERROR_REASON_INVALID_ELECTION_SET, StatusCode::INVALID_ARGUMENT};
    case Reason::kInvalidSetting:
      return {v1::ERROR_REASON_INVALID_SETTING, StatusCode::INVALID_ARGUMENT};
    case Reason::kInvalidReason:
      return {v1::ERROR_REASON_INVALID_REASON, StatusCode::INVALID_ARGUMENT};
    case Reason::kInvalidPage: return {v1::ERROR_REASON_INVALID_PAGE, StatusCode::INVALID_ARGUMENT};
    case Reason::kElectionPaused:
      return {v1::ERROR_REASON_ELECTION_PAUSED, StatusCode::FAILED_PRECONDITION};
    case Reason::kCandidateNotStanding:
      return {v1::ERROR_REASON_CANDIDATE_NOT_STANDING, StatusCode::FAILED_PRECONDITION};
    case Reason::kTooManyCoolDowns:
      return {v1::ERROR_REASON_TOO_MANY_COOL_DOWNS, StatusCode::RESOURCE_EXHAUSTED};
    case Reason::kPermissionDenied:
      return {v1::ERROR_REASON_PERMISSION_DENIED, StatusCode::PERMISSION_DENIED};
    case Reason::kLimitReached:
      return {v1::ERROR_REASON_LIMIT_REACHED, StatusCode::RESOURCE_EXHAUSTED};
    case Reason::kMalformedRequest:
      return {v1::ERROR_REASON_MALFORMED_REQUEST, StatusCode::INVALID_ARGUMENT};
    case Reason::kWrongService:
      return {v1::ERROR_REASON_WRONG_SERVICE, StatusCode::FAILED_PRECONDITION};
  }
  return {v1::ERROR_REASON_UNSPECIFIED, StatusCode::UNKNOWN};
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
