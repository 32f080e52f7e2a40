package tests

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"

	"tenure"
)

// freezing makes a client with two replicas of one service. The second one is used once the first is
// frozen.
func freezing(t *testing.T, service *service, lease time.Duration) (client *tenure.Client, freeze func()) {
	t.Helper()
	relays := []*relay{startRelay(t, service.endpoint), startRelay(t, service.endpoint)}
	client = newClient(t, tenure.ClientOptions{
		Endpoints: relays[0].endpoint + "," + relays[1].endpoint, LeaseTTL: lease,
		DialOptions: []grpc.DialOption{grpc.WithIdleTimeout(time.Second)}, // for the unused replica
	})
	return client, func() {
		eventually(t, "one of them is used", func() bool { return relays[0].open.Load()+relays[1].open.Load() == 1 })
		relays[relays[1].open.Load()].hang()
	}
}

func expectFree(t *testing.T, service *service, election string) {
	t.Helper()
	other := newElector(t, newClient(t, tenure.ClientOptions{Endpoints: service.endpoint}), tenure.ElectorOptions{Election: election})
	must(t, other.Stand())
	eventually(t, "the seat is free", other.IsLeader)
}

// Longer than any test waits.
const longLease = 10 * time.Minute

func TestASessionIsEndedByAnotherReplicaThanTheFrozenOne(t *testing.T) {
	service := startService(t)
	client, freeze := freezing(t, service, longLease)
	elector := newElector(t, client, tenure.ElectorOptions{Election: "orders"})
	must(t, elector.Stand())
	eventually(t, "it leads", elector.IsLeader)

	freeze()
	if err := client.Close(); err != nil {
		t.Error(err)
	}

	expectFree(t, service, "orders")
}

func TestASessionWithWorkIsEndedByAnotherReplicaThanTheFrozenOne(t *testing.T) {
	service := startService(t)
	client, freeze := freezing(t, service, longLease)
	elector := newElector(t, client, tenure.ElectorOptions{Election: "orders"})
	working := make(chan struct{})
	run(elector, context.Background(), func(ctx context.Context, _ tenure.Seat) error {
		close(working)
		<-ctx.Done()
		return nil
	})
	receive(t, "the work", working)

	freeze()
	if err := client.Close(); err != nil {
		t.Error(err)
	}

	expectFree(t, service, "orders")
}

// Three seconds is also the patience of a single call.
func TestAShutdownOfThreeSecondsEndsTheSessionByAnotherReplicaThanTheFrozenOne(t *testing.T) {
	service := startService(t)
	client, freeze := freezing(t, service, longLease)
	for _, election := range []string{"orders", "mail"} {
		elector := newElector(t, client, tenure.ElectorOptions{Election: election})
		must(t, elector.Stand())
		eventually(t, "it leads", elector.IsLeader)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()

	freeze()
	if err := client.Shutdown(ctx); err != nil {
		t.Error(err)
	}

	expectFree(t, service, "orders")
	expectFree(t, service, "mail")
}
