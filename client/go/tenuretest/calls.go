package tenuretest

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "tenure/v1"
)

const serviceID = "7e577e577e577e577e577e577e577e57"

// calls implement the contract.
type calls struct {
	pb.UnimplementedElectionServiceServer
	*Service
}

var errCut = status.Error(codes.Unavailable, "tenuretest: cut off")

func failure(code codes.Code, reason, message string, metadata map[string]string) error {
	answer := status.New(code, message)
	if detailed, err := answer.WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: "tenure.v1", Metadata: metadata}); err == nil {
		answer = detailed
	}
	return answer.Err()
}

func (c *calls) Identify(context.Context, *pb.IdentifyRequest) (*pb.IdentifyResponse, error) {
	return &pb.IdentifyResponse{ServiceId: serviceID}, nil
}

func (c *calls) Campaign(_ context.Context, request *pb.CampaignRequest) (*pb.CampaignResponse, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if len(request.GetElections()) > 0 {
		return nil, status.Error(codes.Unimplemented, "tenuretest has no sets of elections")
	}
	its, err := c.sessionFor(request)
	if err != nil {
		return nil, err
	}
	e := c.electionOf(request.GetElection())
	if request.GetSupersede() {
		c.supersede(e, its)
	}
	c.campaign(e, its, request)
	response := &pb.CampaignResponse{Session: &pb.Session{
		SessionId: its.id, Candidate: its.candidate, ServiceId: serviceID,
		LeaseTtl: durationpb.New(its.leaseTTL), HeartbeatInterval: durationpb.New(its.leaseTTL / 3),
	}}
	if e.holder == its {
		response.Outcome = &pb.CampaignResponse_Elected{Elected: e.leader}
		return response, nil
	}
	standing := &pb.Standing{Leader: e.leader}
	for i, place := range e.queue {
		if place.session == its {
			standing.Position = uint64(i + 1)
		}
	}
	response.Outcome = &pb.CampaignResponse_Standing{Standing: standing}
	return response, nil
}

// sessionFor is the session of a campaign, which may open one.
func (c *calls) sessionFor(request *pb.CampaignRequest) (*session, error) {
	id := request.GetSessionId()
	if id == "" {
		id = c.requests[string(request.GetRequestId())]
	}
	if id != "" {
		return c.live(id)
	}
	if c.isCut(request.GetCandidate()) {
		return nil, errCut
	}
	its := &session{
		id: fmt.Sprintf("%032x", len(c.sessions)+1), candidate: request.GetCandidate(), leaseTTL: request.GetLeaseTtl().AsDuration(),
	}
	if its.leaseTTL == 0 {
		its.leaseTTL = leaseDefault
	}
	if its.leaseTTL < time.Second {
		return nil, failure(codes.InvalidArgument, "INVALID_LEASE_TTL", "the lease is shorter than 1s", nil)
	}
	its.expiresAt = c.clock.Now().Add(its.leaseTTL)
	c.sessions[its.id] = its
	c.requests[string(request.GetRequestId())] = its.id
	return its, nil
}

// live is the session, or an error if it has ended or does not exist.
func (c *calls) live(id string) (*session, error) {
	its := c.sessions[id]
	switch {
	case its == nil:
		return nil, failure(codes.NotFound, "SESSION_NOT_FOUND", "there is no such session", nil)
	case c.isCut(its.candidate):
		return nil, errCut
	case its.ended:
		return nil, failure(codes.FailedPrecondition, "SESSION_ENDED", "the session has ended",
			map[string]string{"cause": its.cause.String()[len("CAUSE_"):]})
	default:
		return its, nil
	}
}

func (c *calls) Resign(_ context.Context, request *pb.ResignRequest) (*pb.ResignResponse, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	its, err := c.live(request.GetSessionId())
	if err != nil {
		return nil, err
	}
	if request.GetElection() == "" {
		c.endSession(its, pb.Cause_CAUSE_SESSION_CLOSED)
		return &pb.ResignResponse{Outcome: pb.ResignResponse_OUTCOME_SESSION_ENDED}, nil
	}
	e := c.elections[request.GetElection()]
	switch {
	case e == nil:
		return nil, failure(codes.NotFound, "ELECTION_NOT_FOUND", "nobody has ever campaigned in this election", nil)
	case e.holder == its && (request.Term == nil || request.GetTerm() == e.term):
		term := e.term
		c.vacate(e, pb.Cause_CAUSE_RESIGNED)
		return &pb.ResignResponse{Outcome: pb.ResignResponse_OUTCOME_RESIGNED, Term: term}, nil
	case e.holder == its, e.placeOf(its) != nil && request.GetTerm() != 0:
		return nil, failure(codes.FailedPrecondition, "STALE_TERM", "this session does not lead in that term",
			map[string]string{"current_term": strconv.FormatUint(e.term, 10)})
	case e.leave(its):
		return &pb.ResignResponse{Outcome: pb.ResignResponse_OUTCOME_WITHDRAWN}, nil
	default:
		return &pb.ResignResponse{Outcome: pb.ResignResponse_OUTCOME_NOT_STANDING}, nil
	}
}

