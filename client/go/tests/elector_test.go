package tests

import (
	"context"
	"errors"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"tenure"
	pb "tenure/v1"
)

func run(elector *tenure.Elector, ctx context.Context, lead func(context.Context, tenure.Seat) error) <-chan error {
	returned := make(chan error, 1)
	go func() { returned <- elector.Run(ctx, lead) }()
	return returned
}

func TestRunLeadsUntilItsContextEndsAndThenTheNextLeads(t *testing.T) {
	service := startService(t)
	said := newLog()
	first := newElector(t, newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, Candidate: "a"}),
		logged(said, tenure.ElectorOptions{Election: "orders", Value: []byte("10.0.0.7")}))
	second := newElector(t, newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, Candidate: "b"}),
		tenure.ElectorOptions{Election: "orders"})
	ctx, cancel := context.WithCancel(context.Background())
	seats := make(chan tenure.Seat, 1)

	returned := run(first, ctx, func(ctx context.Context, seat tenure.Seat) error {
		seats <- seat
		return untilDone(said)(ctx, seat)
	})
	said.expect(t, "elected 1", "work 1")
	seat := receive(t, "the seat", seats)
	if seat.Election != "orders" || seat.Candidate != "a" || string(seat.Value) != "10.0.0.7" || !seat.Holds() || seat.TermIfHeld() != 1 {
		t.Errorf("%+v", seat)
	}
	if !first.IsLeader() || first.Term() != 1 || first.Remaining() <= 0 {
		t.Error(first.IsLeader(), first.Term(), first.Remaining())
	}
	next := make(chan uint64, 1)
	run(second, context.Background(), func(ctx context.Context, seat tenure.Seat) error {
		next <- seat.Term
		<-ctx.Done()
		return nil
	})
	cancel()

	said.expect(t, "stop 1", "lost 1 CAUSE_RESIGNED")
	if err := receive(t, "Run", returned); err != nil {
		t.Error(err)
	}
	if term := receive(t, "the next leader", next); term != 2 {
		t.Error(term)
	}
	if first.IsLeader() || first.Term() != 0 || seat.Holds() || seat.TermIfHeld() != 0 {
		t.Error("it still leads")
	}
}

func TestAnErrorOfTheWorkIsReturnedAndTheSeatIsResigned(t *testing.T) {
	service := startService(t)
	said := newLog()
	client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint})
	elector := newElector(t, client, logged(said, tenure.ElectorOptions{Election: "orders"}))
	broken := errors.New("the printer is on fire")

	err := elector.Run(context.Background(), func(context.Context, tenure.Seat) error { return broken })

	if err != broken {
		t.Error(err)
	}
	said.expect(t, "elected 1", "lost 1 CAUSE_RESIGNED")
}

func TestAPanicOfTheWorkResignsTheSeat(t *testing.T) {
	service := startService(t)
	said := newLog()
	client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint})
	elector := newElector(t, client, logged(said, tenure.ElectorOptions{Election: "orders"}))

	func() {
		defer func() { _ = recover() }()
		_ = elector.Run(context.Background(), func(context.Context, tenure.Seat) error { panic("on fire") })
	}()

	said.expect(t, "elected 1", "lost 1 CAUSE_RESIGNED")
}

func TestWorkThatReturnsByItselfLeadsAgain(t *testing.T) {
	service := startService(t)
	client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, LeaseTTL: time.Second})
	elector := newElector(t, client, tenure.ElectorOptions{Election: "orders"})
	ctx, cancel := context.WithCancel(context.Background())
	var terms []uint64

	err := elector.Run(ctx, func(_ context.Context, seat tenure.Seat) error {
		terms = append(terms, seat.Term)
		if len(terms) == 3 {
			cancel()
		}
		return nil
	})

	if err != nil || len(terms) != 3 || terms[0] >= terms[1] || terms[1] >= terms[2] {
		t.Error(err, terms)
	}
}

func TestWithOneTermRunReturnsAfterIt(t *testing.T) {
	service := startService(t)
	client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint})
	elector := newElector(t, client, tenure.ElectorOptions{Election: "nightly", OneTerm: true})
	var terms []uint64

	err := elector.Run(context.Background(), func(_ context.Context, seat tenure.Seat) error {
		terms = append(terms, seat.Term)
		return nil
	})

	if err != nil || len(terms) != 1 {
		t.Error(err, terms)
	}
}

