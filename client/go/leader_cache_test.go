package tenure

import (
	"context"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "tenure/v1"
)

func newCache(t *testing.T, service *service) *LeaderCache {
	t.Helper()
	cache, err := NewLeaderCache(LeaderCacheOptions{Endpoints: serve(t, service), Names: []string{"orders"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cache.Close() })
	return cache
}

// expectWaiting expects the same answer each time.
func expectWaiting(t *testing.T, cache *LeaderCache, want codes.Code) {
	t.Helper()
	for i := 0; i < 100; i++ {
		if err := cache.WaitUntilReady(context.Background()); status.Code(err) != want {
			t.Fatal(err)
		}
	}
}

func TestACacheThatWasRefusedSaysWhyEachTime(t *testing.T) {
	service := newService()
	service.observed = func(pb.ElectionService_ObserveServer) error { return status.Error(codes.PermissionDenied, "no") }
	cache := newCache(t, service)

	receive(t, "its end", cache.done)

	expectWaiting(t, cache, codes.PermissionDenied)
}

func TestACacheThatWasReadyStaysSo(t *testing.T) {
	service := newService()
	service.observed = func(stream pb.ElectionService_ObserveServer) error {
		return stream.Send(&pb.ObserveResponse{Message: &pb.ObserveResponse_Progress{Progress: &pb.Progress{}}})
	}
	cache := newCache(t, service)
	receive(t, "its state", cache.ready)

	if err := cache.Close(); err != nil {
		t.Fatal(err)
	}

	expectWaiting(t, cache, codes.OK)
}
