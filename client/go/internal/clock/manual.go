package clock

import (
	"sync"

	"tenure/internal/machine"
)

// Manual is a clock that stands still until a test moves it: see package tenuretest. Safe for concurrent
// use.
type Manual struct {
	mutex   sync.Mutex
	now     machine.Time
	members map[Member]struct{}
}

// Member is a client that runs by a manual clock.
type Member interface {
	// Rest acts on the current time, and reports its progress.
	Rest() Rest
}

// Rest is the progress of a member.
type Rest struct {
	AtRest    bool         // it waits only for the clock, or for others
	Wake      machine.Time // when it next has something to do, unless something happens first
	SessionID string
	Handled   int // messages of its open stream
}

// NewManual starts at `now`, which must not be 0: that is never.
func NewManual(now machine.Time) *Manual {
	return &Manual{now: now, members: map[Member]struct{}{}}
}

// Now is this machine's clock if there is no manual one.
func (m *Manual) Now() machine.Time {
	if m == nil {
		return Now()
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.now
}

// Set moves the clock. It never goes back.
func (m *Manual) Set(now machine.Time) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.now = max(m.now, now)
}

// Join makes a member run by this clock until it leaves.
func (m *Manual) Join(member Member) {
	if m == nil {
		return
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.members[member] = struct{}{}
}

// Leave ends a Join.
func (m *Manual) Leave(member Member) {
	if m == nil {
		return
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.members, member)
}

// Members are the members that have not left.
func (m *Manual) Members() []Member {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	var members []Member
	for member := range m.members {
		members = append(members, member)
	}
	return members
}
