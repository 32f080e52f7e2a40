"""The terms and changes of one election, and beside them what happens to all of them."""

from grafana import (
    INSTALLATION,
    STATES,
    dashboard,
    per_minute,
    quantile,
    stat,
    states,
    text,
    time_series,
    variable,
)

ONE = f'{INSTALLATION}, election="$election"'


def latest(metric):
    return f"max({metric}{{{ONE}}})"


NOW = [
    stat(
        "Led", "1 while somebody leads.", "none", latest("tenure_election_has_leader"), bad_below=1
    ),
    stat("Term", "The highest that was granted.", "none", latest("tenure_election_term")),
    stat(
        "New terms",
        "In the time that is shown.",
        "none",
        f"max(changes(tenure_election_term{{{ONE}}}[$__range]))",
    ),
    stat(
        "Changes",
        "Its revision: how many changes there have been, ever.",
        "none",
        latest("tenure_election_changes_total"),
    ),
    stat(
        "Elections that have no page",
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
        "Whether somebody leads.",
        ("$election", latest("tenure_election_has_leader")),
        STATES,
    ),
    text(
        "Who leads, and who waits",
        "Names of candidates are no labels: there is no bound to them.",
        "Names and single queues are not among the metrics:\n\n"
        "```sh\ntenure describe $election   # who leads, and who waits\n"
        "tenure history $election    # who led, and how each term ended\n"
        "tenure observe $election    # every change, live\n```\n\n"
        "```sql\nSELECT * FROM leaders WHERE election = '$election';\n"
        "SELECT * FROM queue WHERE election = '$election';\n"
        "SELECT * FROM terms WHERE election = '$election';\n```",
    ),
]

CHANGES = [
    time_series(
        "Changes",
        "In each minute: elected, proclaimed, vacated, asked to make way.",
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
        "Terms that ended, by cause",
        "In each minute.",
        "cpm",
        ("{{cause}}", per_minute("tenure_terms_ended_total", "cause")),
        stacked=True,
    ),
    time_series(
        "Terms that began, by what ended the one before",
        "In each minute. VACANT: there was none before.",
        "cpm",
        ("{{cause}}", per_minute("tenure_terms_granted_total", "cause")),
        stacked=True,
    ),
    time_series(
        "Queue", "Places in all queues.", "none", ("candidates", "max(tenure_candidates{@})")
    ),
    time_series(
        "Wait for a seat",
        "From a Campaign that had to wait to its being elected.",
        "s",
        ("half wait less", quantile(0.5, "tenure_campaign_wait_seconds")),
        ("99% wait less", quantile(0.99, "tenure_campaign_wait_seconds")),
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
