package machine

import (
	"math/rand"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "tenure/v1"
)

const (
	callsMax    = 64 // under way at a time
	endTriesMax = 3
	// How late a lost place in a queue may be noticed, if an operator removed it.
	checkMin = 20 * time.Second
	checkMax = 40 * time.Second
	// How long a replica may take to answer before another one is asked.
	answerPatienceMin = 100 * time.Millisecond
	answerPatienceMax = 3 * time.Second

	theSession = 0 // in place of a seat: the call is about the whole session
)

type call struct {
	seat      uint64
	sessionID string
	term      uint64 // of the resignation
	replica   uint64
	sentAt    Time
}

// SessionOptions are the options of one client.
type SessionOptions struct {
	Candidate string
	LeaseTTL  time.Duration // 0: the default of the election or the service
	Supersede bool
}

// SeatNews is news for one seat.
type SeatNews struct {
	Seat  uint64
	Event Event
}

// Session is one session and its electors' seats: which calls to make, when to renew, and what
// answers mean.
//
// The session is opened by the first campaign, and renewed on one KeepAlive stream however many
// elections there are. A place in a queue needs no open call: the stream reports a grant. So a broken
// connection loses nothing while the lease lasts.
//
// Usage: report what happened, then call Decide and carry out the effects.
type Session struct {
	options SessionOptions
	random  *rand.Rand

	sessionID         string // empty: none is open
	requestID         []byte
	previousSessionID string
	lease             Lease
	seats             seats
	calls             map[uint64]call
	lastNumber        uint64 // of calls and streams
	nextStray         uint64

	replica  uint64 // rises with each change of replica
	moveOn   *UseAnotherReplica
	failures int // of replicas, in a row

	stream        uint64 // 0: none is open
	streamReplica uint64
	droppedStream uint64 // to be closed
	openAt        Time
	nextRenewal   Time
	sequence      uint64 // of the last renewal
	renewalSent   Time   // when the renewal that awaits an answer was sent; 0: none does
	renewals      []Renewal
	listing       bool             // the list of held seats is not complete yet
	list          []*pb.Leadership // from the parts that have arrived

	ending      bool
	insistUntil Time // 0: no deadline
	resignUntil Time
	endAt       Time // the next try
	endTries    int
	ended       bool
	endStatus   *status.Status
}

// NewSession returns a session that has sent nothing. It gets its random numbers from random.
func NewSession(options SessionOptions, random *rand.Rand) *Session {
	s := &Session{
		options: options, random: random, seats: newSeats(), calls: map[uint64]call{},
		nextStray: firstStray, nextRenewal: Never,
	}
	s.requestID = s.newRequestID()
	return s
}

// What this process wants and does. Seats that are gone, or were never added, are ignored.

// Add starts an elector. Numbers start at 1, and are never reused. If an earlier seat has not yet left
// the election, this one starts when that is gone.
func (s *Session) Add(number uint64, options SeatOptions) { s.seats.add(number, options) }

// Proclaim sets the value to advertise from now on.
func (s *Session) Proclaim(number uint64, value []byte, now Time) {
	if e := s.seats.find(number); e != nil {
		e.seat.proclaim(value, now)
	}
}

// Leave stops standing: the work is asked to end, then the seat is given up.
func (s *Session) Leave(number uint64, now Time) {
	s.pass(now)
	if e := s.seats.find(number); e != nil {
		e.seat.leave(now)
	}
}

// Abandon is like Leave, after the elector is gone: the work has ended and nobody is notified.
func (s *Session) Abandon(number uint64, now Time) {
	if e := s.seats.find(number); e != nil {
		e.seat.abandon(now)
	}
}

// BeliefEnded reports that a reader has acted on the end of a belief that this session has not noticed
// yet.
func (s *Session) BeliefEnded(number uint64, now Time) {
	if e := s.seats.find(number); e != nil {
		e.seat.beliefEnded(now)
	}
}

// WorkEnded reports that the work of a term has ended.
func (s *Session) WorkEnded(number uint64, now Time) {
	s.pass(now)
	if e := s.seats.find(number); e != nil {
		e.seat.workEnded(now)
	}
}

// End abandons all seats and ends the session.
//
// With insistUntil, half of the time is for the resignations, and the rest for ending the session, which
// also frees the seats. With 0, both are tried a few times, at once.
func (s *Session) End(now, insistUntil Time) {
	s.ending = true
	s.insistUntil = insistUntil
	s.resignUntil = now
	if insistUntil != 0 {
		s.resignUntil = now + (insistUntil-now)/2
	}
	s.endTries = 0
	for _, e := range s.seats.all {
		e.seat.abandon(now)
	}
}

