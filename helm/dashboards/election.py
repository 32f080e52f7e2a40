"""The terms and changes of one election, and what happens in all elections together."""

from grafana import (
    INSTALLATION,
    STATES,
    dashboard,
    per_minute,
    quantile,
    stat,
    states,
    table,
    text,
    time_series,
    variable,
)

ONE = f'{INSTALLATION}, election="$election"'


def latest(metric):
    return f"max({metric}{{{ONE}}})"


NOW = [
    stat(
        "Led",
        "1 while there is a leader.",
        "none",
        latest("tenure_election_has_leader"),
        bad_below=1,
    ),
    stat("Term", "The highest term granted.", "none", latest("tenure_election_term")),
    stat(
        "New terms",
        "In the selected time range.",
        "none",
        f"max(changes(tenure_election_term{{{ONE}}}[$__range]))",
    ),
    stat(
        "Changes",
        "Its revision: the total number of changes so far.",
        "none",
        latest("tenure_election_changes_total"),
    ),
    stat(
        "Unlisted elections",
        "They have no series of their own (--metrics-elections).",
        "none",
        "max(tenure_elections_unlisted{@})",
    ),
]

TIMELINE = [
    time_series(
        "Terms",
        "The highest term. Each step is a new leader.",
        "none",
        ("term", latest("tenure_election_term")),
        steps=True,
    ),
    states(
        "Leader",
        "Whether there is a leader.",
        ("$election", latest("tenure_election_has_leader")),
        STATES,
    ),
    table(
        "Leader by name",
        "Who leads now.",
        ("Leads", f"max by (candidate) (tenure_election_leader_info{{{ONE}}})"),
    ),
    text(
        "Queue and history",
        "Those who wait are not in the metrics, because their number is unbounded.",
        "In the command line and in SQL:\n\n"
        "```sh\ntenure describe $election   # the leader and the queue\n"
        "tenure history $election    # past leaders, and how each term ended\n"
        "tenure observe $election    # every change, live\n```\n\n"
        "```sql\nSELECT * FROM leaders WHERE election = '$election';\n"
        "SELECT * FROM queue WHERE election = '$election';\n"
        "SELECT * FROM terms WHERE election = '$election';\n```",
    ),
]

CHANGES = [
    time_series(
        "Changes",
        "Per minute: elected, proclaimed, vacated, handover asked.",
        "cpm",
        ("changes", f"60 * max(rate(tenure_election_changes_total{{{ONE}}}[$__rate_interval]))"),
    ),
    time_series(
        "New terms",
        "In the last interval.",
        "none",
        ("terms", f"max(changes(tenure_election_term{{{ONE}}}[$__rate_interval]))"),
    ),
]

ALL_ELECTIONS = [
    time_series(
        "Ended terms by cause",
        "Per minute.",
        "cpm",
        ("{{cause}}", per_minute("tenure_terms_ended_total", "cause")),
        stacked=True,
    ),
    time_series(
        "New terms by end of the previous term",
        "Per minute. VACANT: there was no previous term.",
        "cpm",
        ("{{cause}}", per_minute("tenure_terms_granted_total", "cause")),
        stacked=True,
    ),
    time_series(
        "Queue", "Places in all queues.", "none", ("candidates", "max(tenure_candidates{@})")
    ),
    time_series(
        "Wait for a seat",
        "How long a Campaign that had to wait took to be elected.",
        "s",
        ("median", quantile(0.5, "tenure_campaign_wait_seconds")),
        ("99th percentile", quantile(0.99, "tenure_campaign_wait_seconds")),
    ),
]

ELECTION = variable(
    "election", "Election", f"label_values(tenure_election_term{{{INSTALLATION}}}, election)"
)

DASHBOARD = dashboard(
    "election",
    "one election",
    __doc__,
    [
        ("$election", NOW),
        ("Timeline", TIMELINE),
        ("Changes of $election", CHANGES),
        ("All elections together", ALL_ELECTIONS),
    ],
    variables=[ELECTION],
)
