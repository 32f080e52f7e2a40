package tests

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"tenure"
	"tenure/internal/clock"
)

// This program is also a candidate: it prints the times at which it was sure to lead.
func TestMain(m *testing.M) {
	if endpoint := os.Getenv("TENURE_TEST_CANDIDATE"); endpoint != "" {
		beCandidate(endpoint)
		return
	}
	os.Exit(m.Run())
}

// spokenRenewals prints when a renewal is answered.
type spokenRenewals struct{ renewals }

func (spokenRenewals) Renewed(_, _ time.Duration) { fmt.Println("renewed") }

func beCandidate(endpoint string) {
	lease := time.Second
	if set := os.Getenv("TENURE_TEST_LEASE"); set != "" {
		var err error
		if lease, err = time.ParseDuration(set); err != nil {
			panic(err)
		}
	}
	client, err := tenure.NewClient(tenure.ClientOptions{Endpoints: endpoint, LeaseTTL: lease, Metrics: spokenRenewals{}})
	if err != nil {
		panic(err)
	}
	_ = client.Run(context.Background(), "orders", func(ctx context.Context, seat tenure.Seat) error {
		for ctx.Err() == nil {
			if now := clock.Now(); seat.Holds() {
				fmt.Println(seat.Term, "acts", int64(now))
			}
			time.Sleep(time.Millisecond)
		}
		fmt.Println(seat.Term, "ends", int64(clock.Now()))
		return nil
	})
}

func TestAProcessThatWasPausedPastItsLeaseActsNoMore(t *testing.T) {
	service := startService(t)
	t.Setenv("TENURE_TEST_CANDIDATE", service.endpoint)
	said := make(chan spoken, 100_000)
	acts := func() (process int, term, at int64) {
		for {
			heard := receive(t, "that somebody acts", said)
			if fields := strings.Fields(heard.line); len(fields) == 3 && fields[1] == "acts" {
				_, err := fmt.Sscan(fields[0]+" "+fields[2], &term, &at)
				must(t, err)
				return heard.process, term, at
			}
		}
	}
	first := startProgram(t, said, 1, os.Args[0])
	_, before, last := acts()
	startProgram(t, said, 2, os.Args[0])

	must(t, first.Process.Signal(syscall.SIGSTOP))
	process, term, began := acts()
	for ; process == 1; process, term, began = acts() { // earlier lines
		before, last = term, began
	}
	must(t, first.Process.Signal(syscall.SIGCONT))
	for ended := false; !ended; {
		heard := receive(t, "that the first one ends its term", said)
		if heard.process != 1 {
			continue
		}
		var at int64
		var what string
		_, err := fmt.Sscan(heard.line, &term, &what, &at)
		must(t, err)
		ended = what == "ends"
		if what == "acts" {
			last = at
		}
	}

	if term != before || last >= began {
		t.Errorf("it acted in term %d at %d, and the next one since %d", before, last, began)
	}
}
