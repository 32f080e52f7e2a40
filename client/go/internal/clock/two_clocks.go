package clock

import (
	"time"

	"tenure/internal/machine"
)

// tolerance is a difference between the two clocks that does not count. A belief ends a tenth of the
// lease early, so at least 100 ms: the shortest lease is a second.
const tolerance = 50 * time.Millisecond

// twoClocks combines the time of day with a clock that may stop while the machine sleeps, into one that
// does not. If the time of day gets ahead of the other clock, the machine has slept, or somebody has set
// the time. The two cannot be told apart; at worst, the seat is lost.
type twoClocks struct {
	ahead time.Duration // the smallest lead of the time of day over the monotonic clock since the last sleep
	slept time.Duration
}

// at is the time after these durations on each of the two clocks. It starts above 0, which is never.
func (c *twoClocks) at(monotonic, timeOfDay time.Duration) machine.Time {
	ahead := timeOfDay - monotonic
	if ahead > c.ahead+tolerance {
		c.slept += ahead - c.ahead
		c.ahead = ahead
	}
	c.ahead = min(c.ahead, ahead) // setting the time of day back or slowing it down hides no later sleep
	return machine.Time(time.Second + monotonic + c.slept)
}
