package tenure

import (
	"context"
	crand "crypto/rand"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/rand"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"tenure/internal/clock"
	"tenure/internal/machine"
	pb "tenure/v1"
)

// A timer stops while the machine sleeps, but the holder's clock does not, so the loop checks it this
// often.
const waitMax = time.Second

// Of the last attempts before the loop gives up.
const lastPatience = 100 * time.Millisecond

// lookAgain stands for the number of a call: all endpoints are asked for their service while a session
// is open.
const lookAgain = 0

// loop is the I/O of a client: it carries out what its session decides, on one goroutine.
//
//	calls' answers, stream's messages, electors' wishes --mailbox--> [loop: session] -->
//	calls, beliefs, news
type loop struct {
	clock     *clock.Manual // nil: this machine's clock
	mailbox   *mailbox[func(now machine.Time)]
	self      goroutine
	callbacks executor
	metrics   Metrics
	lines     *lines
	trouble   *trouble
	done      chan struct{} // closed when the loop has ended
	endError  error         // readable once `done` is closed
	services  atomic.Uint64 // replaced so far: terms of one are not those of the next

	mutex      sync.Mutex
	lastNumber uint64            // of stands
	elections  map[string]*stand // the current stand of each election
	closing    bool

	// For the loop's goroutine.
	session    *machine.Session
	connection *connection
	membership *membership
	stands     map[uint64]*stand
	calls      map[uint64]context.CancelFunc // under way
	surveys    uint64                        // started so far
	stream     *keepAliveStream
	lastStream uint64
	handled    int // messages of that stream
	giveUpAt   machine.Time
	askAgainAt machine.Time // when to ask again why a replica is not serving
}

func newLoop(session machine.SessionOptions, connection *connection, options ClientOptions) *loop {
	lines := newLines(options.Logger)
	l := &loop{
		clock: options.TestClock,
		lines: lines, trouble: &trouble{log: lines.log},
		mailbox: newMailbox[func(machine.Time)](), metrics: options.Metrics, done: make(chan struct{}),
		elections: map[string]*stand{}, stands: map[uint64]*stand{}, calls: map[uint64]context.CancelFunc{},
		session: machine.NewSession(session, rand.New(rand.NewSource(newSeed()))), connection: connection,
		membership: newMembership(options.ServiceID, lines.log), giveUpAt: machine.Never,
	}
	l.callbacks.patience = callPatience
	l.callbacks.slow = func() {
		lines.log(slog.LevelWarn, fmt.Sprintf("tenure: a callback has not returned for %s: others wait for it, and so does work that is to begin", inWords(callPatience)))
	}
	l.clock.Join(l)
	go l.run()
	return l
}

func newSeed() int64 {
	var seed [8]byte
	if _, err := crand.Read(seed[:]); err != nil {
		panic("tenure: no randomness: " + err.Error())
	}
	return int64(binary.LittleEndian.Uint64(seed[:]))
}

// tell puts an input for the session into the mailbox. It does not wait. False if the loop has ended.
func (l *loop) tell(what func(session *machine.Session, now machine.Time)) bool {
	return l.mailbox.put(func(now machine.Time) { what(l.session, now) })
}

// end ends the session: see Client.Close. Without `insist`, only a few attempts are made.
func (l *loop) end(patience time.Duration, insist bool) error {
	l.mailbox.put(func(now machine.Time) {
		l.giveUpAt = now.Add(patience)
		for _, cancel := range l.calls { // its replica may be frozen
			time.AfterFunc(patience/4, cancel)
		}
		if insist {
			l.session.End(now, l.giveUpAt)
		} else {
			l.session.End(now, 0)
		}
	})
	<-l.done
	return l.endError
}

func (l *loop) run() {
	l.self.enter()
	defer l.clock.Leave(l)
	for !l.ended(l.clock.Now()) {
		wake := l.nextWake()
		inputs := l.mailbox.take(max(min(wake.Sub(l.clock.Now()), waitMax), 0))
		for _, input := range inputs {
			now := l.clock.Now()
			input(now)
			l.step(now)
		}
		if len(inputs) == 0 {
			l.step(l.clock.Now())
		}
	}
	l.finish()
}

