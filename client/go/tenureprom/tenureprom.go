// Package tenureprom has the metrics of a tenure.Client for Prometheus:
//
//	metrics, err := tenureprom.New(prometheus.DefaultRegisterer)
//	client, err := tenure.NewClient(tenure.ClientOptions{Metrics: metrics})
//
// All libraries of Tenure use the same names, and Kubernetes' where it has one.
package tenureprom

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	pb "tenure/v1"
)

// Metrics implements tenure.Metrics. Each client needs its own, with a registry (or labels) of its own.
type Metrics struct {
	masterStatus   *prometheus.GaugeVec
	slowPath       *prometheus.CounterVec
	elected        *prometheus.CounterVec
	lost           *prometheus.CounterVec
	overruns       *prometheus.CounterVec
	renewalSeconds prometheus.Histogram
	renewalMargin  prometheus.Histogram
	replicaChanges prometheus.Counter
}

// New registers the metrics. The error is the registry's.
func New(registry prometheus.Registerer) (*Metrics, error) {
	byName := []string{"name"}
	m := &Metrics{
		masterStatus: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "leader_election_master_status",
			Help: "1 if this process leads the election, otherwise 0.",
		}, byName),
		slowPath: counters("leader_election_slowpath_total",
			"Times that a leader went half its lease without a renewal.", "name"),
		elected: counters("tenure_client_elected_total",
			"Terms in which this process was the leader.", "name"),
		lost: counters("tenure_client_lost_total",
			"Ended terms of this process, by cause.", "name", "cause"),
		overruns: counters("tenure_client_overruns_total",
			"Times that a leader's work was still running at its deadline.", "name"),
		renewalSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "tenure_client_renewal_seconds",
			Help:    "Time from sending a renewal to its answer.",
			Buckets: []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5},
		}),
		renewalMargin: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "tenure_client_renewal_margin_seconds",
			Help:    "Time left until the process's own deadline when a renewal was answered.",
			Buckets: []float64{0, 0.1, 0.25, 0.5, 1, 2, 3, 5, 7.5, 10, 20, 30, 60},
		}),
		replicaChanges: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tenure_client_replica_changes_total",
			Help: "Switches to another replica after one failed.",
		}),
	}
	for _, collector := range []prometheus.Collector{
		m.masterStatus, m.slowPath, m.elected, m.lost, m.overruns, m.renewalSeconds, m.renewalMargin, m.replicaChanges,
	} {
		if err := registry.Register(collector); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// Stands creates the series of an election, at 0.
func (m *Metrics) Stands(election string) {
	m.masterStatus.WithLabelValues(election)
	m.slowPath.WithLabelValues(election)
	m.elected.WithLabelValues(election)
	m.overruns.WithLabelValues(election)
}

// Elected counts a term.
func (m *Metrics) Elected(election string) {
	m.elected.WithLabelValues(election).Inc()
	m.masterStatus.WithLabelValues(election).Set(1)
}

// Lost counts the end of a term, by its cause: EXPIRED, RESIGNED and so on.
func (m *Metrics) Lost(election string, cause pb.Cause) {
	m.lost.WithLabelValues(election, strings.TrimPrefix(cause.String(), "CAUSE_")).Inc()
	m.masterStatus.WithLabelValues(election).Set(0)
}

// Suspended counts half a lease without a renewal.
func (m *Metrics) Suspended(election string) { m.slowPath.WithLabelValues(election).Inc() }

// Overrun counts work that had not stopped by its deadline.
func (m *Metrics) Overrun(election string) { m.overruns.WithLabelValues(election).Inc() }

// Renewed observes a renewal.
func (m *Metrics) Renewed(roundTrip, margin time.Duration) {
	m.renewalSeconds.Observe(roundTrip.Seconds())
	m.renewalMargin.Observe(margin.Seconds())
}

// ReplicaChanged counts a switch.
func (m *Metrics) ReplicaChanged() { m.replicaChanges.Inc() }
