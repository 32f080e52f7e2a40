// The catalogue: every metric of `tenured`, with its name, its help and its labels, in one place.
//
// Thread-safe. Names carry their unit. A child of a family is resolved once, when its owner is
// made, so that nothing is looked up by a label while calls are served. The number of series is
// constant, but for those of single elections, which `ElectionSeries` bounds. Metrics that say
// nothing else are of this replica alone: the service's are their sum over the replicas.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/types.h"
#include "metrics/election_series.h"

namespace tenure {

struct MetricsOptions {
  std::string version = {};
  std::string store = {};                           // its kind
  size_t elections_max = 0;                         // so many elections have series of their own
  std::vector<std::string> election_prefixes = {};  // and names that begin so; empty: any
};

// Observes a duration in a histogram of seconds.
template <typename Rep, typename Period>
void ObserveSeconds(prometheus::Histogram& histogram, std::chrono::duration<Rep, Period> duration) {
  histogram.Observe(std::chrono::duration<double>(duration).count());
}

// What the database is asked for.
enum class Operation { kTransaction, kRead, kPoll, kSearch };

// One child of a family for each value of an enum.
template <typename Metric, typename Key>
class Children {
 public:
  explicit Children(std::vector<Metric*> children) : children_(std::move(children)) {}
  // REQUIRES: there is one for this value.
  [[nodiscard]] Metric& operator[](Key key) const { return *children_[static_cast<size_t>(key)]; }

 private:
  const std::vector<Metric*> children_;  // null where a value has none
};

class Metrics {
 public:
  using Counter = prometheus::Counter;
  using Gauge = prometheus::Gauge;
  using Histogram = prometheus::Histogram;
  using Buckets = Histogram::BucketBoundaries;
  template <typename Metric>
  using Family = prometheus::Family<Metric>;

  explicit Metrics(const MetricsOptions& options = {});

  // The exposition of all metrics in Prometheus' text format.
  [[nodiscard]] std::string Expose() const;

  // From a call or a heartbeat's round trip to a client that waits for an answer.
  [[nodiscard]] static Buckets CallSeconds();

 private:
  Family<Counter>& NewCounters(const char* name, const char* help);
  Family<Gauge>& NewGauges(const char* name, const char* help);
  Family<Histogram>& NewHistograms(const char* name, const char* help);
  Counter& NewCounter(const char* name, const char* help) {
    return NewCounters(name, help).Add({});
  }
  Gauge& NewGauge(const char* name, const char* help) { return NewGauges(name, help).Add({}); }
  Histogram& NewHistogram(const char* name, const char* help, const Buckets& buckets) {
    return NewHistograms(name, help).Add({}, buckets);
  }
  // One for each cause; `none` is what stands for no cause, or null.
  static Children<Counter, Cause> OfEachCause(Family<Counter>& family, const char* none = nullptr);
  static Children<Histogram, Operation> OfEachOperation(Family<Histogram>& family);

  prometheus::Registry registry_;

 public:
  // Elections, as transactions of this replica changed them.

  const Children<Counter, Cause> terms_granted = OfEachCause(
      NewCounters("tenure_terms_granted_total",
                  "Terms that this replica granted, by what had ended the one before; VACANT: "
                  "there was none, or not since the election was deleted."),
      "VACANT");
  const Children<Counter, Cause> terms_ended = OfEachCause(NewCounters(
      "tenure_terms_ended_total", "Terms that transactions of this replica ended, by cause."));
  Counter& failovers = NewCounter("tenure_failovers_total",
                                  "Terms that this replica granted after one that had expired.");
  Histogram& failover_seconds = NewHistogram(
      "tenure_failover_seconds",
      "From the end of the lease of a leader that expired to the grant of the next term, by the "
      "database's clock.",
      {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300});
  Counter& leaderless_seconds = NewCounter(
      "tenure_leaderless_seconds_total",
      "How long seats were empty that this replica filled again, since the end of the term, or of "
      "the lease that had expired.");
  Counter& handovers = NewCounter(
      "tenure_handovers_total",
      "Terms that ended by making way for the candidate that an operator had appointed.");
  Counter& flaps = NewCounter(
      "tenure_flaps_total",
      "Terms that were lost within 30 s of their grant: they expired or were superseded.");
  const Children<Counter, Cause> sessions_ended =
      OfEachCause(NewCounters("tenure_sessions_ended_total",
                              "Sessions that transactions of this replica ended, by cause."));
  Counter& premature_expirations =
      NewCounter("tenure_premature_expirations_total",
                 "Sessions that expired although their process was alive and came back.");
  Counter& renewals = NewCounter("tenure_renewals_total", "Sessions that were renewed.");
  Histogram& renewal_margin_ratio =
      NewHistogram("tenure_renewal_margin_ratio",
                   "The share of the lease that was left when a session was renewed.",
                   {0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9});
  Counter& admin_changes =
      NewCounter("tenure_admin_changes_total", "Changes by operators that this replica committed.");

  // Elections, as they are in the database: every replica shows the same.

