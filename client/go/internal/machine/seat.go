package machine

import (
	"bytes"
	"time"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "tenure/v1"
)

const graceDivisor = 4

// SeatOptions are the options of one elector.
type SeatOptions struct {
	Election string
	Value    []byte
	Priority int32
	// There is work, which must be asked to end, and reports when it has. Without it, anything begun while
	// leading ends within the grace.
	HasWork bool
	// How long the work may take to end, at most half of the lease. Nil: a quarter of it.
	StopGrace *time.Duration
	// It leads for one term, and then no longer stands.
	OneTerm bool
}

type need int

const (
	needNothing need = iota
	needCampaign
	needResign
)

type phase int

const (
	outside phase = iota
	standing
	leading
	stopping
	ending
	retaking
	resigning
)

type trouble int

const (
	noTrouble trouble = iota
	unansweredTrouble
	refusedTrouble
)

// seat is one elector's seat: what to ask of the service, what to believe, and what to report.
//
//	outside --campaign--> standing --elected--> leading --asked to stop--> stopping
//	   ^                                           |                          | the work has ended
//	   |                                           | lost                     v
//	   +---------- the work has ended ----------- ending                   resigning --> outside
//
// A holder that stops because its lease ran out, but wants to keep leading, does not resign: as long as
// its lease is believed in, so the session is alive, it asks for the next term of its own seat.
//
//	stopping --the work has ended--> retaking --elected in the next term--> leading
//
// Invariants:
//   - It believes in a term only while the session's lease is believed in, and never again after it
//     stopped.
//   - It gives up a seat only when the work that needs it has ended.
//   - A resignation that may be on its way ends the belief for good.
//   - It reports the beginning and the end of each term once, in this order.
type seat struct {
	options    SeatOptions
	closedTerm uint64 // reports about terms up to this one no longer count
	needAt     Time   // the earliest time for the need
	// The last belief ended with the lease, or nearly: nobody wanted to let others go first.
	outlivedLease bool

	wanted      bool
	phase       phase
	leadership  *pb.Leadership // of the term that this session holds or may hold
	askedInTerm uint64         // the term that was held when the last campaign was sent
	askedAfter  uint64         // the term that it was meant to follow
	maybePlaced bool           // a campaign of this session is under way or may have been received
	proclaiming bool           // the service may not know the value yet
	believes    bool
	working     bool
	suspended   bool
	overran     bool
	trouble     trouble
	leaseTTL    time.Duration // when the term began
	stopAskedAt Time
	events      []Event
}

func newSeat(options SeatOptions, closedTerm uint64) seat {
	return seat{options: options, closedTerm: closedTerm, wanted: true}
}

// What this process wants and does.

func (s *seat) proclaim(value []byte, now Time) {
	s.options.Value = value
	s.proclaiming = true
	if s.phase == standing || s.phase == leading {
		s.needAt = now
	}
}

// leave stops standing: the work is asked to end, then the seat is given up.
func (s *seat) leave(now Time) {
	s.wanted = false
	switch {
	case s.phase == leading:
		s.askToStop(now)
	case s.phase == standing, s.phase == retaking, s.phase == outside && s.maybePlaced:
		s.giveUp(now)
	}
}

// abandon is like leave, after the elector is gone: the work has ended and nobody is notified.
func (s *seat) abandon(now Time) {
	s.wanted, s.working = false, false
	if s.phase == ending {
		s.phase = outside
	}
	if s.phase != outside || s.maybePlaced {
		s.giveUp(now)
	}
}

func (s *seat) workEnded(now Time) {
	s.working = false
	switch s.phase {
	case leading:
		s.giveUp(now)
	case stopping:
		s.stopped(now)
	case ending:
		s.phase = outside
		s.needAt = now
		if !s.wanted && s.maybePlaced {
			s.giveUp(now)
		}
	}
}

// beliefEnded reports that a reader has seen the deadline pass, even if `now` is earlier.
func (s *seat) beliefEnded(now Time) {
	if !s.believes {
		return
	}
	if s.working && s.phase == leading {
		s.tell(StopWork{})
	}
	if s.working {
		s.overrun()
	}
	s.stopBelieving(pb.Cause_CAUSE_EXPIRED)
	s.outlivedLease = true
	if s.working {
		s.phase = stopping
	} else {
		s.stopped(now)
	}
}

// Progress of the need.

// asked records that a campaign was sent. One at a time, and never beside a resignation.
func (s *seat) asked() {
	s.askedInTerm = s.term()
	s.askedAfter = s.afterTerm()
	s.maybePlaced = true
	s.proclaiming = false
}

// unanswered records that the request failed, or was refused for now. It is repeated at retryAt.
func (s *seat) unanswered(answer *status.Status, retryAt Time) {
	trouble := refusedTrouble
	if IsTransient(answer) {
		trouble = unansweredTrouble
	}
	if trouble != s.trouble {
		s.tell(Troubled{answer.Err()})
	}
	s.trouble = trouble
	s.proclaiming = true
	s.needAt = retryAt
}

