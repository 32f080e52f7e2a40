package clock

import (
	"golang.org/x/sys/unix"

	"tenure/internal/machine"
)

// Now is CLOCK_BOOTTIME. Go's own monotonic clock stands still while the machine sleeps.
func Now() machine.Time {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		panic("tenure: CLOCK_BOOTTIME: " + err.Error()) // always available since Linux 2.6.39
	}
	return machine.Time(now.Nano())
}