func (c *calls) Leader(_ context.Context, request *pb.LeaderRequest) (*pb.LeaderResponse, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.isCut("") {
		return nil, errCut
	}
	e := c.elections[request.GetElection()]
	if e == nil {
		return &pb.LeaderResponse{}, nil
	}
	return &pb.LeaderResponse{Leader: e.leader, Term: e.term, Revision: uint64(len(e.events))}, nil
}

func (c *calls) KeepAlive(server pb.ElectionService_KeepAliveServer) error {
	its := &stream{outbox: newOutbox[*pb.KeepAliveResponse]()}
	defer func() {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		delete(c.streams, its)
		its.end()
	}()
	go func() {
		for {
			request, err := server.Recv()
			if err != nil {
				its.end()
				return
			}
			c.renew(its, request)
		}
	}()
	return its.deliver(server)
}

func (c *calls) renew(its *stream, request *pb.KeepAliveRequest) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if len(request.GetSessionIds()) != 1 {
		its.end()
		return
	}
	id := request.GetSessionIds()[0]
	renewed := &pb.SessionRenewal{SessionId: id}
	switch session := c.sessions[id]; {
	case session == nil:
		renewed.Result = &pb.SessionRenewal_NotFound{NotFound: true}
	case c.isCut(session.candidate):
		its.end()
		return
	case session.ended:
		renewed.Result = &pb.SessionRenewal_Ended{Ended: session.cause}
	default:
		session.expiresAt = c.clock.Now().Add(session.leaseTTL)
		its.sessionID, its.candidate = id, session.candidate
		renewed.Result = &pb.SessionRenewal_LeaseTtl{LeaseTtl: durationpb.New(session.leaseTTL)}
		for _, e := range c.elections {
			if e.holder == session {
				renewed.Seats = append(renewed.Seats, e.leader)
			}
		}
	}
	c.streams[its] = true
	its.send(&pb.KeepAliveResponse{ServiceId: serviceID, Message: &pb.KeepAliveResponse_Renewal{
		Renewal: &pb.Renewal{Sequence: request.GetSequence(), Sessions: []*pb.SessionRenewal{renewed}},
	}})
}

func (c *calls) Observe(request *pb.ObserveRequest, server pb.ElectionService_ObserveServer) error {
	its := &observer{outbox: newOutbox[*pb.ObserveResponse](), selectors: request.GetSelectors()}
	c.mutex.Lock()
	if c.isCut("") {
		c.mutex.Unlock()
		return errCut
	}
	its.send(&pb.ObserveResponse{ServiceId: serviceID})
	for _, selector := range its.selectors {
		if selector.GetElection() != "" {
			its.begin(c.elections[selector.GetElection()], selector)
		}
	}
	for name, e := range c.elections {
		if selector := its.prefixOf(name); selector != nil {
			its.begin(e, selector)
		}
	}
	its.send(c.progress())
	c.observers[its] = true
	c.mutex.Unlock()
	defer func() {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		delete(c.observers, its)
	}()
	defer context.AfterFunc(server.Context(), its.end)()
	return its.deliver(server)
}

// stream is a KeepAlive stream.
type stream struct {
	*outbox[*pb.KeepAliveResponse]
	sessionID, candidate string
}

// observer is an Observe stream.
type observer struct {
	*outbox[*pb.ObserveResponse]
	selectors []*pb.Selector
}

func (o *observer) selects(election string) bool {
	for _, selector := range o.selectors {
		if selects(selector, election) {
			return true
		}
	}
	return false
}

// prefixOf is the prefix selector for an election that no selector names; nil if there is none.
func (o *observer) prefixOf(election string) *pb.Selector {
	var found *pb.Selector
	for _, selector := range o.selectors {
		if selector.GetElection() == election {
			return nil
		}
		if selects(selector, election) {
			found = selector
		}
	}
	return found
}

// begin sends the election's state, or its events from the requested revision.
func (o *observer) begin(e *election, selector *pb.Selector) {
	if e == nil {
		e = &election{name: selector.GetElection()}
	}
	if selector.FromRevision == nil {
		o.send(e.snapshot())
		return
	}
	for _, event := range e.events {
		if event.GetRevision() >= selector.GetFromRevision() {
			o.send(&pb.ObserveResponse{Message: &pb.ObserveResponse_Event{Event: event}})
		}
	}
}

// outbox holds the messages of a stream, in order. send is called with the service's mutex held.
type outbox[Message any] struct {
	sent     int
	messages chan Message
	ended    chan struct{}
}

// More than a test ever leaves unread.
const outboxMax = 10_000

func newOutbox[Message any]() *outbox[Message] {
	return &outbox[Message]{messages: make(chan Message, outboxMax), ended: make(chan struct{}, 1)}
}

func (o *outbox[Message]) send(message Message) {
	select {
	case o.messages <- message:
		o.sent++
	default:
		o.end()
	}
}

func (o *outbox[Message]) end() {
	select {
	case o.ended <- struct{}{}:
	default:
	}
}

// deliver returns when the stream has ended.
func (o *outbox[Message]) deliver(server interface{ Send(message Message) error }) error {
	for {
		select {
		case <-o.ended:
			return errCut
		case message := <-o.messages:
			if err := server.Send(message); err != nil {
				return err
			}
		}
	}
}