// The service no longer answers, so this process stops in time by itself, and stands again afterwards.
func TestTheContextEndsBeforeTheLeaseDoes(t *testing.T) {
	service := startService(t)
	said := newLog()
	client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, LeaseTTL: 4 * time.Second})
	elector := newElector(t, client, logged(said, tenure.ElectorOptions{Election: "orders"}))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	causes := make(chan error, 10)
	returned := run(elector, ctx, func(ctx context.Context, seat tenure.Seat) error {
		said.say("work %d", seat.Term)
		<-ctx.Done()
		said.say("stop %d, held: %t", seat.Term, seat.Holds())
		causes <- context.Cause(ctx)
		return nil
	})
	said.expect(t, "elected 1", "work 1")

	service.signal(syscall.SIGSTOP)
	said.expect(t, "suspended 1", "stop 1, held: true", "lost 1 CAUSE_RESIGNED")
	if cause := receive(t, "the cause", causes); !errors.Is(cause, tenure.ErrSeatLost) || !strings.Contains(cause.Error(), "about to end") {
		t.Error(cause)
	}

	service.signal(syscall.SIGCONT)
	for {
		line := receive(t, "another term", said)
		if strings.HasPrefix(line, "work ") {
			break
		}
	}
	cancel()
	if err := receive(t, "Run", returned); err != nil {
		t.Error(err)
	}
}

func TestWithOneTermRunReturnsTheErrorOfAContextThatEndsBeforeIt(t *testing.T) {
	service := startService(t)
	leader := newElector(t, newClient(t, tenure.ClientOptions{Endpoints: service.endpoint}), tenure.ElectorOptions{Election: "nightly"})
	must(t, leader.Stand())
	eventually(t, "it leads", leader.IsLeader)
	ctx, cancel := context.WithCancel(context.Background())
	elector := newElector(t, newClient(t, tenure.ClientOptions{Endpoints: service.endpoint}), tenure.ElectorOptions{
		Election: "nightly", OneTerm: true, OnStanding: func(tenure.QueuePlace) { cancel() },
	})

	err := elector.Run(ctx, func(context.Context, tenure.Seat) error { return nil })

	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestTheWatchdogReportsWorkThatDoesNotStop(t *testing.T) {
	service := startService(t)
	said := newLog()
	client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, LeaseTTL: 4 * time.Second})
	elector := newElector(t, client, logged(said, tenure.ElectorOptions{Election: "orders", OneTerm: true}))
	release := make(chan struct{})
	returned := run(elector, context.Background(), func(_ context.Context, seat tenure.Seat) error {
		said.say("work %d", seat.Term)
		<-release
		return nil
	})
	said.expect(t, "elected 1", "work 1")

	service.signal(syscall.SIGSTOP)
	said.expect(t, "suspended 1")
	for want := map[string]bool{"overrun 1": true, "lost 1 CAUSE_EXPIRED": true}; len(want) > 0; {
		line := receive(t, "overrun and lost", said)
		if !want[line] {
			t.Fatal(line)
		}
		delete(want, line)
	}
	if elector.IsLeader() {
		t.Error("it still leads")
	}

	service.signal(syscall.SIGCONT)
	close(release)
	receive(t, "Run", returned)
}

func TestABlipIsNoLoss(t *testing.T) {
	service := startService(t)
	said := newLog()
	answered := make(renewals, 10)
	client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, LeaseTTL: 10 * time.Second, Metrics: answered})
	elector := newElector(t, client, logged(said, tenure.ElectorOptions{Election: "orders"}))
	if err := elector.Stand(); err != nil {
		t.Fatal(err)
	}
	said.expect(t, "elected 1")

	service.kill()
	service.start()
	answered.expectOne(t)

	if elector.Term() != 1 {
		t.Error(elector.Term())
	}
	if err := elector.Close(); err != nil {
		t.Error(err)
	}
	said.expect(t, "lost 1 CAUSE_RESIGNED")
}

