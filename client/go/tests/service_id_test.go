package tests

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"tenure"
	pb "tenure/v1"
)

// threeReplicas starts three replicas, one of them, by mistake, on another database.
func threeReplicas(t *testing.T) (right, wrong *service, endpoints string) {
	t.Helper()
	first := startService(t)
	second := startReplica(t, first.store)
	wrong = startService(t)
	return first, wrong, strings.Join([]string{first.endpoint, wrong.endpoint, second.endpoint}, ",")
}

func expectWarning(t *testing.T, said log, want string) {
	t.Helper()
	for line := ""; !strings.HasPrefix(line, "WARN") || !strings.Contains(line, want); {
		line = receive(t, want, said)
	}
}

func TestAReplicaOnAnotherDatabaseMakesNoSecondLeader(t *testing.T) {
	_, wrong, endpoints := threeReplicas(t)
	leaders := 0
	var electors []*tenure.Elector
	standing := make(chan struct{}, 100)
	for range [6]struct{}{} {
		client := newClient(t, tenure.ClientOptions{Endpoints: endpoints})
		elector := newElector(t, client, tenure.ElectorOptions{
			Election:   "orders",
			OnElected:  func(tenure.Seat) { standing <- struct{}{} },
			OnStanding: func(tenure.QueuePlace) { standing <- struct{}{} },
		})
		must(t, elector.Stand())
		electors = append(electors, elector)
	}
	for range electors {
		receive(t, "that it leads or waits", standing)
	}

	for _, elector := range electors {
		if elector.IsLeader() {
			leaders++
		}
	}
	if leaders != 1 {
		t.Error(leaders)
	}
	if cache := cacheOf(t, wrong.endpoint); cache.Get("orders").Leader != nil {
		t.Error("somebody leads in the other service")
	}
}

func TestAnEndpointOfAnotherServiceIsNamed(t *testing.T) {
	right, wrong := startService(t), startService(t)
	logger, said := spokenLines()
	// Pinned: of two endpoints, none is more than half.
	client := newClient(t, tenure.ClientOptions{Endpoints: wrong.endpoint + "," + right.endpoint, ServiceID: idOf(t, right), Logger: logger})
	elector := newElector(t, client, tenure.ElectorOptions{Election: "orders"})
	must(t, elector.Stand())

	eventually(t, "it leads", elector.IsLeader)
	if cache := cacheOf(t, wrong.endpoint); cache.Get("orders").Leader != nil {
		t.Error("it leads in the other service")
	}
	expectWarning(t, said, wrong.endpoint+" belongs to service "+idOf(t, wrong)+", not to "+idOf(t, right))
}

// lateReplica is a replica of another service that only answers when allowed.
type lateReplica struct {
	pb.UnimplementedElectionServiceServer
	mayAnswer chan struct{}
}

func (r *lateReplica) Identify(ctx context.Context, _ *pb.IdentifyRequest) (*pb.IdentifyResponse, error) {
	select {
	case <-r.mayAnswer:
	case <-ctx.Done():
	}
	return &pb.IdentifyResponse{ServiceId: strings.Repeat("f", 32)}, ctx.Err()
}

