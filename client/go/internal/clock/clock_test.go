package clock

import (
	"testing"
	"time"

	"tenure/internal/machine"
)

func TestTheClockRises(t *testing.T) {
	before := Now()
	if now := Now(); before <= 0 || now < before {
		t.Errorf("%d after %d", now, before)
	}
}

// computer has two clocks, which the test moves.
type computer struct {
	clock                twoClocks
	monotonic, timeOfDay time.Duration
}

func (c *computer) runs(passed time.Duration)   { c.monotonic += passed; c.timeOfDay += passed }
func (c *computer) sleeps(passed time.Duration) { c.timeOfDay += passed }
func (c *computer) sets(step time.Duration)     { c.timeOfDay += step }
func (c *computer) looks() machine.Time         { return c.clock.at(c.monotonic, c.timeOfDay) }

func TestTheClockThatSleepsIsCorrected(t *testing.T) {
	for _, test := range []struct {
		about string
		moves func(*computer)
		want  time.Duration
	}{
		{"it runs like the monotonic clock", func(c *computer) { c.runs(1_234_567) }, 1_234_567},
		{"it keeps running while the machine sleeps, each time", func(c *computer) {
			c.sleeps(time.Hour)
			c.looks()
			c.runs(10)
			c.sleeps(time.Hour)
		}, 2*time.Hour + 10},
		{"setting the time of day back changes nothing", func(c *computer) {
			c.sets(-time.Hour)
			c.runs(10)
		}, 10},
		{"a sleep after the time of day was set back counts", func(c *computer) {
			c.sets(-time.Minute)
			c.looks()
			c.sleeps(40 * time.Second)
		}, 40 * time.Second},
		{"a sleep before the time of day is set back counts", func(c *computer) {
			c.sleeps(time.Hour)
			c.looks()
			c.sets(-2 * time.Hour)
			c.looks()
			c.sleeps(time.Hour)
		}, 2 * time.Hour},
		{"slowing the time of day down hides no sleep", func(c *computer) {
			for i := 0; i < 100; i++ {
				c.sets(-40 * time.Millisecond)
				c.looks()
			}
			c.sleeps(60 * time.Millisecond)
		}, 60 * time.Millisecond},
		{"jitter between the two is no sleep", func(c *computer) {
			for i := 0; i < 100; i++ {
				c.sets(20 * time.Millisecond)
				c.looks()
				c.sets(-20 * time.Millisecond)
				c.looks()
			}
		}, 0},
	} {
		c := &computer{}
		before := c.looks()
		test.moves(c)
		if passed := c.looks().Sub(before); passed != test.want {
			t.Errorf("%s: %v passed instead of %v", test.about, passed, test.want)
		}
	}
}

func TestShortSleepsAddUp(t *testing.T) {
	c := &computer{}
	before := c.looks()
	for i := 0; i < 100; i++ {
		c.sleeps(40 * time.Millisecond)
		c.looks()
	}
	if passed := c.looks().Sub(before); passed < 99*40*time.Millisecond {
		t.Error(passed)
	}
}

func TestTheCombinedClockNeverGoesBack(t *testing.T) {
	c := &computer{}
	before := c.looks()
	moves := []time.Duration{time.Hour, -time.Hour, time.Second, -2 * time.Second, 49e6, -49e6, 51e6, -51e6}
	for _, move := range append(moves, moves...) {
		c.sets(move)
		now := c.looks()
		if now < before {
			t.Errorf("%d after %d", now, before)
		}
		before = now
	}
}
