package tenure

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"tenure/internal/machine"
	pb "tenure/v1"
)

// Seat is a term in which this process leads.
type Seat struct {
	Election  string
	Term      uint64 // the fencing token: a number per election that each grant increases
	Candidate string
	Value     []byte
	ElectedAt time.Time // by the service's clock
	LeaseTTL  time.Duration

	stand   *stand
	service uint64
}

func newSeat(leadership *pb.Leadership, stand *stand) Seat {
	return Seat{
		Election: leadership.GetElection(), Term: leadership.GetTerm(), Candidate: leadership.GetCandidate(),
		Value: leadership.GetValue(), ElectedAt: leadership.GetElectedTime().AsTime(),
		LeaseTTL: leadership.GetLeaseTtl().AsDuration(), stand: stand, service: stand.loop.services.Load(),
	}
}

// Holds says whether this process may act in this term now. It looks at the clock, and never waits. Ask
// it before each step that matters: it is exact where a context may end late, as after a pause of the
// process.
func (s Seat) Holds() bool {
	return s.stand != nil && s.stand.term() == s.Term && s.stand.loop.services.Load() == s.service
}

// TermIfHeld is the term while this process may act in it, and 0 afterwards: for [FenceUnaryCalls].
func (s Seat) TermIfHeld() uint64 {
	if s.Holds() {
		return s.Term
	}
	return 0
}

// Fence is what every request of this term should carry.
func (s Seat) Fence() Fence { return Fence{s.Election, s.Term} }

// QueuePlace is a place in an election's queue.
type QueuePlace struct {
	Position uint64         // 1 is the next leader
	Leader   *pb.Leadership // who leads now; nil if nobody does
}

// ElectorOptions are the options of one elector. Callbacks are called once per occurrence, in order, on
// a goroutine of the client that does nothing else: a slow one delays other callbacks, but no renewals.
// Run returns after the last of them, so no callback may wait for Run to return. Each may call Close.
type ElectorOptions struct {
	// 1 to 255 bytes of UTF-8 without control characters.
	Election string
	// The value to publish while leading, at most 4096 bytes.
	Value []byte
	// Higher priorities are elected first. Negative: elected only if an operator appoints it.
	Priority int32
	// How long the work may take to stop, at most half the lease; without Run, how long to wait for work
	// begun while IsLeader was true, before the seat is resigned. 0: a quarter of the lease.
	StopGrace time.Duration
	// Stand until this process has led once, and not again after that term.
	OneTerm bool

	// This process waits in the queue.
	OnStanding func(QueuePlace)
	// This process leads. Called before the work begins.
	OnElected func(Seat)
	// Half the lease passed without a renewal. The seat is still held. Next, the lease is either renewed
	// after all (OnResumed), or lost (OnLost).
	OnSuspended, OnResumed func(Seat)
	// An operator asks this process to make way for the candidate `successor`. The work has been asked to
	// stop, and OnLost follows with RESIGNED. Then it stands again, unless Resign is called.
	OnStepDown func(seat Seat, successor string)
	// The term has ended for this process. The cause is RESIGNED if it gave the seat up, and EXPIRED if its
	// deadline passed; if the lease ran out, the work may not have returned yet.
	OnLost func(Seat, pb.Cause)
	// The current leader of the election, this process or another; nil if there is none. The current state
	// first, then every change. It comes from a stream of its own, on a goroutine of its own, in no
	// particular order with the others: use it for information, not to act on.
	OnLeaderChanged func(*pb.Leadership)
	// A call failed, or the service does not let this process stand for now. The elector keeps trying.
	// Until it succeeds, called once for each of the two.
	OnTrouble func(error)
	// The service does not let this process stand: an option is malformed, or there is a newer session of
	// the same candidate (ABORTED). The elector does not try again.
	OnRefused func(error)
	// The watchdog: the work has not stopped in time, and another process may soon lead. End the work or
	// the process by force. Called on the goroutine that renews the lease, so it must return at once. Nil:
	// the client's logger gets an error.
	OnOverrun func(Seat)
}

// Elector stands for an election, and reports whether this process leads. Safe for concurrent use.
type Elector struct {
	client *Client

	mutex   sync.Mutex
	options ElectorOptions
	current atomic.Pointer[stand] // nil: it has never stood
}

// NewElector does not stand yet: Run and Stand do. The error says which option is malformed.
func NewElector(client *Client, options ElectorOptions) (*Elector, error) {
	if err := checkName("Election", options.Election); err != nil {
		return nil, err
	}
	if err := checkValue(options.Value); err != nil {
		return nil, err
	}
	if options.StopGrace < 0 {
		return nil, fmt.Errorf("tenure: StopGrace is %v; it must be 0 or more", options.StopGrace)
	}
	return &Elector{client: client, options: options}, nil
}

// Run stands, and calls `lead` in each term, one at a time and on the caller's goroutine.
//
// The context of `lead` ends at 0.9 of the lease minus the grace to stop, unless a renewal is answered;
// and when an operator asks this process to make way, when the seat is lost, and when ctx ends. `lead`
// must return soon after that: then the seat is resigned. context.Cause says why. A return value after
// the end of its context is ignored.
//
// If `lead` returns nil by itself, the seat is resigned, and the elector stands again a heartbeat later.
// If it returns an error, the seat is resigned and Run returns that error. A panic of `lead` resigns too.
//
// Run returns nil when ctx has ended, after Resign, and after the only term with OneTerm; and an error
// if the service refuses this elector for good. With OneTerm, Run returns the error of ctx if ctx ends
// before `lead` was called. When it returns, the work and all callbacks have ended, and the seat is
// given up; it waits for the service's answer for at most a second. Called from a callback, it returns
// ErrCallback.
func (e *Elector) Run(ctx context.Context, lead func(ctx context.Context, seat Seat) error) error {
	if e.client.loop.isInCallback() {
		return ErrCallback
	}
	s, err := e.begin(ctx)
	if err != nil {
		return err
	}
	defer s.observe(ctx, &e.client.options)()
	defer s.finish()
	defer context.AfterFunc(ctx, s.leave)()
	for {
		select {
		case term := <-s.terms:
			if called, err := s.work(term, lead); err != nil || (called && s.options.OneTerm) {
				return err
			}
		case <-s.left:
			return s.unled(ctx)
		case <-s.gone:
			if err := s.result(); err != nil {
				return err
			}
			return s.unled(ctx)
		case <-s.loop.done: // by a Close; all electors have left before
			return s.unled(ctx)
		}
	}
}

