package tenuretest_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"tenure"
	"tenure/tenuretest"
	pb "tenure/v1"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	os.Exit(m.Run())
}

type events chan string

func (e events) expect(t *testing.T, lines ...string) {
	t.Helper()
	for _, want := range lines {
		select {
		case line := <-e:
			if line != want {
				t.Fatalf("%q instead of %q", line, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("it does not come: ", want)
		}
	}
}

func stand(t *testing.T, client *tenure.Client, said events, options tenure.ElectorOptions) *tenure.Elector {
	t.Helper()
	say := func(format string, arguments ...any) { said <- fmt.Sprintf(format, arguments...) }
	options.Election = "orders"
	options.OnStanding = func(place tenure.QueuePlace) { say("standing at %d", place.Position) }
	options.OnElected = func(seat tenure.Seat) { say("elected %d", seat.Term) }
	options.OnSuspended = func(seat tenure.Seat) { say("suspended %d", seat.Term) }
	options.OnResumed = func(seat tenure.Seat) { say("resumed %d", seat.Term) }
	options.OnStepDown = func(seat tenure.Seat, successor string) { say("step down %d for %s", seat.Term, successor) }
	options.OnLost = func(seat tenure.Seat, cause pb.Cause) { say("lost %d %s", seat.Term, cause) }
	elector, err := tenure.NewElector(client, options)
	if err != nil {
		t.Fatal(err)
	}
	if err := elector.Stand(); err != nil {
		t.Fatal(err)
	}
	return elector
}

func TestALeaderThatCanRenewLeadsForHours(t *testing.T) {
	service := tenuretest.NewService(t)
	said := make(events, 100)
	elector := stand(t, service.Client("a"), said, tenure.ElectorOptions{})
	said.expect(t, "elected 1")

	service.Advance(2 * time.Hour)

	if !elector.IsLeader() || len(said) > 0 {
		t.Error(elector.Term(), <-said)
	}
}

func TestALeaderThatIsCutOffLosesItsSeatToTheNext(t *testing.T) {
	service := tenuretest.NewService(t)
	first, second := make(events, 100), make(events, 100)
	a := stand(t, service.Client("a"), first, tenure.ElectorOptions{})
	first.expect(t, "elected 1")
	b := stand(t, service.Client("b"), second, tenure.ElectorOptions{})
	second.expect(t, "standing at 1")

	service.Cut("a")
	service.Advance(6 * time.Second)
	first.expect(t, "suspended 1")
	if !a.IsLeader() || b.IsLeader() {
		t.Error(a.IsLeader(), b.IsLeader())
	}
	service.Advance(3500 * time.Millisecond) // the tenth between the deadline and the end of the lease
	first.expect(t, "lost 1 CAUSE_EXPIRED")
	if a.IsLeader() || b.IsLeader() {
		t.Error(a.IsLeader(), b.IsLeader())
	}
	service.Advance(time.Second)

	second.expect(t, "elected 2")
	if a.IsLeader() || !b.IsLeader() {
		t.Error(a.IsLeader(), b.IsLeader())
	}
	service.Restore("a")
	service.Advance(time.Second)
	first.expect(t, "standing at 1")
}

func TestALeaderThatIsBackBeforeItsLeaseEndsLeadsInTheNextTerm(t *testing.T) {
	service := tenuretest.NewService(t)
	first, second := make(events, 100), make(events, 100)
	a := stand(t, service.Client("a"), first, tenure.ElectorOptions{})
	first.expect(t, "elected 1")
	stand(t, service.Client("b"), second, tenure.ElectorOptions{})
	second.expect(t, "standing at 1")

	service.Cut("a")
	service.Advance(9200 * time.Millisecond)
	first.expect(t, "suspended 1", "lost 1 CAUSE_EXPIRED")
	service.Restore("a")
	service.Advance(600 * time.Millisecond)

	first.expect(t, "elected 2")
	if !a.IsLeader() {
		t.Error("it does not lead")
	}
}

func TestAnOutageThatIsShorterThanTheLeaseCostsNoSeat(t *testing.T) {
	service := tenuretest.NewService(t)
	said := make(events, 100)
	stand(t, service.Client("a"), said, tenure.ElectorOptions{})
	said.expect(t, "elected 1")

	service.Cut()
	service.Advance(6 * time.Second)
	service.Restore()
	service.Advance(time.Minute)

	said.expect(t, "suspended 1", "resumed 1")
	if candidate, term := service.Leader("orders"); candidate != "a" || term != 1 {
		t.Error(candidate, term)
	}
}

func TestTheContextOfTheWorkEndsBeforeTheLease(t *testing.T) {
	service := tenuretest.NewService(t)
	client := service.Client("a")
	began, ended := make(chan tenure.Seat), make(chan bool)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_ = client.Run(ctx, "orders", func(ctx context.Context, seat tenure.Seat) error {
			began <- seat
			<-ctx.Done()
			ended <- seat.Holds()
			return nil
		})
	}()
	<-began

	service.Cut("a")
	service.Advance(7 * time.Second)

	if holds := <-ended; !holds {
		t.Error("the work ends later than the belief")
	}
}

func TestAnOperatorIntervenes(t *testing.T) {
	service := tenuretest.NewService(t)
	first, second := make(events, 100), make(events, 100)
	stand(t, service.Client("a"), first, tenure.ElectorOptions{})
	first.expect(t, "elected 1")
	b := stand(t, service.Client("b"), second, tenure.ElectorOptions{Priority: -1})
	second.expect(t, "standing at 1")

	service.Appoint("orders", "b")
	first.expect(t, "step down 1 for b", "lost 1 CAUSE_RESIGNED")
	service.Advance(5 * time.Second) // the grace of whatever was begun while it led
	second.expect(t, "elected 2")
	if !b.IsLeader() {
		t.Error("b does not lead")
	}
	service.Depose("orders")
	second.expect(t, "lost 2 CAUSE_DEPOSED")

	service.Advance(5 * time.Second)
	if term := service.AwaitLeader("orders", "a"); term != 3 {
		t.Error(term)
	}
}

func TestARestartedProcessTakesItsSeatOver(t *testing.T) {
	service := tenuretest.NewService(t)
	first, second := make(events, 100), make(events, 100)
	stand(t, service.Client("a"), first, tenure.ElectorOptions{})
	first.expect(t, "elected 1")
	options := service.ClientOptions("a")
	options.Supersede = true
	client, err := tenure.NewClient(options)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()

	stand(t, client, second, tenure.ElectorOptions{})

	second.expect(t, "elected 2")
	first.expect(t, "lost 1 CAUSE_SUPERSEDED")
}

func TestObserversAndCachesSeeEverything(t *testing.T) {
	service := tenuretest.NewService(t)
	seen := make(events, 100)
	observer, err := tenure.NewObserver(tenure.ObserverOptions{
		Endpoints: service.Endpoint(), Names: []string{"ord"}, Prefix: true,
		OnEvent: func(event *pb.Event) { seen <- fmt.Sprintf("%d %s", event.GetRevision(), event.GetType()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { _ = observer.Run(ctx) }()
	cache, err := tenure.NewLeaderCache(tenure.LeaderCacheOptions{Endpoints: service.Endpoint(), Names: []string{"orders"}})
	if err != nil {
		t.Fatal(err)
	}
	defer cache.Close()
	if err := cache.WaitUntilReady(ctx); err != nil {
		t.Fatal(err)
	}
	elector, err := tenure.NewElector(service.Client("a"), tenure.ElectorOptions{Election: "orders", Value: []byte("10.0.0.7")})
	if err != nil {
		t.Fatal(err)
	}
	if err := elector.Stand(); err != nil {
		t.Fatal(err)
	}
	service.AwaitLeader("orders", "a")
	if err := elector.Proclaim([]byte("10.0.0.8")); err != nil {
		t.Fatal(err)
	}

	for until := time.Now().Add(10 * time.Second); string(cache.Get("orders").Leader.GetValue()) != "10.0.0.8"; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal(cache.Get("orders"))
		}
	}
	if err := elector.Close(); err != nil {
		t.Fatal(err)
	}
	for line := ""; line != "3 TYPE_VACATED"; {
		line = <-seen
	}
}
