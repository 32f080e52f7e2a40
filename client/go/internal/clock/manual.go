package clock

import (
	"sync"

	"tenure/internal/machine"
)

// Manual is a clock that stands until a test moves it: see package tenuretest. Safe for concurrent use.
type Manual struct {
	mutex   sync.Mutex
	now     machine.Time
	members map[Member]struct{}
}

// Member goes by a manual clock.
type Member interface {
	// Rest acts on the time that it is, and says how far it has come.
	Rest() Rest
}

// Rest is how far a member has come.
type Rest struct {
	AtRest    bool         // it waits for nothing but the clock, or for others
	Wake      machine.Time // when it has something to do, unless something happens before
	SessionID string
	Handled   int // messages of its open stream
}

// NewManual is not at 0, which is never.
func NewManual(now machine.Time) *Manual {
	return &Manual{now: now, members: map[Member]struct{}{}}
}

// Now is that of this machine if there is no manual clock.
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

// Join : a member goes by this clock from now on, until it leaves.
func (m *Manual) Join(member Member) {
	if m == nil {
		return
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.members[member] = struct{}{}
}

// Leave : see Join.
func (m *Manual) Leave(member Member) {
	if m == nil {
		return
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.members, member)
}

// Members are those that have joined and not left.
func (m *Manual) Members() []Member {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	var members []Member
	for member := range m.members {
		members = append(members, member)
	}
	return members
}
