package tests

import (
	"context"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"

	"tenure"
	"tenure/leaderelection"
)

func TestOfTwoGocronSchedulersOnlyTheLeadersRunsJobs(t *testing.T) {
	service := startService(t)
	ran := newLog()
	begin := func(name string) (*tenure.Elector, gocron.Scheduler) {
		client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, Candidate: name})
		elector := newElector(t, client, tenure.ElectorOptions{Election: "nightly"})
		if err := elector.Stand(); err != nil {
			t.Fatal(err)
		}
		scheduler, err := gocron.NewScheduler(gocron.WithDistributedElector(elector.Gocron()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = scheduler.Shutdown() })
		job := gocron.NewTask(func() { ran.say("%s", name) })
		if _, err := scheduler.NewJob(gocron.DurationJob(5*time.Millisecond), job); err != nil {
			t.Fatal(err)
		}
		return elector, scheduler
	}
	a, schedulerA := begin("a")
	eventually(t, "a leads", a.IsLeader)
	b, schedulerB := begin("b")

	schedulerB.Start()
	schedulerA.Start()
	ran.expect(t, "a", "a", "a")
	if err := schedulerA.Shutdown(); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}

	eventually(t, "b leads", b.IsLeader)
	for line := "a"; line == "a"; { // until the last of a's
		line = receive(t, "a job of b", ran)
	}
	ran.expect(t, "b", "b")
}

func TestTheCallbacksOfClientGoAreCalledInTheirOrder(t *testing.T) {
	service := startService(t)
	client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, Candidate: "a"})
	said, leaders := newLog(), newLog()
	elector, err := leaderelection.NewLeaderElector(leaderelection.Config{
		Client: client, Election: "orders",
		Callbacks: leaderelection.Callbacks{
			OnStartedLeading: func(ctx context.Context) {
				said.say("started in %d", leaderelection.SeatOf(ctx).Term)
				<-ctx.Done()
				said.say("returned")
			},
			OnStoppedLeading: func() { said.say("stopped") },
			OnNewLeader:      func(identity string) { leaders.say("%s", identity) },
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	returned := make(chan error, 1)
	go func() { returned <- elector.Run(ctx) }()

	said.expect(t, "started in 1")
	leaders.expect(t, "a")
	if !elector.IsLeader() || elector.GetLeader() != "a" {
		t.Error(elector.IsLeader(), elector.GetLeader())
	}
	service.operate("depose", "orders")
	for want := map[string]bool{"returned": true, "stopped": true}; len(want) > 0; {
		line := receive(t, "the end of the term", said)
		if !want[line] {
			t.Fatal(line)
		}
		delete(want, line)
	}
	for line := ""; line != "started in 2"; {
		line = receive(t, "another term", said)
	}
	cancel()

	said.expect(t, "returned", "stopped")
	if err := receive(t, "Run", returned); err != nil {
		t.Error(err)
	}
}