// What the service answers.

// OnCampaignDone takes the answer to a call. The response is ignored if the answer is an error.
func (s *Session) OnCampaignDone(number uint64, answer *status.Status, response *pb.CampaignResponse, now Time) {
	s.pass(now)
	c, ok := s.takeCall(number)
	if !ok || c.sessionID != s.sessionID {
		return // from a session that has ended
	}
	if answer.Code() == codes.OK {
		s.onCampaignAnswered(c, response, now)
	} else {
		s.onCampaignFailed(c, answer, now)
	}
}

func (s *Session) onCampaignAnswered(c call, response *pb.CampaignResponse, now Time) {
	s.failures = 0
	if s.sessionID == "" {
		s.onOpened(response.GetSession())
	}
	// Counted from before the call, not from the answer: the service began to count somewhere in between.
	s.lease.renewed(c.sentAt, response.GetSession().GetLeaseTtl().AsDuration())
	e := s.seats.find(c.seat)
	if e == nil {
		return
	}
	if elected := response.GetElected(); elected != nil {
		s.seatElected(elected, now)
		e.seat.onCampaignElected(elected.GetTerm(), now)
	} else if standing := response.GetStanding(); standing != nil {
		e.seat.onStanding(standing, now, now.Add(between(checkMin, checkMax, s.random.Int63n)))
	}
}

func (s *Session) onCampaignFailed(c call, answer *status.Status, now Time) {
	e := s.seats.find(c.seat)
	if e == nil {
		return
	}
	switch {
	case isSessionGone(answer) && s.sessionID != "":
		s.sessionOver(causeOf(answer), now)
	case isSessionGone(answer):
		// It had opened a session whose lease has already expired.
		s.requestID = s.newRequestID()
		e.seat.unanswered(answer, s.backoff(now))
	case IsTransient(answer):
		s.replicaFailed(c.replica, isSilence(answer))
		e.seat.unanswered(answer, max(s.backoff(now), now.Add(RetryDelayOf(answer))))
	case IsRefusedForNow(answer):
		e.seat.unanswered(answer, now.Add(RefusedPause(s.random.Int63n)))
	default:
		e.seat.onRefused(answer, now)
	}
}

// OnResignDone takes the answer to a call.
func (s *Session) OnResignDone(number uint64, answer *status.Status, now Time) {
	s.pass(now)
	c, ok := s.takeCall(number)
	if !ok || c.sessionID != s.sessionID {
		return
	}
	failed := answer.Code() != codes.OK
	refused := failed && !isSessionGone(answer) && IsRefusedForNow(answer)
	unanswered := refused || (failed && IsTransient(answer))
	if unanswered {
		s.replicaFailed(c.replica, isSilence(answer))
	}
	if c.seat == theSession {
		s.onEndAnswered(answer, refused, unanswered, now)
		return
	}
	e := s.seats.find(c.seat)
	switch {
	case e == nil:
	case refused:
		e.seat.unanswered(answer, now.Add(RefusedPause(s.random.Int63n)))
	case unanswered:
		e.seat.unanswered(answer, s.backoff(now))
	default:
		s.onResigned(c, &e.seat, answer, now)
	}
}

func (s *Session) onEndAnswered(answer *status.Status, refused, unanswered bool, now Time) {
	s.endStatus = answer
	if isSessionGone(answer) {
		s.endStatus = nil
	}
	if s.insistUntil == 0 {
		s.ended = !unanswered || s.endTries >= endTriesMax
	} else {
		s.ended = !unanswered || refused || now >= s.insistUntil
		s.endAt = s.backoff(now)
	}
}

func (s *Session) onResigned(c call, seat *seat, answer *status.Status, now Time) {
	info := InfoOf(answer)
	stands := info.GetReason() == "STALE_TERM" // but not in the term, or the queue, that we assumed
	if stands && c.term == 0 {                 // the place in the queue has become the seat
		term, _ := strconv.ParseUint(info.GetMetadata()["current_term"], 10, 64)
		if term == 0 {
			seat.unanswered(answer, s.backoff(now))
			return
		}
		seat.onElected(&pb.Leadership{Election: seat.options.Election, Term: term}, now, &s.lease)
		return
	}
	again := now
	if !seat.outlivedLease { // others first
		again = now.Add(s.lease.renewalInterval())
	}
	seat.onResigned(c.term, stands, again)
}