func TestAnEndpointOfAnotherServiceIsNamedEvenIfItAnswersLate(t *testing.T) {
	first := startService(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	late := &lateReplica{mayAnswer: make(chan struct{})}
	server := grpc.NewServer()
	pb.RegisterElectionServiceServer(server, late)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	endpoints := strings.Join([]string{listener.Addr().String(), first.endpoint, startReplica(t, first.store).endpoint}, ",")
	logger, said := spokenLines()
	client := newClient(t, tenure.ClientOptions{Endpoints: endpoints, LeaseTTL: time.Minute, Logger: logger})
	elector := newElector(t, client, tenure.ElectorOptions{Election: "orders"})
	must(t, elector.Stand())
	eventually(t, "it leads", elector.IsLeader)
	observerLogger, observerSaid := spokenLines()
	cache, err := tenure.NewLeaderCache(tenure.LeaderCacheOptions{Endpoints: endpoints, Names: []string{"orders"}, Logger: observerLogger})
	must(t, err)
	t.Cleanup(func() { _ = cache.Close() })
	must(t, cache.WaitUntilReady(context.Background()))

	close(late.mayAnswer)

	warning := listener.Addr().String() + " belongs to service " + strings.Repeat("f", 32) + ", not to " + idOf(t, first)
	expectWarning(t, said, warning)
	expectWarning(t, observerSaid, warning)
}

func cacheOf(t *testing.T, endpoints string) *tenure.LeaderCache {
	t.Helper()
	cache, err := tenure.NewLeaderCache(tenure.LeaderCacheOptions{Endpoints: endpoints, Names: []string{"orders"}})
	must(t, err)
	t.Cleanup(func() { _ = cache.Close() })
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	must(t, cache.WaitUntilReady(ctx))
	return cache
}

func TestEndpointsOfTwoServicesAreLoggedAndTriedAgain(t *testing.T) {
	first, second := startService(t), startService(t)
	logger, said := spokenLines()
	troubles := make(chan error, 100)
	client := newClient(t, tenure.ClientOptions{Endpoints: first.endpoint + "," + second.endpoint, Logger: logger})
	elector := newElector(t, client, tenure.ElectorOptions{Election: "orders", OnTrouble: func(err error) { troubles <- err }})
	must(t, elector.Stand())

	expectWarning(t, said, "tenure: cannot use the service: the endpoints belong to different services: "+
		first.endpoint+" to "+idOf(t, first)+", "+second.endpoint+" to "+idOf(t, second)+"; set service_id to the right one; still trying")
	if err := receive(t, "trouble", troubles); status.Code(err) != codes.FailedPrecondition || tenure.ReasonOf(err) != "WRONG_SERVICE" {
		t.Error(err)
	}
	second.kill()

	eventually(t, "it leads", elector.IsLeader)
}

func TestAPinnedServiceWithoutEndpointsIsLogged(t *testing.T) {
	service := startService(t)
	logger, said := spokenLines()
	pinned := strings.Repeat("0", 32)
	client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, ServiceID: pinned, Logger: logger})
	elector := newElector(t, client, tenure.ElectorOptions{Election: "orders"})
	must(t, elector.Stand())

	expectWarning(t, said, "no endpoint belongs to service "+pinned+": "+service.endpoint+" to "+idOf(t, service))
	if elector.IsLeader() {
		t.Error("it leads")
	}
}

func TestAMalformedServiceIDIsAnError(t *testing.T) {
	for _, id := range []string{"1", strings.Repeat("g", 32), strings.Repeat("A", 32), strings.Repeat("a", 33)} {
		_, client := tenure.NewClient(tenure.ClientOptions{ServiceID: id})
		_, observer := tenure.NewObserver(tenure.ObserverOptions{ServiceID: id, Names: []string{"a"}})
		_, cache := tenure.NewLeaderCache(tenure.LeaderCacheOptions{ServiceID: id, Names: []string{"a"}})
		for _, err := range []error{client, observer, cache} {
			if err == nil || !strings.Contains(err.Error(), "it must be 32 lower-case hexadecimal digits") {
				t.Error(id, err)
			}
		}
	}
}

// replace starts a service again on an empty database.
func replace(t *testing.T, service *service) {
	t.Helper()
	service.kill()
	must(t, os.Remove(service.store))
	_ = os.Remove(service.store + "-wal")
	_ = os.Remove(service.store + "-shm")
	service.start()
}

// The only replica is started again on an empty database, while the client has a session in the old one.
func TestAServiceThatIsReplacedIsUsedAndLoggedLongBeforeTheLeaseEnds(t *testing.T) {
	service := startService(t)
	old := idOf(t, service)
	logger, said := spokenLines()
	events := newLog()
	client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, LeaseTTL: time.Hour, Logger: logger})
	elector := newElector(t, client, logged(events, tenure.ElectorOptions{Election: "orders"}))
	must(t, elector.Stand())
	events.expect(t, "elected 1")
	cache := cacheOf(t, service.endpoint)
	eventually(t, "the cache knows", func() bool { return cache.Get("orders").Leader != nil })

	replace(t, service)

	expectWarning(t, said, service.endpoint+" belongs to service "+idOf(t, service)+", not to "+old+": its replica works on another database; it is not used")
	for line := ""; line != "lost 1 CAUSE_EXPIRED"; {
		line = receive(t, "the end of the term", events)
	}
	expectWarning(t, said, "most endpoints belong to service "+idOf(t, service)+" now, not to "+old+": the service was replaced")
	for line := ""; line != "elected 1"; {
		line = receive(t, "a term in the new service", events)
	}
	eventually(t, "the cache knows the new one", func() bool {
		seat := cache.Get("orders")
		return seat.Known && seat.Revision <= 1 && seat.Leader != nil
	})
}

// oneOfThree starts a replica on another database, at one of three endpoints. The others start when asked to.
func oneOfThree(t *testing.T) (wrong *service, endpoints string, startOthers func()) {
	t.Helper()
	wrong = startService(t)
	second, third, store := freeAddress(), freeAddress(), filepath.Join(t.TempDir(), "right.db")
	return wrong, strings.Join([]string{wrong.endpoint, second, third}, ","), func() {
		startReplicaAt(t, second, store)
		startReplicaAt(t, third, store)
	}
}

