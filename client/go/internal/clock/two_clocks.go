package clock

import (
	"time"

	"tenure/internal/machine"
)

// tolerance is what the two clocks may differ by before it counts. A belief ends a tenth of the lease
// early, so at least 100 ms: the shortest lease of a service is a second.
const tolerance = 50 * time.Millisecond

// twoClocks makes one clock, which runs while the machine sleeps, of one that may not and the time of
// day. When the time of day has gone ahead of the other one, the machine has slept; or somebody has set
// the time, which cannot be told apart, and costs the seat at worst.
type twoClocks struct {
	ahead time.Duration // how far the time of day was ahead of the monotonic clock, at the least since it last slept
	slept time.Duration
}

// at is the time after this much has passed on each of the two clocks. 0 is never, so it begins later.
func (c *twoClocks) at(monotonic, timeOfDay time.Duration) machine.Time {
	ahead := timeOfDay - monotonic
	if ahead > c.ahead+tolerance {
		c.slept += ahead - c.ahead
		c.ahead = ahead
	}
	c.ahead = min(c.ahead, ahead) // a time of day that is set back or slowed down hides no later sleep
	return machine.Time(time.Second + monotonic + c.slept)
}
