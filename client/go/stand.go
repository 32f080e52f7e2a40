package tenure

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"tenure/internal/machine"
	pb "tenure/v1"
)

// How long to wait for the service's answer when a seat is given up.
const resignPatience = time.Second

// stand is one period of standing, from the beginning of Run or Stand to its end. It has one seat of the
// session.
type stand struct {
	loop     *loop
	number   uint64
	options  machine.SeatOptions
	told     *ElectorOptions // the callbacks
	runs     context.Context // the context of Run; nil without work
	belief   belief
	next     atomic.Pointer[begun] // a term with work that has begun, and is not handed over yet
	terms    chan *begun           // terms handed over; at most one at a time
	left     chan struct{}         // closed when this process no longer wants to stand
	gone     chan struct{}         // closed when nothing is left to do
	silenced chan struct{}         // closed in the callbacks' order: no callback follows
	stopped  chan struct{}         // closed when no work runs, and none will begin
	released chan struct{}         // closed when another elector may stand in the election
	worker   goroutine             // of the work

	mutex    sync.Mutex
	refusal  error
	troubled error // why it neither leads nor waits, as far as the service has said

	// For the loop's goroutine.
	publishedTerm  uint64 // 0: no belief stands
	publishedUntil machine.Time
	seat           Seat
	stop           context.CancelCauseFunc // of the work; nil if there is none, or it never began
	why            string                  // why the work has to stop
}

// begun is a term that has begun.
type begun struct {
	ctx  context.Context
	seat Seat
	end  context.CancelCauseFunc
}

// claim makes a stand in an election where the client has no other one. It becomes the current one
// before anything is reported about it.
func (l *loop) claim(options machine.SeatOptions, told *ElectorOptions, runs context.Context, current *atomic.Pointer[stand]) (*stand, error) {
	s := &stand{
		loop: l, options: options, told: told, runs: runs,
		terms: make(chan *begun, 1), left: make(chan struct{}), gone: make(chan struct{}),
		silenced: make(chan struct{}), stopped: make(chan struct{}), released: make(chan struct{}),
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.closing {
		return nil, ErrClosed
	}
	if l.elections[options.Election] != nil {
		return nil, fmt.Errorf("%w: %q", ErrStands, options.Election)
	}
	l.lastNumber++
	s.number = l.lastNumber
	l.elections[options.Election] = s
	current.Store(s)
	l.metrics.Stands(options.Election)
	l.mailbox.put(func(machine.Time) {
		l.stands[s.number] = s
		l.session.Add(s.number, s.options)
	})
	return s, nil
}

// beginClosing returns all stands, and lets no new one begin.
func (l *loop) beginClosing() []*stand {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.closing = true
	var stands []*stand
	for _, stand := range l.elections {
		stands = append(stands, stand)
	}
	return stands
}

// isInCallback reports that a callback of this client is the caller, and must return first.
func (l *loop) isInCallback() bool { return l.self.isThis() || l.callbacks.self.isThis() }

// isInWork reports that the session cannot end before the caller returns.
func (l *loop) isInWork() bool {
	if l.self.isThis() {
		return true
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, stand := range l.elections {
		if stand.worker.isThis() {
			return true
		}
	}
	return false
}

// awaitCallbacks waits until no callback is left, or the context ends.
func (l *loop) awaitCallbacks(ctx context.Context) {
	if l.isInCallback() {
		return
	}
	last := make(chan struct{})
	l.callbacks.run(func() { close(last) })
	select {
	case <-last:
	case <-ctx.Done():
	}
}

// leave stops standing: the work is asked to end, then the seat is given up. Does not wait.
func (s *stand) leave() {
	s.mutex.Lock()
	if !isClosed(s.left) {
		close(s.left)
	}
	s.mutex.Unlock()
	s.loop.mailbox.put(func(now machine.Time) {
		s.why = "this process stands no more"
		s.loop.session.Leave(s.number, now)
	})
}

// abandon gives up the seat, after the work has ended.
func (s *stand) abandon() {
	s.loop.tell(func(session *machine.Session, now machine.Time) { session.Abandon(s.number, now) })
}

func (s *stand) workEnded() {
	s.loop.tell(func(session *machine.Session, now machine.Time) { session.WorkEnded(s.number, now) })
}

// finish gives up everything, waits a bounded time for the service and for the callbacks, and frees the
// election for other electors. It does not wait for its own caller.
func (s *stand) finish() {
	s.leave()
	s.abandon()
	s.mutex.Lock()
	if !isClosed(s.stopped) {
		close(s.stopped)
	}
	s.mutex.Unlock()
	patience, cancel := context.WithTimeout(context.Background(), resignPatience)
	defer cancel()
	if s.loop.self.isThis() || s.loop.callbacks.self.isThis() {
		cancel()
	}
	select {
	case <-s.gone:
	case <-patience.Done():
	}
	s.silence()
	if s.runs != nil {
		patience = context.Background()
	}
	select {
	case <-s.silenced:
	case <-patience.Done():
	}
	s.loop.mutex.Lock()
	defer s.loop.mutex.Unlock()
	if s.loop.elections[s.options.Election] == s {
		delete(s.loop.elections, s.options.Election)
		close(s.released)
	}
}

// silence ends the callbacks: those called until now are the last.
func (s *stand) silence() {
	last := func(machine.Time) {
		s.loop.callbacks.run(func() {
			if !isClosed(s.silenced) {
				close(s.silenced)
			}
		})
	}
	if !s.loop.mailbox.put(last) { // the loop has ended, and reported everything
		last(0)
	}
}

// result is what Run returns when the stand is gone.
func (s *stand) result() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if isClosed(s.left) {
		return nil
	}
	return s.refusal
}

func isClosed(channel <-chan struct{}) bool {
	select {
	case <-channel:
		return true
	default:
		return false
	}
}

// onNews runs on the loop's goroutine. The belief is already up to date.
func (s *stand) onNews(event machine.Event) {
	told := s.told
	s.noteTrouble(event)
	switch what := event.(type) {
	case machine.Standing:
		call(s, told.OnStanding, QueuePlace{what.Place.GetPosition(), what.Place.GetLeader()})
	case machine.Elected:
		s.onElected(what.Leadership)
	case machine.Suspended:
		call(s, told.OnSuspended, s.seat)
	case machine.Resumed:
		call(s, told.OnResumed, s.seat)
	case machine.HandoverAsked:
		s.why = fmt.Sprintf("an operator wants %s to lead", what.Successor)
		seat := s.seat
		s.run(told.OnStepDown != nil, func() { told.OnStepDown(seat, what.Successor) })
	case machine.StopWork:
		s.stopWork()
	case machine.Overrun:
		s.onOverrun()
	case machine.Lost:
		s.why = "the term is over: " + what.Cause.String()
		seat := s.seat
		s.run(told.OnLost != nil, func() { told.OnLost(seat, what.Cause) })
	case machine.Troubled:
		call(s, told.OnTrouble, what.Err)
	case machine.Refused:
		s.mutex.Lock()
		s.refusal = what.Err
		s.mutex.Unlock()
		call(s, told.OnRefused, what.Err)
	}
}

func (s *stand) noteTrouble(event machine.Event) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch what := event.(type) {
	case machine.Standing, machine.Elected:
		s.troubled = nil
	case machine.Troubled:
		s.troubled = what.Err
	case machine.Refused:
		s.troubled = what.Err
	}
}

