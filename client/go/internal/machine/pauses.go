package machine

import "time"

const (
	backoffMin = 20 * time.Millisecond
	backoffMax = 500 * time.Millisecond
	// After a refusal that only an operator, or other candidates, can lift.
	refusedForNowMin = 1 * time.Second
	refusedForNowMax = 5 * time.Second
)

// Chance is a random number below a limit, such as rand.Int63n.
type Chance func(limit int64) int64

// Backoff is how long to wait after this number of failures in a row.
func Backoff(failures int, chance Chance) time.Duration {
	longest := min(backoffMax, backoffMin<<min(max(failures-1, 0), 10))
	if failures <= 1 {
		return between(0, longest, chance)
	}
	return between(longest/2, longest, chance)
}

// RefusedPause is how long to wait after a refusal for now.
func RefusedPause(chance Chance) time.Duration {
	return between(refusedForNowMin, refusedForNowMax, chance)
}

func between(least, most time.Duration, chance Chance) time.Duration {
	return least + time.Duration(chance(int64(most-least)+1))
}
