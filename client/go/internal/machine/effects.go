package machine

import (
	"time"

	pb "tenure/v1"
)

// Effect is what a session has decided, to be done in its order: one of the types below. Calls and
// streams have numbers that are never used again.
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

// UseAnotherReplica leaves the replica in use: it did not answer as it should.
type UseAnotherReplica struct {
	Silent bool // it did not answer at all
}

func (SendCampaign) isEffect()      {}
func (SendResign) isEffect()        {}
func (OpenStream) isEffect()        {}
func (SendRenewal) isEffect()       {}
func (CloseStream) isEffect()       {}
func (UseAnotherReplica) isEffect() {}

// Renewal is one that was answered.
type Renewal struct {
	RoundTrip time.Duration
	Margin    time.Duration // what was left until the deadline, had it not been answered
}

// Event is news for an elector: one of the types below.
type Event interface{ isEvent() }

// Standing : it waits in the queue.
type Standing struct{ Place *pb.Standing }

// Elected : a term begins.
type Elected struct{ Leadership *pb.Leadership }

// Suspended : the lease is not renewed as it should be. The seat is still held.
type Suspended struct{}

// Resumed : it is renewed again.
type Resumed struct{}

// HandoverAsked : an operator wants another leader. The work is asked to end, then the seat is given up.
type HandoverAsked struct{ Successor string }

// StopWork : the work must end. Only if there is work.
type StopWork struct{}

// Overrun : the work has not ended in time, and the seat may soon be another's.
type Overrun struct{}

// Lost : the term is over.
type Lost struct{ Cause pb.Cause }

// Troubled : a campaign was not answered, or refused for a while; it is tried again.
type Troubled struct{ Err error }

// Refused : the service refuses this campaign for good; the elector stands no more.
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
