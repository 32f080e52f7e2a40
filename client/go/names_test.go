package tenure

import (
	"context"
	"errors"
	"net/url"
	"testing"

	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/serviceconfig"
)

// resolved is what a channel learns about a name.
type resolved struct{ heard chan string }

func newResolved() resolved { return resolved{make(chan string, 100)} }

func (r resolved) UpdateState(state resolver.State) error {
	text := ""
	for _, address := range state.Addresses {
		text += address.Addr + " "
	}
	r.heard <- text
	return nil
}
func (r resolved) ReportError(err error)                              { r.heard <- err.Error() }
func (resolved) NewAddress([]resolver.Address)                        {}
func (resolved) ParseServiceConfig(string) *serviceconfig.ParseResult { return nil }
func lookingUp(answers chan []string) func(context.Context, string) ([]string, error) {
	return func(_ context.Context, host string) ([]string, error) {
		if host != "tenure.test" {
			return nil, errors.New(host)
		}
		if answer := <-answers; answer != nil {
			return answer, nil
		}
		return nil, errors.New("no such host")
	}
}

func resolve(t *testing.T, endpoint string, answers chan []string) (resolver.Resolver, resolved) {
	t.Helper()
	channel := newResolved()
	target := resolver.Target{URL: url.URL{Scheme: "dns", Path: "/" + endpoint}}
	built, err := names{lookingUp(answers)}.Build(target, channel, resolver.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(built.Close)
	return built, channel
}

func TestANameIsLookedUpAgainWhenAConnectionFails(t *testing.T) {
	answers := make(chan []string, 10)
	answers <- []string{"10.0.0.1", "::1"}
	answers <- []string{"10.0.0.2"}
	name, channel := resolve(t, "tenure.test:7070", answers)
	if heard := receive(t, "the first addresses", channel.heard); heard != "10.0.0.1:7070 [::1]:7070 " {
		t.Error(heard)
	}

	name.ResolveNow(resolver.ResolveNowOptions{})

	if heard := receive(t, "the next address", channel.heard); heard != "10.0.0.2:7070 " {
		t.Error(heard)
	}
}

func TestANameThatIsNotKnownYetIsLookedUpAgain(t *testing.T) {
	answers := make(chan []string, 10)
	answers <- nil
	answers <- []string{}
	answers <- []string{"10.0.0.1"}
	_, channel := resolve(t, "tenure.test:7070", answers)

	for _, want := range []string{"no such host", "no such host", "10.0.0.1:7070 "} {
		if heard := receive(t, want, channel.heard); heard != want {
			t.Error(heard)
		}
	}
}
