package tenure

import (
	"context"
	"errors"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"tenure/internal/machine"
	pb "tenure/v1"
)

func enter(t *testing.T, guard *TermGuard, term uint64) (leave func()) {
	t.Helper()
	leave, err := guard.EnterWith(context.Background(), Fence{"orders", term})
	if err != nil {
		t.Fatal(err)
	}
	return leave
}

func TestALowerTermIsRefusedOnceAHigherOneWasSeen(t *testing.T) {
	guard := NewTermGuard(TermGuardOptions{})
	enter(t, guard, 7)()
	enter(t, guard, 7)()
	enter(t, guard, 8)()

	_, err := guard.EnterWith(context.Background(), Fence{"orders", 7})

	if status.Code(err) != codes.FailedPrecondition || ReasonOf(err) != "STALE_TERM" {
		t.Error(err)
	}
	if current := machine.InfoOf(status.Convert(err)).GetMetadata()["current_term"]; current != "8" {
		t.Error(current)
	}
	if guard.Highest("orders") != 8 || guard.Highest("others") != 0 {
		t.Error(guard.Highest("orders"))
	}
}

func TestAHigherTermWaitsUntilLowerOnesHaveLeft(t *testing.T) {
	guard := NewTermGuard(TermGuardOptions{})
	leave := enter(t, guard, 7)
	entered := make(chan struct{})
	go func() {
		defer close(entered)
		if leave, err := guard.EnterWith(context.Background(), Fence{"orders", 8}); err == nil {
			leave()
		}
	}()
	for guard.Highest("orders") != 8 {
		time.Sleep(time.Millisecond)
	}
	select {
	case <-entered:
		t.Error("it is inside together with a lower term")
	default:
	}

	leave()
	leave() // once is enough
	<-entered
	enter(t, guard, 8)()
}

func TestWaitingEndsWithTheCallsDeadlineAndWithWaitMax(t *testing.T) {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for about, test := range map[string]struct {
		options TermGuardOptions
		ctx     context.Context
	}{
		"the call has ended": {TermGuardOptions{}, over},
		"it waits enough":    {TermGuardOptions{WaitMax: time.Millisecond}, context.Background()},
		"it does not wait":   {TermGuardOptions{WaitMax: -1}, context.Background()},
	} {
		guard := NewTermGuard(test.options)
		leave := enter(t, guard, 7)
		_, err := guard.EnterWith(test.ctx, Fence{"orders", 8})
		if status.Code(err) != codes.Unavailable {
			t.Errorf("%s: %v", about, err)
		}
		leave()
	}
}

func TestTheSecondWaitOfACallEndsToo(t *testing.T) {
	guard := NewTermGuard(TermGuardOptions{})
	waiting, end := context.WithCancel(context.Background())
	guard.mutex.Lock()
	defer guard.mutex.Unlock()
	raised := false
	go func() {
		guard.mutex.Lock() // which the first wait releases
		defer guard.mutex.Unlock()
		raised = true
		end()
	}()

	first := guard.waitFor(waiting, func() bool { return raised })
	second := guard.waitFor(waiting, func() bool { return false })

	if !first || second {
		t.Error(first, second)
	}
}

func TestRaiseStoresEachNewTermOnceBeforeItIsLetIn(t *testing.T) {
	var stored uint64
	calls := 0
	broken := errors.New("the disk is full")
	var fail error
	guard := NewTermGuard(TermGuardOptions{Raise: func(_ context.Context, fence Fence) (uint64, error) {
		calls++
		stored = max(stored, fence.Term)
		return stored, fail
	}})

	fail = broken
	if _, err := guard.EnterWith(context.Background(), Fence{"orders", 7}); err != broken {
		t.Error(err)
	}
	fail = nil
	enter(t, guard, 7)()
	enter(t, guard, 7)()
	stored = 9 // by another process
	if _, err := guard.EnterWith(context.Background(), Fence{"orders", 8}); ReasonOf(err) != "STALE_TERM" {
		t.Error(err)
	}

	if calls != 3 || guard.Highest("orders") != 9 {
		t.Error(calls, guard.Highest("orders"))
	}
}

func TestAGuardHasALimitOfElections(t *testing.T) {
	guard := NewTermGuard(TermGuardOptions{ElectionsMax: 1})
	enter(t, guard, 7)()

	_, err := guard.EnterWith(context.Background(), Fence{"others", 1})

	if status.Code(err) != codes.ResourceExhausted {
		t.Error(err)
	}
}

// guarded is a service, which happens to be an ElectionService.
type guarded struct {
	pb.UnimplementedElectionServiceServer
}

