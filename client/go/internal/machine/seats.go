package machine

import (
	"math"

	pb "tenure/v1"
)

// firstStray is the first number of the session's own seats, which nobody else knows.
const firstStray = math.MaxUint64 / 2

type entry struct {
	number    uint64
	seat      seat
	termAsked uint64 // the term held when the stream requested the list of seats
	noticedOn uint64 // the last stream that reported a grant
	inDoubt   bool   // not listed, and granted before or after the list was read
	called    bool   // a call for it is under way
}

// seats are the seats of one session, by number and by election.
type seats struct {
	all         []*entry // in the order of arrival
	byNumber    map[uint64]*entry
	byElection  map[string][]*entry // the first one acts
	closedTerms *closedTerms        // of seats that are gone, for this session
}

func newSeats() seats {
	return seats{
		byNumber:    map[uint64]*entry{},
		byElection:  map[string][]*entry{},
		closedTerms: newClosedTerms(),
	}
}

func (s *seats) add(number uint64, options SeatOptions) *entry {
	e := &entry{number: number, seat: newSeat(options, s.closedTerms.of(options.Election))}
	s.all = append(s.all, e)
	s.byNumber[number] = e
	s.byElection[options.Election] = append(s.byElection[options.Election], e)
	return e
}

// find returns nil if there is none.
func (s *seats) find(number uint64) *entry { return s.byNumber[number] }

// actingIn is the seat that acts in this election; others start when it is gone. Nil if there is none.
func (s *seats) actingIn(election string) *entry {
	if entries := s.byElection[election]; len(entries) > 0 {
		return entries[0]
	}
	return nil
}

// takeGone removes the seats that have nothing left to do, and returns their numbers.
func (s *seats) takeGone() []uint64 {
	var gone []uint64
	kept := s.all[:0]
	for _, e := range s.all {
		if !e.seat.gone() || e.called {
			kept = append(kept, e)
			continue
		}
		s.forget(e)
		gone = append(gone, e.number)
	}
	clear(s.all[len(kept):])
	s.all = kept
	return gone
}

func (s *seats) forget(gone *entry) {
	delete(s.byNumber, gone.number)
	election := gone.seat.options.Election
	closedTerm := s.closedTerms.raise(election, gone.seat.closedTerm)
	var others []*entry
	for _, e := range s.byElection[election] {
		if e != gone {
			others = append(others, e)
		}
	}
	if len(others) == 0 {
		delete(s.byElection, election)
	} else {
		s.byElection[election] = others
		others[0].seat.closedTerm = max(others[0].seat.closedTerm, closedTerm)
	}
}

// callAt is when the seat's next call is due; never, if none is.
func (s *seats) callAt(e *entry) Time {
	if e.called || e.seat.need() == needNothing || s.byElection[e.seat.options.Election][0] != e {
		return Never
	}
	return e.seat.needAt
}

// forgetTerms: the session has ended, and nothing received in it counts any more.
func (s *seats) forgetTerms() { s.closedTerms.clear() }

// A new stream's first answer lists the held seats. The stream reports all changes from before the list
// was read. So a seat that is not listed is lost, if it was held when the list was requested. A seat
// granted since then was either granted after the list was read, and the stream reports that too, or it
// was granted and lost before.

func (s *seats) listAsked() {
	for _, e := range s.all {
		e.termAsked = e.seat.term()
	}
}

// listed: the stream has delivered the list, and each seat in it has been notified.
func (s *seats) listed(held []*pb.Leadership, stream uint64, now Time) {
	terms := map[string]uint64{}
	for _, leadership := range held {
		terms[leadership.GetElection()] = leadership.GetTerm()
	}
	for _, e := range s.all {
		term := e.seat.term()
		listed, found := terms[e.seat.options.Election]
		missing := term != 0 && !(found && listed >= term) && e.noticedOn != stream
		e.inDoubt = missing && e.termAsked != term
		if missing && !e.inDoubt {
			e.seat.onLost(term, pb.Cause_CAUSE_UNSPECIFIED, now)
		}
	}
}

// anyInDoubt reports whether the list must be requested again.
func (s *seats) anyInDoubt() bool {
	for _, e := range s.all {
		if e.inDoubt && e.seat.term() != 0 {
			return true
		}
	}
	return false
}
