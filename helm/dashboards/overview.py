"""Who leads, how long seats were empty, and how close leaders are to losing their seats."""

from grafana import (
    STATES,
    dashboard,
    per_minute,
    quantile,
    stat,
    states,
    table,
    time_series,
    total,
)

NOW = [
    stat(
        "Ready replicas",
        "Replicas that accept calls. One is enough; two survive a failure.",
        "none",
        "sum(tenure_ready{@})",
        bad_below=1,
    ),
    stat("Elections", "Deleted elections do not count.", "none", "max(tenure_elections{@})"),
    stat(
        "Elections without a leader",
        "A candidate wants to lead, but nobody does.",
        "none",
        "max(tenure_elections_leaderless{@})",
        bad_above=1,
    ),
    stat(
        "Vacant elections",
        "No leader, and no waiting candidate.",
        "none",
        "max(tenure_elections_vacant{@})",
    ),
    stat(
        "Waiting candidates",
        "Places in the queues of all elections.",
        "none",
        "max(tenure_candidates{@})",
    ),
    stat(
        "Failovers",
        "Terms granted after a term that had expired, in the selected time range.",
        "none",
        "sum(increase(tenure_failovers_total{@}[$__range]))",
    ),
]

WHO_LEADS = [
    states(
        "Elections with a leader",
        "Elections that have their own series (--metrics-elections).",
        ("{{election}}", "max by (election) (tenure_election_has_leader{@})"),
        STATES,
    ),
    table(
        "Terms and changes",
        "The highest term and the total number of changes of the same elections.",
        ("Led", "max by (election) (tenure_election_has_leader{@})"),
        ("Term", "max by (election) (tenure_election_term{@})"),
        ("Changes", "max by (election) (tenure_election_changes_total{@})"),
    ),
    table(
        "Leaders",
        "The leaders of the same elections by name. `tenure top` shows those of all elections, live.",
        ("Leads", "max by (election, candidate) (tenure_election_leader_info{@})"),
    ),
]

EMPTY_SEATS = [
    time_series(
        "Elections without a leader",
        "Counted by the census, every 10 s.",
        "none",
        ("without a leader", "max(tenure_elections_leaderless{@})"),
        ("vacant", "max(tenure_elections_vacant{@})"),
    ),
    time_series(
        "Time without a leader",
        "How long the seats that were filled in the last interval had been empty.",
        "s",
        ("empty", "sum(increase(tenure_leaderless_seconds_total{@}[$__rate_interval]))"),
    ),
    time_series(
        "Failovers",
        "Per minute. A flap is a term that was lost within 30 s after it was granted.",
        "cpm",
        ("failovers", per_minute("tenure_failovers_total")),
        ("flaps", per_minute("tenure_flaps_total")),
        ("handovers by operators", per_minute("tenure_handovers_total")),
    ),
    time_series(
        "Failover duration",
        "From the end of the lost leader's lease, which outlasts its death, to the grant.",
        "s",
        ("median", quantile(0.5, "tenure_failover_seconds")),
        ("99th percentile", quantile(0.99, "tenure_failover_seconds")),
    ),
]

LEASES = [
    time_series(
        "Renewal margin",
        "The share of the lease left at renewals. Two thirds is healthy; near 0 it is almost lost.",
        "percentunit",
        ("median", quantile(0.5, "tenure_renewal_margin_ratio")),
        ("5th percentile", quantile(0.05, "tenure_renewal_margin_ratio")),
        ("1st percentile", quantile(0.01, "tenure_renewal_margin_ratio")),
        top=1,
    ),
    time_series("Renewals", "Per second.", "ops", ("renewals", total("tenure_renewals_total"))),
    time_series(
        "Ended terms by cause",
        "Per minute.",
        "cpm",
        ("{{cause}}", per_minute("tenure_terms_ended_total", "cause")),
        stacked=True,
    ),
    time_series(
        "Ended sessions by cause",
        "Per minute. Premature: the process was alive, and came back.",
        "cpm",
        ("{{cause}}", per_minute("tenure_sessions_ended_total", "cause")),
        ("premature", per_minute("tenure_premature_expirations_total")),
    ),
]

CROWD = [
    time_series(
        "Sessions and candidates",
        "Live sessions, and places in all queues.",
        "none",
        ("sessions", "max(tenure_sessions{@})"),
        ("candidates", "max(tenure_candidates{@})"),
    ),
    time_series(
        "Wait for a seat",
        "How long a Campaign that had to wait took to be elected.",
        "s",
        ("median", quantile(0.5, "tenure_campaign_wait_seconds")),
        ("99th percentile", quantile(0.99, "tenure_campaign_wait_seconds")),
    ),
    time_series(
        "Changes by operators",
        "Per minute.",
        "cpm",
        ("changes", per_minute("tenure_admin_changes_total")),
    ),
    time_series(
        "Replicas that reach the database",
        "1: all replicas reach it. Less: some do not.",
        "none",
        ("share of replicas", "avg(tenure_store_up{@})"),
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