func (guarded) Leader(context.Context, *pb.LeaderRequest) (*pb.LeaderResponse, error) {
	return &pb.LeaderResponse{}, nil
}

func (guarded) Observe(*pb.ObserveRequest, pb.ElectionService_ObserveServer) error { return nil }

func serveGuarded(t *testing.T, guard *TermGuard) string {
	electionOf := func(string) string { return "orders" }
	return serve(t, guarded{}, grpc.ChainUnaryInterceptor(guard.UnaryServerInterceptor(electionOf)),
		grpc.ChainStreamInterceptor(guard.StreamServerInterceptor(electionOf)))
}

func dial(t *testing.T, endpoint string, options ...grpc.DialOption) pb.ElectionServiceClient {
	t.Helper()
	options = append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))
	channel, err := grpc.NewClient(endpoint, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = channel.Close() })
	return pb.NewElectionServiceClient(channel)
}

func observeOnce(ctx context.Context, client pb.ElectionServiceClient) error {
	stream, err := client.Observe(ctx, &pb.ObserveRequest{})
	if err == nil {
		_, err = stream.Recv()
	}
	if err != nil && err.Error() == "EOF" {
		return nil
	}
	return err
}

func TestTheTermTravelsWithUnaryCallsAndStreams(t *testing.T) {
	guard := NewTermGuard(TermGuardOptions{})
	endpoint := serveGuarded(t, guard)
	term := uint64(7)
	current := func() uint64 { return term }
	client := dial(t, endpoint, grpc.WithUnaryInterceptor(FenceUnaryCalls("orders", current)),
		grpc.WithStreamInterceptor(FenceStreams("orders", current)))
	call := func() (error, error) {
		_, err := client.Leader(context.Background(), &pb.LeaderRequest{})
		return err, observeOnce(context.Background(), client)
	}

	if unary, stream := call(); unary != nil || stream != nil || guard.Highest("orders") != 7 {
		t.Error(unary, stream, guard.Highest("orders"))
	}
	guard.Raise(Fence{"orders", 8})
	if unary, stream := call(); ReasonOf(unary) != "STALE_TERM" || ReasonOf(stream) != "STALE_TERM" {
		t.Error(unary, stream)
	}
	term = 0
	if unary, stream := call(); ReasonOf(unary) != "NOT_LEADER" || ReasonOf(stream) != "NOT_LEADER" {
		t.Error(unary, stream)
	}
}

func TestACallMustCarryOneFenceOfItsElection(t *testing.T) {
	client := dial(t, serveGuarded(t, NewTermGuard(TermGuardOptions{})))
	background := context.Background()
	for _, test := range []struct {
		about string
		ctx   context.Context
		want  string
	}{
		{"as it should be", Fence{"orders", 7}.Attach(background), ""},
		{"no fence", background, "INVALID_ELECTION_NAME"},
		{"another election", Fence{"others", 7}.Attach(background), "INVALID_ELECTION_NAME"},
		{"two fences", Fence{"orders", 7}.Attach(Fence{"orders", 8}.Attach(background)), "INVALID_ELECTION_NAME"},
		{"no term", metadata.AppendToOutgoingContext(background, ElectionMetadata, "orders"), "INVALID_TERM"},
		{"a term of 0", Fence{"orders", 0}.Attach(background), "INVALID_TERM"},
	} {
		_, err := client.Leader(test.ctx, &pb.LeaderRequest{})
		if ReasonOf(err) != test.want || (test.want == "") != (err == nil) {
			t.Errorf("%s: %v", test.about, err)
		}
	}
}

func TestALowerTermThanTheCallsIsNotStored(t *testing.T) {
	var stored uint64
	guard := NewTermGuard(TermGuardOptions{Raise: func(_ context.Context, fence Fence) (uint64, error) {
		before := stored
		stored = fence.Term
		return before, nil
	}})

	if _, err := guard.EnterWith(context.Background(), Fence{"orders", 7}); status.Code(err) != codes.Internal {
		t.Error(err)
	}
	if highest := guard.Highest("orders"); highest != 0 {
		t.Error(highest)
	}

	enter(t, guard, 7)()
}

func TestARaiseThatPanicsHoldsUpNobody(t *testing.T) {
	fail := true
	guard := NewTermGuard(TermGuardOptions{Raise: func(_ context.Context, fence Fence) (uint64, error) {
		if fail {
			panic("on fire")
		}
		return fence.Term, nil
	}})
	func() {
		defer func() { _ = recover() }()
		_, _ = guard.EnterWith(context.Background(), Fence{"orders", 7})
	}()
	fail = false

	enter(t, guard, 7)()
}
