//go:build !linux

package clock

import (
	"time"

	"tenure/internal/machine"
)

var portable = newTwoClocks(time.Now())

// Now goes ahead with whichever of the system's two clocks has gone further: Go's monotonic one may
// stand still while the machine sleeps, and then the time of day tells. A time of day that is set
// forward therefore ends leases early, which is safe; one that is set back changes nothing.
func Now() machine.Time {
	now := time.Now()
	return portable.at(now.Sub(portable.began), now.Round(0).Sub(portable.began.Round(0)))
}
