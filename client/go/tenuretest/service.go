package tenuretest

import (
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"tenure"
	"tenure/internal/clock"
	"tenure/internal/machine"
	pb "tenure/v1"
)

const (
	// In real time: how long to wait for events that happen within moments or never.
	patience = 10 * time.Second
	glance   = 200 * time.Microsecond
	// The lease of a candidate that does not ask for one.
	leaseDefault = 10 * time.Second
)

// Service is a Tenure. Its methods may be called from any goroutine; those that fail the test, like
// t.Fatal, only from that of the test.
type Service struct {
	t        testing.TB
	clock    *clock.Manual
	endpoint string

	mutex     sync.Mutex
	elections map[string]*election
	sessions  map[string]*session
	requests  map[string]string // sessions by the requests that opened them
	cut       map[string]bool   // candidates; "" is everybody
	streams   map[*stream]bool
	observers map[*observer]bool
}

// NewService starts a service, which ends with the test.
func NewService(t testing.TB) *Service {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Service{
		t: t, clock: clock.NewManual(machine.Time(time.Hour)), endpoint: listener.Addr().String(),
		elections: map[string]*election{}, sessions: map[string]*session{}, requests: map[string]string{},
		cut: map[string]bool{}, streams: map[*stream]bool{}, observers: map[*observer]bool{},
	}
	server := grpc.NewServer()
	healthpb.RegisterHealthServer(server, health.NewServer())
	pb.RegisterElectionServiceServer(server, &calls{Service: s})
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return s
}

// Endpoint is where the service listens, for code that makes its own clients. Such a client runs by the
// real clock, unless it has the TestClock of ClientOptions.
func (s *Service) Endpoint() string { return s.endpoint }

// ClientOptions are the options of a candidate that runs by the service's clock.
func (s *Service) ClientOptions(candidate string) tenure.ClientOptions {
	return tenure.ClientOptions{Endpoints: s.endpoint, Candidate: candidate, TestClock: s.clock}
}

// Client is a candidate that runs by the service's clock. It is closed with the test.
func (s *Service) Client(candidate string) *tenure.Client {
	s.t.Helper()
	client, err := tenure.NewClient(s.ClientOptions(candidate))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = client.Close() })
	return client
}

// Advance lets time pass. Meanwhile, clients that can reach the service renew; the leases of all others
// end when they are due, and their seats go to the next in the queue. Returns when the clients have
// acted on it; their callbacks and work run on goroutines of their own.
func (s *Service) Advance(d time.Duration) {
	s.t.Helper()
	end := s.clock.Now().Add(d)
	for {
		wake := min(s.settle(), s.nextExpiry(), end)
		if s.clock.Now() >= end {
			return
		}
		s.clock.Set(max(wake, s.clock.Now().Add(time.Millisecond)))
		s.expire()
	}
}

// settle waits until all clients wait for the clock, and returns when the first one will act.
func (s *Service) settle() machine.Time {
	s.t.Helper()
	for until := time.Now().Add(patience); ; time.Sleep(glance) {
		wake, settled := machine.Never, true
		for _, member := range s.clock.Members() {
			rest := member.Rest()
			wake = min(wake, rest.Wake)
			settled = settled && rest.AtRest && s.hasHandled(rest)
		}
		if settled {
			return wake
		}
		if time.Now().After(until) {
			s.t.Fatal("tenuretest: a client does not come to rest")
		}
	}
}

// AwaitLeader waits, by the real clock, until the candidate leads the election, and returns the term. An
// empty candidate: until nobody leads.
func (s *Service) AwaitLeader(election, candidate string) (term uint64) {
	s.t.Helper()
	for until := time.Now().Add(patience); ; time.Sleep(glance) {
		leader, term := s.Leader(election)
		if leader == candidate {
			s.settle()
			return term
		}
		if time.Now().After(until) {
			s.t.Fatalf("tenuretest: %q does not lead election %q, but %q", candidate, election, leader)
		}
	}
}

// Leader is the leader of the election, and the highest term ever granted. Empty: nobody leads.
func (s *Service) Leader(election string) (candidate string, term uint64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	e := s.elections[election]
	if e == nil {
		return "", 0
	}
	return e.leader.GetCandidate(), e.term
}

// Depose ends the current term at once, as `tenure depose` does. The next in the queue leads; the one that
// was deposed may stand again.
func (s *Service) Depose(election string) {
	s.t.Helper()
	s.mutex.Lock()
	e := s.elections[election]
	if e == nil || e.leader == nil {
		s.mutex.Unlock()
		s.t.Fatalf("tenuretest: nobody leads election %q", election)
		return
	}
	s.vacate(e, pb.Cause_CAUSE_DEPOSED)
	s.mutex.Unlock()
	s.settle()
}

// Appoint asks the leader to make way for a candidate that waits in the queue, as `tenure appoint` does.
func (s *Service) Appoint(election, candidate string) {
	s.t.Helper()
	s.mutex.Lock()
	err := s.appoint(election, candidate)
	s.mutex.Unlock()
	if err != nil {
		s.t.Fatal(err)
	}
	s.settle()
}

func (s *Service) appoint(name, candidate string) error {
	e := s.elections[name]
	if e == nil {
		return fmt.Errorf("tenuretest: nobody has campaigned in election %q", name)
	}
	for _, place := range e.queue {
		if place.session.candidate != candidate {
			continue
		}
		if e.leader == nil {
			s.elect(e, place)
			return nil
		}
		e.appointed = place.session
		e.leader = withSuccessor(e.leader, candidate)
		s.event(e, pb.Event_TYPE_HANDOVER_ASKED, e.leader, 0)
		s.notify(e.holder, &pb.SeatNotice{Election: name, Change: &pb.SeatNotice_StepDown{
			StepDown: &pb.StepDown{Term: e.term, Successor: candidate},
		}})
		return nil
	}
	return fmt.Errorf("tenuretest: candidate %q does not wait in election %q", candidate, name)
}

// Cut keeps candidates from reaching the service, until Restore; without names, everybody, observers
// too. A renewal fails at once.
func (s *Service) Cut(candidates ...string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(candidates) == 0 {
		candidates = []string{""}
		for observer := range s.observers {
			observer.end()
		}
	}
	for _, candidate := range candidates {
		s.cut[candidate] = true
		for stream := range s.streams {
			if candidate == "" || stream.candidate == candidate {
				stream.end()
			}
		}
	}
}

// Restore ends a Cut. A client tries again when the clock moves.
func (s *Service) Restore(candidates ...string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(candidates) == 0 {
		clear(s.cut)
	}
	for _, candidate := range candidates {
		delete(s.cut, candidate)
	}
}

func (s *Service) isCut(candidate string) bool { return s.cut[""] || s.cut[candidate] }

// nextExpiry is when the next session ends, unless it is renewed.
func (s *Service) nextExpiry() machine.Time {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	next := machine.Never
	for _, session := range s.sessions {
		if !session.ended {
			next = min(next, session.expiresAt)
		}
	}
	return next
}

func (s *Service) expire() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, session := range s.sessions {
		if !session.ended && s.clock.Now() >= session.expiresAt {
			s.endSession(session, pb.Cause_CAUSE_EXPIRED)
		}
	}
}

// hasHandled reports whether a client has acted on everything that was sent on its stream.
func (s *Service) hasHandled(rest clock.Rest) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for stream := range s.streams {
		if stream.sessionID == rest.SessionID && rest.SessionID != "" {
			return stream.sent == rest.Handled
		}
	}
	return true
}
