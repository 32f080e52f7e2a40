package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "candidate/tenure/v1"
)

const (
	renewalsPerLease = 3
	unansweredMax    = 2                // renewals, each for a sixth of the lease; then the replica hangs
	checkPlace       = 30 * time.Second // how often to see that the place in the queue is still there
)

// trusted is how much of a lease is believed in; the rest is for clocks that drift apart.
func trusted(lease time.Duration) time.Duration { return lease / 10 * 9 }

// candidate makes all decisions in run, one after the other; a stream only tells it what came.
type candidate struct {
	election, name string
	ttl, lease     time.Duration
	replicas       *replicas

	session, previous string
	requestID         []byte
	campaignAt        time.Duration

	granted uint64        // the term that the service says we hold
	term    uint64        // the one that we believe in, and that only before `until`
	until   time.Duration //
	over    uint64        // the last one in which our belief has ended: it never comes back
	workAt  time.Duration

	stream         *stream // nil: none is open
	openAt         time.Duration
	renewAt        time.Duration
	sequence       uint64
	sentAt         map[uint64]time.Duration // of the renewals that are not answered
	believedAtOpen uint64
}

func newCandidate(election, name string, endpoints *replicas, ttl time.Duration) *candidate {
	c := &candidate{election: election, name: name, ttl: ttl, lease: ttl, replicas: endpoints}
	c.newSession("")
	return c
}

func (c *candidate) newSession(previous string) {
	c.closeStream()
	c.session, c.previous, c.granted = "", previous, 0
	// The same in every retry: if an answer is lost, the retry finds the session that it opened.
	c.requestID = make([]byte, 16)
	rand.Read(c.requestID)
	c.campaignAt, c.openAt = now(), now()
}

func (c *candidate) run(ctx context.Context) error {
	for ctx.Err() == nil {
		if c.term != 0 && now() >= c.until {
			c.stopWork("lost", fields{"cause": "EXPIRED"}) // whatever the network says, or does not
		}
		if c.term == 0 && now() >= c.campaignAt {
			if err := c.campaign(); err != nil {
				return err
			}
		}
		if c.session != "" && c.stream == nil && now() >= c.openAt {
			c.openStream()
		}
		if c.stream != nil && now() >= c.renewAt {
			c.renew()
		}
		if c.term != 0 && now() >= c.workAt {
			c.work()
		}

		var messages chan *pb.KeepAliveResponse // of nil, nothing is ever received
		if c.stream != nil {
			messages = c.stream.messages
		}
		select {
		case message, open := <-messages:
			if open {
				c.takeIn(message)
			} else {
				c.closeStream()
			}
		case <-time.After(c.due() - now()):
		case <-ctx.Done():
		}
	}
	c.leave()
	return nil
}

// due is when the next thing is to be done by itself.
func (c *candidate) due() time.Duration {
	due := c.campaignAt
	if c.term != 0 {
		due = min(c.until, c.workAt)
	}
	if c.stream != nil {
		due = min(due, c.renewAt)
	} else if c.session != "" {
		due = min(due, c.openAt)
	}
	return due
}

// work does a little. Longer work runs elsewhere, and asks the same before each step that matters.
func (c *candidate) work() {
	c.workAt = now() + time.Second
	if left := c.until - now(); left > 0 {
		// The term is the fencing token: pass it along with every write.
		say("work", fields{"term": c.term, "left_ms": left.Milliseconds()})
	}
}

// stopWork ends the belief for good. Work that runs elsewhere has to be waited for here.
func (c *candidate) stopWork(event string, why fields) {
	if c.term != 0 {
		why["term"] = c.term
		say(event, why)
	}
	c.term, c.over = 0, max(c.over, c.granted)
	c.campaignAt = now()
}

// seat hears from the service that we hold the seat in this term.
func (c *candidate) seat(term uint64) {
	if c.term != 0 && term > c.term {
		c.stopWork("lost", fields{"cause": "UNKNOWN"})
	}
	c.granted = max(c.granted, term)
	if c.granted <= c.over {
		c.campaignAt = now() // which resigns it first
	} else if c.term == 0 && now() < c.until {
		c.term, c.workAt = c.granted, now()
		say("elected", fields{"election": c.election, "term": c.term, "candidate": c.name})
	}
}

// campaign takes a place in the queue, or sees that it is still there. KeepAlive tells the rest.
func (c *candidate) campaign() error {
	if 0 < c.granted && c.granted <= c.over && !c.resign(c.election) {
		return nil
	}
	client := c.replicas.current()
	ctx, cancel := context.WithTimeout(context.Background(), c.lease/renewalsPerLease)
	defer cancel()
	answer, err := client.Campaign(ctx, &pb.CampaignRequest{
		Election: c.election, Candidate: c.name, SessionId: c.session, RequestId: c.requestID,
		PreviousSessionId: c.previous, LeaseTtl: durationpb.New(c.ttl), Wait: durationpb.New(0)})
	if err != nil {
		complain(err)
		c.campaignAt = now() + c.replicas.failed(client)
		switch status.Code(err) {
		case codes.InvalidArgument:
			return err
		case codes.NotFound:
			c.newSession("")
		case codes.FailedPrecondition:
			c.renewAt = now() // the session is over; the renewal tells why
		}
		return nil
	}
	c.campaignAt = now() + checkPlace
	c.session, c.previous = answer.Session.SessionId, ""
	if elected := answer.GetElected(); elected != nil {
		c.seat(elected.Term)
	}
	return nil
}

