package tenure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"tenure/internal/clock"
	"tenure/internal/machine"
	pb "tenure/v1"
)

const (
	observedMax = 10_000
	prefixesMax = 64
	silenceMax  = 30 * time.Second // three times the maximum silence that the contract allows
)

// ObserverOptions say what to observe, and with which callbacks. They are called one after the other, on
// the goroutine of Run. A slow one delays the next, but nothing is lost unless it takes longer than the
// service keeps its history.
type ObserverOptions struct {
	// As in ClientOptions.
	Endpoints   string
	ServiceID   string
	TLS         *TLSOptions
	DialOptions []grpc.DialOption
	Logger      *slog.Logger

	// Elections, whether or not they exist yet; at most 10,000. With Prefix: name prefixes, at most 64; an
	// empty one selects all elections.
	Names  []string
	Prefix bool
	// The revision to start with in each election, instead of a snapshot. 1: all events that the service
	// still has. 0: a snapshot.
	FromRevision uint64
	// The same for single elections, in place of FromRevision: for programs that store how far they have come
	// in each. Each must be among Names, or have one of them as its prefix. 0 is as if it were not there.
	FromRevisions map[string]uint64
	// A stream that is silent for this long is given up. The service sends something at least every ten
	// seconds. 0: 30 s.
	SilenceMax time.Duration

	// The state of an election at one revision.
	OnSnapshot func(*pb.Snapshot)
	// One change.
	OnEvent func(*pb.Event)
	// Everything that the replica knew at this time has been reported. Called first when all elections have
	// started, then every few seconds.
	OnProgress func(*pb.Progress)
	// Most endpoints belong to another service now, such as after its database was created again. Everything
	// before is void, including the revisions that the observer was asked to start with; snapshots follow.
	OnServiceReplaced func()
	// The stream broke, or could not be opened. The observer tries again, on the next replica.
	OnBroken func(error)
}

// errServiceReplaced makes an observer start again, with another service.
var errServiceReplaced = errors.New("tenure: the service was replaced")

// Observer reports every change of elections: who leads, with which value, and why a term ended.
//
//   - Each election starts with a snapshot: its state at one revision. Then follows every event once, in
//     the order of revisions, without gaps. There is no order between two elections.
//   - When a stream breaks, or is silent for too long, the observer continues by itself on another
//     replica, from where it was. Elections created meanwhile start with their first event.
//   - It never skips changes silently. If events are no longer available, a snapshot with the reason
//     RESYNC replaces them. Everything before it is void, and events continue with its revision + 1. Its
//     revision may be lower than earlier ones, after the service's database was restored from a backup.
//   - At least every ten seconds the service confirms that all has been reported (OnProgress).
//
// What it reports is already past, if only by milliseconds: to act as a leader use an Elector.
type Observer struct {
	options     ObserverOptions
	wish        machine.Wish
	observation *machine.Observation
	membership  *membership
	said        *mailbox[func() error] // answers of endpoints about their service, to be taken in
	lines       *lines
	trouble     *trouble
}

// NewObserver does not connect yet. The error says which option is malformed.
func NewObserver(options ObserverOptions) (*Observer, error) {
	if len(options.Names) == 0 {
		return nil, errors.New("tenure: Names is empty; it must have at least one name")
	}
	namesMax := observedMax
	if options.Prefix {
		namesMax = prefixesMax
	}
	if len(options.Names) > namesMax {
		return nil, fmt.Errorf("tenure: Names has %d entries; the maximum is %d", len(options.Names), namesMax)
	}
	for _, name := range options.Names {
		if options.Prefix && name == "" {
			continue
		}
		if err := checkName("one of Names", name); err != nil {
			return nil, err
		}
	}
	for election := range options.FromRevisions {
		if !options.selects(election) {
			return nil, fmt.Errorf("tenure: FromRevisions has the election %q, which Names does not select", election)
		}
	}
	if total := len(options.Names) + len(options.FromRevisions); options.Prefix && total > observedMax {
		return nil, fmt.Errorf("tenure: FromRevisions has %d entries; the maximum is %d", len(options.FromRevisions), observedMax-len(options.Names))
	}
	if err := checkServiceID(options.ServiceID); err != nil {
		return nil, err
	}
	if options.SilenceMax < 0 {
		return nil, fmt.Errorf("tenure: SilenceMax is %v; it must be 0 or more", options.SilenceMax)
	}
	if err := options.TLS.check(); err != nil {
		return nil, err
	}
	connection, err := newConnection(options.Endpoints, options.TLS, options.DialOptions, false)
	if err != nil {
		return nil, err
	}
	connection.close()
	return newObserver(options), nil
}

