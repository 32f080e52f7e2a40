package machine

import (
	"bytes"
	"time"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "tenure/v1"
)

const graceDivisor = 4

// SeatOptions are those of one elector.
type SeatOptions struct {
	Election string
	Value    []byte
	Priority int32
	// There is work that has to be asked to end, and that says when it has ended. If not, whatever
	// was begun in belief ends within the grace.
	HasWork bool
	// How long the work may take to end, at most half of the lease. Nil: a quarter of it.
	StopGrace *time.Duration
	// It stands no more once it leads: there is one term.
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

// seat is one elector's stand in its election: what to ask of the service, what to believe, and what
// to tell.
//
//	outside --campaign--> standing --elected--> leading --asked to stop--> stopping
//	   ^                                           |                          | the work has ended
//	   |                                           | lost                     v
//	   +---------- the work has ended ----------- ending                   resigning --> outside
//
// A holder that stops because its lease ran out, and wants to lead on, does not resign: while the
// lease is believed in, and so the session lives, it asks for the next term of its own seat.
//
//	stopping --the work has ended--> retaking --elected in the next term--> leading
//
// What it keeps to:
//   - It believes in a term only while the session's lease is believed in, and never again in a term
//     in which it has ceased to believe.
//   - It gives up a seat only when the work that needs it has ended.
//   - A resignation that may be on its way ends the belief for good.
//   - It reports the beginning and the end of each term once, in this order.
type seat struct {
	options    SeatOptions
	closedTerm uint64 // reports about terms up to this one no longer count
	needAt     Time   // the earliest time for the need
	// The lease has ended the last belief, or nearly: nobody wanted to let others go first.
	outlivedLease bool

	wanted      bool
	phase       phase
	leadership  *pb.Leadership // of the term that is held, or may be
	askedInTerm uint64         // the term that was held when the last campaign was asked
	askedAfter  uint64         // the one that it was to follow
	maybePlaced bool           // a campaign of this session is under way or may have been heard
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

// leave : it stands no more. The work is asked to end, then the seat is given up.
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

// beliefEnded : the deadline has passed for somebody, if not at `now`.
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

// What becomes of the need.

// asked : a campaign is on its way. One at a time, and none beside a resignation.
func (s *seat) asked() {
	s.askedInTerm = s.term()
	s.askedAfter = s.afterTerm()
	s.maybePlaced = true
	s.proclaiming = false
}

// unanswered : it was not answered, or refused for a while. To be asked again at retryAt.
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

// onStanding : the last campaign was answered, and this session waits. To be asked again at checkAt,
// because a place that is taken away is not told.
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
		// Older news; or else the service takes for the leader who must never act in this term again.
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
	case s.working: // still for an earlier term: this one is given up after it
		s.phase = stopping
	case !s.wanted || !lease.believedAt(now):
		s.giveUp(now)
	default:
		s.begin(now, lease)
	}
}

// onCampaignElected : the last campaign was answered, and this session leads in `term`.
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
	case s.phase == standing: // elected and lost before anybody here knew of it
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

// onSessionOver : the session is over, and with it whatever it held.
func (s *seat) onSessionOver(cause pb.Cause, now Time) {
	s.maybePlaced = false
	s.over(cause, now)
}

// onRefused : the campaign that was asked last will not be granted, ever.
func (s *seat) onRefused(answer *status.Status, now Time) {
	s.tell(Refused{answer.Err()})
	if s.phase != leading && s.phase != stopping { // there only the value is refused
		s.leave(now)
	}
}

// onResigned : a resignation from `term`, or, with 0, from the queue, was answered; the session may
// yet be in the queue if it waits. To stand again not before againAt.
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

// What time does.

// pass is to be called before any other input, and at nextWake.
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
			s.needAt = Never // until a renewal says that the session lives
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

// What it has come to.

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

// term is the one that is held, or may be; 0 if none.
func (s *seat) term() uint64 { return s.leadership.GetTerm() }

// afterTerm is the one that a campaign is to end, so that this session leads in the next; 0 if none.
func (s *seat) afterTerm() uint64 {
	if s.phase == retaking {
		return s.term()
	}
	return 0
}

// gone says that nothing is left to do for this elector, now or later.
func (s *seat) gone() bool { return !s.wanted && s.phase == outside && !s.working }

// believedUntil says until when this process may act as the leader; 0 if it does not lead.
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

// The rest.

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

// stopped : nothing needs the term any more, in which this process never believes again.
func (s *seat) stopped(now Time) {
	if !s.outlivedLease || !s.wanted || s.leadership.GetSuccessor() != "" {
		s.giveUp(now)
		return
	}
	s.stopBelieving(pb.Cause_CAUSE_RESIGNED)
	s.phase = retaking
	s.needAt = Never
}

// giveUp : the seat, or the place, is to be given up now that nothing needs it.
func (s *seat) giveUp(now Time) {
	s.stopBelieving(pb.Cause_CAUSE_RESIGNED)
	s.phase = resigning
	s.needAt = now
}

// over : for the service the term is over, and nothing is left to give up.
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
	if ttl == 0 { // a session that is over has no lease any more
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
