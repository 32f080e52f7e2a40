package tenure

import (
	"time"

	"tenure/internal/machine"
	pb "tenure/v1"
)

// Metrics counts what a client does. Package tenure/tenureprom has one for Prometheus. Its methods are
// called on the goroutine that renews the lease, so they must return at once.
type Metrics interface {
	// Stands counts an elector that begins to stand in the election.
	Stands(election string)
	// Elected counts a term of this process that begins.
	Elected(election string)
	// Lost counts a term of this process that has ended.
	Lost(election string, cause pb.Cause)
	// Suspended counts a lease that was not renewed for half of its length.
	Suspended(election string)
	// Overrun counts work that had not stopped by its deadline.
	Overrun(election string)
	// Renewed observes a renewal answered after roundTrip, with margin left until the deadline.
	Renewed(roundTrip, margin time.Duration)
	// ReplicaChanged counts a replica that the client left because it had failed.
	ReplicaChanged()
}

type noMetrics struct{}

func (noMetrics) Stands(string)              {}
func (noMetrics) Elected(string)             {}
func (noMetrics) Lost(string, pb.Cause)      {}
func (noMetrics) Suspended(string)           {}
func (noMetrics) Overrun(string)             {}
func (noMetrics) Renewed(_, _ time.Duration) {}
func (noMetrics) ReplicaChanged()            {}

func count(metrics Metrics, election string, event machine.Event) {
	switch what := event.(type) {
	case machine.Elected:
		metrics.Elected(election)
	case machine.Lost:
		metrics.Lost(election, what.Cause)
	case machine.Suspended:
		metrics.Suspended(election)
	}
}
