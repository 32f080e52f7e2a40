package clock

import (
	"sync"
	"time"

	"tenure/internal/machine"
)

// twoClocks makes one clock, which runs while the machine sleeps, of one that may not and the time
// of day. Safe for concurrent use.
type twoClocks struct {
	began time.Time

	mutex sync.Mutex
	ahead time.Duration // how far the time of day has ever gone ahead of the monotonic clock
}

func newTwoClocks(began time.Time) *twoClocks { return &twoClocks{began: began} }

// at is the time after this much has passed on each of the two clocks. 0 is never, so it begins later.
func (c *twoClocks) at(monotonic, timeOfDay time.Duration) machine.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.ahead = max(c.ahead, timeOfDay-monotonic)
	return machine.Time(time.Second + monotonic + c.ahead)
}