// resign leaves the election, or all and the session if it is "". False if that has to be repeated.
//
// Only when the work has stopped: once this call is on its way, another one may lead.
func (c *candidate) resign(election string) bool {
	request := &pb.ResignRequest{SessionId: c.session, Election: election}
	if election != "" {
		request.Term = proto.Uint64(c.granted)
	}
	client := c.replicas.current()
	ctx, cancel := context.WithTimeout(context.Background(), c.lease/renewalsPerLease)
	defer cancel()
	answer, err := client.Resign(ctx, request)
	switch status.Code(err) {
	case codes.OK:
		if election != "" && answer.Outcome != pb.ResignResponse_OUTCOME_SESSION_ENDED {
			say("resigned", fields{"term": c.granted})
		}
	case codes.NotFound, codes.FailedPrecondition: // there is nothing to resign any more
		complain(err)
	default:
		complain(err)
		c.campaignAt = now() + c.replicas.failed(client)
		return false
	}
	c.granted = 0
	return true
}

func (c *candidate) leave() {
	c.over = c.granted          // nothing works any more
	giveUpAt := now() + c.lease // by then the service has taken the seat back
	for c.session != "" && now() < giveUpAt {
		if (c.granted == 0 || c.resign(c.election)) && c.resign("") {
			return
		}
		time.Sleep(c.campaignAt - now())
	}
}

func (c *candidate) openStream() {
	c.stream = openStream(c.replicas.current())
	c.believedAtOpen = c.term
	c.sequence, c.sentAt = 0, map[uint64]time.Duration{}
	c.renewAt = now()
}

func (c *candidate) closeStream() {
	if c.stream != nil {
		c.stream.close()
		c.openAt = now() + c.replicas.failed(c.stream.client)
		c.stream = nil
	}
}

func (c *candidate) renew() {
	if len(c.sentAt) == unansweredMax {
		c.closeStream()
		return
	}
	c.sequence++
	// The lease counts from before the request is sent: the service begins to count it later, so our
	// belief ends before its lease does, however long request and answer are on their way.
	c.sentAt[c.sequence] = now()
	c.renewAt = now() + c.lease/renewalsPerLease/2 // unless this one is answered
	c.stream.requests <- &pb.KeepAliveRequest{Sequence: c.sequence, SessionIds: []string{c.session}}
}

func (c *candidate) takeIn(message *pb.KeepAliveResponse) {
	if renewal := message.GetRenewal(); renewal != nil {
		c.takeInRenewal(renewal)
	} else if ended := message.GetSessionEnded(); ended != nil {
		c.sessionEnded(ended.Cause)
	} else if notice := message.GetNotice(); notice.GetElection() == c.election {
		if elected := notice.GetElected(); elected != nil {
			c.seat(elected.Term)
		} else if lost := notice.GetLost(); lost != nil && lost.Term == c.granted {
			c.stopWork("lost", fields{"cause": word(lost.Cause)})
			c.granted = 0
		} else if ask := notice.GetStepDown(); ask != nil && ask.Term == c.granted {
			c.stopWork("step_down", fields{"successor": ask.Successor})
		}
	}
}

func (c *candidate) takeInRenewal(renewal *pb.Renewal) {
	session := renewal.Sessions[0]
	if session.GetLeaseTtl() == nil {
		c.sessionEnded(session.GetEnded())
		return
	}
	c.replicas.failures = 0
	c.lease = session.GetLeaseTtl().AsDuration()
	sentAt := c.sentAt[renewal.Sequence]
	c.until = max(c.until, sentAt+trusted(c.lease))
	c.renewAt = sentAt + c.lease/renewalsPerLease
	for sequence := range c.sentAt {
		if sequence <= renewal.Sequence {
			delete(c.sentAt, sequence)
		}
	}
	if renewal.Sequence == 1 { // the first of a stream lists what the session holds
		held := &pb.Leadership{}
		for _, seat := range session.Seats {
			if seat.Election == c.election {
				held = seat
			}
		}
		if c.term != 0 && c.term == c.believedAtOpen && c.term != held.Term {
			c.stopWork("lost", fields{"cause": "UNKNOWN"})
			c.granted = 0
		}
		if held.Term != 0 {
			c.seat(held.Term)
		}
		if held.Successor != "" && held.Term == c.granted {
			c.stopWork("step_down", fields{"successor": held.Successor})
		}
	}
	if c.granted != 0 {
		c.seat(c.granted)
	}
}

func (c *candidate) sessionEnded(cause pb.Cause) {
	c.stopWork("lost", fields{"cause": word(cause)})
	// To name a session that expired although this process lives gives the next one a longer lease.
	previous := ""
	if cause == pb.Cause_CAUSE_EXPIRED {
		previous = c.session
	}
	c.newSession(previous)
}

// stream is one KeepAlive stream. Its messages come by a channel, which is closed with it.
type stream struct {
	client   pb.ElectionServiceClient
	requests chan *pb.KeepAliveRequest
	messages chan *pb.KeepAliveResponse
	close    context.CancelFunc
}

func openStream(client pb.ElectionServiceClient) *stream {
	ctx, cancel := context.WithCancel(context.Background())
	s := &stream{client: client, close: cancel,
		requests: make(chan *pb.KeepAliveRequest, unansweredMax),
		messages: make(chan *pb.KeepAliveResponse)}
	go func() {
		defer close(s.messages)
		defer cancel()
		call, err := client.KeepAlive(ctx)
		if err != nil {
			complain(err)
			return
		}
		go func() {
			for {
				select {
				case request := <-s.requests:
					_ = call.Send(request) // if it fails, so does Recv
				case <-ctx.Done():
					return
				}
			}
		}()
		for {
			message, err := call.Recv()
			if err != nil {
				if ctx.Err() == nil {
					complain(fmt.Errorf("KeepAlive: %w", err))
				}
				return
			}
			select {
			case s.messages <- message:
			case <-ctx.Done():
				return
			}
		}
	}()
	return s
}
