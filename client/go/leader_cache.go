package tenure

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"tenure/internal/clock"
	"tenure/internal/machine"
	pb "tenure/v1"
)

// CachedSeat is what is known of one election.
type CachedSeat struct {
	// False: the election is not among those asked for, or its state has not arrived yet. Then ignore the
	// rest.
	Known    bool
	Leader   *pb.Leadership // nil: the seat is vacant. Not to be changed
	Term     uint64         // the highest ever granted; 0: nobody has ever led
	Revision uint64         // the latest one; 0: nobody has ever campaigned
}

// LeaderCacheOptions say which leaders to know. All but the callbacks are as in ObserverOptions.
type LeaderCacheOptions struct {
	Endpoints   string
	ServiceID   string
	TLS         *TLSOptions
	DialOptions []grpc.DialOption
	Names       []string
	Prefix      bool
	SilenceMax  time.Duration
	Logger      *slog.Logger

	// The state of an election has changed. Get already returns this state or a later one. Called on the
	// cache's own goroutine, one after the other.
	OnChange func(election string, seat CachedSeat)
	// The service refuses this cache for good. It keeps its contents, which grow older.
	OnFailed func(error)
}

// LeaderCache knows who leads which election, from memory: for routers, clients and dashboards that ask
// often. It stores what an Observer reports, and recovers by itself from every failure.
//
// What it does not promise: it may be late, by milliseconds normally, and by at least Age while the
// service cannot be reached. So the leader it names may no longer lead. Send the term with your request to
// a leader, and let the leader, or the resource it writes to, refuse other terms.
//
// Safe for concurrent use.
type LeaderCache struct {
	options  LeaderCacheOptions
	observer *Observer
	self     goroutine
	cancel   context.CancelFunc
	done     chan struct{}
	ready    chan struct{}
	ended    chan struct{} // closed when it stops observing

	mutex   sync.Mutex
	seats   map[string]CachedSeat
	toldAt  machine.Time
	failure error // why it ended; readable once `ended` is closed
}

// NewLeaderCache starts to observe. The error says which option is malformed.
func NewLeaderCache(options LeaderCacheOptions) (*LeaderCache, error) {
	ctx, cancel := context.WithCancel(context.Background())
	c := &LeaderCache{
		options: options, cancel: cancel, done: make(chan struct{}), ready: make(chan struct{}),
		ended: make(chan struct{}), seats: map[string]CachedSeat{}, toldAt: clock.Now(),
	}
	observer, err := NewObserver(ObserverOptions{
		Endpoints: options.Endpoints, ServiceID: options.ServiceID, TLS: options.TLS, DialOptions: options.DialOptions,
		Names: options.Names, Prefix: options.Prefix, SilenceMax: options.SilenceMax,
		Logger: options.Logger,
		OnSnapshot: func(it *pb.Snapshot) {
			c.keep(it.GetElection(), CachedSeat{true, it.GetLeader(), it.GetTerm(), it.GetRevision()})
		},
		OnEvent: func(it *pb.Event) {
			seat := CachedSeat{true, it.GetLeadership(), it.GetLeadership().GetTerm(), it.GetRevision()}
			if it.GetType() == pb.Event_TYPE_VACATED {
				seat.Leader = nil
			}
			c.keep(it.GetElection(), seat)
		},
		OnProgress:        func(*pb.Progress) { c.progress() },
		OnServiceReplaced: c.forget,
	})
	if err != nil {
		cancel()
		return nil, err
	}
	c.observer = observer
	go func() {
		c.self.enter()
		defer close(c.done)
		c.end(observer.Run(ctx))
	}()
	return c, nil
}

// Close ends the cache, and waits for a running callback, unless it is called from one.
func (c *LeaderCache) Close() error {
	c.cancel()
	if !c.self.isThis() {
		<-c.done
	}
	return nil
}

// Get never waits for the service. With Prefix, once the cache is ready, an unreported election with that
// prefix counts as known: nobody has campaigned in it.
func (c *LeaderCache) Get(election string) CachedSeat {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if seat, ok := c.seats[election]; ok {
		return seat
	}
	if c.options.Prefix && isClosed(c.ready) {
		for _, prefix := range c.options.Names {
			if strings.HasPrefix(election, prefix) {
				return CachedSeat{Known: true}
			}
		}
	}
	return CachedSeat{}
}

// WaitUntilReady waits until the state of every requested election has arrived; from then on the cache
// stays ready. The error is the context's, with what keeps the service from being used; or says why the
// service refuses this cache for good.
func (c *LeaderCache) WaitUntilReady(ctx context.Context) error {
	select {
	case <-c.ready:
	case <-c.ended:
	case <-ctx.Done():
	}
	switch {
	case isClosed(c.ready):
		return nil
	case isClosed(c.ended):
		return c.failure
	default:
		return withCause(ctx.Err(), c.observer.trouble.last())
	}
}

// Age is the time since the last message from the service, or since the cache was made if there was none.
// While the service can be reached, a message comes at least every ten seconds. It counts the time that the
// machine sleeps, too.
func (c *LeaderCache) Age() time.Duration {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return clock.Now().Sub(c.toldAt)
}

// All of these run on the observer's goroutine.

func (c *LeaderCache) keep(election string, seat CachedSeat) {
	c.mutex.Lock()
	c.toldAt = clock.Now()
	c.seats[election] = seat
	c.mutex.Unlock()
	if c.options.OnChange != nil {
		c.options.OnChange(election, seat)
	}
}

// forget drops the state of another service.
func (c *LeaderCache) forget() {
	c.mutex.Lock()
	forgotten := c.seats
	c.seats = map[string]CachedSeat{}
	c.mutex.Unlock()
	if c.options.OnChange != nil {
		for election := range forgotten {
			c.options.OnChange(election, CachedSeat{})
		}
	}
}

func (c *LeaderCache) progress() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.toldAt = clock.Now()
	if !isClosed(c.ready) {
		close(c.ready)
	}
}

func (c *LeaderCache) end(err error) {
	c.failure = err
	if err == nil {
		c.failure = errors.New("tenure: the cache is closed")
	}
	close(c.ended)
	if err != nil {
		c.observer.lines.log(slog.LevelError, "tenure: cannot observe: "+refusalOf(status.Convert(err))+"; not trying again")
		tell(c.options.OnFailed, err)
	}
}
