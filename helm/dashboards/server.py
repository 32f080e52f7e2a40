"""What replicas do: calls, batches, the database, and the change feed."""

from grafana import INSTALLATION, dashboard, quantile, stat, table, time_series, total, variable

# Calls that are answered at once. A Campaign may wait, and a stream lasts as long as it is wanted.
SHORT = 'grpc_type="unary", grpc_method!="Campaign"'

NOW = [
    stat("Ready", "Replicas that take calls.", "none", "sum(tenure_ready{@})", bad_below=1),
    stat(
        "Reach the database",
        "Replicas that the database answers.",
        "none",
        "sum(tenure_store_up{@})",
        bad_below=1,
    ),
    stat(
        "Fullest queue",
        "How much of its room is taken.",
        "percentunit",
        "max(tenure_queue_depth{@} / tenure_queue_max{@})",
        bad_above=0.8,
    ),
    stat(
        "Calls refused",
        "In the time that is shown.",
        "none",
        "sum(increase(tenure_refused_total{@}[$__range]))",
        bad_above=1,
    ),
    stat(
        "Jumps of the clock",
        "Of the database's, in the time that is shown.",
        "none",
        "max(increase(tenure_database_clock_jumps_total{@}[$__range]))",
        bad_above=1,
    ),
]

CALLS = [
    time_series(
        "Calls, by method",
        "Begun in each second.",
        "reqps",
        ("{{grpc_method}}", total("grpc_server_started_total", "grpc_method")),
    ),
    time_series(
        "Calls that failed, by code",
        "Ended in each second.",
        "reqps",
        (
            "{{grpc_code}}",
            "sum by (grpc_code) (rate("
            'grpc_server_handled_total{@, grpc_code!="OK"}[$__rate_interval]))',
        ),
    ),
    time_series(
        "How long short calls take",
        "99% are faster. No streams, and no Campaigns, which may wait.",
        "s",
        ("{{grpc_method}}", quantile(0.99, "grpc_server_handling_seconds", "grpc_method", SHORT)),
    ),
    time_series(
        "Messages",
        "In each second, from and to clients.",
        "ops",
        ("received", total("grpc_server_msg_received_total")),
        ("sent", total("grpc_server_msg_sent_total")),
    ),
]

BATCHES = [
    time_series(
        "Transactions, by outcome",
        "In each second.",
        "ops",
        ("{{outcome}}", total("tenure_transactions_total", "outcome")),
    ),
    time_series(
        "Commands in a transaction",
        "The more load, the more of them share a commit.",
        "none",
        (
            "on average",
            f"{total('tenure_batch_commands_sum')} / {total('tenure_batch_commands_count')}",
        ),
        ("99% have no more", quantile(0.99, "tenure_batch_commands")),
    ),
    time_series(
        "Done again",
        "In each second. Transactions, by why; busy: the election was locked.",
        "ops",
        ("{{reason}}", total("tenure_transaction_retries_total", "reason")),
        ("busy", total("tenure_commands_busy_total")),
    ),
    time_series(
        "Queues",
        "What waits in each.",
        "none",
        ("{{queue}}", "sum by (queue) (tenure_queue_depth{@})"),
    ),
]

DATABASE = [
    time_series(
        "How long the database takes",
        "99% is done faster, retries and all.",
        "s",
        ("{{operation}}", quantile(0.99, "tenure_database_seconds", "operation")),
    ),
    time_series(
        "What it is asked for",
        "In each second.",
        "ops",
        ("{{operation}}", total("tenure_database_seconds_count", "operation")),
    ),
    time_series(
        "Connections",
        "Open to the database, and how many there may be.",
        "none",
        ("{{state}}", "sum by (state) (tenure_store_connections{@})"),
        ("at most", "sum(tenure_store_connections_max{@})"),
    ),
    time_series(
        "The database's clock",
        "How far it is from each replica's. It should not jump.",
        "s",
        ("{{instance}}", "abs(tenure_database_clock_offset_seconds{@})"),
    ),
]

FEED = [
    time_series(
        "Lag of observers",
        "99% of changes are told faster, from their transaction on.",
        "s",
        ("{{instance}}", quantile(0.99, "tenure_observe_lag_seconds", "instance")),
    ),
    time_series(
        "Open calls",
        "That wait for changes: campaigns, observers, keepalive streams.",
        "none",
        ("all", "sum(tenure_watchers{@})"),
        ("observers", "sum(tenure_observers{@})"),
    ),
    time_series(
        "Change feed",
        "In each second: reads of what others committed, changes found.",
        "ops",
        ("reads", total("tenure_feed_polls_total")),
        ("changes", total("tenure_feed_events_total")),
    ),
    time_series(
        "History",
        "In each second: events trimmed, observers that had to start anew.",
        "ops",
        ("trimmed", total("tenure_events_trimmed_total")),
        ("anew", total("tenure_observe_resyncs_total")),
    ),
]

REPLICAS = [
    time_series(
        "Refused, by reason",
        "Calls in each second.",
        "reqps",
        ("{{reason}}", total("tenure_refused_total", "reason")),
        stacked=True,
    ),
    time_series(
        "Ready, by replica",
        "1: takes calls.",
        "none",
        ("{{instance}}", "min by (instance) (tenure_ready{@})"),
        steps=True,
        top=1,
    ),
    table(
        "Versions", "What runs.", ("Replicas", "count by (version, store) (tenure_build_info{@})")
    ),
]

INSTANCE = variable(
    "instance",
    "Instance",
    f"label_values(tenure_build_info{{{INSTALLATION}}}, instance)",
    many=True,
)

DASHBOARD = dashboard(
    "server",
    "server",
    __doc__,
    [
        ("Now", NOW),
        ("Calls", CALLS),
        ("Batches", BATCHES),
        ("Database", DATABASE),
        ("Observers", FEED),
        ("Replicas", REPLICAS),
    ],
    variables=[INSTANCE],
    scope=f'{INSTALLATION}, instance=~"$instance"',
)