// What the service says.

// onStanding: the last campaign was answered, and this session is in the queue. It is repeated at
// checkAt, because nobody reports the loss of a place.
func (s *seat) onStanding(place *pb.Standing, now, checkAt Time) {
	s.trouble = noTrouble
	held := s.phase == leading || s.phase == stopping || s.phase == retaking
	if held && s.askedInTerm == s.term() { // so the answer is not older than the grant
		s.over(pb.Cause_CAUSE_UNSPECIFIED, now)
	}
	if s.phase != outside && s.phase != standing {
		return
	}
	stood := s.phase == standing
	s.phase = standing
	if !s.wanted {
		s.giveUp(now)
		return
	}
	if !stood {
		s.tell(Standing{place})
	}
	s.needAt = checkAt
	if s.proclaiming {
		s.needAt = now
	}
}

func (s *seat) onElected(leadership *pb.Leadership, now Time, lease *Lease) {
	if leadership.GetTerm() <= s.term() {
		return
	}
	if leadership.GetTerm() <= s.closedTerm {
		// Either stale, or the service still thinks we lead a term that we have given up.
		if s.term() == 0 && s.phase != ending {
			s.leadership = leadership
			s.giveUp(now)
		}
		return
	}
	if s.term() != 0 {
		s.over(pb.Cause_CAUSE_UNSPECIFIED, now)
	}
	s.leadership = leadership
	s.trouble = noTrouble
	s.outlivedLease = false
	switch {
	case s.working: // still working for an earlier term: this one is given up afterwards
		s.phase = stopping
	case !s.wanted || !lease.believedAt(now):
		s.giveUp(now)
	default:
		s.begin(now, lease)
	}
}

// onCampaignElected: the last campaign was answered, and this session leads in `term`.
func (s *seat) onCampaignElected(term uint64, now Time) {
	if s.phase == retaking && term == s.term() && term == s.askedAfter {
		s.giveUp(now) // the service does not know `after_term`
	}
}

func (s *seat) onLost(term uint64, cause pb.Cause, now Time) {
	if term <= s.closedTerm || term < s.term() {
		return
	}
	s.closedTerm = term
	switch {
	case s.phase == resigning && term == s.term(): // the answer ends it
	case s.term() != 0:
		s.over(cause, now)
	case s.phase == standing: // elected and lost before this process knew
		s.phase = outside
		s.needAt = now
	}
}

func (s *seat) onStepDownAsked(term uint64, successor string, now Time) {
	if term != s.term() {
		return
	}
	if s.leadership != nil {
		s.leadership = proto.Clone(s.leadership).(*pb.Leadership) // the other one has been reported
		s.leadership.Successor = successor
	}
	switch s.phase {
	case leading:
		s.askToHandOver(now)
	case retaking:
		s.giveUp(now)
	}
}

// onSessionOver: the session has ended, and with it all that it held.
func (s *seat) onSessionOver(cause pb.Cause, now Time) {
	s.maybePlaced = false
	s.over(cause, now)
}

// onRefused: the last campaign will never be granted.
func (s *seat) onRefused(answer *status.Status, now Time) {
	s.tell(Refused{answer.Err()})
	if s.phase != leading && s.phase != stopping { // otherwise only the value is refused
		s.leave(now)
	}
}

// onResigned: a resignation was answered, from `term` or, with 0, from the queue. With `waits`, the
// session may still be in the queue. The elector stands again at againAt at the earliest.
func (s *seat) onResigned(term uint64, waits bool, againAt Time) {
	if s.phase != resigning || term != s.term() {
		return
	}
	s.closedTerm = max(s.closedTerm, term)
	s.leadership = nil
	s.maybePlaced = waits
	s.phase = outside
	s.needAt = againAt
	if !s.wanted && s.maybePlaced {
		s.giveUp(againAt)
	}
}

// Time.

// pass must be called before any other input, and at nextWake.
func (s *seat) pass(now Time, lease *Lease) {
	if s.believes && !lease.believedAt(now) {
		s.beliefEnded(now)
	}
	if s.believes {
		if overdue := now >= lease.overdueAt(); overdue != s.suspended {
			s.suspended = overdue
			if overdue {
				s.tell(Suspended{})
			} else {
				s.tell(Resumed{})
			}
		}
		if s.stopsEarly() && now >= s.stopAt(lease) {
			s.outlivedLease = true
			s.askToStop(now)
		}
	}
	if s.phase == retaking {
		if !lease.believedAt(now) {
			s.needAt = Never // until a renewal confirms that the session is alive
		} else if s.needAt == Never {
			s.needAt = now
		}
	}
	if (s.phase == stopping || s.phase == ending) && now >= s.overrunAt(lease) {
		if s.working {
			s.overrun()
		} else {
			s.giveUp(now)
		}
	}
}

