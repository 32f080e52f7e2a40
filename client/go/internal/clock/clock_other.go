//go:build !linux

package clock

import (
	"sync"
	"time"

	"tenure/internal/machine"
)

var (
	began    = time.Now()
	mutex    sync.Mutex
	portable twoClocks // guarded by mutex, which also orders the readings of the two clocks
)

// Now is Go's monotonic clock, which may stop while the machine sleeps, plus the sleep that the time of
// day shows.
func Now() machine.Time {
	mutex.Lock()
	defer mutex.Unlock()
	now := time.Now()
	return portable.at(now.Sub(began), now.Round(0).Sub(began.Round(0)))
}
