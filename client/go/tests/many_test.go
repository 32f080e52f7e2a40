package tests

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"

	"tenure"
	pb "tenure/v1"
)

// counted counts what a client has sent.
type counted struct {
	mutex    sync.Mutex
	streams  int
	sessions map[string]bool
	renewals int
}

func (c *counted) dialOption() grpc.DialOption {
	return grpc.WithStreamInterceptor(func(ctx context.Context, description *grpc.StreamDesc, channel *grpc.ClientConn, method string, open grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
		stream, err := open(ctx, description, channel, method, options...)
		if method == pb.ElectionService_KeepAlive_FullMethodName {
			c.mutex.Lock()
			defer c.mutex.Unlock()
			c.streams++
			return countedStream{stream, c}, err
		}
		return stream, err
	})
}

type countedStream struct {
	grpc.ClientStream
	counted *counted
}

func (s countedStream) SendMsg(message any) error {
	s.counted.mutex.Lock()
	s.counted.renewals++
	for _, session := range message.(*pb.KeepAliveRequest).GetSessionIds() {
		s.counted.sessions[session] = true
	}
	s.counted.mutex.Unlock()
	return s.ClientStream.SendMsg(message)
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func TestAThousandElectorsShareOneSessionAndOneStream(t *testing.T) {
	service := startService(t)
	sent := &counted{sessions: map[string]bool{}}
	answered := make(renewals, 10)
	client := newClient(t, tenure.ClientOptions{
		Endpoints: service.endpoint, LeaseTTL: 15 * time.Second, DialOptions: []grpc.DialOption{sent.dialOption()},
		Metrics: answered,
	})
	var electors []*tenure.Elector
	for i := 0; i < 1000; i++ {
		elector := newElector(t, client, tenure.ElectorOptions{Election: fmt.Sprintf("shard/%d", i)})
		if err := elector.Stand(); err != nil {
			t.Fatal(err)
		}
		electors = append(electors, elector)
	}
	for _, elector := range electors {
		eventually(t, "each of them leads", elector.IsLeader)
	}

	// At rest.
	answered.expectOne(t)
	began, before := time.Now(), processorTime(t)
	receive(t, "a renewal", answered)
	took, used := time.Since(began), processorTime(t)-before
	t.Logf("1,000 electors at rest: %v of processor time in %v, %.2f %% of a core", used, took, 100*used.Seconds()/took.Seconds())

	for _, elector := range electors {
		if elector.Term() != 1 {
			t.Fatal("a seat was lost")
		}
	}
	sent.mutex.Lock()
	defer sent.mutex.Unlock()
	if sent.streams != 1 || len(sent.sessions) != 1 {
		t.Error(sent.streams, " streams, ", len(sent.sessions), " sessions")
	}
}
