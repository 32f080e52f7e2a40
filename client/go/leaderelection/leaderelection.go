// Package leaderelection has the callbacks of Kubernetes' client-go/tools/leaderelection, on Tenure.
//
//	err := leaderelection.Run(ctx, leaderelection.Config{
//		Client:   client,
//		Election: "orders",
//		Callbacks: leaderelection.Callbacks{
//			OnStartedLeading: func(ctx context.Context) { work(ctx) },
//			OnStoppedLeading: func() { log.Print("leads no more") },
//			OnNewLeader:      func(identity string) { log.Print("leader: ", identity) },
//		},
//	})
//
// What is different from client-go:
//   - The seat is never released while OnStartedLeading runs. It must return soon after its context ends,
//     which is before the lease does.
//   - Run does not return when the term ends: it stands again, until its context ends. A program that
//     should restart instead exits in OnStoppedLeading.
//   - OnStoppedLeading is called once for each term, and never without one.
//   - The context carries the seat: see SeatOf.
package leaderelection

import (
	"context"
	"errors"
	"sync"

	"tenure"
	pb "tenure/v1"
)

// Callbacks are called when something happens. OnStartedLeading is required.
type Callbacks struct {
	// This process leads until the context ends; context.Cause says why.
	OnStartedLeading func(context.Context)
	// This process may not act as the leader any more. If the lease ran out, OnStartedLeading may not have
	// returned yet.
	OnStoppedLeading func()
	// Another candidate leads, or this one. Called for the first leader and for each change.
	OnNewLeader func(identity string)
}

// Config says who stands in which election.
type Config struct {
	Client    *tenure.Client
	Election  string
	Callbacks Callbacks
	// Everything else; OnLost and OnLeaderChanged are called in addition to the callbacks.
	Options tenure.ElectorOptions
}

// LeaderElector stands for one election.
type LeaderElector struct {
	elector   *tenure.Elector
	callbacks Callbacks

	mutex  sync.Mutex
	leader string
}

// NewLeaderElector does not stand yet: Run does. The error says what is malformed.
func NewLeaderElector(config Config) (*LeaderElector, error) {
	if config.Client == nil {
		return nil, errors.New("leaderelection: Client is nil")
	}
	if config.Callbacks.OnStartedLeading == nil {
		return nil, errors.New("leaderelection: OnStartedLeading is nil")
	}
	l := &LeaderElector{callbacks: config.Callbacks}
	options := config.Options
	options.Election = config.Election
	options.OnLost = func(seat tenure.Seat, cause pb.Cause) {
		if l.callbacks.OnStoppedLeading != nil {
			l.callbacks.OnStoppedLeading()
		}
		if config.Options.OnLost != nil {
			config.Options.OnLost(seat, cause)
		}
	}
	options.OnLeaderChanged = func(leader *pb.Leadership) {
		l.leaderChanged(leader.GetCandidate())
		if config.Options.OnLeaderChanged != nil {
			config.Options.OnLeaderChanged(leader)
		}
	}
	elector, err := tenure.NewElector(config.Client, options)
	if err != nil {
		return nil, err
	}
	l.elector = elector
	return l, nil
}

// Run stands until ctx ends (nil), or the service refuses this process for good. When it returns, no
// callback runs, and the seat is given up.
func (l *LeaderElector) Run(ctx context.Context) error {
	return l.elector.Run(ctx, func(ctx context.Context, seat tenure.Seat) error {
		l.callbacks.OnStartedLeading(context.WithValue(ctx, seatKey{}, seat))
		return nil
	})
}

// IsLeader reports whether this process may act as the leader now.
func (l *LeaderElector) IsLeader() bool { return l.elector.IsLeader() }

// GetLeader is the candidate that leads, as far as this process knows; empty if nobody does. For
// information.
func (l *LeaderElector) GetLeader() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.leader
}

func (l *LeaderElector) leaderChanged(identity string) {
	l.mutex.Lock()
	before := l.leader
	l.leader = identity
	l.mutex.Unlock()
	if identity != "" && identity != before && l.callbacks.OnNewLeader != nil {
		l.callbacks.OnNewLeader(identity)
	}
}

// Run makes a LeaderElector and runs it.
func Run(ctx context.Context, config Config) error {
	elector, err := NewLeaderElector(config)
	if err != nil {
		return err
	}
	return elector.Run(ctx)
}

// RunOrDie is Run, but panics instead of returning an error.
func RunOrDie(ctx context.Context, config Config) {
	if err := Run(ctx, config); err != nil {
		panic(err)
	}
}

type seatKey struct{}

// SeatOf is the seat of the term that a context of OnStartedLeading belongs to; its Term is 0 in any other
// context.
func SeatOf(ctx context.Context) tenure.Seat {
	seat, _ := ctx.Value(seatKey{}).(tenure.Seat)
	return seat
}
