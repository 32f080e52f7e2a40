package tenure

import (
	"context"
	"testing"
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
				t.Error("it leads on")
			}
		})
	}
}