// OnStreamMessage takes a message of a KeepAlive stream.
func (s *Session) OnStreamMessage(stream uint64, response *pb.KeepAliveResponse, now Time) {
	s.pass(now)
	if stream != s.stream {
		return
	}
	switch message := response.GetMessage().(type) {
	case *pb.KeepAliveResponse_Notice:
		s.takeInNotice(message.Notice, now)
	case *pb.KeepAliveResponse_SessionEnded:
		s.sessionOver(message.SessionEnded.GetCause(), now)
	case *pb.KeepAliveResponse_Renewal:
		s.takeInRenewal(message.Renewal, now)
	}
}

// OnStreamClosed reports that a KeepAlive stream broke, or could not be opened.
func (s *Session) OnStreamClosed(stream uint64, now Time) {
	s.pass(now)
	if stream != s.stream {
		return
	}
	s.replicaFailed(s.streamReplica, false)
	s.stream = 0
	s.renewalSent = 0
	s.openAt = s.backoff(now)
}

// What to do now.

// Decide returns what to do, in this order.
func (s *Session) Decide(now Time) []Effect {
	s.pass(now)
	var effects []Effect
	if s.moveOn != nil {
		effects = append(effects, *s.moveOn)
		s.moveOn = nil
	}
	effects = s.closeDroppedStream(effects)
	if s.ending {
		return s.decideEnd(now, effects)
	}
	effects = s.decideStream(now, effects)
	return s.decideSeats(now, effects)
}

// NextWake is when to decide again if nothing happens before.
func (s *Session) NextWake() Time {
	if s.ending && s.resignUntil == 0 {
		if len(s.calls) != 0 || s.ended {
			return Never
		}
		return s.endAt
	}
	wake := Never
	if s.ending {
		wake = s.resignUntil
	} else if s.sessionID != "" {
		wake = s.streamWake()
	}
	for _, e := range s.seats.all {
		wake = min(wake, e.seat.nextWake(&s.lease), s.callAt(e))
	}
	return wake
}

// TakeNews returns the news for each seat since the last call.
func (s *Session) TakeNews() []SeatNews {
	var news []SeatNews
	for _, e := range s.seats.all {
		for _, event := range e.seat.takeEvents() {
			if e.number < firstStray {
				news = append(news, SeatNews{e.number, event})
			}
		}
	}
	return news
}

// TakeRenewals returns the renewals answered since the last call.
func (s *Session) TakeRenewals() []Renewal {
	renewals := s.renewals
	s.renewals = nil
	return renewals
}

// TakeGone removes the seats that have nothing left to do, and returns their numbers.
func (s *Session) TakeGone() []uint64 {
	var gone []uint64
	for _, number := range s.seats.takeGone() {
		if number < firstStray {
			gone = append(gone, number)
		}
	}
	return gone
}

// BelievedUntil is the time until which a seat's process may act as the leader; 0 if it does not lead.
func (s *Session) BelievedUntil(number uint64) Time {
	if e := s.seats.find(number); e != nil {
		return e.seat.believedUntil(&s.lease)
	}
	return 0
}

// TermOf is the term that a seat holds, or may hold; 0 if none.
func (s *Session) TermOf(number uint64) uint64 {
	if e := s.seats.find(number); e != nil {
		return e.seat.term()
	}
	return 0
}

// SessionID is the id of the open session; empty if there is none.
func (s *Session) SessionID() string { return s.sessionID }

// AwaitsNothing reports that no renewal is under way.
func (s *Session) AwaitsNothing() bool { return s.renewalSent == 0 }

// Ended reports that nothing is left to do after End.
func (s *Session) Ended() bool { return s.ended }

// EndStatus is OK (or nil) if the service has ended the session, or there is none; else its last answer.
func (s *Session) EndStatus() *status.Status { return s.endStatus }

// Time.

func (s *Session) pass(now Time) {
	for _, e := range s.seats.all {
		e.seat.pass(now, &s.lease)
	}
	if s.renewalSent != 0 && now >= s.renewalSent.Add(s.answerPatience()) {
		s.replicaFailed(s.streamReplica, true)
		s.dropStream()
		s.openAt = s.backoff(now)
	}
}

func (s *Session) streamWake() Time {
	switch {
	case s.stream == 0:
		return s.openAt
	case s.renewalSent != 0:
		return s.renewalSent.Add(s.answerPatience())
	default:
		return s.nextRenewal
	}
}

func (s *Session) decideStream(now Time, effects []Effect) []Effect {
	if s.sessionID == "" {
		return effects
	}
	due := s.stream != 0 && s.renewalSent == 0 && now >= s.nextRenewal
	if due && s.seats.anyInDoubt() {
		s.dropStream()
		effects = s.closeDroppedStream(effects)
		s.openAt = now
	} else if due {
		effects = s.renew(now, effects)
	}
	if s.stream != 0 || now < s.openAt {
		return effects
	}
	s.stream = s.nextNumber()
	s.streamReplica = s.replica
	s.listing, s.list = true, nil
	s.seats.listAsked()
	return s.renew(now, append(effects, OpenStream{s.stream}))
}

