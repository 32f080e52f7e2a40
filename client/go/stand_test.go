package tenure

import (
	"context"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	pb "tenure/v1"
)

func newClient(t *testing.T, service *service) *Client {
	t.Helper()
	client, err := NewClient(ClientOptions{Endpoints: serve(t, service)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func elector(t *testing.T, client *Client, options ElectorOptions) *Elector {
	t.Helper()
	elector, err := NewElector(client, options)
	if err != nil {
		t.Fatal(err)
	}
	return elector
}

func TestRunReturnsAlthoughNoResignationIsAnswered(t *testing.T) {
	for about, test := range map[string]struct {
		oneTerm bool
		end     func(elector *Elector, cancel func())
	}{
		"its context ends":        {false, func(_ *Elector, cancel func()) { cancel() }},
		"Resign is called":        {false, func(elector *Elector, _ func()) { elector.Resign() }},
		"its only term has ended": {true, func(*Elector, func()) {}},
	} {
		test := test
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			service := newService()
			hangs := make(chan struct{})
			defer close(hangs)
			service.hangs = hangs
			client := newClient(t, service)
			orders := elector(t, client, ElectorOptions{Election: "orders", OneTerm: test.oneTerm})
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			returned := make(chan error, 1)

			go func() {
				returned <- orders.Run(ctx, func(ctx context.Context, _ Seat) error {
					test.end(orders, cancel)
					if !test.oneTerm {
						<-ctx.Done()
					}
					return nil
				})
			}()

			if err := receive(t, "Run", returned); err != nil {
				t.Error(err)
			}
			if orders.IsLeader() {
				t.Error("it still leads")
			}
		})
	}
}

// busyClient has one thread for callbacks, as all clients have, and one callback that does not return
// before `end`.
func busyClient(t *testing.T, service *service) (client *Client, begin, end func()) {
	t.Helper()
	client = newClient(t, service)
	began, may := make(chan struct{}), make(chan struct{})
	slow := elector(t, client, ElectorOptions{Election: "slow", OnElected: func(Seat) { close(began); <-may }})
	end = sync.OnceFunc(func() { close(may) })
	t.Cleanup(end)
	begin = func() {
		if err := slow.Stand(); err != nil {
			t.Fatal(err)
		}
		receive(t, "the slow callback", began)
	}
	return client, begin, end
}

func (e *executor) waiting() int {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return len(e.queue)
}

func TestRunReturnsAfterItsLastCallbackHoweverBusyTheyAre(t *testing.T) {
	service := newService()
	client, beginSlow, endSlow := busyClient(t, service)
	hangs := make(chan struct{})
	service.hangs = hangs
	defer close(hangs)
	ctx, cancel := context.WithCancel(context.Background())
	lost := make(chan struct{}, 1)
	orders := elector(t, client, ElectorOptions{Election: "orders", OnLost: func(Seat, pb.Cause) { lost <- struct{}{} }})
	working, returned := make(chan struct{}), make(chan error, 1)
	go func() {
		returned <- orders.Run(ctx, func(ctx context.Context, _ Seat) error {
			close(working)
			<-ctx.Done()
			return nil
		})
	}()
	receive(t, "the work", working)
	beginSlow()

	cancel()
	eventually(t, "it waits for OnLost and for what comes after, or for nothing any more", func() bool {
		return client.loop.callbacks.waiting() == 2 || len(returned) > 0
	})
	if len(returned) > 0 {
		t.Error("it has returned, and a callback waits")
	}
	endSlow()

	if err := receive(t, "Run", returned); err != nil {
		t.Error(err)
	}
	if len(lost) != 1 {
		t.Error("OnLost was not called before Run returned")
	}
}

func TestASeatWhoseWorkHasNotBegunIsHandedOverAtOnce(t *testing.T) {
	service := newService()
	service.successors = map[string]string{"orders": "b"}
	client, beginSlow, endSlow := busyClient(t, service)
	beginSlow()
	overran := make(chan struct{}, 1)
	orders := elector(t, client, ElectorOptions{Election: "orders", StopGrace: 1, OneTerm: true,
		OnOverrun: func(Seat) { overran <- struct{}{} }})
	returned := make(chan error, 1)
	go func() {
		returned <- orders.Run(context.Background(), func(context.Context, Seat) error {
			t.Error("work begins in a seat that is given up")
			return nil
		})
	}()

	select {
	case election := <-service.resigned:
		if election != "orders" {
			t.Error(election)
		}
	case <-overran:
		t.Error("work that has not begun has not ended in time")
	}
	endSlow()

	if err := receive(t, "Run", returned); err != nil {
		t.Error(err)
	}
}

func TestTroubleOfTheObserverIsReportedInOrder(t *testing.T) {
	service := newService()
	service.observed = func(pb.ElectionService_ObserveServer) error { return status.Error(codes.PermissionDenied, "no") }
	client, beginSlow, endSlow := busyClient(t, service)
	beginSlow()
	troubled := make(chan error, 1)
	orders := elector(t, client, ElectorOptions{Election: "orders",
		OnLeaderChanged: func(*pb.Leadership) {}, OnTrouble: func(err error) { troubled <- err }})
	if err := orders.Stand(); err != nil {
		t.Fatal(err)
	}

	eventually(t, "OnTrouble waits, or is called", func() bool {
		return client.loop.callbacks.waiting() == 1 || len(troubled) > 0
	})
	if len(troubled) > 0 {
		t.Error("two callbacks at a time")
	}
	endSlow()

	if err := receive(t, "the trouble", troubled); status.Code(err) != codes.PermissionDenied {
		t.Error(err)
	}
}

func TestACampaignHasTheValuesOfTheContextOfItsRun(t *testing.T) {
	service := newService()
	client := newClient(t, service)
	trace := "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(context.Background(), "traceparent", trace))

	err := client.Run(ctx, "orders", func(context.Context, Seat) error {
		cancel()
		return nil
	})

	if err != nil {
		t.Error(err)
	}
	if sent := service.metadata.Get("traceparent"); len(sent) != 1 || sent[0] != trace {
		t.Error(sent)
	}
	receive(t, "the resignation, although the context has ended", service.resigned)
}
