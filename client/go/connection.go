package tenure

import (
	"context"
	"math"
	"math/rand"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/health" // asks replicas for their health
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"tenure/internal/machine"
	"tenure/internal/version"
	pb "tenure/v1"
)

const (
	pingInterval   = 10 * time.Second // the shortest that gRPC allows
	pingTimeout    = 3 * time.Second
	reconnectDelay = 200 * time.Millisecond
	// Connecting may take longer than the pause between attempts: to another continent, or to a busy
	// server.
	connectTimeout = 3 * time.Second
	// An unused replica needs no connection.
	idleTimeout = 30 * time.Second
	// The health of the server as a whole. A replica that is not serving counts as unreachable; if a name
	// has several addresses, only those that serve are used.
	healthChecked = `{"loadBalancingConfig": [{"round_robin": {}}], "healthCheckConfig": {"serviceName": ""}}`
)

// connection has the replicas of one service, one of them in use. Any will do; a caller that meets a
// broken one moves on. Not safe for concurrent use.
type connection struct {
	security    credentials.TransportCredentials
	tokens      []grpc.DialOption
	more        []grpc.DialOption // they override the others
	healthCheck bool
	replicas    []replica
	inUse       int
	failures    int
}

type replica struct {
	endpoint string
	channel  *grpc.ClientConn
	client   pb.ElectionServiceClient
	noted    *atomic.Pointer[reason] // what answered instead of gRPC
	foreign  bool                    // it belongs to another service
}

// asSeen calls the function of the same name for this replica.
func (r replica) asSeen(err error) (*status.Status, *reason) {
	return asSeen(r.endpoint, err, r.noted.Load())
}

// newConnection does not connect yet, and reads no file: TLSOptions.check reads them once.
func newConnection(endpoints string, tls *TLSOptions, more []grpc.DialOption, healthCheck bool) (*connection, error) {
	parsed, err := parseEndpoints(endpoints)
	if err != nil {
		return nil, err
	}
	c := &connection{security: tls.credentials(), tokens: tls.dialOptions(), more: more, healthCheck: healthCheck}
	for _, endpoint := range parsed {
		opened, err := c.open(endpoint, healthCheck)
		if err != nil {
			c.close()
			return nil, err
		}
		c.replicas = append(c.replicas, opened)
	}
	c.inUse = rand.Intn(len(c.replicas))
	return c, nil
}

func baseOptions(healthCheck bool) []grpc.DialOption {
	delays := backoff.Config{BaseDelay: reconnectDelay, Multiplier: 1, Jitter: 0.2, MaxDelay: reconnectDelay}
	options := []grpc.DialOption{
		grpc.WithUserAgent("tenure-go/" + version.Version),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingInterval, Timeout: pingTimeout}),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: delays, MinConnectTimeout: connectTimeout}),
		// A full page of elections with long values is larger than gRPC's own limit.
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)),
		grpc.WithIdleTimeout(idleTimeout),
		grpc.WithDisableServiceConfig(),
		grpc.WithResolvers(newNames()),
		grpc.WithNoProxy(),
	}
	if healthCheck {
		options = append(options, grpc.WithDefaultServiceConfig(healthChecked))
	}
	return options
}

func (c *connection) open(endpoint string, healthCheck bool) (replica, error) {
	noted := &atomic.Pointer[reason]{}
	security := grpc.WithTransportCredentials(&noticing{c.security.Clone(), noted})
	options := append(append(append(baseOptions(healthCheck), c.tokens...), security), c.more...)
	channel, err := grpc.NewClient(endpoint, options...)
	if err != nil {
		return replica{}, err
	}
	return replica{endpoint, channel, pb.NewElectionServiceClient(channel), noted, false}, nil
}

// replica is the replica in use.
func (c *connection) replica() replica { return c.replicas[c.inUse] }

// moveOn switches to the next replica of this service.
func (c *connection) moveOn() {
	for range c.replicas {
		c.inUse = (c.inUse + 1) % len(c.replicas)
		if !c.replicas[c.inUse].foreign {
			return
		}
	}
}

// reconnect connects again if the replica in use is connected but does not answer; calls on the old
// connection fail. A replica that is still connecting may take its time.
func (c *connection) reconnect() {
	old := &c.replicas[c.inUse]
	if old.channel.GetState() != connectivity.Ready {
		return
	}
	if opened, err := c.open(old.endpoint, c.healthCheck); err == nil { // as the first time
		_ = old.channel.Close()
		opened.foreign = old.foreign
		*old = opened
	}
}

// askWhy finds out why a replica is not serving, by a call that it refuses. gRPC itself makes no such
// call while the replica is unhealthy.
func (c *connection) askWhy(endpoint string) func() (error, reason) {
	return func() (error, reason) {
		unknown := reason{kind: notServing}
		asked, err := c.open(endpoint, false)
		if err != nil {
			return err, unknown
		}
		defer asked.channel.Close()
		ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
		defer cancel()
		_, err = asked.client.Leader(ctx, &pb.LeaderRequest{Election: "tenure"})
		answer, why := asked.asSeen(err)
		if why == nil {
			return status.Errorf(codes.Unavailable, "cannot use %s: %s", endpoint, unknown), unknown
		}
		return answer.Err(), *why
	}
}

// backoff is how long to wait before the next attempt.
func (c *connection) backoff() time.Duration {
	c.failures++
	return machine.Backoff(c.failures, rand.Int63n)
}

// succeeded resets the backoff.
func (c *connection) succeeded() { c.failures = 0 }

func (c *connection) close() {
	for _, replica := range c.replicas {
		_ = replica.channel.Close()
	}
}