func (o *ObserverOptions) selects(election string) bool {
	for _, name := range o.Names {
		if name == election || (o.Prefix && strings.HasPrefix(election, name)) {
			return true
		}
	}
	return false
}

// newObserver expects options that were checked before.
func newObserver(options ObserverOptions) *Observer {
	if options.SilenceMax == 0 {
		options.SilenceMax = silenceMax
	}
	wish := machine.Wish{Names: options.Names, Prefix: options.Prefix, FromRevision: options.FromRevision, FromRevisions: maps.Clone(options.FromRevisions)}
	lines := newLines(options.Logger)
	return &Observer{
		options: options, wish: wish, observation: machine.NewObservation(wish),
		membership: newMembership(options.ServiceID, lines.log), lines: lines, trouble: &trouble{log: lines.log},
	}
}

// Run observes until ctx ends (nil), or the service refuses this observer for good: the request is
// malformed, the policy forbids it, or it selects too many elections. Called again, it continues from
// where it was. Only one call at a time.
func (o *Observer) Run(ctx context.Context) error {
	connection, err := newConnection(o.options.Endpoints, o.options.TLS, o.options.DialOptions, false)
	if err != nil {
		return err
	}
	defer connection.close()
	for {
		answer, why, replica := o.followOneStream(ctx, connection)
		if ctx.Err() != nil {
			return nil
		}
		if answer == nil { // another service is in use now
			continue
		}
		if isFinal(answer) {
			return answer.Err()
		}
		o.trouble.failed(replica, why, answer.Err(), clock.Now())
		tell(o.options.OnBroken, answer.Err())
		connection.moveOn()
		timer := time.NewTimer(pauseAfter(answer, connection.backoff()))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}

// followOneStream returns why the stream ended, which is never OK, and its endpoint. Nil: the service
// was replaced.
func (o *Observer) followOneStream(ctx context.Context, connection *connection) (*status.Status, reason, string) {
	err := o.survey(ctx, connection)
	replica := connection.replica()
	if err == nil {
		err = o.readOneStream(ctx, connection)
	} else if silent, ok := err.(*unanswered); ok {
		replica, err = silent.replica, silent.err
	} else {
		answer := status.Convert(err)
		return answer, reason{kind: answer.Message()}, "the service"
	}
	if err == errServiceReplaced {
		return nil, reason{}, ""
	}
	answer, why := replica.asSeen(err)
	if id, wrong := serviceOf(answer); wrong {
		o.membership.meet(replica.endpoint, id)
		connection.leave(replica.endpoint)
	}
	if why == nil {
		why = &reason{refusedForNow, refusalOf(answer)}
	}
	return answer, *why, replica.endpoint
}

// survey asks all endpoints for their service before a stream is opened.
func (o *Observer) survey(ctx context.Context, connection *connection) error {
	o.said = newMailbox[func() error]()
	if !connection.needsSurvey(o.membership) {
		return nil
	}
	found := o.ask(ctx, connection)()
	if err := o.settle(connection, found); err != nil && err != errServiceReplaced {
		return err
	}
	connection.prefer(o.membership, found)
	return nil
}

// ask prepares a survey of all endpoints. The returned function waits for the answers, on any goroutine.
func (o *Observer) ask(ctx context.Context, connection *connection) func() survey {
	o.membership.surveyBegins(clock.Now())
	replicas, pinned, said := append([]replica{}, connection.replicas...), o.membership.pinnedID(), o.said
	return func() survey {
		ctx, cancel := context.WithTimeout(ctx, surveyPatience)
		return identify(ctx, cancel, replicas, pinned, func(which int, id string, err error) {
			said.put(func() error {
				connection.hearLate(o.membership, which, id)
				o.trouble.found(replicas[which], err)
				return nil
			})
		})
	}
}

// settle takes in a survey. The error comes from membership.choose, or is errServiceReplaced.
func (o *Observer) settle(connection *connection, found survey) error {
	replaced, err := o.membership.choose(found)
	go found.hearRest()
	if err != nil {
		return err
	}
	o.trouble.foundAll(found)
	connection.use(o.membership, found)
	if !replaced {
		return nil
	}
	// Revisions are those of the other service.
	o.wish.FromRevision, o.wish.FromRevisions = 0, nil
	o.observation = machine.NewObservation(o.wish)
	if o.options.OnServiceReplaced != nil {
		o.options.OnServiceReplaced()
	}
	return errServiceReplaced
}

// isFinal reports whether the request would be refused again until somebody changes the policy or the
// elections, so that Run must return the error.
func isFinal(answer *status.Status) bool {
	if answer.Code() == codes.PermissionDenied || machine.InfoOf(answer).GetReason() == "OBSERVE_TOO_WIDE" {
		return true
	}
	return !machine.IsTransient(answer) && !machine.IsRefusedForNow(answer)
}

func pauseAfter(answer *status.Status, backoff time.Duration) time.Duration {
	pause := backoff
	if !machine.IsTransient(answer) {
		pause = machine.RefusedPause(rand.Int63n)
	}
	return max(pause, machine.RetryDelayOf(answer))
}

// readOneStream returns why the stream ended, which is never nil.
func (o *Observer) readOneStream(ctx context.Context, connection *connection) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	replica := connection.replica()
	stream := openObserve(o.membership.mark(ctx), replica.client, o.observation.Request())
	silentAt, asks := clock.Now().Add(o.options.SilenceMax), false
	for {
		wake := silentAt
		if !asks {
			wake = min(wake, o.membership.surveyAt())
		}
		timer := time.NewTimer(wake.Sub(clock.Now()))
		select {
		case response, ok := <-stream.responses:
			if !ok {
				return stream.end
			}
			if err := o.hear(replica.endpoint, connection, response); err != nil {
				return err
			}
			silentAt = clock.Now().Add(o.options.SilenceMax) // callbacks may take their time
		case <-o.said.arrived:
		case <-timer.C:
		}
		timer.Stop()
		for _, take := range o.said.take(0) {
			if err := take(); err != nil {
				return err
			}
		}
		switch now := clock.Now(); {
		case now >= silentAt:
			connection.reconnect()
			return status.Errorf(codes.Unavailable, "the stream was silent for %v", o.options.SilenceMax)
		case !asks && now >= o.membership.surveyAt():
			asks = true
			ask, said := o.ask(ctx, connection), o.said
			go func() {
				found := ask()
				said.put(func() error {
					asks = false
					if o.settle(connection, found) == errServiceReplaced {
						return errServiceReplaced
					}
					return nil
				})
			}()
		}
	}
}

