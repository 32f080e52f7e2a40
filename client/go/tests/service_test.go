// Package tests has the tests of the library that need a Tenure service: they start real ones, with the
// program named by TENURED, or that of build/bin. It is a separate module, so that dependencies of the
// tests are not dependencies of the library.
package tests

import (
	"bufio"
	"context"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"tenure"
	pb "tenure/v1"
)

// Long enough for a slow machine. Only a failing test waits this long.
const patience = time.Minute

func program(t testing.TB, name string) string {
	t.Helper()
	path := os.Getenv(strings.ToUpper(name))
	if path == "" {
		path = filepath.Join("..", "..", "..", "build", "bin", name)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(absolute); err != nil {
		t.Fatalf("%v: build %s, or set %s", err, name, strings.ToUpper(name))
	}
	return absolute
}

// Only this process listens on addresses with this prefix. A free port of 127.0.0.1 may be taken a
// moment later, by another test or by an outgoing connection.
var network = fmt.Sprintf("127.%d.%d.", 1+rand.Intn(254), rand.Intn(255))

var host = network + "1"

var lastPort atomic.Int32

// freeAddress returns another address each time.
func freeAddress() string { return fmt.Sprintf("%s:%d", host, 20000+lastPort.Add(1)) }

// service is one tenured process.
type service struct {
	t        testing.TB
	endpoint string
	http     string
	store    string
	flags    []string
	process  *exec.Cmd
}

func startService(t testing.TB, flags ...string) *service {
	return startReplica(t, filepath.Join(t.TempDir(), "tenure.db"), flags...)
}

func startReplica(t testing.TB, store string, flags ...string) *service {
	t.Helper()
	return startReplicaAt(t, freeAddress(), store, flags...)
}

func startReplicaAt(t testing.TB, endpoint, store string, flags ...string) *service {
	t.Helper()
	s := &service{t: t, endpoint: endpoint, http: freeAddress(), store: store, flags: flags}
	s.start()
	t.Cleanup(s.kill)
	return s
}

// start returns when the service is ready.
func (s *service) start() {
	s.t.Helper()
	lines := s.launch()
	var said []string
	for lines.Scan() {
		said = append(said, lines.Text())
		if strings.Contains(lines.Text(), " ready") {
			go func() {
				for lines.Scan() {
				}
			}()
			return
		}
	}
	s.t.Fatal("tenured is not ready: ", strings.Join(said, "\n"))
}

// launch returns the output of the service.
func (s *service) launch() *bufio.Scanner {
	s.t.Helper()
	arguments := []string{"--listen", s.endpoint, "--http-listen", s.http}
	s.process = exec.Command(program(s.t, "tenured"), append(arguments, s.flags...)...)
	s.process.Env = append(os.Environ(), "TENURE_STORE=sqlite:"+s.store) // a flag overrides it
	errors, err := s.process.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	return bufio.NewScanner(errors)
}

func (s *service) signal(what syscall.Signal) {
	s.t.Helper()
	if err := s.process.Process.Signal(what); err != nil {
		s.t.Fatal(err)
	}
}

func (s *service) kill() {
	if s.process != nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
		s.process = nil
	}
}

// operate runs the command line tool.
func (s *service) operate(arguments ...string) {
	s.t.Helper()
	command := exec.Command(program(s.t, "tenure"), append([]string{"--endpoint", s.endpoint}, arguments...)...)
	if output, err := command.CombinedOutput(); err != nil {
		s.t.Fatalf("tenure %s: %v: %s", strings.Join(arguments, " "), err, output)
	}
}

func newClient(t testing.TB, options tenure.ClientOptions) *tenure.Client {
	t.Helper()
	client, err := tenure.NewClient(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// renewals gets an entry for each answered renewal.
type renewals chan struct{}

func (r renewals) Renewed(_, _ time.Duration) {
	select {
	case r <- struct{}{}:
	default:
	}
}
func (renewals) Stands(string)         {}
func (renewals) Elected(string)        {}
func (renewals) Lost(string, pb.Cause) {}
func (renewals) Suspended(string)      {}
func (renewals) Overrun(string)        {}
func (renewals) ReplicaChanged()       {}

// expectOne waits for a renewal that was sent from now on: the second answer, as the first may be to an
// earlier one.
func (r renewals) expectOne(t testing.TB) {
	t.Helper()
	for len(r) > 0 {
		<-r
	}
	receive(t, "a renewal", r)
	receive(t, "another renewal", r)
}

func newElector(t testing.TB, client *tenure.Client, options tenure.ElectorOptions) *tenure.Elector {
	t.Helper()
	elector, err := tenure.NewElector(client, options)
	if err != nil {
		t.Fatal(err)
	}
	return elector
}

func receive[T any](t testing.TB, what string, from <-chan T) T {
	t.Helper()
	select {
	case received := <-from:
		return received
	case <-time.After(patience):
		t.Fatal("timed out waiting for ", what)
		panic("unreachable")
	}
}

func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for until := time.Now().Add(patience); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("this never became true: ", what)
		}
	}
}

// log collects the lines of callbacks.
type log chan string

func newLog() log { return make(log, 1000) }

func (l log) say(format string, arguments ...any) { l <- fmt.Sprintf(format, arguments...) }

func (l log) expect(t testing.TB, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if said := receive(t, line, l); said != line {
			t.Fatalf("it says %q instead of %q", said, line)
		}
	}
}

// logged makes all callbacks add a line.
func logged(l log, options tenure.ElectorOptions) tenure.ElectorOptions {
	options.OnStanding = func(place tenure.QueuePlace) { l.say("standing at %d", place.Position) }
	options.OnElected = func(seat tenure.Seat) { l.say("elected %d", seat.Term) }
	options.OnSuspended = func(seat tenure.Seat) { l.say("suspended %d", seat.Term) }
	options.OnResumed = func(seat tenure.Seat) { l.say("resumed %d", seat.Term) }
	options.OnStepDown = func(seat tenure.Seat, successor string) { l.say("step down %d for %s", seat.Term, successor) }
	options.OnLost = func(seat tenure.Seat, cause pb.Cause) { l.say("lost %d %s", seat.Term, cause) }
	options.OnTrouble = func(error) { l.say("trouble") }
	options.OnRefused = func(error) { l.say("refused") }
	options.OnOverrun = func(seat tenure.Seat) { l.say("overrun %d", seat.Term) }
	return options
}

// untilDone is work that logs when it begins and ends.
func untilDone(l log) func(context.Context, tenure.Seat) error {
	return func(ctx context.Context, seat tenure.Seat) error {
		l.say("work %d", seat.Term)
		<-ctx.Done()
		l.say("stop %d", seat.Term)
		return ctx.Err()
	}
}

func writeFile(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// idOf is the service that a replica belongs to.
func idOf(t testing.TB, s *service) string {
	t.Helper()
	channel, err := grpc.NewClient(s.endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer channel.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	response, err := pb.NewElectionServiceClient(channel).Identify(ctx, &pb.IdentifyRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return response.GetServiceId()
}
