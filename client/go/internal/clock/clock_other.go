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
	portable twoClocks // guarded by mutex, which also puts the looks at the two clocks in order
)

// Now is Go's monotonic clock, which may stand still while the machine sleeps, and the sleep that the
// time of day tells of.
func Now() machine.Time {
	mutex.Lock()
	defer mutex.Unlock()
	now := time.Now()
	return portable.at(now.Sub(began), now.Round(0).Sub(began.Round(0)))
}