func TestALeaderOfTheWrongServiceMovesWhenTheOtherEndpointsStart(t *testing.T) {
	wrong, endpoints, startOthers := oneOfThree(t)
	logger, said := spokenLines()
	events := newLog()
	client := newClient(t, tenure.ClientOptions{Endpoints: endpoints, LeaseTTL: time.Hour, Logger: logger})
	elector := newElector(t, client, logged(events, tenure.ElectorOptions{Election: "orders"}))
	must(t, elector.Stand())
	for line := ""; line != "elected 1"; {
		line = receive(t, "a term in the wrong service", events)
	}

	startOthers()

	for line := ""; line != "lost 1 CAUSE_EXPIRED"; {
		line = receive(t, "the end of the term", events)
	}
	for line := ""; line != "elected 1"; {
		line = receive(t, "a term in the right service", events)
	}
	expectWarning(t, said, wrong.endpoint+" belongs to service "+idOf(t, wrong)+", not to ")
	if cacheOf(t, strings.SplitN(endpoints, ",", 2)[1]).Get("orders").Leader == nil {
		t.Error("nobody leads in the right service")
	}
}

func TestAnObserverOfTheWrongServiceMovesWhenTheOtherEndpointsStart(t *testing.T) {
	wrong, endpoints, startOthers := oneOfThree(t)
	logger, said := spokenLines()
	events := newLog()
	observer, err := tenure.NewObserver(tenure.ObserverOptions{
		Endpoints: endpoints, Names: []string{"orders"}, Logger: logger,
		OnSnapshot:        func(*pb.Snapshot) { events <- "snapshot" },
		OnServiceReplaced: func() { events <- "replaced" },
	})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { _ = observer.Run(ctx) }()
	events.expect(t, "snapshot")

	startOthers()

	events.expect(t, "replaced", "snapshot")
	expectWarning(t, said, wrong.endpoint+" belongs to service "+idOf(t, wrong)+", not to ")
}

// The client is closed before it has noticed.
func TestAClientWhoseServiceIsGoneClosesWithoutAnError(t *testing.T) {
	service := startService(t)
	relay := startRelay(t, service.endpoint)
	client := newClient(t, tenure.ClientOptions{Endpoints: relay.endpoint, LeaseTTL: time.Hour})
	elector := newElector(t, client, tenure.ElectorOptions{Election: "orders"})
	must(t, elector.Stand())
	eventually(t, "it leads", elector.IsLeader)
	relay.hang()
	replace(t, service)
	relay.goOn()

	must(t, client.Close())
}

func TestAnObserverStartsAgainWhenItsServiceIsReplaced(t *testing.T) {
	service := startService(t)
	elector := newElector(t, newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, LeaseTTL: time.Hour}), tenure.ElectorOptions{Election: "orders"})
	must(t, elector.Stand())
	eventually(t, "it leads", elector.IsLeader)
	events := newLog()
	observer, err := tenure.NewObserver(tenure.ObserverOptions{
		Endpoints: service.endpoint, Names: []string{"orders"}, FromRevision: 1,
		OnSnapshot:        func(*pb.Snapshot) { events <- "snapshot" },
		OnEvent:           func(it *pb.Event) { events <- "event " + strconv.FormatUint(it.GetRevision(), 10) },
		OnServiceReplaced: func() { events <- "replaced" },
	})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { _ = observer.Run(ctx) }()
	events.expect(t, "event 1")

	replace(t, service)

	events.expect(t, "replaced", "snapshot")
}

func TestAnObserverNeverMixesTwoServices(t *testing.T) {
	right, wrong, endpoints := threeReplicas(t)
	for _, service := range []*service{right, wrong} {
		client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, Candidate: idOf(t, service)})
		elector := newElector(t, client, tenure.ElectorOptions{Election: "orders"})
		must(t, elector.Stand())
		eventually(t, "it leads", elector.IsLeader)
	}
	for range [6]struct{}{} {
		leader := make(chan *pb.Leadership, 100)
		observer, err := tenure.NewObserver(tenure.ObserverOptions{
			Endpoints: endpoints, Names: []string{"orders"},
			OnSnapshot: func(it *pb.Snapshot) { leader <- it.GetLeader() },
		})
		must(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		returned := make(chan error, 1)
		go func() { returned <- observer.Run(ctx) }()
		if candidate := receive(t, "the leader", leader).GetCandidate(); candidate != idOf(t, right) {
			t.Error(candidate)
		}
		cancel()
		if err := receive(t, "Run", returned); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}