func TestAnotherReplicaIsUsedWhenOneDies(t *testing.T) {
	first := startService(t)
	second := startReplica(t, first.store)
	said := newLog()
	answered := make(renewals, 10)
	client := newClient(t, tenure.ClientOptions{
		Endpoints: first.endpoint + "," + second.endpoint, LeaseTTL: 5 * time.Second, Metrics: answered,
	})
	elector := newElector(t, client, logged(said, tenure.ElectorOptions{Election: "orders"}))
	if err := elector.Stand(); err != nil {
		t.Fatal(err)
	}
	said.expect(t, "elected 1")

	for _, replica := range []*service{first, second} {
		replica.kill()
		answered.expectOne(t)
		replica.start()
	}

	if elector.Term() != 1 {
		t.Error(elector.Term())
	}
}

func TestAReplicaThatHangsCostsNoSeat(t *testing.T) {
	service := startService(t)
	relays := []*relay{startRelay(t, service.endpoint), startRelay(t, service.endpoint)}
	said := newLog()
	answered := make(renewals, 10)
	client := newClient(t, tenure.ClientOptions{
		Endpoints: relays[0].endpoint + "," + relays[1].endpoint, LeaseTTL: 5 * time.Second, Metrics: answered,
	})
	elector := newElector(t, client, logged(said, tenure.ElectorOptions{Election: "orders"}))
	if err := elector.Stand(); err != nil {
		t.Fatal(err)
	}
	said.expect(t, "elected 1")

	for _, relay := range relays {
		relay.hang()
		answered.expectOne(t)
		relay.goOn()
	}

	if elector.Term() != 1 {
		t.Error(elector.Term())
	}
}

func TestAnAppointmentStopsTheWorkBeforeTheSeatPasses(t *testing.T) {
	service := startService(t)
	said := newLog()
	first := newElector(t, newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, Candidate: "a"}),
		logged(said, tenure.ElectorOptions{Election: "orders"}))
	finish := make(chan struct{})
	run(first, context.Background(), func(ctx context.Context, seat tenure.Seat) error {
		said.say("work %d", seat.Term)
		<-ctx.Done()
		said.say("%v", context.Cause(ctx))
		<-finish
		return nil
	})
	said.expect(t, "elected 1", "work 1")
	standing := newLog()
	second := newElector(t, newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, Candidate: "b"}),
		logged(standing, tenure.ElectorOptions{Election: "orders"}))
	if err := second.Stand(); err != nil {
		t.Fatal(err)
	}
	standing.expect(t, "standing at 1")

	service.operate("appoint", "orders", "b")
	for want := map[string]bool{"step down 1 for b": true, "tenure: the work must end: an operator wants b to lead": true}; len(want) > 0; {
		line := receive(t, "step down", said)
		if !want[line] {
			t.Fatal(line)
		}
		delete(want, line)
	}
	if !first.IsLeader() || second.IsLeader() { // until the work has ended
		t.Error(first.IsLeader(), second.IsLeader())
	}
	close(finish)

	said.expect(t, "lost 1 CAUSE_RESIGNED")
	standing.expect(t, "elected 2")
	said.expect(t, "standing at 1")
}

func TestASupersededElectorStopsForGood(t *testing.T) {
	service := startService(t)
	said := newLog()
	old := newElector(t, newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, Candidate: "a"}),
		logged(said, tenure.ElectorOptions{Election: "orders"}))
	returned := run(old, context.Background(), untilDone(said))
	said.expect(t, "elected 1", "work 1")

	renewed := newElector(t, newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, Candidate: "a", Supersede: true}),
		tenure.ElectorOptions{Election: "orders"})
	if err := renewed.Stand(); err != nil {
		t.Fatal(err)
	}

	if err := receive(t, "Run", returned); status.Code(err) != codes.Aborted {
		t.Error(err)
	}
	eventually(t, "the new one leads", renewed.IsLeader)
}

func TestTheServiceRefusesAMalformedOption(t *testing.T) {
	service := startService(t)
	client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, LeaseTTL: 100 * time.Hour})
	elector := newElector(t, client, tenure.ElectorOptions{Election: "orders"})

	err := elector.Run(context.Background(), func(context.Context, tenure.Seat) error { return nil })

	if status.Code(err) != codes.InvalidArgument || tenure.ReasonOf(err) != "INVALID_LEASE_TTL" {
		t.Error(err)
	}
}

