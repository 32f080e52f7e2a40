package machine

import (
	"google.golang.org/protobuf/proto"

	pb "tenure/v1"
)

// Verdict is what a message of an Observe stream is.
type Verdict int

const (
	// News is to be reported.
	News Verdict = iota
	// Known was reported before, or was not wanted.
	Known
	// Gap : something is missing before it. Open another stream.
	Gap
)

// Wish is what an observer wants to see.
type Wish struct {
	Names        []string // of elections, or their prefixes
	Prefix       bool
	FromRevision uint64 // 0: a snapshot
	// For single elections, in place of FromRevision.
	FromRevisions map[string]uint64
}

// Observation is what an observer has seen, and hence what it asks for next and what is news to it.
//
// One stream after the other is noted; whatever each of them repeats or leaves out, every event is
// news exactly once, and in order.
type Observation struct {
	wish   Wish
	seen   map[string]uint64 // the last revision of each election
	opened bool              // everything has been reported once
}

// NewObservation has seen nothing.
func NewObservation(wish Wish) *Observation {
	o := &Observation{wish: wish, seen: map[string]uint64{}}
	for election, revision := range wish.FromRevisions {
		if revision > 0 { // as if all before had been seen
			o.seen[election] = revision - 1
		}
	}
	return o
}

// Request is what to ask for on the next stream.
//
// An observer resumes each election that it has seen by name: the contract allows as many selectors
// as one stream may watch elections, and the prefixes on top.
func (o *Observation) Request() *pb.ObserveRequest {
	request := &pb.ObserveRequest{}
	for election, revision := range o.seen {
		selector := &pb.Selector{By: &pb.Selector_Election{Election: election}, FromRevision: proto.Uint64(revision + 1)}
		request.Selectors = append(request.Selectors, selector)
	}
	for _, name := range o.wish.Names {
		if _, seen := o.seen[name]; o.wish.Prefix || !seen {
			request.Selectors = append(request.Selectors, o.selector(name))
		}
	}
	return request
}

func (o *Observation) selector(name string) *pb.Selector {
	selector := &pb.Selector{By: &pb.Selector_Election{Election: name}}
	if o.wish.Prefix {
		selector.By = &pb.Selector_Prefix{Prefix: name}
	}
	if o.wish.FromRevision != 0 {
		selector.FromRevision = proto.Uint64(o.wish.FromRevision)
	} else if o.wish.Prefix && o.opened {
		selector.FromRevision = proto.Uint64(1) // those created since: from their beginning
	}
	return selector
}

// Note says what a message of the stream in use is. Only news counts as seen.
func (o *Observation) Note(response *pb.ObserveResponse) Verdict {
	switch message := response.GetMessage().(type) {
	case *pb.ObserveResponse_Snapshot:
		return o.noteSnapshot(message.Snapshot)
	case *pb.ObserveResponse_Event:
		return o.noteEvent(message.Event)
	case *pb.ObserveResponse_Progress:
		o.opened = true
		return News
	default:
		return Known // of a newer service
	}
}

func (o *Observation) noteSnapshot(snapshot *pb.Snapshot) Verdict {
	seen, found := o.seen[snapshot.GetElection()]
	// Only a RESYNC may pass over events, or go back: to a database that was restored.
	if found && snapshot.GetReason() != pb.Snapshot_REASON_RESYNC {
		if snapshot.GetRevision() <= seen {
			return Known
		}
		return Gap
	}
	// What was found by its prefix and is deleted need not be asked for by name, if the prefix asks for
	// its first event.
	if o.wish.Prefix && snapshot.GetRevision() == 0 && o.wish.FromRevision <= 1 {
		delete(o.seen, snapshot.GetElection())
	} else {
		o.seen[snapshot.GetElection()] = snapshot.GetRevision()
	}
	return News
}

func (o *Observation) noteEvent(event *pb.Event) Verdict {
	seen, found := o.seen[event.GetElection()]
	next := seen + 1
	if !found {
		next = max(o.wish.FromRevision, 1)
	}
	if event.GetRevision() < next {
		return Known
	}
	// The service knows which one is the first: in a database that was restored it is not 1.
	if event.GetRevision() > next && next != 1 {
		return Gap
	}
	o.seen[event.GetElection()] = event.GetRevision()
	return News
}
