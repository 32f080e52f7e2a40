// A candidate that lives through bad days: it speaks the protocol of tests/polyglot/bad_days.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"tenure"
	pb "tenure/v1"
)

const (
	betweenQuestions = 20 * time.Millisecond
	betweenLines     = 50 * time.Millisecond
)

type command struct {
	Do        string `json:"do"`
	Endpoints string `json:"endpoints"`
	Election  string `json:"election"`
	Candidate string `json:"candidate"`
	LeaseMs   int64  `json:"lease_ms"`
	Supersede bool   `json:"supersede"`
}

// event is a line that reports what has happened.
type event struct {
	Event string `json:"event"`
	Term  uint64 `json:"term"`
	AtNs  int64  `json:"at_ns"`
	Cause string `json:"cause,omitempty"`
}

// belief is a line for a run of equal answers.
type belief struct {
	Event      string `json:"event"`
	Term       uint64 `json:"term"`
	FirstNs    int64  `json:"first_ns"`
	LastNs     int64  `json:"last_ns"`
	AtNs       int64  `json:"at_ns"`
	DeadlineNs int64  `json:"deadline_ns,omitempty"`
}

type candidate struct {
	client   *tenure.Client
	election string
	elector  atomic.Pointer[tenure.Elector]
	ran      chan struct{} // closed when the elector has ended
	lingers  atomic.Bool
	resigns  atomic.Bool
	troubles atomic.Bool
}

func main() {
	var c *candidate
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var told command
		must(json.Unmarshal(lines.Bytes(), &told))
		switch told.Do {
		case "stand":
			c = newCandidate(told)
		case "linger", "heed":
			c.lingers.Store(told.Do == "linger")
		case "resign":
			c.resigns.Store(true)
		case "trouble":
			c.troubles.Store(true)
		case "stand again":
			c.elector.Load().Resign()
			<-c.ran
			c.stand()
		case "quit":
			must(c.client.Close())
			return
		}
	}
}

func newCandidate(told command) *candidate {
	c := &candidate{election: told.Election}
	var err error
	c.client, err = tenure.NewClient(tenure.ClientOptions{
		Endpoints: told.Endpoints, Candidate: told.Candidate, Supersede: told.Supersede,
		LeaseTTL: time.Duration(told.LeaseMs) * time.Millisecond,
	})
	must(err)
	c.stand()
	go c.sayBeliefs()
	return c
}

func (c *candidate) stand() {
	elector, err := tenure.NewElector(c.client, tenure.ElectorOptions{
		Election:  c.election,
		OnElected: func(seat tenure.Seat) { sayEvent("leading", seat.Term, "") },
		OnLost: func(seat tenure.Seat, cause pb.Cause) {
			sayEvent("over", seat.Term, strings.TrimPrefix(cause.String(), "CAUSE_"))
			if c.troubles.Swap(false) {
				runtime.Goexit()
			}
		},
		OnRefused: func(error) { sayEvent("refused", 0, "") },
	})
	must(err)
	ran := make(chan struct{})
	c.ran = ran
	c.elector.Store(elector)
	go func() {
		defer close(ran)
		_ = elector.Run(context.Background(), c.lead)
	}()
}

func (c *candidate) lead(ctx context.Context, seat tenure.Seat) error {
	c.resigns.Store(false)
	sayEvent("working", seat.Term, "")
	for ctx.Err() == nil && !c.resigns.Load() {
		time.Sleep(betweenQuestions)
	}
	if ctx.Err() != nil {
		sayEvent("stop", seat.Term, "")
		for c.lingers.Load() && seat.Holds() {
			time.Sleep(betweenQuestions)
		}
	}
	sayEvent("stopped", seat.Term, "")
	return nil
}

func (c *candidate) sayBeliefs() {
	var said int64
	for its := (belief{}); ; time.Sleep(betweenQuestions) {
		before := now()
		elector := c.elector.Load()
		term, remaining := elector.Term(), elector.Remaining()
		after := now()
		same := its.Event != "" && its.Term == term
		if !same {
			if its.Event != "" {
				say(its)
			}
			its = belief{Event: "belief", Term: term, FirstNs: after}
		}
		its.LastNs, its.AtNs = before, after
		if term != 0 {
			its.DeadlineNs = before + int64(remaining)
		}
		if !same || term != 0 && after-said >= int64(betweenLines) {
			say(its)
			said = after
		}
	}
}

func sayEvent(what string, term uint64, cause string) { say(event{what, term, now(), cause}) }

// say writes a whole line at once.
func say(line any) {
	text, err := json.Marshal(line)
	must(err)
	_, _ = os.Stdout.Write(append(text, '\n'))
}

// now reads CLOCK_MONOTONIC, as all candidates do.
func now() int64 {
	var time unix.Timespec
	must(unix.ClockGettime(unix.CLOCK_MONOTONIC, &time))
	return time.Nano()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
