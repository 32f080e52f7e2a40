package tenure

import (
	"context"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "tenure/v1"
)

func TestAnObserverRetriesTransientErrors(t *testing.T) {
	for _, test := range []struct {
		refusal error
		again   bool
	}{
		{status.Error(codes.Unavailable, ""), true},
		{status.Error(codes.Unauthenticated, ""), true},
		{status.Error(codes.Unknown, ""), true},
		{status.Error(codes.Internal, ""), true},
		{richError(codes.ResourceExhausted, "", "OVERLOADED", nil), true},
		{richError(codes.ResourceExhausted, "", "LIMIT_REACHED", nil), true},
		{richError(codes.ResourceExhausted, "", "OBSERVE_TOO_WIDE", nil), false},
		{richError(codes.PermissionDenied, "", "PERMISSION_DENIED", nil), false},
		{richError(codes.InvalidArgument, "", "INVALID_SELECTOR", nil), false},
		{status.Error(codes.Unimplemented, ""), true}, // it is not Tenure, but another endpoint may be
	} {
		service := newService()
		service.observed = func(pb.ElectionService_ObserveServer) error { return test.refusal }
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		again := false
		observer, err := NewObserver(ObserverOptions{
			Endpoints: serve(t, service), Names: []string{"orders"},
			OnBroken: func(error) {
				again = true
				cancel()
			},
		})
		if err != nil {
			t.Fatal(err)
		}

		err = observer.Run(ctx)
		cancel()

		if again != test.again || (err == nil) != again {
			t.Errorf("%v: again: %t, and it ends with: %v", test.refusal, again, err)
		}
	}
}

func TestAnObserverWaitsAsLongAsTheServiceWants(t *testing.T) {
	overloaded, err := status.New(codes.Unavailable, "").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if pause := pauseAfter(overloaded, time.Second); pause != time.Hour {
		t.Error(pause)
	}
}
