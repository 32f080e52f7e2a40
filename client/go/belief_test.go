package tenure

import "testing"

func TestABeliefThatAReaderHasSeenEndDoesNotComeBack(t *testing.T) {
	var b belief
	if b.holdsAt(5) || b.termAt(5) != 0 {
		t.Error("the belief holds before it began")
	}

	b.begin(7, 100)
	if !b.holdsAt(99) || b.termAt(99) != 7 || b.remaining(90) != 10 {
		t.Error("the belief does not hold")
	}
	if !b.extend(200) || b.termAt(150) != 7 {
		t.Error("the belief is not extended")
	}

	if b.holdsAt(200) {
		t.Error("the belief outlives its deadline")
	}
	if b.extend(300) || b.holdsAt(150) || b.termAt(150) != 0 {
		t.Error("the belief came back")
	}

	b.begin(8, 400)
	if b.termAt(350) != 8 {
		t.Error("the next one does not hold")
	}
	b.end()
	if b.holdsAt(350) || b.remaining(350) > 0 {
		t.Error("the belief does not end")
	}
}
