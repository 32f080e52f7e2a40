package machine

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	pb "tenure/v1"
)

// A service that answers everything at once, by a clock that only the test moves.
func answer(session *Session, effects []Effect, now Time, count map[string]int) {
	ttl := durationpb.New(9 * time.Second)
	for _, effect := range effects {
		switch what := effect.(type) {
		case SendCampaign:
			count["campaigns"]++
			elected := &pb.Leadership{Election: what.Request.Election, Term: 1}
			session.OnCampaignDone(what.Call, nil, &pb.CampaignResponse{
				Session: &pb.Session{SessionId: "s1", LeaseTtl: ttl},
				Outcome: &pb.CampaignResponse_Elected{Elected: elected},
			}, now)
		case OpenStream:
			count["streams"]++
		case SendRenewal:
			count["renewals"]++
			renewal := &pb.SessionRenewal{SessionId: "s1", Result: &pb.SessionRenewal_LeaseTtl{LeaseTtl: ttl}}
			for _, e := range session.seats.all {
				if term := e.seat.term(); term != 0 {
					held := &pb.Leadership{Election: e.seat.options.Election, Term: term}
					renewal.Seats = append(renewal.Seats, held)
				}
			}
			session.OnStreamMessage(what.Stream, &pb.KeepAliveResponse{Message: &pb.KeepAliveResponse_Renewal{
				Renewal: &pb.Renewal{Sequence: what.Request.Sequence, Sessions: []*pb.SessionRenewal{renewal}},
			}}, now)
		default:
			count["others"]++
		}
	}
}

func TestAThousandElectorsHaveOneStreamAndOneHeartbeatPerThirdOfTheLease(t *testing.T) {
	session := NewSession(SessionOptions{Candidate: "a", LeaseTTL: 9 * time.Second}, rand.New(rand.NewSource(1)))
	for number := uint64(1); number <= 1000; number++ {
		session.Add(number, SeatOptions{Election: fmt.Sprint("shard/", number)})
	}
	count := map[string]int{}
	now := start
	for until := start.Add(15 * time.Minute); now < until; now = max(now, session.NextWake()) {
		for effects := session.Decide(now); len(effects) > 0; effects = session.Decide(now) {
			answer(session, effects, now, count)
		}
	}

	for number := uint64(1); number <= 1000; number++ {
		if session.TermOf(number) != 1 || session.BelievedUntil(number) < now {
			t.Fatal(number, " does not lead")
		}
	}
	if count["campaigns"] != 1000 || count["streams"] != 1 || count["renewals"] != 300 || count["others"] != 0 {
		t.Error(count)
	}
}