func TestAnElectionHasOneElectorOfAClientAtATime(t *testing.T) {
	service := startService(t)
	client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint})
	first := newElector(t, client, tenure.ElectorOptions{Election: "orders"})
	second := newElector(t, client, tenure.ElectorOptions{Election: "orders"})
	if err := first.Stand(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it leads", first.IsLeader)

	if err := second.Stand(); !errors.Is(err, tenure.ErrStands) {
		t.Error(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := second.Stand(); err != nil {
		t.Error(err)
	}

	eventually(t, "the second one leads in a later term", func() bool { return second.Term() == 2 })
}

func TestCloseWaitsForTheWorkAndFreesTheSeat(t *testing.T) {
	service := startService(t)
	said := newLog()
	client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint})
	elector := newElector(t, client, logged(said, tenure.ElectorOptions{Election: "orders"}))
	returned := run(elector, context.Background(), untilDone(said))
	said.expect(t, "elected 1", "work 1")

	if err := client.Close(); err != nil {
		t.Error(err)
	}

	said.expect(t, "stop 1", "lost 1 CAUSE_RESIGNED")
	if err := receive(t, "Run", returned); err != nil {
		t.Error(err)
	}
	if err := elector.Stand(); !errors.Is(err, tenure.ErrClosed) {
		t.Error(err)
	}
	other := newElector(t, newClient(t, tenure.ClientOptions{Endpoints: service.endpoint}), tenure.ElectorOptions{Election: "orders"})
	if err := other.Stand(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another one leads", other.IsLeader)
}

func TestShutdownSaysThatTheSessionCouldNotBeEnded(t *testing.T) {
	service := startService(t)
	client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint})
	elector := newElector(t, client, tenure.ElectorOptions{Election: "orders"})
	if err := elector.Stand(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it leads", elector.IsLeader)
	service.kill()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()

	err := client.Shutdown(ctx)

	if code := status.Code(err); code != codes.Unavailable && code != codes.DeadlineExceeded {
		t.Error(err)
	}
	if elector.IsLeader() {
		t.Error("it still leads")
	}
}

func TestAnElectorReportsEveryLeader(t *testing.T) {
	service := startService(t)
	leaders := newLog()
	options := tenure.ElectorOptions{Election: "orders"}
	options.OnLeaderChanged = func(leader *pb.Leadership) {
		if leader == nil {
			leaders.say("nobody")
		} else {
			leaders.say("%s in %d", leader.GetCandidate(), leader.GetTerm())
		}
	}
	elector := newElector(t, newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, Candidate: "a"}), options)
	other := newElector(t, newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, Candidate: "b"}),
		tenure.ElectorOptions{Election: "orders"})
	if err := other.Stand(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "b leads", other.IsLeader)
	if err := elector.Stand(); err != nil {
		t.Fatal(err)
	}

	leaders.expect(t, "b in 1")
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}

	for line := ""; line != "a in 2"; {
		line = receive(t, "a in 2", leaders)
	}
}

func TestManyReadersAndManyTermsDoNotRace(t *testing.T) {
	service := startService(t)
	client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, LeaseTTL: time.Second})
	elector := newElector(t, client, tenure.ElectorOptions{Election: "orders"})
	ctx, cancel := context.WithCancel(context.Background())
	var readers sync.WaitGroup
	for i := 0; i < 4; i++ {
		readers.Add(1)
		go func() {
			defer readers.Done()
			last := uint64(0)
			for ctx.Err() == nil {
				term := elector.Term()
				if term != 0 && term < last {
					t.Errorf("%d after %d", term, last)
				}
				last = max(last, term)
				_ = elector.Proclaim([]byte("value"))
				time.Sleep(time.Millisecond)
			}
		}()
	}
	terms := 0

	_ = elector.Run(ctx, func(context.Context, tenure.Seat) error {
		if terms++; terms == 3 {
			cancel()
		}
		return nil
	})

	readers.Wait()
}
