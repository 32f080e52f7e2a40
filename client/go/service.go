package tenure

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"tenure/internal/machine"
	pb "tenure/v1"
)

// serviceHeader is the metadata key that names the service a call is meant for.
const serviceHeader = "tenure-service-id"

const (
	// A client that is not sure of its service asks all endpoints again this long after the last survey
	// began,
	surveyInterval = 10 * time.Second
	// or this long, if a replica has refused its service since.
	surveyPause = time.Second
	// For a survey that no lease waits for.
	surveyPatience = 3 * time.Second
)

var serviceIDs = regexp.MustCompile(`^[0-9a-f]{32}$`)

func checkServiceID(id string) error {
	if id != "" && !serviceIDs.MatchString(id) {
		return fmt.Errorf("tenure: ServiceID is %q; it must be 32 lower-case hexadecimal digits, as `tenure status` shows them", id)
	}
	return nil
}

// membership is the service that a client belongs to: each database is one. Not safe for concurrent use.
type membership struct {
	log    func(level slog.Level, line string, attributes ...any)
	id     string // empty: not known yet
	pinned bool
	warned map[string]string // by endpoint: the other service that the last warning named

	sure       bool         // more than half of all endpoints belong to it, as far as we know
	refused    bool         // a replica of another service has refused us since the last survey
	surveyedAt machine.Time // when the last survey began
}

func newMembership(id string, log func(slog.Level, string, ...any)) *membership {
	return &membership{log: log, id: id, pinned: id != "", warned: map[string]string{}, sure: true}
}

// pinnedID is empty if no service is pinned.
func (m *membership) pinnedID() string {
	if m.pinned {
		return m.id
	}
	return ""
}

// mark adds the service to the context of a call.
func (m *membership) mark(ctx context.Context) context.Context {
	if m.id == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, serviceHeader, m.id)
}

// check takes in the service that an endpoint says it belongs to, if any. The error means that the
// endpoint belongs to another service, and is too old to compare ids itself.
func (m *membership) check(endpoint, id string) error {
	switch {
	case id == "" || id == m.id:
		return nil
	case m.id == "":
		m.id = id
		return nil
	default:
		return richError(codes.Unavailable, fmt.Sprintf("%s belongs to service %s, not to %s", endpoint, id, m.id),
			machine.WrongService, map[string]string{"service_id": id})
	}
}

// surveyAt is when to ask all endpoints again while a session or a stream is open.
func (m *membership) surveyAt() machine.Time {
	switch {
	case m.sure || m.pinned || m.id == "":
		return machine.Never
	case m.refused:
		return m.surveyedAt.Add(surveyPause)
	default:
		return m.surveyedAt.Add(surveyInterval)
	}
}

// surveyBegins records that all endpoints are being asked.
func (m *membership) surveyBegins(now machine.Time) { m.surveyedAt, m.refused = now, false }

// meet records that a replica has refused this service, because it belongs to service `id`.
func (m *membership) meet(endpoint, id string) {
	m.warn(endpoint, id)
	m.sure, m.refused = false, true
}

// warn says, once for each endpoint, that it belongs to another service.
func (m *membership) warn(endpoint, id string) {
	if m.warned[endpoint] == id {
		return
	}
	m.warned[endpoint] = id
	m.log(slog.LevelWarn, fmt.Sprintf("tenure: %s belongs to service %s, not to %s: its replica works on another database; it is not used", endpoint, id, m.id))
}

// choose settles on a service, after all endpoints were asked. True if the client belonged to another
// one before. If no replica has answered, the error is *unanswered, with the error of one of them.
func (m *membership) choose(found survey) (replaced bool, err error) {
	choice, refusal := machine.Choose(m.id, m.pinned, found.answers)
	if refusal != nil {
		switch {
		case refusal.Code() != codes.Unavailable:
			return false, refusal.Err()
		case found.withoutID: // an older service, or one that does not answer this caller: its next answer has the id
			return false, nil
		default:
			return false, &found.failures[0]
		}
	}
	replaced = m.id != "" && choice.ServiceID != m.id
	if replaced {
		m.log(slog.LevelWarn, fmt.Sprintf("tenure: most endpoints belong to service %s now, not to %s: the service was replaced", choice.ServiceID, m.id))
	}
	m.id = choice.ServiceID
	m.sure = machine.Agreed(m.id, found.answers)
	for _, answer := range found.answers {
		if answer.ServiceID != "" && answer.ServiceID != m.id {
			m.warn(answer.Endpoint, answer.ServiceID)
		}
	}
	return replaced, nil
}

