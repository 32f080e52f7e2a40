package clock

import (
	"testing"
	"time"
)

func TestTheClockRises(t *testing.T) {
	before := Now()
	if now := Now(); before <= 0 || now < before {
		t.Errorf("%d after %d", now, before)
	}
}

func TestOfTwoClocksTheOneThatSleptIsCorrected(t *testing.T) {
	clock := newTwoClocks(time.Time{})
	for _, step := range []struct {
		about                      string
		monotonic, timeOfDay, want time.Duration
	}{
		{"both run", 1 * time.Minute, 1 * time.Minute, 1 * time.Minute},
		{"the machine slept for an hour", 2 * time.Minute, 62 * time.Minute, 62 * time.Minute},
		{"the time of day was set back", 3 * time.Minute, 2 * time.Minute, 63 * time.Minute},
		{"it slept again, but not for as long as that", 4 * time.Minute, 5 * time.Minute, 64 * time.Minute},
	} {
		if got := time.Duration(clock.at(step.monotonic, step.timeOfDay)) - time.Second; got != step.want {
			t.Errorf("%s: %v, not %v", step.about, got, step.want)
		}
	}
}