// Rest implements clock.Member.
func (l *loop) Rest() clock.Rest {
	answer := make(chan clock.Rest, 1)
	asked := l.mailbox.put(func(now machine.Time) {
		l.step(now)
		wake := l.nextWake()
		rest := clock.Rest{AtRest: len(l.calls) == 0 && l.session.AwaitsNothing() && wake > now, Wake: wake}
		if l.stream != nil {
			rest.SessionID, rest.Handled = l.session.SessionID(), l.handled
		}
		answer <- rest
	})
	if !asked {
		return clock.Rest{AtRest: true, Wake: machine.Never}
	}
	select {
	case rest := <-answer:
		return rest
	case <-l.done:
		return clock.Rest{AtRest: true, Wake: machine.Never}
	}
}

func (l *loop) nextWake() machine.Time {
	return min(l.session.NextWake(), l.giveUpAt, l.surveyAt())
}

// ended waits for a running survey, which may find that the session is gone with its service.
func (l *loop) ended(now machine.Time) bool {
	return l.session.Ended() && l.calls[lookAgain] == nil || now >= l.giveUpAt
}

func (l *loop) finish() {
	for _, cancel := range l.calls {
		cancel()
	}
	l.closeStream()
	l.mailbox.close()
	l.connection.close()
	for _, stand := range l.stands {
		stand.belief.end()
		close(stand.gone)
	}
	l.endError = l.session.EndStatus().Err()
	if !l.session.Ended() && l.endError == nil {
		late := status.Error(codes.DeadlineExceeded, "the session's end was not answered in time")
		l.endError = withCause(late, l.trouble.last())
	}
	l.lines.flush()
	close(l.done)
}

func (l *loop) step(now machine.Time) {
	effects := l.session.Decide(now)
	// The belief ends before anything is sent that gives up the seat.
	for number, stand := range l.stands {
		l.publish(number, stand, now)
	}
	for _, news := range l.session.TakeNews() {
		stand := l.stands[news.Seat]
		count(l.metrics, stand.options.Election, news.Event)
		l.logNews(stand, news.Event)
		stand.onNews(news.Event)
	}
	for _, renewal := range l.session.TakeRenewals() {
		l.metrics.Renewed(renewal.RoundTrip, renewal.Margin)
	}
	for _, effect := range effects {
		l.do(effect, now)
	}
	for _, number := range l.session.TakeGone() {
		close(l.stands[number].gone)
		delete(l.stands, number)
	}
	if now >= l.surveyAt() {
		l.survey(lookAgain, surveyPatience, now, func(found survey, now machine.Time) {
			if _, err := l.settle(found, now); err != nil {
				l.unchosen(err, now)
			}
		})
	}
}

func (l *loop) publish(number uint64, s *stand, now machine.Time) {
	until := l.session.BelievedUntil(number)
	term := uint64(0)
	if until != 0 {
		term = l.session.TermOf(number)
	}
	switch {
	case term != s.publishedTerm:
		s.belief.end()
		if term != 0 {
			s.belief.begin(term, until)
		}
	case term != 0 && until != s.publishedUntil && !s.belief.extend(until):
		l.session.BeliefEnded(number, now)
		term = 0
	}
	s.publishedTerm, s.publishedUntil = term, until
}

func (l *loop) do(effect machine.Effect, now machine.Time) {
	switch what := effect.(type) {
	case machine.SendCampaign:
		if what.Request.GetSessionId() == "" && l.connection.needsSurvey(l.membership) {
			l.surveyAndCampaign(what, now)
			return
		}
		l.campaign(what, now)
	case machine.SendResign:
		send(l, l.contextOf(what.Request.GetElection()), what.Call, l.patience(what.Patience, now), pb.ElectionServiceClient.Resign, what.Request,
			func(*pb.ResignResponse) string { return "" },
			func(answer *status.Status, _ *pb.ResignResponse, now machine.Time) {
				l.session.OnResignDone(what.Call, answer, now)
			})
	case machine.OpenStream:
		l.openStream(what.Stream)
	case machine.SendRenewal:
		l.stream.requests <- what.Request
	case machine.CloseStream:
		l.closeStream()
	case machine.UseAnotherReplica:
		if what.Silent {
			l.silent(l.connection.replica(), now)
			l.connection.reconnect()
		}
		l.connection.moveOn()
		l.metrics.ReplicaChanged()
	}
}

