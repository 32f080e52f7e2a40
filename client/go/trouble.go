package tenure

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"tenure/internal/machine"
)

const (
	changeInterval  = time.Minute      // minimum between two warnings about one trouble
	warningInterval = 10 * time.Second // minimum between two warnings
	linesMax        = 100              // waiting for the logger
	flushPatience   = time.Second
)

// trouble logs once why a service cannot be used, and once that it can be used again. Nothing is
// repeated while it lasts, unless the reason changes. Safe for concurrent use.
type trouble struct {
	log func(level slog.Level, line string, attributes ...any)

	mutex    sync.Mutex
	since    machine.Time // 0: there is none
	kind     string       // logged for this trouble; empty: nothing yet
	warnedAt machine.Time
	named    map[string]bool // endpoints that have not answered since a warning named them
	err      error
}

// failed records a failed attempt on this endpoint.
func (t *trouble) failed(endpoint string, why reason, err error, now machine.Time) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.err = err
	if why.kind == otherService { // logged once for each endpoint elsewhere
		return
	}
	if t.since == 0 {
		t.since, t.kind = now, ""
	}
	interval := warningInterval
	if t.kind != "" {
		interval = changeInterval
	}
	if why.kind == t.kind || (t.warnedAt != 0 && now < t.warnedAt.Add(interval)) {
		return
	}
	t.kind, t.warnedAt = why.kind, now
	t.warn(endpoint, why)
}

// foundAll takes in a survey: the service can be used, though maybe not on all endpoints.
func (t *trouble) foundAll(found survey) {
	for _, failed := range found.failures {
		t.found(failed.replica, failed.err)
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for _, answer := range found.answers {
		if answer.ServiceID != "" {
			delete(t.named, answer.Endpoint)
		}
	}
}

// found takes in the answer of one replica to a survey. A replica too old to know the call may be used.
func (t *trouble) found(replica replica, err error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	_, why := replica.asSeen(err)
	switch {
	case err == nil:
		delete(t.named, replica.endpoint)
	case why != nil && why.kind != notTenure && !t.named[replica.endpoint]:
		t.warn(replica.endpoint, *why)
	}
}

func (t *trouble) warn(endpoint string, why reason) {
	if t.named == nil {
		t.named = map[string]bool{}
	}
	t.named[endpoint] = true
	t.log(slog.LevelWarn, fmt.Sprintf("tenure: cannot use %s: %s; still trying", endpoint, why))
}

// worked records a successful attempt on this endpoint.
func (t *trouble) worked(endpoint string, now machine.Time) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.kind != "" {
		t.log(slog.LevelInfo, fmt.Sprintf("tenure: %s answers after %s", endpoint, inWords(now.Sub(t.since))))
	}
	t.since, t.kind, t.err = 0, "", nil
	delete(t.named, endpoint)
}

// last is why the last attempt failed; nil if it succeeded.
func (t *trouble) last() error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.err
}

func inWords(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	default:
		return d.Round(time.Second).String()
	}
}

// withCause adds the cause to err, if it is known: errors.Is, errors.As and status.Code find both.
func withCause(err, cause error) error {
	if cause == nil || errors.Is(err, cause) {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// lines logs to a logger that may block: its caller never waits. Safe for concurrent use.
type lines struct {
	logger   *slog.Logger
	executor executor
}

func newLines(logger *slog.Logger) *lines {
	if logger == nil {
		logger = slog.Default()
	}
	return &lines{logger: logger}
}

// log drops the line if too many are waiting.
func (l *lines) log(level slog.Level, line string, attributes ...any) {
	l.executor.runIfRoom(linesMax, func() { l.logger.Log(context.Background(), level, line, attributes...) })
}

// flush waits a bounded time until the logger has got all lines.
func (l *lines) flush() {
	done := make(chan struct{})
	l.executor.run(func() { close(done) })
	select {
	case <-done:
	case <-time.After(flushPatience):
	}
}

// silence is a handler for lines that another logger gets.
type silence struct{}

func (silence) Enabled(context.Context, slog.Level) bool  { return false }
func (silence) Handle(context.Context, slog.Record) error { return nil }
func (s silence) WithAttrs([]slog.Attr) slog.Handler      { return s }
func (s silence) WithGroup(string) slog.Handler           { return s }
