package tenure

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	guardedElectionsMax = 10_000
	guardWaitMax        = 10 * time.Second
)

// TermGuardOptions are the options of a guard. The zero value suits most.
type TermGuardOptions struct {
	// Maximum number of elections; calls for further ones are refused (RESOURCE_EXHAUSTED). There must be a
	// limit, because terms are never forgotten. 0: 10,000.
	ElectionsMax int
	// How long a call may wait for earlier calls of a lower term to leave, but never beyond its own
	// deadline; after that it fails with UNAVAILABLE. 0: 10 s. Negative: no waiting.
	WaitMax time.Duration
	// Stores the highest term with the guarded data, so that it outlives the process. Called once before
	// the first call of each new highest term is let in. It must store the term, unless a higher one is
	// stored, and return the term that is then stored. An error refuses the call and changes nothing; the
	// next call tries again. A lower term than the call's is an error, too (INTERNAL). Called for one term
	// of an election at a time. Nil: after a restart, the first call is trusted, whatever its term.
	Raise func(ctx context.Context, fence Fence) (stored uint64, err error)
}

// TermGuard is for a service that leaders call: it knows the highest term of each election, and which
// calls are inside. While a call is inside, none of a higher term is let in; once a higher term has been
// seen, no call of a lower one is let in. So all effects that a term makes inside come before those of
// the next term, however long a call was on its way or its process was paused.
//
// What it does not promise:
//   - It refuses an old term as of the first call of a newer one, not as of the newer term's grant. To
//     learn of terms sooner, call Raise from a LeaderCache's OnChange.
//   - A guard is the memory of one process. If several processes serve the same data, or one restarts,
//     either the Raise of its options must store the highest term with the data, or the data's own
//     transaction must compare it.
//   - It trusts the caller's term. It guards against leaders that are late, not against liars.
//
// Safe for concurrent use.
type TermGuard struct {
	options TermGuardOptions

	mutex   sync.Mutex
	changed chan struct{} // closed, and replaced, with each change
	seats   map[string]*guardedSeat
}

type guardedSeat struct {
	highest      uint64 // highest term seen
	kept         uint64 // highest term let in, which Raise has stored
	raising      bool   // Raise is under way
	within       int    // calls of the highest term
	withinBefore int    // calls of lower terms
}

// NewTermGuard returns a guard that has seen no term.
func NewTermGuard(options TermGuardOptions) *TermGuard {
	if options.ElectionsMax == 0 {
		options.ElectionsMax = guardedElectionsMax
	}
	if options.WaitMax == 0 {
		options.WaitMax = guardWaitMax
	}
	return &TermGuard{options: options, changed: make(chan struct{}), seats: map[string]*guardedSeat{}}
}

// Enter lets in a call that carries a fence for `election`, the election that guards what its handler
// touches. Call `leave` after the last effect. Errors, to be returned from the handler:
//   - INVALID_ARGUMENT with INVALID_ELECTION_NAME, INVALID_TERM: no fence, or one of another election.
//   - FAILED_PRECONDITION with STALE_TERM, metadata current_term: the caller no longer leads.
//   - UNAVAILABLE, RESOURCE_EXHAUSTED, and the errors of Raise: see the options.
func (g *TermGuard) Enter(ctx context.Context, election string) (leave func(), err error) {
	fence, err := FenceOf(ctx)
	if err != nil {
		return nil, err
	}
	if fence.Election != election {
		return nil, richError(codes.InvalidArgument, fmt.Sprintf("the call carries a term of election '%s', but election '%s' guards this",
			fence.Election, election), "INVALID_ELECTION_NAME", nil)
	}
	return g.EnterWith(ctx, fence)
}

// EnterWith is like Enter, with a fence from elsewhere.
func (g *TermGuard) EnterWith(ctx context.Context, fence Fence) (leave func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, g.options.WaitMax)
	defer cancel()
	g.mutex.Lock()
	defer g.mutex.Unlock()
	seat := g.find(fence.Election)
	if seat == nil {
		return nil, richError(codes.ResourceExhausted,
			fmt.Sprintf("the guard already tracks %d elections, which is its ElectionsMax", g.options.ElectionsMax), "", nil)
	}
	for {
		if !g.waitFor(waiting, func() bool { return !mustWait(fence, seat) }) {
			return nil, richError(codes.Unavailable,
				fmt.Sprintf("calls from a lower term of election '%s' are still running", fence.Election), "", nil)
		}
		if fence.Term < seat.highest {
			return nil, stale(fence, seat.highest)
		}
		if fence.Term <= seat.kept {
			return g.inside(seat), nil
		}
		if err := g.raise(ctx, fence, seat); err != nil {
			return nil, err
		}
	}
}