func (s *stand) trouble() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.troubled
}

func (s *stand) onElected(leadership *pb.Leadership) {
	s.why = ""
	s.mutex.Lock()
	s.refusal = nil // of an earlier value
	s.mutex.Unlock()
	s.seat = newSeat(leadership, s)
	call(s, s.told.OnElected, s.seat)
	if s.runs == nil {
		return
	}
	ctx, end := context.WithCancelCause(s.runs)
	s.stop = end
	term := &begun{ctx, s.seat, end}
	s.next.Store(term)
	s.loop.callbacks.run(func() {
		if s.next.CompareAndSwap(term, nil) {
			s.terms <- term
		}
	})
}

func (s *stand) stopWork() {
	if s.stop == nil {
		return
	}
	why := s.why
	if why == "" {
		why = "the lease is about to end"
	}
	s.stop(fmt.Errorf("%w: %s", ErrSeatLost, why))
	if term := s.next.Swap(nil); term != nil { // still waiting behind callbacks; Run need not wait
		s.stop = nil
		s.terms <- term
	}
}

func (s *stand) onOverrun() {
	if s.stop == nil {
		return
	}
	s.loop.metrics.Overrun(s.options.Election)
	if s.told.OnOverrun != nil {
		s.told.OnOverrun(s.seat)
		return
	}
	s.loop.lines.log(slog.LevelError, "tenure: the leader's work has not stopped in time, and another process may soon lead",
		slog.String("election", s.seat.Election), slog.Uint64("term", s.seat.Term))
}

// call queues a callback, if there is one.
func call[Argument any](s *stand, callback func(Argument), argument Argument) {
	s.run(callback != nil, func() { callback(argument) })
}

func (s *stand) run(wanted bool, callback func()) {
	if !wanted {
		return
	}
	s.loop.callbacks.run(func() {
		if !isClosed(s.silenced) {
			callback()
		}
	})
}

func (s *stand) isLeader() bool           { return s.belief.holdsAt(s.loop.clock.Now()) }
func (s *stand) term() uint64             { return s.belief.termAt(s.loop.clock.Now()) }
func (s *stand) remaining() time.Duration { return s.belief.remaining(s.loop.clock.Now()) }