// survey is what the endpoints said about their services.
type survey struct {
	answers   []machine.Answer
	withoutID bool         // one of them answered, but did not say
	failures  []unanswered // of endpoints that cannot be used
	hearRest  func()       // waits for the others; call it once the survey was taken in
}

// unanswered is the error of a replica that did not say which service it belongs to.
type unanswered struct {
	replica replica
	err     error
}

func (u *unanswered) Error() string { return u.err.Error() }

// identify asks all replicas at once, until more than half of them agree, or the context ends. hearRest
// calls late with the answers of the others, and cancels the context when all have answered.
func identify(ctx context.Context, cancel func(), replicas []replica, pinned string, late func(which int, id string, err error)) survey {
	type said struct {
		which    int
		response *pb.IdentifyResponse
		err      error
	}
	heard := make(chan said, len(replicas))
	found := survey{answers: make([]machine.Answer, len(replicas))}
	for i, replica := range replicas {
		i, replica := i, replica
		found.answers[i].Endpoint = replica.endpoint
		go func() {
			response, err := replica.client.Identify(ctx, &pb.IdentifyRequest{})
			heard <- said{i, response, err}
		}()
	}
	left := len(replicas)
	for left > 0 {
		one := <-heard // arrives soon after the context has ended
		left--
		switch code := status.Code(one.err); {
		case one.err == nil && one.response.GetServiceId() != "":
			found.answers[one.which].ServiceID = one.response.GetServiceId()
		case one.err == nil, code == codes.Unimplemented, code == codes.PermissionDenied, code == codes.Unauthenticated:
			found.withoutID = true
		default:
			found.failures = append(found.failures, unanswered{replicas[one.which], one.err})
		}
		if machine.Agreed(pinned, found.answers) {
			break
		}
	}
	found.hearRest = func() {
		defer cancel()
		for ; left > 0; left-- {
			one := <-heard
			late(one.which, one.response.GetServiceId(), one.err)
		}
	}
	return found
}

// needsSurvey reports whether to ask the endpoints before a session or a stream is opened.
func (c *connection) needsSurvey(m *membership) bool { return len(c.replicas) > 1 || m.id != "" }

// use excludes the endpoints of other services, until the next survey.
func (c *connection) use(m *membership, found survey) {
	for i := range c.replicas {
		id := found.answers[i].ServiceID
		c.replicas[i].foreign = id != "" && id != m.id
	}
	if c.replica().foreign {
		c.moveOn()
	}
}

// prefer switches to a replica that has answered, since nothing is open yet.
func (c *connection) prefer(m *membership, found survey) {
	if m.id != "" && found.answers[c.inUse].ServiceID != m.id {
		for i := range c.replicas {
			if next := (c.inUse + i) % len(c.replicas); found.answers[next].ServiceID == m.id {
				c.inUse = next
				break
			}
		}
	}
}

// hearLate takes in the answer of a replica after more than half had agreed; the id is empty if it did
// not say.
func (c *connection) hearLate(m *membership, which int, id string) {
	if endpoint := c.replicas[which].endpoint; id != "" && id != m.id {
		m.warn(endpoint, id)
		c.leave(endpoint)
	}
}

// leave excludes an endpoint, because it belongs to another service, until the next survey. If none is
// left, all are used.
func (c *connection) leave(endpoint string) {
	left := false
	for i := range c.replicas {
		if c.replicas[i].endpoint == endpoint {
			c.replicas[i].foreign = true
		}
		left = left || !c.replicas[i].foreign
	}
	if !left {
		for i := range c.replicas {
			c.replicas[i].foreign = false
		}
	}
}

// serviceOf is the other service that refused a call; empty if none did.
func serviceOf(answer *status.Status) (id string, wrong bool) {
	info := machine.InfoOf(answer)
	return info.GetMetadata()["service_id"], info.GetReason() == machine.WrongService
}
