package tenure

import (
	"context"
	"errors"
	"testing"

	pb "tenure/v1"
)

func working(began chan<- struct{}) func(context.Context, Seat) error {
	return func(ctx context.Context, _ Seat) error {
		began <- struct{}{}
		<-ctx.Done()
		return nil
	}
}

func TestAClientCanBeClosedFromACallback(t *testing.T) {
	for about, options := range map[string]func(closes func()) ElectorOptions{
		"OnElected": func(closes func()) ElectorOptions { return ElectorOptions{OnElected: func(Seat) { closes() }} },
		"OnLost": func(closes func()) ElectorOptions {
			return ElectorOptions{OnElected: func(seat Seat) { seat.stand.leave() }, OnLost: func(Seat, pb.Cause) { closes() }}
		},
	} {
		options := options
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			client := newClient(t, newService())
			other := elector(t, client, ElectorOptions{Election: "other"})
			began := make(chan struct{}, 1)
			ran := make(chan error, 2)
			go func() { ran <- other.Run(context.Background(), working(began)) }()
			receive(t, "the other work", began)
			closed := make(chan error, 1)
			settings := options(func() { closed <- client.Close() })
			settings.Election = "orders"
			orders := elector(t, client, settings)

			go func() { ran <- orders.Run(context.Background(), working(make(chan struct{}, 1))) }()

			if err := receive(t, "Close", closed); err != nil {
				t.Error(err)
			}
			for range [2]struct{}{} {
				if err := receive(t, "Run", ran); err != nil {
					t.Error(err)
				}
			}
			if err := orders.Stand(); !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		})
	}
}

func TestAClientCanBeClosedFromTheWork(t *testing.T) {
	client := newClient(t, newService())
	orders := elector(t, client, ElectorOptions{Election: "orders"})

	err := orders.Run(context.Background(), func(ctx context.Context, seat Seat) error {
		if err := client.Shutdown(ctx); !errors.Is(err, ErrInWork) {
			t.Error(err)
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		if !seat.Holds() {
			t.Error("the seat is given up under the work")
		}
		<-ctx.Done()
		return nil
	})

	if err != nil {
		t.Error(err)
	}
	receive(t, "the end of the session", client.loop.done)
}

func TestAnElectorCanBeClosedFromACallback(t *testing.T) {
	client := newClient(t, newService())
	var orders *Elector
	closed, lost := make(chan error, 1), make(chan struct{}, 1)
	orders = elector(t, client, ElectorOptions{Election: "orders",
		OnElected: func(Seat) { closed <- orders.Close() },
		OnLost:    func(Seat, pb.Cause) { lost <- struct{}{} },
	})
	if err := orders.Stand(); err != nil {
		t.Fatal(err)
	}

	if err := receive(t, "Close", closed); err != nil {
		t.Error(err)
	}
	receive(t, "OnLost", lost)
}

func TestRunInACallbackIsAnError(t *testing.T) {
	client := newClient(t, newService())
	second := elector(t, client, ElectorOptions{Election: "second"})
	ran := make(chan error, 1)
	first := elector(t, client, ElectorOptions{Election: "first", OnElected: func(Seat) {
		ran <- second.Run(context.Background(), working(make(chan struct{}, 1)))
	}})
	if err := first.Stand(); err != nil {
		t.Fatal(err)
	}

	if err := receive(t, "Run", ran); !errors.Is(err, ErrCallback) {
		t.Error(err)
	}
}

func TestACacheCanBeClosedFromACallback(t *testing.T) {
	service := newService()
	service.observed = func(stream pb.ElectionService_ObserveServer) error {
		snapshot := &pb.ObserveResponse_Snapshot{Snapshot: &pb.Snapshot{Election: "orders"}}
		_ = stream.Send(&pb.ObserveResponse{Message: snapshot})
		<-stream.Context().Done()
		return nil
	}
	closed := make(chan error, 1)
	made := make(chan *LeaderCache, 1)
	cache, err := NewLeaderCache(LeaderCacheOptions{Endpoints: serve(t, service), Names: []string{"orders"},
		OnChange: func(string, CachedSeat) { closed <- (<-made).Close() }})
	if err != nil {
		t.Fatal(err)
	}
	made <- cache

	if err := receive(t, "Close", closed); err != nil {
		t.Error(err)
	}
	receive(t, "its end", cache.done)
}