func (s *Session) renew(now Time, effects []Effect) []Effect {
	s.sequence++
	s.renewalSent = now
	request := &pb.KeepAliveRequest{Sequence: s.sequence, SessionIds: []string{s.sessionID}}
	return append(effects, SendRenewal{s.stream, request})
}

func (s *Session) decideSeats(now Time, effects []Effect) []Effect {
	for _, e := range s.seats.all {
		if now >= s.callAt(e) {
			effects = s.callFor(e, now, effects)
		}
	}
	return effects
}

// callAt: while no session is open, one call at a time, which opens the session for all of them. While
// it is being ended, nobody campaigns.
func (s *Session) callAt(e *entry) Time {
	if s.ending && e.seat.need() == needCampaign {
		return Never
	}
	if len(s.calls) >= callsMax || (s.sessionID == "" && len(s.calls) > 0) {
		return Never
	}
	return s.seats.callAt(e)
}

func (s *Session) callFor(e *entry, now Time, effects []Effect) []Effect {
	if s.sessionID == "" && e.seat.need() == needResign {
		// A grant, if there was one, belongs to a session that nobody will ever know of or renew.
		s.requestID = s.newRequestID()
		e.seat.onResigned(e.seat.term(), false, now)
		return effects
	}
	number := s.nextNumber()
	s.calls[number] = call{e.number, s.sessionID, e.seat.term(), s.replica, now}
	e.called = true
	if e.seat.need() == needCampaign {
		e.seat.asked()
		return append(effects, SendCampaign{number, s.campaignRequest(&e.seat), s.answerPatience()})
	}
	request := &pb.ResignRequest{
		SessionId: s.sessionID, Election: e.seat.options.Election,
		Term: proto.Uint64(e.seat.term()), // 0: from the queue
	}
	return append(effects, SendResign{number, request, s.answerPatience()})
}

func (s *Session) decideEnd(now Time, effects []Effect) []Effect {
	if now < s.resignUntil {
		effects = s.decideSeats(now, effects)
		for _, e := range s.seats.all {
			if e.seat.need() == needResign {
				return effects
			}
		}
	}
	s.resignUntil = 0
	if len(s.calls) != 0 || now < s.endAt {
		return effects
	}
	if s.sessionID == "" {
		s.ended = true
	}
	if s.ended {
		return effects
	}
	s.endTries++
	number := s.nextNumber()
	s.calls[number] = call{theSession, s.sessionID, 0, s.replica, now}
	return append(effects, SendResign{number, &pb.ResignRequest{SessionId: s.sessionID}, s.answerPatience()})
}

// dropStream: the stream is no longer useful.
func (s *Session) dropStream() {
	if s.stream != 0 {
		s.droppedStream, s.stream = s.stream, 0
	}
	s.renewalSent = 0
}

func (s *Session) closeDroppedStream(effects []Effect) []Effect {
	if s.droppedStream != 0 {
		effects = append(effects, CloseStream{s.droppedStream})
		s.droppedStream = 0
	}
	return effects
}

// replicaFailed: a call or stream on this replica failed, but should succeed on another.
func (s *Session) replicaFailed(replica uint64, silent bool) {
	if replica == s.replica { // otherwise it is no longer in use
		s.replica++
		s.failures++
		s.moveOn = &UseAnotherReplica{silent}
	}
}

// What the service says.

func (s *Session) onOpened(session *pb.Session) {
	s.sessionID = session.GetSessionId()
	s.requestID = s.newRequestID() // for the next one
	s.previousSessionID = ""
}

func (s *Session) sessionOver(cause pb.Cause, now Time) {
	if s.sessionID == "" {
		return
	}
	s.previousSessionID = ""
	if cause == pb.Cause_CAUSE_EXPIRED {
		s.previousSessionID = s.sessionID
	}
	s.sessionID = ""
	s.seats.forgetTerms()
	s.lease = Lease{}
	s.dropStream()
	for _, e := range s.seats.all {
		e.seat.onSessionOver(cause, now)
		if cause == pb.Cause_CAUSE_SUPERSEDED {
			// Another session would supersede the process that took over.
			e.seat.onRefused(status.Newf(codes.Aborted, "superseded by a newer session of %s", s.options.Candidate), now)
		}
	}
}

