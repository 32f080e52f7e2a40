package main

import (
	"context"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	pb "candidate/tenure/v1"
)

// silenceMax is how long an Observe stream may say nothing; it says something at least every 10 s.
const silenceMax = 25 * time.Second

// observe prints every change, each once and in order, from whichever replica.
func observe(election string, replicas *replicas) {
	selector := &pb.Selector{By: &pb.Selector_Election{Election: election}}
	for {
		client := replicas.current()
		err := observeOneStream(client, selector, func() { replicas.failures = 0 })
		complain(err)
		time.Sleep(replicas.failed(client))
	}
}

// observeOneStream leaves in the selector from where the next stream has to go on.
func observeOneStream(client pb.ElectionServiceClient, selector *pb.Selector, alive func()) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	silence := time.AfterFunc(silenceMax, cancel)
	defer silence.Stop()

	stream, err := client.Observe(ctx, &pb.ObserveRequest{Selectors: []*pb.Selector{selector}})
	if err != nil {
		return err
	}
	for {
		message, err := stream.Recv()
		if err != nil {
			return err
		}
		silence.Reset(silenceMax)
		alive()
		if event := message.GetEvent(); event != nil {
			kind := strings.TrimPrefix(event.Type.String(), "TYPE_")
			sayObserved(kind, event.Revision, event.Leadership.GetTerm(), event.Leadership, event.Cause)
			selector.FromRevision = proto.Uint64(event.Revision + 1)
		} else if snapshot := message.GetSnapshot(); snapshot != nil {
			kind := "SNAPSHOT"
			if snapshot.Reason == pb.Snapshot_REASON_RESYNC {
				kind = "RESYNC"
			}
			sayObserved(kind, snapshot.Revision, snapshot.Term, snapshot.Leader, pb.Cause_CAUSE_UNSPECIFIED)
			selector.FromRevision = proto.Uint64(snapshot.Revision + 1)
		}
	}
}

func sayObserved(kind string, revision, term uint64, leader *pb.Leadership, cause pb.Cause) {
	line := fields{"revision": revision, "type": kind, "term": term, "candidate": nil, "cause": nil}
	if leader != nil {
		line["candidate"] = leader.Candidate
	}
	if cause != pb.Cause_CAUSE_UNSPECIFIED {
		line["cause"] = word(cause)
	}
	say("observed", line)
}

// word makes EXPIRED of CAUSE_EXPIRED.
func word(cause pb.Cause) string { return strings.TrimPrefix(cause.String(), "CAUSE_") }
