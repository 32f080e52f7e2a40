package tenure

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc/resolver"
)

const (
	lookupInterval = time.Second      // minimum between two look-ups of a name
	lookupPatience = 10 * time.Second // of one look-up
)

// names resolves host names for gRPC. Its own resolver looks a name up at most every 30 s, and less
// often after errors, so replicas that moved could stay unreachable for longer than a lease.
type names struct {
	lookup func(ctx context.Context, host string) ([]string, error)
}

func newNames() names { return names{net.DefaultResolver.LookupHost} }

// Scheme is gRPC's default, so this resolver handles all endpoints without a scheme.
func (names) Scheme() string { return "dns" }

func (n names) Build(target resolver.Target, channel resolver.ClientConn, options resolver.BuildOptions) (resolver.Resolver, error) {
	if target.URL.Host != "" { // dns://SERVER/NAME: only gRPC's own resolver asks a certain server
		return resolver.Get("dns").Build(target, channel, options)
	}
	host, port, err := net.SplitHostPort(target.Endpoint())
	if err != nil {
		return nil, fmt.Errorf("tenure: %w", err)
	}
	if host == "" {
		host = "localhost"
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &name{lookup: n.lookup, host: host, port: port, channel: channel, cancel: cancel, wanted: make(chan struct{}, 1)}
	r.ended.Add(1)
	go r.run(ctx)
	return r, nil
}

// name looks up one host name: at first, whenever gRPC asks for it (as it does when a connection fails),
// and repeatedly while look-ups fail.
type name struct {
	lookup     func(ctx context.Context, host string) ([]string, error)
	host, port string
	channel    resolver.ClientConn
	cancel     context.CancelFunc
	ended      sync.WaitGroup
	wanted     chan struct{} // holds one token if a look-up is wanted
}

func (n *name) ResolveNow(resolver.ResolveNowOptions) {
	select {
	case n.wanted <- struct{}{}:
	default:
	}
}

func (n *name) Close() {
	n.cancel()
	n.ended.Wait()
}

func (n *name) run(ctx context.Context) {
	defer n.ended.Done()
	for ctx.Err() == nil {
		pause := time.NewTimer(lookupInterval)
		if n.resolve(ctx) {
			select {
			case <-n.wanted:
			case <-ctx.Done():
			}
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
		}
	}
}

// resolve returns false if it must be retried. Until then, gRPC keeps the addresses that it has.
func (n *name) resolve(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, lookupPatience)
	defer cancel()
	hosts, err := n.lookup(ctx, n.host)
	if err == nil && len(hosts) == 0 {
		err = errors.New("no such host")
	}
	if err != nil {
		if ctx.Err() != context.Canceled {
			n.channel.ReportError(err)
		}
		return false
	}
	var state resolver.State
	for _, host := range hosts {
		state.Addresses = append(state.Addresses, resolver.Address{Addr: net.JoinHostPort(host, n.port)})
	}
	return n.channel.UpdateState(state) == nil
}
