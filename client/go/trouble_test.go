package tenure

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"tenure/internal/machine"
)

func TestATroubleAndItsEndAreLoggedOnce(t *testing.T) {
	var said []string
	its := trouble{log: func(_ slog.Level, line string, _ ...any) { said = append(said, strings.TrimPrefix(line, "tenure: ")) }}
	fails := func(kind string) func(machine.Time) {
		return func(now machine.Time) { its.failed("a:1", reason{kind: kind}, errors.New(kind), now) }
	}
	works := func(now machine.Time) { its.worked("b:2", now) }
	for _, step := range []struct {
		at   time.Duration
		what func(machine.Time)
		want string
	}{
		{0, works, ""},
		{1 * time.Second, fails("refused"), "cannot use a:1: refused; still trying"},
		{2 * time.Second, fails("refused"), ""},
		{3 * time.Second, fails("silent"), ""}, // not so soon
		{60 * time.Second, fails("refused"), ""},
		{61 * time.Second, fails("silent"), "cannot use a:1: silent; still trying"},
		{63 * time.Second, works, "b:2 answers after 1m2s"},
		{64 * time.Second, works, ""},
		{65 * time.Second, fails("refused"), ""}, // it flaps
		{66 * time.Second, works, ""},
		{70 * time.Second, fails("refused"), ""},
		{71 * time.Second, fails("refused"), "cannot use a:1: refused; still trying"},
		{72 * time.Second, works, "b:2 answers after 2 s"},
	} {
		said = nil
		step.what(machine.Time(time.Hour + step.at))
		if line := strings.Join(said, "\n"); line != step.want {
			t.Errorf("%v: %q instead of %q", step.at, line, step.want)
		}
	}
}

func TestACauseIsFoundInAnError(t *testing.T) {
	refused := status.Error(codes.Unavailable, "cannot use a:1: connection refused")

	err := withCause(ErrNotLeader, refused)

	if !errors.Is(err, ErrNotLeader) || !errors.Is(err, refused) || status.Code(err) != codes.Unavailable {
		t.Error(err)
	}
	if withCause(ErrNotLeader, nil) != ErrNotLeader {
		t.Error("no cause")
	}
}

// blockingLog is a logger that never takes a line.
type blockingLog struct {
	silence
	until chan struct{}
}

func (blockingLog) Enabled(context.Context, slog.Level) bool { return true }
func (b blockingLog) Handle(context.Context, slog.Record) error {
	<-b.until
	return nil
}

func TestALoggerThatBlocksDelaysNothing(t *testing.T) {
	until := make(chan struct{})
	defer close(until)
	client, err := NewClient(ClientOptions{Endpoints: serve(t, newService()), Logger: slog.New(blockingLog{until: until})})
	if err != nil {
		t.Fatal(err)
	}
	for number := 0; number < linesMax*3/4; number++ { // two lines each
		orders := elector(t, client, ElectorOptions{Election: fmt.Sprint(number), OneTerm: true})
		if err := orders.Run(context.Background(), func(context.Context, Seat) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}

	if waiting := client.loop.lines.executor.waiting(); waiting > linesMax {
		t.Error(waiting)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
}

// As t.FailNow does in a callback of a test.
func TestACallbackThatEndsItsGoroutineKeepsNoSeatFromItsWork(t *testing.T) {
	client := newClient(t, newService())
	orders := elector(t, client, ElectorOptions{Election: "orders", OneTerm: true, OnElected: func(Seat) { runtime.Goexit() }})
	returned := make(chan error, 1)
	worked := make(chan struct{})

	go func() {
		returned <- orders.Run(context.Background(), func(context.Context, Seat) error {
			close(worked)
			return nil
		})
	}()

	receive(t, "the work", worked)
	if err := receive(t, "Run", returned); err != nil {
		t.Error(err)
	}
}

func TestACallbackThatBlocksIsNoticed(t *testing.T) {
	noticed, until := make(chan struct{}), make(chan struct{})
	defer close(until)
	its := executor{patience: 1, slow: func() { close(noticed) }}

	its.run(func() { <-until })

	receive(t, "that it is slow", noticed)
}
