package machine

import (
	"fmt"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "tenure/v1"
)

// WrongService is the reason of errors from replicas of another service.
const WrongService = "WRONG_SERVICE"

// Answer is the service that an endpoint says it belongs to; empty if it did not say.
type Answer struct {
	Endpoint  string
	ServiceID string
}

// Choice is a service.
type Choice struct {
	ServiceID string
	NotUsed   []string // endpoints of other services
}

// Choose decides which service a client belongs to, after it has asked all of its endpoints. `known` is
// the service it belonged to before, empty if none; `pinned`: its user has pinned that. An error calls
// for another attempt.
func Choose(known string, pinned bool, answers []Answer) (Choice, *status.Status) {
	if most := majority(answers); most != "" && !pinned {
		return chosen(most, answers), nil
	}
	if known != "" && (anyOf(answers, known) || anyOf(answers, "")) {
		return chosen(known, answers), nil
	}
	if pinned {
		return Choice{}, wrongService(fmt.Sprintf("no endpoint belongs to service %s: %s; correct the endpoints or service_id", known, inGroups(answers)))
	}
	counts := map[string]int{}
	for _, answer := range answers {
		if answer.ServiceID != "" {
			counts[answer.ServiceID]++
		}
	}
	largest, tied := "", false
	for id, count := range counts {
		switch {
		case largest == "" || count > counts[largest]:
			largest, tied = id, false
		case count == counts[largest]:
			tied = true
		}
	}
	switch {
	case largest == "":
		return Choice{}, status.New(codes.Unavailable, "no endpoint answers")
	case tied, known != "": // only a majority replaces a known service
		return Choice{}, wrongService("the endpoints belong to different services: " + inGroups(answers) + "; set service_id to the right one")
	default:
		return chosen(largest, answers), nil
	}
}

// Agreed reports that more than half of the endpoints belong to one service, the pinned one if there is
// one. Then the other answers do not matter.
func Agreed(pinned string, answers []Answer) bool {
	most := majority(answers)
	return most != "" && (pinned == "" || most == pinned)
}

// majority is the service of more than half of the endpoints; empty if there is none.
func majority(answers []Answer) string {
	counts := map[string]int{}
	for _, answer := range answers {
		counts[answer.ServiceID]++
		if answer.ServiceID != "" && counts[answer.ServiceID] > len(answers)/2 {
			return answer.ServiceID
		}
	}
	return ""
}

func anyOf(answers []Answer, id string) bool {
	for _, answer := range answers {
		if answer.ServiceID == id {
			return true
		}
	}
	return false
}

func chosen(id string, answers []Answer) Choice {
	choice := Choice{ServiceID: id}
	for _, answer := range answers {
		if answer.ServiceID != "" && answer.ServiceID != id {
			choice.NotUsed = append(choice.NotUsed, answer.Endpoint)
		}
	}
	return choice
}

// inGroups is "a:7070, b:7070 to 1f..., c:7070 to 9e...", in the order of the endpoints.
func inGroups(answers []Answer) string {
	var order []string
	groups := map[string][]string{}
	for _, answer := range answers {
		if answer.ServiceID == "" {
			continue
		}
		if groups[answer.ServiceID] == nil {
			order = append(order, answer.ServiceID)
		}
		groups[answer.ServiceID] = append(groups[answer.ServiceID], answer.Endpoint)
	}
	var parts []string
	for _, id := range order {
		parts = append(parts, strings.Join(groups[id], ", ")+" to "+id)
	}
	return strings.Join(parts, ", ")
}

func wrongService(message string) *status.Status {
	answer := status.New(codes.FailedPrecondition, message)
	if detailed, err := answer.WithDetails(&errdetails.ErrorInfo{Reason: WrongService, Domain: "tenure.v1"}); err == nil {
		answer = detailed
	}
	return answer
}

// OnWrongService: a replica has refused this session's service. The session ends if a whole lease has
// passed since the last answered renewal.
func (s *Session) OnWrongService(now Time) {
	s.pass(now)
	if s.sessionID != "" && now >= s.lease.renewedAt.Add(s.lease.ttl) {
		s.sessionOver(pb.Cause_CAUSE_EXPIRED, now)
	}
}

// OnServiceReplaced: most endpoints belong to another service now. That ends the session; terms of the
// old service say nothing about those of the new one.
func (s *Session) OnServiceReplaced(now Time) {
	s.pass(now)
	s.sessionOver(pb.Cause_CAUSE_EXPIRED, now)
	s.previousSessionID = ""
	s.endStatus = nil
	s.seats.forgetTerms()
	for _, e := range s.seats.all {
		e.seat.closedTerm = 0
	}
}