func (s *seat) nextWake(lease *Lease) Time {
	wake := Never
	if s.believes {
		wake = lease.believedUntil
		if !s.suspended {
			wake = min(wake, lease.overdueAt())
		}
		if s.stopsEarly() {
			wake = min(wake, s.stopAt(lease))
		}
	}
	if (s.phase == stopping || s.phase == ending) && !s.overran {
		wake = min(wake, s.overrunAt(lease))
	}
	return wake
}

// Results.

func (s *seat) need() need {
	switch {
	case s.phase == resigning:
		return needResign
	case s.phase == standing, s.phase == retaking, s.phase == outside && s.wanted,
		s.phase == leading && s.proclaiming:
		return needCampaign
	default:
		return needNothing
	}
}

// term is the term that this session holds or may hold; 0 if none.
func (s *seat) term() uint64 { return s.leadership.GetTerm() }

// afterTerm is the term that the next campaign ends, so that this session leads in the following one; 0
// if none.
func (s *seat) afterTerm() uint64 {
	if s.phase == retaking {
		return s.term()
	}
	return 0
}

// gone reports that nothing is left to do for this elector, now or later.
func (s *seat) gone() bool { return !s.wanted && s.phase == outside && !s.working }

// believedUntil is the time until which this process may act as the leader; 0 if it does not lead.
func (s *seat) believedUntil(lease *Lease) Time {
	if !s.believes {
		return 0
	}
	return lease.believedUntil
}

func (s *seat) takeEvents() []Event {
	events := s.events
	s.events = nil
	return events
}

// Internals.

func (s *seat) tell(event Event) { s.events = append(s.events, event) }

func (s *seat) begin(now Time, lease *Lease) {
	s.phase = leading
	s.believes = true
	s.wanted = !s.options.OneTerm
	s.leaseTTL = lease.ttl
	s.working = s.options.HasWork
	s.suspended, s.overran = false, false
	s.proclaiming = !bytes.Equal(s.leadership.GetValue(), s.options.Value)
	s.needAt = now
	s.tell(Elected{s.leadership})
	if s.leadership.GetSuccessor() != "" {
		s.askToHandOver(now)
	}
}

func (s *seat) stopBelieving(cause pb.Cause) {
	if s.believes {
		s.believes, s.suspended = false, false
		s.tell(Lost{cause})
	}
}

func (s *seat) askToStop(now Time) {
	s.phase = stopping
	s.stopAskedAt = now
	s.overran = false
	if s.options.HasWork {
		s.tell(StopWork{})
	} else {
		s.stopBelieving(pb.Cause_CAUSE_RESIGNED)
	}
}

func (s *seat) askToHandOver(now Time) {
	s.tell(HandoverAsked{s.leadership.GetSuccessor()})
	s.askToStop(now)
}

func (s *seat) overrun() {
	if !s.overran {
		s.overran = true
		s.tell(Overrun{})
	}
}

// stopped: nothing needs the term any more; this process never believes in it again.
func (s *seat) stopped(now Time) {
	if !s.outlivedLease || !s.wanted || s.leadership.GetSuccessor() != "" {
		s.giveUp(now)
		return
	}
	s.stopBelieving(pb.Cause_CAUSE_RESIGNED)
	s.phase = retaking
	s.needAt = Never
}

// giveUp: nothing needs the seat or the place any more, so it is given up.
func (s *seat) giveUp(now Time) {
	s.stopBelieving(pb.Cause_CAUSE_RESIGNED)
	s.phase = resigning
	s.needAt = now
}

// over: the service has ended the term; nothing is left to give up.
func (s *seat) over(cause pb.Cause, now Time) {
	s.stopBelieving(cause)
	if s.phase == leading && s.working {
		s.stopAskedAt = now
		s.tell(StopWork{})
	}
	s.closedTerm = max(s.closedTerm, s.term())
	s.leadership = nil
	s.phase = outside
	if s.working {
		s.phase = ending
	}
	s.needAt = now
}

func (s *seat) stopsEarly() bool { return s.phase == leading && s.options.HasWork }

func (s *seat) grace(lease *Lease) time.Duration {
	ttl := lease.ttl
	if ttl == 0 { // an ended session has no lease any more
		ttl = s.leaseTTL
	}
	wished := ttl / graceDivisor
	if s.options.StopGrace != nil {
		wished = *s.options.StopGrace
	}
	return min(wished, ttl/2)
}

func (s *seat) stopAt(lease *Lease) Time { return lease.believedUntil.Add(-s.grace(lease)) }

func (s *seat) overrunAt(lease *Lease) Time {
	patienceEnds := s.stopAskedAt.Add(s.grace(lease))
	if s.believes {
		return min(patienceEnds, lease.believedUntil)
	}
	return patienceEnds
}
