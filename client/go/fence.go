package tenure

import (
	"context"
	"fmt"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
)

// The metadata keys of a call, for callers in other languages: the election's name in bytes, and the
// term in decimal digits.
const (
	ElectionMetadata = "tenure-election-bin"
	TermMetadata     = "tenure-term"
)

// Fence is a term of an election, as requests carry it.
type Fence struct {
	Election string
	Term     uint64
}

// Attach makes the calls of the returned context carry this fence. Use it once.
func (f Fence) Attach(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, ElectionMetadata, f.Election, TermMetadata, strconv.FormatUint(f.Term, 10))
}

// FenceOf is the fence that a call carries, for its handler. INVALID_ARGUMENT with INVALID_ELECTION_NAME
// or INVALID_TERM unless the call carries exactly one election and one term that is not zero.
func FenceOf(ctx context.Context) (Fence, error) {
	received, _ := metadata.FromIncomingContext(ctx)
	election := only(received.Get(ElectionMetadata))
	if checkName("the election", election) != nil {
		return Fence{}, richError(codes.InvalidArgument,
			"the call must name one election in the metadata "+ElectionMetadata, "INVALID_ELECTION_NAME", nil)
	}
	term, err := strconv.ParseUint(only(received.Get(TermMetadata)), 10, 64)
	if err != nil || term == 0 {
		return Fence{}, richError(codes.InvalidArgument,
			"the call must name one term in the metadata "+TermMetadata, "INVALID_TERM", nil)
	}
	return Fence{election, term}, nil
}

func only(values []string) string {
	if len(values) != 1 {
		return ""
	}
	return values[0]
}

// FenceUnaryCalls attaches a fence to each unary call of a channel, with the term that `term` returns
// when the call begins. For calls whose context has no fence. If the term is 0, the call is not sent, and
// fails at once with FAILED_PRECONDITION and NOT_LEADER.
//
// The content of a call is decided before the call is sent. In between, a leader may lose the seat and
// win it back, so that [Elector.Term] is no longer the term of the decision. Use the term of the decision,
// and let the seat say whether it is still current: [Seat.TermIfHeld].
func FenceUnaryCalls(election string, term func() uint64) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, request, reply any, channel *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
		fence := Fence{election, term()}
		if fence.Term == 0 {
			return notLeader(election)
		}
		return invoke(fence.Attach(ctx), method, request, reply, channel, options...)
	}
}

// FenceStreams is like FenceUnaryCalls, for streams.
func FenceStreams(election string, term func() uint64) grpc.StreamClientInterceptor {
	return func(ctx context.Context, description *grpc.StreamDesc, channel *grpc.ClientConn, method string, open grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
		fence := Fence{election, term()}
		if fence.Term == 0 {
			return nil, notLeader(election)
		}
		return open(fence.Attach(ctx), description, channel, method, options...)
	}
}

func notLeader(election string) error {
	return richError(codes.FailedPrecondition, fmt.Sprintf("this process does not lead election '%s'", election), "NOT_LEADER", nil)
}
