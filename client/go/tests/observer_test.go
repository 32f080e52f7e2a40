package tests

import (
	"context"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"tenure"
	pb "tenure/v1"
)

// lead runs a whole term in the election.
func lead(t *testing.T, client *tenure.Client, election string) {
	t.Helper()
	elector := newElector(t, client, tenure.ElectorOptions{Election: election, OneTerm: true})
	if err := elector.Run(context.Background(), func(context.Context, tenure.Seat) error { return nil }); err != nil {
		t.Fatal(err)
	}
}

func observe(t *testing.T, said log, options tenure.ObserverOptions) {
	t.Helper()
	runObserver(t, newObserver(t, said, options))
}

func newObserver(t *testing.T, said log, options tenure.ObserverOptions) *tenure.Observer {
	t.Helper()
	options.OnSnapshot = func(it *pb.Snapshot) { said.say("%s snapshot %d", it.GetElection(), it.GetRevision()) }
	options.OnEvent = func(it *pb.Event) {
		said.say("%s event %d %s %d", it.GetElection(), it.GetRevision(), it.GetType(), it.GetLeadership().GetTerm())
	}
	observer, err := tenure.NewObserver(options)
	if err != nil {
		t.Fatal(err)
	}
	return observer
}

// runObserver observes until the test ends.
func runObserver(t *testing.T, observer *tenure.Observer) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	returned := make(chan error, 1)
	go func() { returned <- observer.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := receive(t, "Run of the observer", returned); err != nil {
			t.Error(err)
		}
	})
}

func TestAnObserverReportsEachChangeOnceAndInOrderDespiteFailures(t *testing.T) {
	service := startService(t)
	client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint})
	said := newLog()
	observe(t, said, tenure.ObserverOptions{Endpoints: service.endpoint, Names: []string{"orders"}})
	said.expect(t, "orders snapshot 0")

	for term := 1; term <= 3; term++ {
		lead(t, client, "orders")
		said.expect(t, fmt.Sprintf("orders event %d TYPE_ELECTED %d", 2*term-1, term),
			fmt.Sprintf("orders event %d TYPE_VACATED %d", 2*term, term))
		service.kill()
		service.start()
	}
}

func TestAnObserverOfAPrefixReportsNewElections(t *testing.T) {
	service := startService(t)
	client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint})
	lead(t, client, "shard/1")
	said := newLog()
	all := make(chan struct{}, 100)
	observe(t, said, tenure.ObserverOptions{
		Endpoints: service.endpoint, Names: []string{"shard/"}, Prefix: true,
		OnProgress: func(*pb.Progress) { all <- struct{}{} },
	})
	said.expect(t, "shard/1 snapshot 2")
	receive(t, "that this was all", all)

	service.kill()
	service.start()
	lead(t, client, "shard/2")

	said.expect(t, "shard/2 event 1 TYPE_ELECTED 1", "shard/2 event 2 TYPE_VACATED 1")
}

func TestAnObserverContinuesOnAnotherReplicaWhenOneHangs(t *testing.T) {
	service := startService(t)
	relays := []*relay{startRelay(t, service.endpoint), startRelay(t, service.endpoint)}
	client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint})
	said := newLog()
	observe(t, said, tenure.ObserverOptions{
		Endpoints: relays[0].endpoint + "," + relays[1].endpoint, Names: []string{"orders"}, SilenceMax: time.Second,
	})
	said.expect(t, "orders snapshot 0")

	revision := 0
	for _, relay := range relays {
		relay.hang()
		lead(t, client, "orders")
		revision += 2
		said.expect(t, fmt.Sprintf("orders event %d TYPE_ELECTED %d", revision-1, revision/2),
			fmt.Sprintf("orders event %d TYPE_VACATED %d", revision, revision/2))
		relay.goOn()
	}
}

func TestAnObserverBeginsWithTheRequestedRevision(t *testing.T) {
	service := startService(t)
	client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint})
	lead(t, client, "orders")
	said := newLog()

	observe(t, said, tenure.ObserverOptions{Endpoints: service.endpoint, Names: []string{"orders"}, FromRevision: 2})

	said.expect(t, "orders event 2 TYPE_VACATED 1")
}

func TestAnObserverBeginsInEachElectionWithItsOwnRevision(t *testing.T) {
	service := startService(t)
	client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint})
	for _, election := range []string{"shard/1", "shard/2", "shard/3"} {
		lead(t, client, election)
	}
	for _, prefix := range []bool{false, true} {
		names := []string{"shard/1", "shard/2", "shard/3"}
		if prefix {
			names = []string{"shard/"}
		}
		said := newLog()

		observe(t, said, tenure.ObserverOptions{
			Endpoints: service.endpoint, Names: names, Prefix: prefix,
			FromRevisions: map[string]uint64{"shard/1": 1, "shard/2": 2},
		})

		for want := map[string]bool{
			"shard/1 event 1 TYPE_ELECTED 1": true, "shard/1 event 2 TYPE_VACATED 1": true,
			"shard/2 event 2 TYPE_VACATED 1": true, "shard/3 snapshot 2": true,
		}; len(want) > 0; {
			line := receive(t, "all of it", said)
			if !want[line] {
				t.Fatal(line)
			}
			delete(want, line)
		}
	}
}

func TestALeaderCacheKnowsWhoLeads(t *testing.T) {
	service := startService(t)
	elector := newElector(t, newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, Candidate: "a"}),
		tenure.ElectorOptions{Election: "shard/1", Value: []byte("10.0.0.7")})
	if err := elector.Stand(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it leads", elector.IsLeader)
	changes := make(chan tenure.CachedSeat, 100)
	leaders, err := tenure.NewLeaderCache(tenure.LeaderCacheOptions{
		Endpoints: service.endpoint, Names: []string{"shard/"}, Prefix: true,
		OnChange: func(_ string, seat tenure.CachedSeat) { changes <- seat },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer leaders.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := leaders.WaitUntilReady(ctx); err != nil {
		t.Fatal(err)
	}

	seat := leaders.Get("shard/1")
	if !seat.Known || seat.Leader.GetCandidate() != "a" || string(seat.Leader.GetValue()) != "10.0.0.7" || seat.Term != 1 {
		t.Errorf("%+v", seat)
	}
	if seat := leaders.Get("shard/2"); !seat.Known || seat.Leader != nil || seat.Term != 0 {
		t.Errorf("%+v", seat)
	}
	if seat := leaders.Get("others"); seat.Known {
		t.Errorf("%+v", seat)
	}
	if age := leaders.Age(); age < 0 {
		t.Error(age)
	}
	receive(t, "the first change", changes)

	if err := elector.Close(); err != nil {
		t.Fatal(err)
	}
	if seat := receive(t, "that nobody leads", changes); seat.Leader != nil || seat.Term != 1 {
		t.Errorf("%+v", seat)
	}
	if seat := leaders.Get("shard/1"); !seat.Known || seat.Leader != nil {
		t.Errorf("%+v", seat)
	}
}

func TestACacheThatIsRefusedSaysSo(t *testing.T) {
	service := startService(t, "--policy", writeFile(t, "policy.yaml", "identities: []\n"))
	leaders, err := tenure.NewLeaderCache(tenure.LeaderCacheOptions{Endpoints: service.endpoint, Names: []string{"orders"}})
	if err != nil {
		t.Fatal(err)
	}
	defer leaders.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()

	if err := leaders.WaitUntilReady(ctx); status.Code(err) != codes.PermissionDenied {
		t.Error(err)
	}
}
