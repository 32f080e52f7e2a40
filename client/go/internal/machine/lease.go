// Package machine decides what a client of Tenure does: the session with the seats of its electors,
// and the observation of an observer.
//
// It does no I/O and has no clock: `now` and all that happened are arguments, and the caller carries out
// its decisions. Nothing in it is safe for concurrent use. The test vectors in tests/polyglot/vectors
// are played to it and to the C++ library.
package machine

import (
	"math"
	"time"
)

// Time is a point on the holder's clock, in nanoseconds. 0 is never, in the past.
type Time int64

// Never is later than every other time.
const Never Time = math.MaxInt64

// Add returns a later time.
func (t Time) Add(d time.Duration) Time { return t + Time(d) }

// Sub returns how much later t is than earlier.
func (t Time) Sub(earlier Time) time.Duration { return time.Duration(t - earlier) }

const (
	beliefDivisor    = 10 // a holder trusts all but 1/beliefDivisor of its lease
	renewalsPerLease = 3
)

// Lease is a holder's own view of its lease.
//
// The service counts a lease from when it received the renewal. The holder counts it from before it sent
// that renewal, and believes in it for a tenth less: so it stops before the service elects anyone else,
// as long as the two clocks drift apart by less than a tenth.
type Lease struct {
	ttl           time.Duration
	renewedAt     Time
	believedUntil Time
}

// renewed records that a renewal sent at sentAt was answered. Answers may come in any order.
func (l *Lease) renewed(sentAt Time, ttl time.Duration) {
	l.ttl = ttl
	l.renewedAt = max(l.renewedAt, sentAt)
	l.believedUntil = max(l.believedUntil, sentAt.Add(ttl-ttl/beliefDivisor))
}

func (l *Lease) believedAt(now Time) bool { return now < l.believedUntil }

// overdueAt is when a renewal, and a second attempt, should have been answered.
func (l *Lease) overdueAt() Time { return l.renewedAt.Add(l.ttl / 2) }

func (l *Lease) renewalInterval() time.Duration { return l.ttl / renewalsPerLease }
