package tenureprom

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"tenure"
	pb "tenure/v1"
)

var _ tenure.Metrics = (*Metrics)(nil)

func TestMetricsHaveTheNamesOfEveryLibrary(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	metrics, err := New(registry)
	if err != nil {
		t.Fatal(err)
	}

	metrics.Stands("orders")
	metrics.Elected("orders")
	metrics.Suspended("orders")
	metrics.Overrun("orders")
	metrics.Lost("orders", pb.Cause_CAUSE_EXPIRED)
	metrics.Elected("orders")
	metrics.Renewed(20*time.Millisecond, 6*time.Second)
	metrics.ReplicaChanged()

	expected := `
# HELP leader_election_master_status 1 if this process leads the election, otherwise 0.
# TYPE leader_election_master_status gauge
leader_election_master_status{name="orders"} 1
# HELP leader_election_slowpath_total Times that a leader went half its lease without a renewal.
# TYPE leader_election_slowpath_total counter
leader_election_slowpath_total{name="orders"} 1
# HELP tenure_client_elected_total Terms in which this process was the leader.
# TYPE tenure_client_elected_total counter
tenure_client_elected_total{name="orders"} 2
# HELP tenure_client_lost_total Ended terms of this process, by cause.
# TYPE tenure_client_lost_total counter
tenure_client_lost_total{cause="EXPIRED",name="orders"} 1
# HELP tenure_client_overruns_total Times that a leader's work was still running at its deadline.
# TYPE tenure_client_overruns_total counter
tenure_client_overruns_total{name="orders"} 1
# HELP tenure_client_replica_changes_total Switches to another replica after one failed.
# TYPE tenure_client_replica_changes_total counter
tenure_client_replica_changes_total 1
`
	err = testutil.GatherAndCompare(registry, strings.NewReader(expected), "leader_election_master_status",
		"leader_election_slowpath_total", "tenure_client_elected_total", "tenure_client_lost_total",
		"tenure_client_overruns_total", "tenure_client_replica_changes_total")
	if err != nil {
		t.Error(err)
	}
	for _, name := range []string{"tenure_client_renewal_seconds", "tenure_client_renewal_margin_seconds"} {
		if count, err := testutil.GatherAndCount(registry, name); count != 1 || err != nil {
			t.Error(name, count, err)
		}
	}
}