func (s *Session) seatElected(leadership *pb.Leadership, now Time) {
	e := s.seats.actingIn(leadership.GetElection())
	if e == nil {
		e = s.addStray(leadership.GetElection(), now)
	}
	e.seat.onElected(leadership, now, &s.lease)
	if successor := leadership.GetSuccessor(); successor != "" {
		e.seat.onStepDownAsked(leadership.GetTerm(), successor, now)
	}
}

// addStray adds a seat in an election where this process does not stand. It will be given up.
func (s *Session) addStray(election string, now Time) *entry {
	e := s.seats.add(s.nextStray, SeatOptions{Election: election})
	s.nextStray++
	e.seat.abandon(now)
	return e
}

func (s *Session) takeInNotice(notice *pb.SeatNotice, now Time) {
	if elected := notice.GetElected(); elected != nil {
		s.seatElected(elected, now)
	}
	e := s.seats.actingIn(notice.GetElection())
	if e == nil {
		return
	}
	switch what := notice.GetChange().(type) {
	case *pb.SeatNotice_Elected:
		e.noticedOn = s.stream
		e.inDoubt = false
	case *pb.SeatNotice_Lost:
		e.seat.onLost(what.Lost.GetTerm(), what.Lost.GetCause(), now)
	case *pb.SeatNotice_StepDown:
		e.seat.onStepDownAsked(what.StepDown.GetTerm(), what.StepDown.GetSuccessor(), now)
	}
}

func (s *Session) takeInRenewal(renewal *pb.Renewal, now Time) {
	if len(renewal.GetSessions()) != 1 {
		return
	}
	session := renewal.GetSessions()[0]
	switch result := session.GetResult().(type) {
	case *pb.SessionRenewal_Ended:
		s.sessionOver(result.Ended, now)
		return
	case *pb.SessionRenewal_NotFound:
		s.sessionOver(pb.Cause_CAUSE_EXPIRED, now)
		return
	}
	if s.renewalSent != 0 && renewal.GetSequence() == s.sequence {
		s.renewed(session.GetLeaseTtl().AsDuration(), now)
	}
	if !s.listing {
		return
	}
	s.list = append(s.list, session.GetSeats()...)
	if renewal.GetMore() {
		return
	}
	// The seats count as listed once the last part of the list is here.
	held := s.list
	s.listing, s.list = false, nil
	for _, leadership := range held {
		s.seatElected(leadership, now)
	}
	s.seats.listed(held, s.stream, now)
}

func (s *Session) renewed(leaseTTL time.Duration, now Time) {
	sentAt := s.renewalSent
	s.renewalSent = 0
	s.failures = 0
	s.renewals = append(s.renewals, Renewal{now.Sub(sentAt), s.lease.believedUntil.Sub(now)})
	s.lease.renewed(sentAt, leaseTTL)
	s.nextRenewal = sentAt.Add(s.lease.renewalInterval())
}

// Internals.

func (s *Session) takeCall(number uint64) (call, bool) {
	c, ok := s.calls[number]
	if !ok {
		return c, false
	}
	delete(s.calls, number)
	if e := s.seats.find(c.seat); e != nil {
		e.called = false
	}
	return c, true
}

func (s *Session) campaignRequest(of *seat) *pb.CampaignRequest {
	options := &of.options
	request := &pb.CampaignRequest{
		Election: options.Election, Candidate: s.options.Candidate, Value: options.Value,
		Priority: options.Priority, Supersede: s.options.Supersede,
		Wait: durationpb.New(0), // the stream reports the election
	}
	if s.sessionID != "" {
		request.SessionId = s.sessionID
		if term := of.afterTerm(); term != 0 {
			request.AfterTerm = proto.Uint64(term)
		}
		return request
	}
	request.RequestId = s.requestID
	request.PreviousSessionId = s.previousSessionID
	if s.options.LeaseTTL != 0 {
		request.LeaseTtl = durationpb.New(s.options.LeaseTTL)
	}
	return request
}

// answerPatience is half of the time between two renewals, so that a replica that hangs costs less
// than a heartbeat.
func (s *Session) answerPatience() time.Duration {
	ttl := s.lease.ttl
	if ttl == 0 {
		ttl = s.options.LeaseTTL
	}
	if ttl == 0 {
		return answerPatienceMax
	}
	return min(max(ttl/6, answerPatienceMin), answerPatienceMax)
}

func (s *Session) backoff(now Time) Time { return now.Add(Backoff(s.failures, s.random.Int63n)) }

func (s *Session) nextNumber() uint64 {
	s.lastNumber++
	return s.lastNumber
}

func (s *Session) newRequestID() []byte {
	id := make([]byte, 16)
	s.random.Read(id)
	return id
}
