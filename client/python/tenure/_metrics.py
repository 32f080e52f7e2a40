"""Every metric of a client, with the names of the C++ library's. Needs prometheus_client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from tenure import _seat
from tenure._effects import Renewal
from tenure._lease import SECOND
from tenure.v1 import election_pb2 as pb

if TYPE_CHECKING:
    import prometheus_client

_RENEWAL_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5)
_MARGIN_BUCKETS = (0, 0.1, 0.25, 0.5, 1, 2, 3, 5, 7.5, 10, 20, 30, 60)


def cause_name(cause: int) -> str:
    """The cause without its prefix, or its number if a newer service sent it."""
    try:
        return pb.Cause.Name(cause)[len("CAUSE_") :]
    except ValueError:
        return str(cause)


class Metrics:
    """Counts nothing without a registry. Outlives sessions, and forks."""

    def __init__(self, registry: Optional[prometheus_client.CollectorRegistry]) -> None:
        self._on = registry is not None
        if registry is not None:
            self._register(registry)

    def _register(self, registry: prometheus_client.CollectorRegistry) -> None:
        from prometheus_client import Counter, Gauge, Histogram

        self._master_status = Gauge(
            "leader_election_master_status",
            "1 if this process leads the election, otherwise 0.",
            ["name"],
            registry=registry,
        )
        self._slow_path = Counter(
            "leader_election_slowpath_total",
            "Times that a leader went half its lease without a renewal.",
            ["name"],
            registry=registry,
        )
        self._elected = Counter(
            "tenure_client_elected_total",
            "Terms in which this process was the leader.",
            ["name"],
            registry=registry,
        )
        self._overruns = Counter(
            "tenure_client_overruns_total",
            "Times that a leader's work was still running at its deadline.",
            ["name"],
            registry=registry,
        )
        self._lost = Counter(
            "tenure_client_lost_total",
            "Ended terms of this process, by cause.",
            ["name", "cause"],
            registry=registry,
        )
        self._renewal_seconds = Histogram(
            "tenure_client_renewal_seconds",
            "Time from sending a renewal to its answer.",
            buckets=_RENEWAL_BUCKETS,
            registry=registry,
        )
        self._renewal_margin_seconds = Histogram(
            "tenure_client_renewal_margin_seconds",
            "Time left until the process's own deadline when a renewal was answered.",
            buckets=_MARGIN_BUCKETS,
            registry=registry,
        )
        self._replica_changes = Counter(
            "tenure_client_replica_changes_total",
            "Switches to another replica after one failed.",
            registry=registry,
        )

    def begin(self) -> None:
        """A new session begins, which leads nothing."""
        if self._on:
            self._master_status.clear()

    def add_election(self, election: str) -> None:
        """Creates its series before anything happens."""
        if self._on:
            for metric in (self._master_status, self._slow_path, self._elected, self._overruns):
                metric.labels(election)

    def count_event(self, election: str, event: _seat.Event) -> None:
        if not self._on:
            return
        if isinstance(event, _seat.Elected):
            self._elected.labels(election).inc()
            self._master_status.labels(election).set(1)
        elif isinstance(event, _seat.Lost):
            self._lost.labels(election, cause_name(event.cause)).inc()
            self._master_status.labels(election).set(0)
        elif isinstance(event, _seat.Suspended):
            self._slow_path.labels(election).inc()
        elif isinstance(event, _seat.Overrun):
            self._overruns.labels(election).inc()

    def count_renewal(self, renewal: Renewal) -> None:
        if self._on:
            self._renewal_seconds.observe(renewal.round_trip / SECOND)
            self._renewal_margin_seconds.observe(renewal.margin / SECOND)

    def count_replica_change(self) -> None:
        if self._on:
            self._replica_changes.inc()
