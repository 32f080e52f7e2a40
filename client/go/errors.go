package tenure

import (
	"errors"
	"fmt"
	"unicode"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"tenure/internal/machine"
)

var (
	// ErrSeatLost is why the context of the work has ended: see context.Cause, whose text says more.
	ErrSeatLost = errors.New("tenure: the work must end")
	// ErrClosed means that the client is closed, or is being closed.
	ErrClosed = errors.New("tenure: the client is closed")
	// ErrStands means that an elector of the client already stands in the same election.
	ErrStands = errors.New("tenure: an elector of this client already stands in this election")
	// ErrCallback means that Run was called from a callback, and would wait for it to return.
	ErrCallback = errors.New("tenure: Run cannot be called from a callback; start a goroutine for it")
	// ErrInWork means that Shutdown was called from the work, and would wait for it to return.
	ErrInWork = errors.New("tenure: Shutdown cannot be called from the work; return from it first, or call Close")
	// ErrNotLeader means that this process does not lead. IsLeader of [Elector.Gocron] returns it.
	ErrNotLeader = errors.New("tenure: this process does not lead")
)

// ReasonOf is the reason that the service gives for an error of a call, such as "QUEUE_FULL"; empty if
// it gives none. The comments of election.proto say what each reason means. Its gRPC code is
// status.Code(err).
func ReasonOf(err error) string { return machine.InfoOf(status.Convert(err)).GetReason() }

const (
	nameBytesMax  = 255
	valueBytesMax = 4096
	errorDomain   = "tenure.v1"
)

func checkName(what, name string) error {
	if name == "" {
		return fmt.Errorf("tenure: %s is empty", what)
	}
	if len(name) > nameBytesMax {
		return fmt.Errorf("tenure: %s is %d bytes long; the maximum is %d", what, len(name), nameBytesMax)
	}
	for _, character := range name {
		if unicode.IsControl(character) {
			return fmt.Errorf("tenure: %s contains a control character: %q", what, name)
		}
	}
	return nil
}

func checkValue(value []byte) error {
	if len(value) > valueBytesMax {
		return fmt.Errorf("tenure: the value is %d bytes long; the maximum is %d", len(value), valueBytesMax)
	}
	return nil
}

// richError is an error of a call, as the service itself would write it.
func richError(code codes.Code, message, reason string, metadata map[string]string) error {
	answer := status.New(code, message)
	info := &errdetails.ErrorInfo{Reason: reason, Domain: errorDomain, Metadata: metadata}
	if detailed, err := answer.WithDetails(info); err == nil {
		answer = detailed
	}
	return answer.Err()
}
