package machine

import (
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "tenure/v1"
)

// InfoOf is the ErrorInfo of an answer; empty if it has none.
func InfoOf(answer *status.Status) *errdetails.ErrorInfo {
	for _, detail := range answer.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info
		}
	}
	return &errdetails.ErrorInfo{}
}

// RetryDelayOf is how long the service asks its caller to wait before repeating the request; 0 if it
// does not say.
func RetryDelayOf(answer *status.Status) time.Duration {
	for _, detail := range answer.Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			return info.GetRetryDelay().AsDuration()
		}
	}
	return 0
}

// IsTransient reports whether the same request may succeed later or on another replica.
func IsTransient(answer *status.Status) bool {
	switch answer.Code() {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled:
		return true
	case codes.ResourceExhausted:
		reason := InfoOf(answer).GetReason()
		return reason == "" || reason == "OVERLOADED"
	default:
		return false
	}
}

func isSilence(answer *status.Status) bool { return answer.Code() == codes.DeadlineExceeded }

// isSessionGone reports whether the session in use has ended or is unknown.
func isSessionGone(answer *status.Status) bool {
	reason := InfoOf(answer).GetReason()
	return reason == "SESSION_ENDED" || reason == "SESSION_NOT_FOUND"
}

// IsRefusedForNow reports whether only an operator, or other candidates, can lift the refusal.
func IsRefusedForNow(answer *status.Status) bool {
	switch answer.Code() {
	case codes.ResourceExhausted, codes.PermissionDenied, codes.Unauthenticated, codes.Unknown, codes.Internal:
		return true
	default:
		reason := InfoOf(answer).GetReason()
		return reason == "CANDIDACY_WITHDRAWN" || reason == WrongService
	}
}

// causeOf is why the session has ended.
func causeOf(answer *status.Status) pb.Cause {
	if cause, ok := pb.Cause_value["CAUSE_"+InfoOf(answer).GetMetadata()["cause"]]; ok {
		return pb.Cause(cause)
	}
	return pb.Cause_CAUSE_EXPIRED // an unknown session has expired and was deleted since
}
