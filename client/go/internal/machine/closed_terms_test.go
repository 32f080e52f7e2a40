package machine

import (
	"fmt"
	"testing"
)

func TestClosedTermsAreBoundedAndTheLatestAreKept(t *testing.T) {
	seats := newSeats()
	for number := uint64(1); number <= 2*closedTermsMax; number++ {
		e := seats.add(number, SeatOptions{Election: fmt.Sprint(number)})
		e.seat.closedTerm = number
		e.seat.leave(1)
		seats.takeGone()
	}

	if kept := len(seats.closedTerms.byElection); kept != closedTermsMax || seats.closedTerms.oldest.Len() != kept {
		t.Error(kept)
	}
	if term := seats.closedTerms.of(fmt.Sprint(2 * closedTermsMax)); term != 2*closedTermsMax {
		t.Error(term)
	}
	if term := seats.closedTerms.of("1"); term != 0 {
		t.Error(term)
	}
}

func TestAClosedTermNeverFalls(t *testing.T) {
	closed := newClosedTerms()
	closed.raise("a", 7)
	if term := closed.raise("a", 5); term != 7 || closed.of("a") != 7 {
		t.Error(term)
	}
	closed.clear()
	if closed.of("a") != 0 || closed.oldest.Len() != 0 {
		t.Error("terms are left after clear")
	}
}
