package tenure

import (
	"sync/atomic"
	"time"

	"tenure/internal/machine"
)

// belief is whether this process may act as the leader right now. Many goroutines read it, in
// nanoseconds; one writes it. `now` is an argument.
//
// Once a reader has seen "no" in a term, no reader sees "yes" in that term again.
type belief struct {
	term  atomic.Uint64
	until atomic.Int64 // 0: none stands
}

// For the writer.

// begin starts a belief in a term that is higher than all before. No other belief may stand.
func (b *belief) begin(term uint64, until machine.Time) {
	b.term.Store(term)
	b.until.Store(int64(until))
}

// extend returns false, and changes nothing, if a reader has seen the belief end.
func (b *belief) extend(until machine.Time) bool {
	before := b.until.Load()
	return before != 0 && b.until.CompareAndSwap(before, int64(until))
}

func (b *belief) end() { b.until.Store(0) }

// From any goroutine.

func (b *belief) holdsAt(now machine.Time) bool {
	for {
		until := b.until.Load()
		if until == 0 {
			return false
		}
		if int64(now) < until {
			return true
		}
		if b.until.CompareAndSwap(until, 0) {
			return false
		}
	}
}

// remaining is how long the belief still holds; not positive if it does not.
func (b *belief) remaining(now machine.Time) time.Duration {
	return machine.Time(b.until.Load()).Sub(now)
}

// termAt is the term in which this process may act; 0 if it may not.
func (b *belief) termAt(now machine.Time) uint64 {
	for {
		term := b.term.Load()
		if !b.holdsAt(now) {
			return 0
		}
		if term == b.term.Load() {
			return term // so the belief was this term's
		}
	}
}
