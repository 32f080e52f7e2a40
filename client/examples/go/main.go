// A candidate: stands for one election, works while it leads, and prints every change of who leads.
//
// It uses nothing but the stubs generated from election.proto, whose comments are the contract.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	pb "candidate/tenure/v1"
)

// now is the time that leases are counted by. A lease goes on while the machine is suspended, and so
// does this clock of Linux; Go's own monotonic one does not.
func now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}

type fields map[string]any

func say(event string, more fields) {
	line := fields{"event": event, "time_ms": time.Now().UnixMilli()}
	for name, value := range more {
		line[name] = value
	}
	text, _ := json.Marshal(line)
	fmt.Println(string(text))
}

func complain(err error) { fmt.Fprintln(os.Stderr, err) }

// replicas knows which replica to talk to. Any will do; whoever meets a broken one moves on.
type replicas struct {
	clients  []pb.ElectionServiceClient
	failures int
}

func newReplicas(endpoints string) *replicas {
	reconnect := grpc.ConnectParams{Backoff: backoff.Config{
		BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 200 * time.Millisecond}}
	r := &replicas{}
	for _, endpoint := range strings.Split(endpoints, ",") {
		connection, err := grpc.NewClient("passthrough:///"+endpoint,
			grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithConnectParams(reconnect))
		if err != nil {
			complain(err)
			os.Exit(2)
		}
		r.clients = append(r.clients, pb.NewElectionServiceClient(connection))
	}
	return r
}

func (r *replicas) current() pb.ElectionServiceClient { return r.clients[0] }

// failed says how long to wait before the next try: longer each time, and never in step with others.
func (r *replicas) failed(client pb.ElectionServiceClient) time.Duration {
	if client == r.clients[0] {
		r.clients = append(r.clients[1:], client)
	}
	r.failures = min(r.failures+1, 5)
	return time.Duration(float64(30*time.Millisecond<<r.failures) * (0.5 + rand.Float64()/2))
}

func main() {
	endpoints := os.Getenv("TENURE_ENDPOINTS")
	if endpoints == "" {
		endpoints = "127.0.0.1:7070"
	}
	flag.StringVar(&endpoints, "endpoints", endpoints, "host:port[,host:port...]")
	ttl := flag.Float64("ttl", 10, "seconds that a lease lasts")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: candidate [--endpoints ...] [--ttl SECONDS] ELECTION CANDIDATE")
	}
	flag.Parse()
	if flag.NArg() != 2 {
		flag.Usage()
		os.Exit(2)
	}
	election, name := flag.Arg(0), flag.Arg(1)

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	lease := time.Duration(*ttl * float64(time.Second))
	go observe(election, newReplicas(endpoints))
	if err := newCandidate(election, name, newReplicas(endpoints), lease).run(ctx); err != nil {
		os.Exit(1)
	}
}