// unled is the error of a Run whose context ends before its only term.
func (s *stand) unled(ctx context.Context) error {
	if s.options.OneTerm {
		return ctx.Err()
	}
	return nil
}

// Run makes an elector for the election, with default options, and runs it.
func (c *Client) Run(ctx context.Context, election string, lead func(ctx context.Context, seat Seat) error) error {
	elector, err := NewElector(c, ElectorOptions{Election: election})
	if err != nil {
		return err
	}
	return elector.Run(ctx, lead)
}

func (s *stand) work(term *begun, lead func(context.Context, Seat) error) (called bool, err error) {
	s.worker.enter()
	defer s.worker.leave()
	defer s.workEnded()
	defer term.end(nil)
	if term.ctx.Err() != nil {
		return false, nil
	}
	err = lead(term.ctx, term.seat)
	if term.ctx.Err() != nil {
		err = nil
	}
	return true, err
}

// Stand begins to stand without work, for programs that ask IsLeader. It does not wait.
func (e *Elector) Stand() error {
	s, err := e.begin(nil)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	stop := s.observe(ctx, &e.client.options)
	go func() {
		defer s.finish()
		defer stop()
		defer cancel()
		select {
		case <-s.gone:
		case <-s.loop.done:
		}
	}()
	return nil
}

// Resign steps down for good. It returns at once. The work is asked to stop; without work, IsLeader is
// false at once, and the seat is resigned after StopGrace.
func (e *Elector) Resign() {
	if s := e.current.Load(); s != nil {
		s.leave()
	}
}

// Close ends what Stand began: nothing works any more, and the seat is resigned. It waits for the
// service's answer and for the callbacks, together for at most a second: slow ones may come later. Called
// from a callback, it does not wait. While Run runs, it is as Resign.
func (e *Elector) Close() error {
	s := e.current.Load()
	if s == nil {
		return nil
	}
	s.leave()
	if s.runs == nil {
		s.finish()
	}
	return nil
}

// IsLeader says whether this process may act as the leader now. It takes less than a microsecond, and
// never waits.
func (e *Elector) IsLeader() bool {
	s := e.current.Load()
	return s != nil && s.isLeader()
}

// Term is the fencing token: the term in which this process leads now; 0 if it does not lead.
func (e *Elector) Term() uint64 {
	if s := e.current.Load(); s != nil {
		return s.term()
	}
	return 0
}

// Trouble is why this process can neither lead nor wait in the queue: what the service refused, or why it
// cannot be used, with the endpoint. Nil if there is no trouble.
func (e *Elector) Trouble() error {
	if s := e.current.Load(); s != nil {
		if err := s.trouble(); err != nil {
			return err
		}
	}
	return e.client.Trouble()
}

// Remaining is how long this process may still act as the leader if no further renewal is answered; 0 or
// less if it does not lead. Each renewal raises it to nine tenths of the lease again.
func (e *Elector) Remaining() time.Duration {
	if s := e.current.Load(); s != nil {
		return s.remaining()
	}
	return 0
}

// Proclaim publishes another value, now or as soon as this process leads.
func (e *Elector) Proclaim(value []byte) error {
	if err := checkValue(value); err != nil {
		return err
	}
	value = bytes.Clone(value)
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.options.Value = value
	if s := e.current.Load(); s != nil {
		s.loop.tell(func(session *machine.Session, now machine.Time) { session.Proclaim(s.number, value, now) })
	}
	return nil
}

// begin stands, with work if `runs` is not nil.
func (e *Elector) begin(runs context.Context) (*stand, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	options := e.options
	seat := machine.SeatOptions{
		Election: options.Election, Value: bytes.Clone(options.Value), Priority: options.Priority,
		HasWork: runs != nil, OneTerm: options.OneTerm,
	}
	if options.StopGrace != 0 {
		seat.StopGrace = &options.StopGrace
	}
	return e.client.loop.claim(seat, &options, runs, &e.current)
}

// observe reports leaders, if a callback wants them, until the returned function has returned.
func (s *stand) observe(ctx context.Context, client *ClientOptions) (stop func()) {
	changed := s.told.OnLeaderChanged
	if changed == nil {
		return func() {}
	}
	observer := newObserver(ObserverOptions{
		Endpoints: client.Endpoints, ServiceID: client.ServiceID, TLS: client.TLS, DialOptions: client.DialOptions,
		Names:      []string{s.options.Election},
		Logger:     slog.New(silence{}), // the client logs the same
		OnSnapshot: func(snapshot *pb.Snapshot) { changed(snapshot.GetLeader()) },
		OnEvent: func(event *pb.Event) {
			switch event.GetType() { // ignore changes of values and requests for a handover
			case pb.Event_TYPE_ELECTED:
				changed(event.GetLeadership())
			case pb.Event_TYPE_VACATED:
				changed(nil)
			}
		},
	})
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := observer.Run(ctx); err != nil {
			call(s, s.told.OnTrouble, err)
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
