package machine

import (
	"google.golang.org/protobuf/proto"

	pb "tenure/v1"
)

// Verdict classifies a message of an Observe stream.
type Verdict int

const (
	// News must be reported.
	News Verdict = iota
	// Known was reported before, or was not requested.
	Known
	// Gap means that something before it is missing. Open another stream.
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

// Observation is what an observer has seen, and therefore what it requests next and what is news to it.
//
// Streams are noted one after another; whatever each repeats or leaves out, every event is news exactly
// once, and in order.
type Observation struct {
	wish   Wish
	seen   map[string]uint64 // the last revision of each election
	opened bool              // everything has been reported once
}

// NewObservation returns an observation that has seen nothing.
func NewObservation(wish Wish) *Observation {
	o := &Observation{wish: wish, seen: map[string]uint64{}}
	for election, revision := range wish.FromRevisions {
		if revision > 0 { // as if all earlier events had been seen
			o.seen[election] = revision - 1
		}
	}
	return o
}

// Request is what to ask for on the next stream.
//
// An observer resumes every election that it has seen by name: the contract allows one selector for each
// election that a stream may watch, plus the prefixes.
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

// Note classifies a message of the stream in use. Only news counts as seen.
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
		return Known // from a newer service
	}
}

func (o *Observation) noteSnapshot(snapshot *pb.Snapshot) Verdict {
	seen, found := o.seen[snapshot.GetElection()]
	// Only a RESYNC may skip events, or go back, to a restored database.
	if found && snapshot.GetReason() != pb.Snapshot_REASON_RESYNC {
		if snapshot.GetRevision() <= seen {
			return Known
		}
		return Gap
	}
	// A deleted election that was found by prefix need not be requested by name, if the prefix asks for
	// first events.
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
	// The service knows which event is the first: in a restored database it is not 1.
	if event.GetRevision() > next && next != 1 {
		return Gap
	}
	o.seen[event.GetElection()] = event.GetRevision()
	return News
}