// surveyAndCampaign asks the endpoints for their service, then opens a session with a campaign.
func (l *loop) surveyAndCampaign(what machine.SendCampaign, now machine.Time) {
	l.survey(what.Call, l.patience(what.Patience, now), now, func(found survey, now machine.Time) {
		if l.giveUpAt != machine.Never {
			l.session.OnCampaignDone(what.Call, status.New(codes.Canceled, "the client is being closed"), nil, now)
			return
		}
		replaced, err := l.settle(found, now)
		if err != nil {
			l.session.OnCampaignDone(what.Call, l.unchosen(err, now), nil, now)
			return
		}
		if replaced {
			what.Request.PreviousSessionId = ""
		}
		l.connection.prefer(l.membership, found)
		l.campaign(what, now)
	})
}

// surveyAt is when to ask all endpoints again.
func (l *loop) surveyAt() machine.Time {
	if l.session.SessionID() == "" || l.calls[lookAgain] != nil {
		return machine.Never
	}
	return l.membership.surveyAt()
}

// survey asks all endpoints for their service. It cancels a survey that is already running, because a
// campaign waits for this one.
func (l *loop) survey(call uint64, patience time.Duration, now machine.Time, done func(found survey, now machine.Time)) {
	if giveUp := l.calls[lookAgain]; giveUp != nil {
		giveUp()
		delete(l.calls, lookAgain)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	l.calls[call] = cancel
	l.surveys++
	number := l.surveys
	l.membership.surveyBegins(now)
	replicas, pinned := append([]replica{}, l.connection.replicas...), l.membership.pinnedID()
	go func() {
		found := identify(ctx, cancel, replicas, pinned, func(which int, id string, err error) {
			l.mailbox.put(func(machine.Time) {
				l.connection.hearLate(l.membership, which, id)
				l.trouble.found(replicas[which], err)
			})
		})
		l.mailbox.put(func(now machine.Time) {
			if number == l.surveys {
				delete(l.calls, call)
				done(found, now)
			}
			go found.hearRest()
		})
	}()
}

// settle takes in a survey. The error comes from membership.choose.
func (l *loop) settle(found survey, now machine.Time) (replaced bool, err error) {
	replaced, err = l.membership.choose(found)
	if err != nil {
		return false, err
	}
	l.trouble.foundAll(found)
	if replaced {
		l.services.Add(1)
		l.session.OnServiceReplaced(now)
	}
	l.connection.use(l.membership, found)
	return replaced, nil
}

// unchosen handles a survey without a usable service.
func (l *loop) unchosen(err error, now machine.Time) *status.Status {
	if silent, ok := err.(*unanswered); ok {
		return l.hear(silent.replica, silent.err, now)
	}
	answer := status.Convert(err)
	l.trouble.failed("the service", reason{kind: answer.Message()}, err, now)
	return answer
}

// contextOf is the context of calls for an election: it has the values of Run's context, such as a trace
// span or metadata to send, but does not end with it.
func (l *loop) contextOf(election string) context.Context {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if s := l.elections[election]; s != nil && s.runs != nil {
		return context.WithoutCancel(s.runs)
	}
	return context.Background()
}

func (l *loop) campaign(what machine.SendCampaign, now machine.Time) {
	send(l, l.contextOf(what.Request.GetElection()), what.Call, l.patience(what.Patience, now), pb.ElectionServiceClient.Campaign, what.Request,
		func(response *pb.CampaignResponse) string { return response.GetSession().GetServiceId() },
		func(answer *status.Status, response *pb.CampaignResponse, now machine.Time) {
			l.session.OnCampaignDone(what.Call, answer, response, now)
		})
}

// patience limits a call's: while the session is being ended, it leaves time to ask another replica.
func (l *loop) patience(wished time.Duration, now machine.Time) time.Duration {
	if l.giveUpAt == machine.Never {
		return wished
	}
	return min(wished, max(l.giveUpAt.Sub(now)/2, lastPatience))
}

// send makes a call; the mailbox gets its answer.
func send[Request, Response any](
	l *loop, within context.Context, call uint64, patience time.Duration,
	method func(pb.ElectionServiceClient, context.Context, Request, ...grpc.CallOption) (Response, error), request Request,
	serviceID func(response Response) string,
	told func(answer *status.Status, response Response, now machine.Time),
) {
	ctx, cancel := context.WithTimeout(within, patience)
	l.calls[call] = cancel
	replica := l.connection.replica()
	marked := l.membership.mark(ctx)
	go func() {
		response, err := method(replica.client, marked, request)
		l.mailbox.put(func(now machine.Time) {
			cancel()
			delete(l.calls, call)
			if err == nil {
				err = l.membership.check(replica.endpoint, serviceID(response))
			}
			told(l.hear(replica, err, now), response, now)
		})
	}()
}

func (l *loop) openStream(stream uint64) {
	replica := l.connection.replica()
	l.handled = 0
	l.lastStream = stream
	l.stream = openKeepAlive(l.membership.mark(context.Background()), replica.client, func(message *pb.KeepAliveResponse) {
		l.mailbox.put(func(now machine.Time) {
			if l.stream == nil || stream != l.lastStream {
				return
			}
			if err := l.membership.check(replica.endpoint, message.GetServiceId()); err != nil {
				l.hear(replica, err, now)
				l.session.OnStreamClosed(stream, now)
				l.closeStream()
				return
			}
			l.handled++
			l.hear(replica, nil, now)
			l.session.OnStreamMessage(stream, message, now)
		})
	}, func(err error) {
		l.mailbox.put(func(now machine.Time) {
			l.hear(replica, err, now)
			l.session.OnStreamClosed(stream, now)
		})
	})
}

// hear takes in the answer of a replica, and returns the status for the session.
func (l *loop) hear(replica replica, err error, now machine.Time) *status.Status {
	answer, why := replica.asSeen(err)
	if id, wrong := serviceOf(answer); wrong && id != l.membership.id { // otherwise it refused an earlier service
		l.membership.meet(replica.endpoint, id)
		l.connection.leave(replica.endpoint)
		l.session.OnWrongService(now)
	}
	switch {
	case why != nil && why.kind == notServing:
		l.askWhy(replica.endpoint, now)
	case why != nil:
		l.trouble.failed(replica.endpoint, *why, answer.Err(), now)
	case answer.Code() != codes.Canceled:
		l.trouble.worked(replica.endpoint, now)
	}
	return answer
}

// askWhy finds out why a replica is not serving, and reports it later.
func (l *loop) askWhy(endpoint string, now machine.Time) {
	if now < l.askAgainAt {
		return
	}
	l.askAgainAt = now.Add(warningInterval)
	ask := l.connection.askWhy(endpoint)
	go func() {
		err, why := ask()
		l.mailbox.put(func(now machine.Time) { l.trouble.failed(endpoint, why, err, now) })
	}()
}

// silent: a replica has not answered for too long.
func (l *loop) silent(replica replica, now machine.Time) {
	l.hear(replica, status.Error(codes.DeadlineExceeded, "nothing came"), now)
}

func (l *loop) logNews(s *stand, event machine.Event) {
	election := slog.String("election", s.options.Election)
	switch what := event.(type) {
	case machine.Elected:
		l.lines.log(slog.LevelInfo, "tenure: leads", election, slog.Uint64("term", what.Leadership.GetTerm()))
	case machine.Lost:
		l.lines.log(slog.LevelInfo, "tenure: leads no more", election, slog.Uint64("term", s.seat.Term), slog.String("cause", causeText(what.Cause)))
	case machine.Troubled:
		answer := status.Convert(what.Err)
		if _, wrong := serviceOf(answer); !machine.IsTransient(answer) && !wrong { // other errors are logged where they occur
			l.lines.log(slog.LevelWarn, fmt.Sprintf("tenure: cannot stand for %s: %s; still trying", s.options.Election, refusalOf(answer)))
		}
	case machine.Refused:
		l.lines.log(slog.LevelError, fmt.Sprintf("tenure: cannot stand for %s: %s; not trying again", s.options.Election, refusalOf(status.Convert(what.Err))))
	}
}

func causeText(cause pb.Cause) string { return strings.TrimPrefix(cause.String(), "CAUSE_") }

func (l *loop) closeStream() {
	if l.stream != nil {
		l.stream.close()
		l.stream = nil
	}
}