// Check enters and leaves at once, for handlers that compare the term again within a transaction. By
// itself, this does not keep the effects of two terms apart.
func (g *TermGuard) Check(ctx context.Context, election string) error {
	leave, err := g.Enter(ctx, election)
	if err == nil {
		leave()
	}
	return err
}

// Raise reports that a term has been granted: lower ones are refused from now on. It does not wait for
// calls that are inside, and does not call the Raise of the options.
func (g *TermGuard) Raise(fence Fence) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if seat := g.find(fence.Election); seat != nil {
		g.setHighest(seat, fence.Term)
	}
}

// Highest is the highest term seen so far; 0 if none.
func (g *TermGuard) Highest(election string) uint64 {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if seat := g.seats[election]; seat != nil {
		return seat.highest
	}
	return 0
}

// UnaryServerInterceptor guards whole handlers. electionOf says which election guards a method
// ("/package.Service/Method"); "" lets it pass.
func (g *TermGuard) UnaryServerInterceptor(electionOf func(fullMethod string) string) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		if election := electionOf(info.FullMethod); election != "" {
			leave, err := g.Enter(ctx, election)
			if err != nil {
				return nil, err
			}
			defer leave()
		}
		return handler(ctx, request)
	}
}

// StreamServerInterceptor is the same for streams: a stream is inside until its handler returns.
func (g *TermGuard) StreamServerInterceptor(electionOf func(fullMethod string) string) grpc.StreamServerInterceptor {
	return func(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		if election := electionOf(info.FullMethod); election != "" {
			leave, err := g.Enter(stream.Context(), election)
			if err != nil {
				return err
			}
			defer leave()
		}
		return handler(service, stream)
	}
}

// All of these require the mutex.

// mustWait reports whether calls of lower terms are still inside, or Raise has yet to return for this
// term.
func mustWait(fence Fence, seat *guardedSeat) bool {
	switch {
	case fence.Term < seat.highest:
		return false // refused at once
	case fence.Term > seat.kept:
		return seat.raising
	default:
		return seat.withinBefore > 0
	}
}

// waitFor returns false if the condition does not become true before ctx ends.
func (g *TermGuard) waitFor(ctx context.Context, fulfilled func() bool) bool {
	for !fulfilled() {
		if ctx.Err() != nil {
			return false
		}
		changed := g.changed
		g.mutex.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		g.mutex.Lock()
	}
	return true
}

func (g *TermGuard) raise(ctx context.Context, fence Fence, seat *guardedSeat) error {
	kept := fence.Term
	if g.options.Raise != nil {
		var err error
		if kept, err = g.callRaise(ctx, fence, seat); err != nil {
			return err
		}
		if kept < fence.Term {
			return status.Errorf(codes.Internal, "term %d of election '%s' is not stored: Raise returned %d", fence.Term, fence.Election, kept)
		}
	}
	seat.kept = max(seat.kept, kept)
	g.setHighest(seat, kept)
	return nil
}

// callRaise releases the mutex meanwhile, and has it again even if Raise panics.
func (g *TermGuard) callRaise(ctx context.Context, fence Fence, seat *guardedSeat) (uint64, error) {
	seat.raising = true
	defer func() {
		seat.raising = false
		g.tellChange()
	}()
	g.mutex.Unlock()
	defer g.mutex.Lock()
	return g.options.Raise(ctx, fence)
}

// find returns nil if the election is unknown and there is no room for it.
func (g *TermGuard) find(election string) *guardedSeat {
	seat := g.seats[election]
	if seat == nil && len(g.seats) < g.options.ElectionsMax {
		seat = &guardedSeat{}
		g.seats[election] = seat
	}
	return seat
}

func (g *TermGuard) setHighest(seat *guardedSeat, term uint64) {
	if term <= seat.highest {
		return
	}
	seat.highest = term
	seat.withinBefore += seat.within
	seat.within = 0
	g.tellChange()
}

func (g *TermGuard) tellChange() {
	close(g.changed)
	g.changed = make(chan struct{})
}

func (g *TermGuard) inside(seat *guardedSeat) (leave func()) {
	term := seat.highest
	seat.within++
	var once sync.Once
	return func() {
		once.Do(func() {
			g.mutex.Lock()
			defer g.mutex.Unlock()
			if term == seat.highest {
				seat.within--
			} else {
				seat.withinBefore--
			}
			g.tellChange()
		})
	}
}

func stale(fence Fence, highest uint64) error {
	message := fmt.Sprintf("term %d of election '%s' is out of date: term %d has been seen", fence.Term, fence.Election, highest)
	return richError(codes.FailedPrecondition, message, "STALE_TERM", map[string]string{"current_term": strconv.FormatUint(highest, 10)})
}
