package tenure

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"google.golang.org/grpc"

	"tenure/internal/clock"
	"tenure/internal/machine"
)

const (
	closePatience = time.Second
	// For a Shutdown without a deadline.
	shutdownPatience = 24 * time.Hour
)

// ClientOptions are the options of one candidate. The zero value uses a service on this machine.
type ClientOptions struct {
	// Replicas: "host:port[,host:port...]", "127.0.0.1:7070" if empty. A host name may resolve to several
	// addresses. It is looked up again when a connection fails, at most once a second. Proxies that the
	// environment names (https_proxy) are not used.
	Endpoints string
	// The service to use: 32 lower-case hexadecimal digits, as `tenure status` shows them. Each database is
	// a service. Empty: that of most of the endpoints. If less than half of them can be reached, the client
	// asks again, until it is sure of its service. Endpoints of another service are not used, and the logger
	// gets a warning for each.
	ServiceID string
	// The candidate's name, for people: "host-7:4242". 1 to 255 bytes of UTF-8 without control
	// characters. Empty: the host's name and the process's id.
	Candidate string
	// How long the seats are kept after the last renewal. Renewals are sent every third of it. 0: the
	// default of the election or the service.
	LeaseTTL time.Duration
	// End older sessions of the same candidate in the elections of this client, and take over their seats
	// and places, so that a restarted process need not wait for its own old lease. Use it only if no two
	// processes share a candidate name; it needs one.
	Supersede bool
	// Nil: a connection without TLS.
	TLS *TLSOptions
	// Anything else the connections need, such as other credentials. These options override the library's
	// own.
	DialOptions []grpc.DialOption
	// Nil: no metrics. Each client needs its own.
	Metrics Metrics
	// Gets one warning when the service cannot be used, with the endpoint and the reason, and one line when
	// it can be used again; one warning for each endpoint that cannot be used although the service can; one
	// line for each term that begins or ends; and what the service refuses. Nil: slog.Default(). It may
	// block: then lines are dropped, but no renewal is late.
	Logger *slog.Logger
	// Set by package tenuretest, in tests; else nil.
	TestClock *clock.Manual
}

// Client is a candidate's connection to a Tenure service: its endpoints, its session, one KeepAlive
// stream.
//
// All its electors, for however many elections, share one session and one heartbeat. The first campaign
// opens the session. Several endpoints are replicas of one service. The client uses one at a time, and
// switches to another as soon as that one fails, reports that it is not healthy, or does not answer
// within half a heartbeat. What must last is in the service's database, so a switch loses nothing while
// the lease lasts.
//
// Safe for concurrent use. It renews until it is closed.
type Client struct {
	options ClientOptions
	loop    *loop
}

// NewClient does not connect yet. The error says which option is malformed.
func NewClient(options ClientOptions) (*Client, error) {
	if options.Candidate == "" && options.Supersede {
		return nil, errors.New("tenure: Supersede needs a Candidate: a name that the process has again after a restart")
	}
	if options.Candidate == "" {
		host, err := os.Hostname()
		if err != nil {
			return nil, fmt.Errorf("tenure: no Candidate is set, and this host has no name: %w", err)
		}
		options.Candidate = fmt.Sprintf("%s:%d", host, os.Getpid())
	}
	if err := checkName("Candidate", options.Candidate); err != nil {
		return nil, err
	}
	if err := checkServiceID(options.ServiceID); err != nil {
		return nil, err
	}
	if options.LeaseTTL < 0 {
		return nil, fmt.Errorf("tenure: LeaseTTL is %v; it must be 0 or more", options.LeaseTTL)
	}
	if options.Metrics == nil {
		options.Metrics = noMetrics{}
	}
	if err := options.TLS.check(); err != nil {
		return nil, err
	}
	connection, err := newConnection(options.Endpoints, options.TLS, options.DialOptions, true)
	if err != nil {
		return nil, err
	}
	session := machine.SessionOptions{
		Candidate: options.Candidate, LeaseTTL: options.LeaseTTL, Supersede: options.Supersede,
	}
	return &Client{options, newLoop(session, connection, options)}, nil
}

// Candidate is the name under which this client's electors stand.
func (c *Client) Candidate() string { return c.options.Candidate }

// Trouble is why the last attempt to use the service failed, with the endpoint and the reason; nil if it
// succeeded.
func (c *Client) Trouble() error { return c.loop.trouble.last() }

// Close asks the work of all electors to stop, waits until it has, gives up their seats and ends the
// session, without waiting for the service much longer than a second; then it waits for the callbacks,
// for at most a second. The error says why the session could not be ended; then its seats are free when
// the lease has ended. A client that is closed never campaigns again.
//
// Called from a callback, it does not wait for the callbacks. Called from the work, or from OnOverrun, it
// returns at once, and the session ends when the work has.
func (c *Client) Close() error {
	end := func() error {
		if err := c.leaveAll(context.Background()); err != nil {
			return err
		}
		return c.loop.end(closePatience, false)
	}
	if c.loop.isInWork() {
		c.loop.beginClosing()
		go func() { _ = end() }()
		return nil
	}
	err := end()
	patience, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	c.loop.awaitCallbacks(patience)
	return err
}

// Shutdown does the same, but keeps trying until the context ends, for programs that must know whether
// it succeeded. If work still runs then, the session stays open, no other elector stands any more, and
// Shutdown or Close may be called again. Called from the work, it returns ErrInWork.
func (c *Client) Shutdown(ctx context.Context) error {
	if c.loop.isInWork() {
		return ErrInWork
	}
	if err := c.leaveAll(ctx); err != nil {
		return err
	}
	patience := shutdownPatience
	if deadline, ok := ctx.Deadline(); ok {
		patience = max(time.Until(deadline), 0)
	}
	ended := context.AfterFunc(ctx, func() {
		c.loop.mailbox.put(func(now machine.Time) { c.loop.giveUpAt = now })
	})
	defer ended()
	err := c.loop.end(patience, true)
	c.loop.awaitCallbacks(ctx)
	return err
}

// leaveAll waits until no elector has work. The seats of the others are given up with the session.
func (c *Client) leaveAll(ctx context.Context) error {
	stands := c.loop.beginClosing()
	for _, stand := range stands {
		stand.leave()
	}
	for _, stand := range stands {
		if stand.runs == nil {
			continue
		}
		select {
		case <-stand.stopped:
		case <-ctx.Done():
			return fmt.Errorf("tenure: the work of election %q still runs: %w", stand.options.Election, ctx.Err())
		}
	}
	return nil
}
