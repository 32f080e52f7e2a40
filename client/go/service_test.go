package tenure

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "tenure/v1"
)

// Long enough for a slow machine. Only a failing test waits this long.
const patience = time.Minute

// service grants every seat to its first candidate.
type service struct {
	pb.UnimplementedElectionServiceServer
	successors map[string]string                            // by election: the successor that an operator wants from the start
	resigned   chan string                                  // elections
	hangs      <-chan struct{}                              // no resignation is answered until it is closed
	observed   func(pb.ElectionService_ObserveServer) error // handles each Observe
	mutex      sync.Mutex
	held       map[string]*pb.Leadership
	metadata   metadata.MD // of the last campaign
}

func (s *service) Campaign(ctx context.Context, request *pb.CampaignRequest) (*pb.CampaignResponse, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.metadata, _ = metadata.FromIncomingContext(ctx)
	seat := &pb.Leadership{Election: request.Election, Term: 1, Successor: s.successors[request.Election]}
	s.held[request.Election] = seat
	return &pb.CampaignResponse{
		Session: &pb.Session{SessionId: "s1", LeaseTtl: durationpb.New(time.Minute)},
		Outcome: &pb.CampaignResponse_Elected{Elected: seat},
	}, nil
}

func (s *service) KeepAlive(stream pb.ElectionService_KeepAliveServer) error {
	for {
		request, err := stream.Recv()
		if err != nil {
			return err
		}
		session := &pb.SessionRenewal{SessionId: "s1", Result: &pb.SessionRenewal_LeaseTtl{LeaseTtl: durationpb.New(time.Minute)}}
		s.mutex.Lock()
		for _, seat := range s.held {
			session.Seats = append(session.Seats, seat)
		}
		s.mutex.Unlock()
		renewal := &pb.Renewal{Sequence: request.Sequence, Sessions: []*pb.SessionRenewal{session}}
		if err := stream.Send(&pb.KeepAliveResponse{Message: &pb.KeepAliveResponse_Renewal{Renewal: renewal}}); err != nil {
			return err
		}
	}
}

func (s *service) Resign(ctx context.Context, request *pb.ResignRequest) (*pb.ResignResponse, error) {
	s.mutex.Lock()
	delete(s.held, request.Election)
	s.mutex.Unlock()
	s.resigned <- request.Election
	select {
	case <-s.hangs:
	case <-ctx.Done():
	}
	return &pb.ResignResponse{}, ctx.Err()
}

func (s *service) Observe(_ *pb.ObserveRequest, stream pb.ElectionService_ObserveServer) error {
	return s.observed(stream)
}

func newService() *service {
	answers := make(chan struct{})
	close(answers)
	return &service{resigned: make(chan string, 100), hangs: answers, held: map[string]*pb.Leadership{}}
}

func serve(t *testing.T, service pb.ElectionServiceServer, options ...grpc.ServerOption) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(options...)
	healthpb.RegisterHealthServer(server, health.NewServer())
	pb.RegisterElectionServiceServer(server, service)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}

func receive[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case received := <-from:
		return received
	case <-time.After(patience):
		t.Fatal("timed out waiting for ", what)
		panic("unreachable")
	}
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for until := time.Now().Add(patience); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("this never became true: ", what)
		}
	}
}