// hear takes in a message. The error ends the stream.
func (o *Observer) hear(endpoint string, connection *connection, response *pb.ObserveResponse) error {
	if err := o.membership.check(endpoint, response.GetServiceId()); err != nil {
		return err
	}
	connection.succeeded()
	o.trouble.worked(endpoint, clock.Now())
	switch o.observation.Note(response) {
	case machine.News:
		o.tell(response)
	case machine.Gap:
		return status.Error(codes.Unavailable, "the stream skipped changes: "+response.String())
	case machine.Known:
	}
	return nil
}

// observeStream is one Observe stream, as a source of messages.
type observeStream struct {
	responses chan *pb.ObserveResponse // closed when the stream ends
	end       error                    // why it ended; readable once `responses` is closed
}

// openObserve does not wait. The stream ends with the context.
func openObserve(ctx context.Context, client pb.ElectionServiceClient, request *pb.ObserveRequest) *observeStream {
	s := &observeStream{responses: make(chan *pb.ObserveResponse)}
	go func() {
		defer close(s.responses)
		s.end = s.receive(ctx, client, request)
	}()
	return s
}

func (s *observeStream) receive(ctx context.Context, client pb.ElectionServiceClient, request *pb.ObserveRequest) error {
	stream, err := client.Observe(ctx, request)
	for err == nil {
		var response *pb.ObserveResponse
		if response, err = stream.Recv(); err != nil {
			break
		}
		select {
		case s.responses <- response:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if errors.Is(err, io.EOF) {
		return errStreamEnded
	}
	return err
}

func (o *Observer) tell(response *pb.ObserveResponse) {
	switch message := response.GetMessage().(type) {
	case *pb.ObserveResponse_Snapshot:
		tell(o.options.OnSnapshot, message.Snapshot)
	case *pb.ObserveResponse_Event:
		tell(o.options.OnEvent, message.Event)
	case *pb.ObserveResponse_Progress:
		tell(o.options.OnProgress, message.Progress)
	}
}

func tell[Argument any](callback func(Argument), argument Argument) {
	if callback != nil {
		callback(argument)
	}
}