  Gauge& elections = NewGauge("tenure_elections", "Elections, as the last census found them.");
  Gauge& elections_leaderless = NewGauge(
      "tenure_elections_leaderless",
      "Elections, not paused, whose seat is empty although one waits who wants to lead, or whose "
      "leader's lease is over.");
  Gauge& elections_vacant =
      NewGauge("tenure_elections_vacant", "Elections that nobody leads and nobody waits for.");
  Gauge& candidates = NewGauge("tenure_candidates", "Places in the queues of all elections.");
  Gauge& sessions = NewGauge("tenure_sessions", "Sessions that are alive.");
  ElectionSeries election_series;
  Gauge& elections_unlisted =
      NewGauge("tenure_elections_unlisted", "Elections that have no series of their own.");

  // Who waits and who watches.

  Histogram& campaign_wait_seconds =
      NewHistogram("tenure_campaign_wait_seconds",
                   "From the arrival of a Campaign that had to wait to its being elected.",
                   {0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600, 14400, 86400});
  Gauge& watchers =
      NewGauge("tenure_watchers",
               "Open calls that wait for changes: campaigns, observers, keepalive streams.");
  Gauge& observers = NewGauge("tenure_observers", "Open Observe streams.");
  Histogram& observe_lag_seconds = NewHistogram(
      "tenure_observe_lag_seconds",
      "From a change, by the database's clock, to its being told to the watchers of this replica.",
      {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10});
  Counter& observe_resyncs = NewCounter(
      "tenure_observe_resyncs_total",
      "Snapshots that an observer was sent because events that it had not seen were gone.");
  Counter& feed_polls = NewCounter("tenure_feed_polls_total",
                                   "Times that the store was asked for changes of other replicas.");
  Counter& feed_events = NewCounter("tenure_feed_events_total",
                                    "Changes that were read from the store, because other replicas "
                                    "made them or one before them.");

  // The machine.

  Histogram& batch_commands =
      NewHistogram("tenure_batch_commands", "Commands that one transaction carried.",
                   {1, 2, 4, 8, 16, 32, 64, 128, 256});
  Family<Counter>& transactions_by_outcome =
      NewCounters("tenure_transactions_total",
                  "Transactions that were committed, or given up because the store was away.");
  Counter& transactions = transactions_by_outcome.Add({{"outcome", "committed"}});
  Counter& transactions_failed = transactions_by_outcome.Add({{"outcome", "failed"}});
  Family<Counter>& transaction_retries = NewCounters(
      "tenure_transaction_retries_total", "Times that the store did something again, by why.");
  const Children<Histogram, Operation> database_seconds =
      OfEachOperation(NewHistograms("tenure_database_seconds",
                                    "How long the database took, retries and all, by what was asked"
                                    " of it."));
  Counter& commands_busy =
      NewCounter("tenure_commands_busy_total",
                 "Times that a command was put off: its election was locked elsewhere.");
  Family<Gauge>& queue_depth =
      NewGauges("tenure_queue_depth", "Pieces of work that wait in a queue.");
  Family<Gauge>& queue_max =
      NewGauges("tenure_queue_max", "How many a queue holds; what comes then is refused.");
  Family<Counter>& refused =
      NewCounters("tenure_refused_total",
                  "Calls that were refused, or streams that were ended, for want of room or of the "
                  "database, by the reason that they were told.");
  Family<Gauge>& store_connections =
      NewGauges("tenure_store_connections", "Open connections to the database, by state.");
  Gauge& store_connections_busy = store_connections.Add({{"state", "busy"}});
  Gauge& store_connections_idle = store_connections.Add({{"state", "idle"}});
  Gauge& store_connections_max =
      NewGauge("tenure_store_connections_max", "How many connections there may be.");
  Gauge& store_up = NewGauge("tenure_store_up", "Whether the store answered lately.");
  Gauge& ready = NewGauge("tenure_ready", "Whether this replica takes calls, as /readyz tells.");
  Gauge& database_clock_offset_seconds =
      NewGauge("tenure_database_clock_offset_seconds",
               "How far the database's clock is ahead of this machine's.");
  Counter& database_clock_jumps = NewCounter(
      "tenure_database_clock_jumps_total",
      "Times that the database's clock moved by over 500 ms more or less than this machine's "
      "monotonic clock.");
  Counter& database_resets = NewCounter(
      "tenure_database_resets_total",
      "Times that the database went back: it was replaced or restored while this replica ran.");
  Counter& events_trimmed =
      NewCounter("tenure_events_trimmed_total",
                 "Events that were deleted because history may not grow further.");

  // Calls, under the names that gRPC servers commonly use.

  Family<Counter>& rpc_started =
      NewCounters("grpc_server_started_total", "RPCs that were started on the server.");
  Family<Counter>& rpc_handled = NewCounters(
      "grpc_server_handled_total", "RPCs that were finished on the server, by their code.");
  Family<Histogram>& rpc_handling_seconds = NewHistograms(
      "grpc_server_handling_seconds", "From the start of an RPC to its end on the server.");
  Family<Counter>& rpc_received =
      NewCounters("grpc_server_msg_received_total", "Messages that were received from clients.");
  Family<Counter>& rpc_sent =
      NewCounters("grpc_server_msg_sent_total", "Messages that were sent to clients.");
};

}  // namespace tenure
