"""What replicas do: calls, batches, the database and the change feed."""

from grafana import INSTALLATION, dashboard, quantile, stat, table, time_series, total, variable

# Calls that are answered at once. A Campaign may wait, and a client decides how long
# a stream lasts.
SHORT = 'grpc_type="unary", grpc_method!="Campaign"'

NOW = [
    stat("Ready replicas", "They accept calls.", "none", "sum(tenure_ready{@})", bad_below=1),
    stat(
        "Database reachable",
        "From how many replicas.",
        "none",
        "sum(tenure_store_up{@})",
        bad_below=1,
    ),
    stat(
        "Fullest queue",
        "How full it is.",
        "percentunit",
        "max(tenure_queue_depth{@} / tenure_queue_max{@})",
        bad_above=0.8,
    ),
    stat(
        "Refused calls",
        "In the selected time range.",
        "none",
        "sum(increase(tenure_refused_total{@}[$__range]))",
        bad_above=1,
    ),
]

CALLS = [
    time_series(
        "Calls by method",
        "Started per second.",
        "reqps",
        ("{{grpc_method}}", total("grpc_server_started_total", "grpc_method")),
    ),
    time_series(
        "Failed calls by code",
        "Finished per second.",
        "reqps",
        (
            "{{grpc_code}}",
            "sum by (grpc_code) (rate("
            'grpc_server_handled_total{@, grpc_code!="OK"}[$__rate_interval]))',
        ),
    ),
    time_series(
        "Duration of short calls",
        "99th percentile. Without streams, and without Campaigns, which may wait.",
        "s",
        ("{{grpc_method}}", quantile(0.99, "grpc_server_handling_seconds", "grpc_method", SHORT)),
    ),
    time_series(
        "Messages",
        "Per second, from and to clients.",
        "ops",
        ("received", total("grpc_server_msg_received_total")),
        ("sent", total("grpc_server_msg_sent_total")),
    ),
]

BATCHES = [
    time_series(
        "Transactions by outcome",
        "Per second.",
        "ops",
        ("{{outcome}}", total("tenure_transactions_total", "outcome")),
    ),
    time_series(
        "Commands per transaction",
        "The higher the load, the more commands share a commit.",
        "none",
        (
            "average",
            f"{total('tenure_batch_commands_sum')} / {total('tenure_batch_commands_count')}",
        ),
        ("99th percentile", quantile(0.99, "tenure_batch_commands")),
    ),
    time_series(
        "Retries",
        "Per second. Transactions by reason; busy: the election was locked.",
        "ops",
        ("{{reason}}", total("tenure_transaction_retries_total", "reason")),
        ("busy", total("tenure_commands_busy_total")),
    ),
    time_series(
        "Queues",
        "Items waiting in each queue.",
        "none",
        ("{{queue}}", "sum by (queue) (tenure_queue_depth{@})"),
    ),
]

DATABASE = [
    time_series(
        "Database latency",
        "99th percentile, including retries.",
        "s",
        ("{{operation}}", quantile(0.99, "tenure_database_seconds", "operation")),
    ),
    time_series(
        "Database operations",
        "Per second.",
        "ops",
        ("{{operation}}", total("tenure_database_seconds_count", "operation")),
    ),
    time_series(
        "Connections",
        "Open connections to the database, and the maximum.",
        "none",
        ("{{state}}", "sum by (state) (tenure_store_connections{@})"),
        ("maximum", "sum(tenure_store_connections_max{@})"),
    ),
    time_series(
        "Database clock offset",
        "The difference from each replica's clock. It should not jump.",
        "s",
        ("{{instance}}", "abs(tenure_database_clock_offset_seconds{@})"),
    ),
]

HOMES = [
    time_series(
        "Kept sessions",
        "The sessions that each replica is the home of.",
        "none",
        ("{{instance}}", "tenure_kept_sessions{@}"),
        stacked=True,
    ),
    time_series(
        "Beats",
        "Per second. A healthy replica makes one good beat per second.",
        "ops",
        ("{{outcome}}", total("tenure_home_beats_total", "outcome")),
    ),
    time_series(
        "Beat margin",
        "The share of a beat's 2.7 s left at the next one. Healthy: above 0.6; at 0, renewals wait.",
        "percentunit",
        ("median", quantile(0.5, "tenure_home_beat_margin_ratio")),
        ("1st percentile", quantile(0.01, "tenure_home_beat_margin_ratio")),
        top=1,
    ),
    time_series(
        "Adoptions",
        "Per second: sessions that moved to another replica.",
        "ops",
        ("{{instance}}", total("tenure_adoptions_total", "instance")),
    ),
    time_series(
        "Time served as a home",
        "Stands still in an outage; begins again when a replica restarts or was declared dead.",
        "s",
        ("{{instance}}", "tenure_home_served_seconds{@}"),
    ),
]

FEED = [
    time_series(
        "Observer lag",
        "99th percentile, from a change's transaction until watchers are notified.",
        "s",
        ("{{instance}}", quantile(0.99, "tenure_observe_lag_seconds", "instance")),
    ),
    time_series(
        "Open calls",
        "Calls that wait for changes: campaigns, observers, keepalive streams.",
        "none",
        ("all", "sum(tenure_watchers{@})"),
        ("observers", "sum(tenure_observers{@})"),
    ),
    time_series(
        "Change feed",
        "Per second: reads of other replicas' commits, and changes found.",
        "ops",
        ("reads", total("tenure_feed_polls_total")),
        ("changes", total("tenure_feed_events_total")),
    ),
    time_series(
        "History",
        "Per second: events trimmed, and observers that had to start over.",
        "ops",
        ("trimmed", total("tenure_events_trimmed_total")),
        ("resyncs", total("tenure_observe_resyncs_total")),
    ),
]

REPLICAS = [
    time_series(
        "Refused calls by reason",
        "Per second.",
        "reqps",
        ("{{reason}}", total("tenure_refused_total", "reason")),
        stacked=True,
    ),
    time_series(
        "Readiness by replica",
        "1: accepts calls.",
        "none",
        ("{{instance}}", "min by (instance) (tenure_ready{@})"),
        steps=True,
        top=1,
    ),
    time_series(
        "Followed replicas",
        "The other replicas, and those of them from which a replica hears when they commit.",
        "none",
        ("{{instance}}", "min by (instance) (tenure_replicas_followed{@})"),
        ("others", "max(tenure_replicas{@})"),
        steps=True,
    ),
    table(
        "Versions",
        "What is running.",
        ("Replicas", "count by (version, store) (tenure_build_info{@})"),
    ),
    table(
        "Services",
        "One row: all replicas work on one database. Two rows: one of them works on a wrong one.",
        ("Replicas", "count by (service_id) (tenure_service_info{@})"),
    ),
]

PROCESSES = [
    time_series(
        "Processor",
        "Processors in use.",
        "none",
        ("{{instance}}", "rate(process_cpu_seconds_total{@}[$__rate_interval])"),
    ),
    time_series(
        "Memory",
        "Resident.",
        "bytes",
        ("{{instance}}", "process_resident_memory_bytes{@}"),
    ),
    time_series(
        "File descriptors",
        "The open ones, as a share of the maximum.",
        "percentunit",
        ("{{instance}}", "process_open_fds{@} / process_max_fds{@}"),
        top=1,
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
        ("Homes of sessions", HOMES),
        ("Observers", FEED),
        ("Replicas", REPLICAS),
        ("Processes", PROCESSES),
    ],
    variables=[INSTANCE],
    scope=f'{INSTALLATION}, instance=~"$instance"',
)
