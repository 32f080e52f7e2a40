package tenuretest

import (
	"sort"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"tenure/internal/machine"
	pb "tenure/v1"
)

// All of these require the mutex of the service.

type session struct {
	id, candidate string
	leaseTTL      time.Duration
	expiresAt     machine.Time
	ended         bool
	cause         pb.Cause
}

type election struct {
	name      string
	term      uint64
	leader    *pb.Leadership // nil: the seat is vacant. Never changed, but replaced
	holder    *session
	appointed *session // leads next
	queue     []*place
	tickets   uint64
	events    []*pb.Event
}

// place is one in a queue.
type place struct {
	session  *session
	value    []byte
	priority int32
	ticket   uint64
}

func withSuccessor(leader *pb.Leadership, successor string) *pb.Leadership {
	changed := proto.Clone(leader).(*pb.Leadership)
	changed.Successor = successor
	return changed
}

func (s *Service) now() *timestamppb.Timestamp {
	return timestamppb.New(time.Unix(0, int64(s.clock.Now())).UTC())
}

func (s *Service) electionOf(name string) *election {
	e := s.elections[name]
	if e == nil {
		e = &election{name: name}
		s.elections[name] = e
	}
	return e
}

// campaign grants the seat, or a place in the queue.
func (s *Service) campaign(e *election, session *session, request *pb.CampaignRequest) {
	value, priority := request.GetValue(), request.GetPriority()
	leads := e.leader != nil && e.holder == session
	endsTerm := leads && request.GetAfterTerm() == e.term
	if leads && !endsTerm {
		if string(e.leader.GetValue()) != string(value) {
			e.leader = proto.Clone(e.leader).(*pb.Leadership)
			e.leader.Value = value
			s.event(e, pb.Event_TYPE_PROCLAIMED, e.leader, 0)
		}
		return
	}
	its := e.placeOf(session)
	if its == nil {
		e.tickets++
		its = &place{session: session, ticket: e.tickets}
		e.queue = append(e.queue, its)
	}
	its.value, its.priority = value, priority
	sort.SliceStable(e.queue, func(i, j int) bool {
		a, b := e.queue[i], e.queue[j]
		return a.priority > b.priority || (a.priority == b.priority && a.ticket < b.ticket)
	})
	if !endsTerm {
		s.fill(e)
		return
	}
	if e.appointed == nil || e.placeOf(e.appointed) == nil {
		e.appointed = session // goes first
	}
	s.vacate(e, pb.Cause_CAUSE_RESIGNED)
}

func (e *election) placeOf(session *session) *place {
	for _, place := range e.queue {
		if place.session == session {
			return place
		}
	}
	return nil
}

func (e *election) leave(session *session) bool {
	for i, place := range e.queue {
		if place.session == session {
			e.queue = append(e.queue[:i:i], e.queue[i+1:]...)
			return true
		}
	}
	return false
}

// fill gives a vacant seat to the appointed candidate, or to the first in the queue.
func (s *Service) fill(e *election) {
	if e.leader != nil {
		return
	}
	if e.appointed != nil {
		if place := e.placeOf(e.appointed); place != nil {
			s.elect(e, place)
			return
		}
		e.appointed = nil
	}
	if len(e.queue) > 0 && e.queue[0].priority >= 0 {
		s.elect(e, e.queue[0])
	}
}

func (s *Service) elect(e *election, place *place) {
	e.leave(place.session)
	e.appointed = nil
	e.term++
	e.holder = place.session
	e.leader = &pb.Leadership{
		Election: e.name, Term: e.term, Candidate: place.session.candidate, Value: place.value,
		ElectedTime: s.now(), LeaseTtl: durationpb.New(place.session.leaseTTL),
	}
	s.event(e, pb.Event_TYPE_ELECTED, e.leader, 0)
	s.notify(place.session, &pb.SeatNotice{Election: e.name, Change: &pb.SeatNotice_Elected{Elected: e.leader}})
}

// vacate ends the term, and gives the seat to the next.
func (s *Service) vacate(e *election, cause pb.Cause) {
	leader, holder := e.leader, e.holder
	e.leader, e.holder = nil, nil
	s.event(e, pb.Event_TYPE_VACATED, leader, cause)
	s.notify(holder, &pb.SeatNotice{Election: e.name, Change: &pb.SeatNotice_Lost{
		Lost: &pb.SeatLost{Term: leader.GetTerm(), Cause: cause},
	}})
	s.fill(e)
}

func (s *Service) endSession(session *session, cause pb.Cause) {
	session.ended, session.cause = true, cause
	for _, e := range s.elections {
		e.leave(session)
	}
	for _, e := range s.elections {
		if e.holder == session {
			s.vacate(e, cause)
		}
	}
	for stream := range s.streams {
		if stream.sessionID == session.id {
			stream.send(&pb.KeepAliveResponse{Message: &pb.KeepAliveResponse_SessionEnded{
				SessionEnded: &pb.SessionEnded{SessionId: session.id, Cause: cause},
			}})
		}
	}
}

// supersede ends the older sessions of a candidate that stand in the election.
func (s *Service) supersede(e *election, by *session) {
	for _, older := range s.sessions {
		if older != by && !older.ended && older.candidate == by.candidate && (e.holder == older || e.placeOf(older) != nil) {
			s.endSession(older, pb.Cause_CAUSE_SUPERSEDED)
		}
	}
}

func (s *Service) notify(session *session, notice *pb.SeatNotice) {
	notice.SessionId = session.id
	for stream := range s.streams {
		if stream.sessionID == session.id {
			stream.send(&pb.KeepAliveResponse{Message: &pb.KeepAliveResponse_Notice{Notice: notice}})
		}
	}
}

func (s *Service) event(e *election, what pb.Event_Type, leadership *pb.Leadership, cause pb.Cause) {
	event := &pb.Event{
		Election: e.name, Revision: uint64(len(e.events) + 1), Type: what, Leadership: leadership, Cause: cause, Time: s.now(),
	}
	e.events = append(e.events, event)
	for observer := range s.observers {
		if observer.selects(e.name) {
			observer.send(&pb.ObserveResponse{Message: &pb.ObserveResponse_Event{Event: event}})
			observer.send(s.progress())
		}
	}
}

func (s *Service) progress() *pb.ObserveResponse {
	return &pb.ObserveResponse{Message: &pb.ObserveResponse_Progress{Progress: &pb.Progress{Time: s.now()}}}
}

func (e *election) snapshot() *pb.ObserveResponse {
	return &pb.ObserveResponse{Message: &pb.ObserveResponse_Snapshot{Snapshot: &pb.Snapshot{
		Election: e.name, Revision: uint64(len(e.events)), Term: e.term, Leader: e.leader, Reason: pb.Snapshot_REASON_INITIAL,
	}}}
}

func selects(selector *pb.Selector, election string) bool {
	if prefix, ok := selector.GetBy().(*pb.Selector_Prefix); ok {
		return strings.HasPrefix(election, prefix.Prefix)
	}
	return selector.GetElection() == election
}
