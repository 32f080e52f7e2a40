"""Who leads, for how long nobody did, and how close leaders are to losing their seats."""

from grafana import (
    STATES,
    dashboard,
    per_minute,
    quantile,
    stat,
    states,
    table,
    text,
    time_series,
    total,
)

NOW = [
    stat(
        "Replicas that are ready",
        "How many replicas take calls. One is enough; two survive a failure.",
        "none",
        "sum(tenure_ready{@})",
        bad_below=1,
    ),
    stat("Elections", "All that are not deleted.", "none", "max(tenure_elections{@})"),
    stat(
        "Elections without a leader",
        "Somebody wants to lead them, and nobody does.",
        "none",
        "max(tenure_elections_leaderless{@})",
        bad_above=1,
    ),
    stat(
        "Vacant elections",
        "Nobody leads them, and nobody waits for them.",
        "none",
        "max(tenure_elections_vacant{@})",
    ),
    stat(
        "Candidates who wait",
        "Places in the queues of all elections.",
        "none",
        "max(tenure_candidates{@})",
    ),
    stat(
        "Failovers",
        "Terms granted after one that had expired, in the time that is shown.",
        "none",
        "sum(increase(tenure_failovers_total{@}[$__range]))",
    ),
]

WHO_LEADS = [
    states(
        "Elections that have a leader",
        "Of the elections that have series of their own (--metrics-elections).",
        ("{{election}}", "max by (election) (tenure_election_has_leader{@})"),
        STATES,
    ),
    table(
        "Terms and changes",
        "The highest term and the number of changes, ever, of the same elections.",
        ("Led", "max by (election) (tenure_election_has_leader{@})"),
        ("Term", "max by (election) (tenure_election_term{@})"),
        ("Changes", "max by (election) (tenure_election_changes_total{@})"),
    ),
    text(
        "Leaders by name",
        "Names of candidates are no labels: there is no bound to them.",
        "Names are not among the metrics. `tenure top` shows them live, `tenure list` once, "
        "and so does SQL:\n\n"
        "```sql\nSELECT election, term, candidate, lease_left_ms FROM leaders;\n```",
    ),
]

EMPTY_SEATS = [
    time_series(
        "Elections without a leader",
        "As the census counts them, every 10 s.",
        "none",
        ("without a leader", "max(tenure_elections_leaderless{@})"),
        ("vacant", "max(tenure_elections_vacant{@})"),
    ),
    time_series(
        "Time without a leader",
        "How long the seats had been empty that were filled in the last interval.",
        "s",
        ("empty", "sum(increase(tenure_leaderless_seconds_total{@}[$__rate_interval]))"),
    ),
    time_series(
        "Failovers",
        "In each minute. A flap: a term that was lost within 30 s of its grant.",
        "cpm",
        ("failovers", per_minute("tenure_failovers_total")),
        ("flaps", per_minute("tenure_flaps_total")),
        ("handovers by operators", per_minute("tenure_handovers_total")),
    ),
    time_series(
        "How long a failover takes",
        "From the end of the lost leader's lease, which lasts on after its death, to the grant.",
        "s",
        ("half are faster", quantile(0.5, "tenure_failover_seconds")),
        ("99% are faster", quantile(0.99, "tenure_failover_seconds")),
    ),
]

LEASES = [
    time_series(
        "Renewal margin",
        "How much of the lease was left at renewals: two thirds is healthy, near 0 it gets lost.",
        "percentunit",
        ("half have more", quantile(0.5, "tenure_renewal_margin_ratio")),
        ("95% have more", quantile(0.05, "tenure_renewal_margin_ratio")),
        ("99% have more", quantile(0.01, "tenure_renewal_margin_ratio")),
        top=1,
    ),
    time_series("Renewals", "In each second.", "ops", ("renewals", total("tenure_renewals_total"))),
    time_series(
        "Terms that ended, by cause",
        "In each minute.",
        "cpm",
        ("{{cause}}", per_minute("tenure_terms_ended_total", "cause")),
        stacked=True,
    ),
    time_series(
        "Sessions that ended, by cause",
        "In each minute. Premature: the process was alive, and came back.",
        "cpm",
        ("{{cause}}", per_minute("tenure_sessions_ended_total", "cause")),
        ("premature", per_minute("tenure_premature_expirations_total")),
    ),
]

CROWD = [
    time_series(
        "Sessions and candidates",
        "Sessions that are alive, and places in all queues.",
        "none",
        ("sessions", "max(tenure_sessions{@})"),
        ("candidates", "max(tenure_candidates{@})"),
    ),
    time_series(
        "Wait for a seat",
        "From a Campaign that had to wait to its being elected.",
        "s",
        ("half wait less", quantile(0.5, "tenure_campaign_wait_seconds")),
        ("99% wait less", quantile(0.99, "tenure_campaign_wait_seconds")),
    ),
    time_series(
        "Changes by operators",
        "In each minute.",
        "cpm",
        ("changes", per_minute("tenure_admin_changes_total")),
    ),
    time_series(
        "Does the database answer?",
        "1: all replicas reach it. Less: some do not.",
        "none",
        ("of all replicas", "avg(tenure_store_up{@})"),
        top=1,
    ),
]

DASHBOARD = dashboard(
    "overview",
    "overview",
    __doc__,
    [
        ("Now", NOW),
        ("Who leads", WHO_LEADS),
        ("Empty seats", EMPTY_SEATS),
        ("Leases and terms", LEASES),
        ("Candidates and operators", CROWD),
    ],
)
