package machine

import (
	"time"

	pb "tenure/v1"
)

// Effect is a decision of a session: one of the types below, to be carried out in order. Numbers of
// calls and streams are never reused.
type Effect interface{ isEffect() }

// SendCampaign makes a call, with Patience as its deadline.
type SendCampaign struct {
	Call     uint64
	Request  *pb.CampaignRequest
	Patience time.Duration
}

// SendResign makes a call, with Patience as its deadline.
type SendResign struct {
	Call     uint64
	Request  *pb.ResignRequest
	Patience time.Duration
}

// OpenStream opens a KeepAlive stream.
type OpenStream struct{ Stream uint64 }

// SendRenewal sends on an open stream.
type SendRenewal struct {
	Stream  uint64
	Request *pb.KeepAliveRequest
}

// CloseStream closes a stream.
type CloseStream struct{ Stream uint64 }

// UseAnotherReplica leaves the replica in use, because it did not answer as it should.
type UseAnotherReplica struct {
	Silent bool // it did not answer at all
}

func (SendCampaign) isEffect()      {}
func (SendResign) isEffect()        {}
func (OpenStream) isEffect()        {}
func (SendRenewal) isEffect()       {}
func (CloseStream) isEffect()       {}
func (UseAnotherReplica) isEffect() {}

// Renewal is an answered renewal.
type Renewal struct {
	RoundTrip time.Duration
	Margin    time.Duration // time that was left until the deadline when the answer came
}

// Event is news for an elector: one of the types below.
type Event interface{ isEvent() }

// Standing means that this process waits in the queue.
type Standing struct{ Place *pb.Standing }

// Elected means that a term begins.
type Elected struct{ Leadership *pb.Leadership }

// Suspended means that renewals are late. The seat is still held.
type Suspended struct{}

// Resumed means that the lease is renewed again.
type Resumed struct{}

// HandoverAsked means that an operator wants another leader. The work is asked to end, then the seat is
// given up.
type HandoverAsked struct{ Successor string }

// StopWork means that the work must end. Only if there is work.
type StopWork struct{}

// Overrun means that the work has not ended in time, and another candidate may soon hold the seat.
type Overrun struct{}

// Lost means that the term has ended.
type Lost struct{ Cause pb.Cause }

// Troubled means that a campaign was not answered, or was refused for now; it is repeated.
type Troubled struct{ Err error }

// Refused means that the service refuses this campaign for good; the elector no longer stands.
type Refused struct{ Err error }

func (Standing) isEvent()      {}
func (Elected) isEvent()       {}
func (Suspended) isEvent()     {}
func (Resumed) isEvent()       {}
func (HandoverAsked) isEvent() {}
func (StopWork) isEvent()      {}
func (Overrun) isEvent()       {}
func (Lost) isEvent()          {}
func (Troubled) isEvent()      {}
func (Refused) isEvent()       {}
