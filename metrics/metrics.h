// The catalogue: every metric of `tenured`, with its name, its help and its labels, in one place.
//
// Thread-safe. Names include their unit. Each child of a family is resolved once, at construction,
// so that calls look up no labels. The number of series is constant, except for those of single
// elections, which `ElectionSeries` limits. Unless stated otherwise, a metric is of this replica
// alone; sum over the replicas for the whole service.
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
  size_t elections_max = 0;                         // maximum number with series of their own
  std::vector<std::string> election_prefixes = {};  // of names with series; empty: any
};

// Observes a duration in a histogram of seconds.
template <typename Rep, typename Period>
void ObserveSeconds(prometheus::Histogram& histogram, std::chrono::duration<Rep, Period> duration) {
  histogram.Observe(std::chrono::duration<double>(duration).count());
}

// Kinds of work that the database does.
enum class Operation { kTransaction, kRead, kPoll, kSearch, kBeat };

// One child of a family for each value of an enum.
template <typename Metric, typename Key>
class Children {
 public:
  explicit Children(std::vector<Metric*> children) : children_(std::move(children)) {}
  // REQUIRES: there is a child for this value.
  [[nodiscard]] Metric& operator[](Key key) const { return *children_[static_cast<size_t>(key)]; }

 private:
  const std::vector<Metric*> children_;  // null for values without a child
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

  // Buckets for the time that a client waits for an answer.
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
  // One child per cause. `none` labels the child for no cause; null: there is no such child.
  static Children<Counter, Cause> OfEachCause(Family<Counter>& family, const char* none = nullptr);
  static Children<Histogram, Operation> OfEachOperation(Family<Histogram>& family);

  prometheus::Registry registry_;

 public:
  // Elections, as changed by transactions of this replica.

  const Children<Counter, Cause> terms_granted = OfEachCause(
      NewCounters("tenure_terms_granted_total",
                  "Terms granted by this replica, by the cause that ended the previous term. "
                  "VACANT: there was no previous term, or the election was deleted since."),
      "VACANT");
  const Children<Counter, Cause> terms_ended = OfEachCause(NewCounters(
      "tenure_terms_ended_total", "Terms ended by transactions of this replica, by cause."));
  Counter& failovers =
      NewCounter("tenure_failovers_total",
                 "Terms granted by this replica after the previous leader's lease expired.");
  Histogram& failover_seconds =
      NewHistogram("tenure_failover_seconds",
                   "Time from the end of an expired leader's lease to the grant of the next term, "
                   "by the database's clock.",
                   {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300});
  Counter& leaderless_seconds =
      NewCounter("tenure_leaderless_seconds_total",
                 "Total time that seats were empty before this replica filled them, since the end "
                 "of the previous term or of its expired lease.");
  Counter& handovers = NewCounter(
      "tenure_handovers_total",
      "Terms that ended because the leader made way for a candidate appointed by an operator.");
  Counter& flaps =
      NewCounter("tenure_flaps_total",
                 "Terms lost within 30 s of their grant: they expired or were superseded.");
  const Children<Counter, Cause> sessions_ended = OfEachCause(NewCounters(
      "tenure_sessions_ended_total", "Sessions ended by transactions of this replica, by cause."));
  Counter& premature_expirations =
      NewCounter("tenure_premature_expirations_total",
                 "Sessions that expired while their process was still alive; it came back.");
  Counter& renewals = NewCounter("tenure_renewals_total", "Session renewals.");
  Histogram& renewal_margin_ratio =
      NewHistogram("tenure_renewal_margin_ratio",
                   "Fraction of the lease that was left when a session was renewed.",
                   {0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9});

  // Sessions and their home (docs/adr/0046-homes.md).

  Gauge& kept_sessions =
      NewGauge("tenure_kept_sessions", "Sessions that this replica is the home of.");
  Counter& adoptions =
      NewCounter("tenure_adoptions_total",
                 "Sessions that moved to this replica because their renewals reached it.");
  Family<Counter>& home_beats = NewCounters(
      "tenure_home_beats_total",
      "Beats of this replica: good; refused, as the row is dead or others have changed it; failed, "
      "as the database did not answer or is another one; withheld, as ends of sessions were late.");
  Counter& beats_good = home_beats.Add({{"outcome", "good"}});
  Counter& beats_refused = home_beats.Add({{"outcome", "refused"}});
  Counter& beats_failed = home_beats.Add({{"outcome", "failed"}});
  Counter& beats_withheld = home_beats.Add({{"outcome", "withheld"}});
  Histogram& home_beat_margin_ratio =
      NewHistogram("tenure_home_beat_margin_ratio",
                   "Fraction of the time for which a beat is good that was left when the next one "
                   "was acknowledged.",
                   {0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9});
  Counter& home_incarnations =
      NewCounter("tenure_home_incarnations_total",
                 "Times that this replica began to be a home of sessions. More than one: it was "
                 "declared dead, its machine was copied, or the database lost commits.");
  Gauge& home_served_seconds =
      NewGauge("tenure_home_served_seconds",
               "How long the beats of this replica have been good, in all, since it last began to "
               "be a home of sessions. 0 if it is none.");

  // Operators.

  Counter& admin_changes =
      NewCounter("tenure_admin_changes_total", "Changes by operators that this replica committed.");

  // Elections, as stored in the database: all replicas show the same.

  Gauge& elections = NewGauge("tenure_elections", "Elections found by the last census.");
  Gauge& elections_leaderless =
      NewGauge("tenure_elections_leaderless",
               "Elections, not paused, with an empty seat although an electable candidate is "
               "waiting, or with a leader whose session has ended.");
  Gauge& elections_vacant =
      NewGauge("tenure_elections_vacant", "Elections without a leader and without candidates.");
  Gauge& candidates =
      NewGauge("tenure_candidates", "Candidates waiting in the queues of all elections.");
  Gauge& sessions = NewGauge("tenure_sessions", "Live sessions.");
  ElectionSeries election_series;
  Gauge& elections_unlisted =
      NewGauge("tenure_elections_unlisted", "Elections without series of their own.");

  // Calls that wait, and calls that watch.

  Histogram& campaign_wait_seconds =
      NewHistogram("tenure_campaign_wait_seconds",
                   "Time from the arrival of a Campaign call that had to wait to its election.",
                   {0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600, 14400, 86400});
  Gauge& watchers =
      NewGauge("tenure_watchers",
               "Open calls that wait for changes: campaigns, observers and KeepAlive streams.");
  Gauge& observers = NewGauge("tenure_observers", "Open Observe streams.");
  Histogram& observe_lag_seconds =
      NewHistogram("tenure_observe_lag_seconds",
                   "Time from a change, by the database's clock, to its delivery to the watchers "
                   "of this replica.",
                   {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10});
  Counter& observe_resyncs = NewCounter(
      "tenure_observe_resyncs_total",
      "Snapshots sent to observers because the events they had missed were no longer available.");
  Counter& feed_polls = NewCounter("tenure_feed_polls_total",
                                   "Queries to the store for changes made by other replicas.");
  Family<Gauge>& service_info =
      NewGauges("tenure_service_info",
                "1, with the id of the service that the database in use is. All replicas of a "
                "service have the same.");
  Gauge& replicas =
      NewGauge("tenure_replicas", "Other replicas that are not dead, by the table of homes.");
  Gauge& replicas_followed = NewGauge("tenure_replicas_followed",
                                      "Other replicas from which this one hears when they commit.");
  Gauge& followers =
      NewGauge("tenure_followers", "Other replicas that hear from this one when it commits.");
  Counter& nudges =
      NewCounter("tenure_nudges_total", "Messages from other replicas that they have committed.");
  Counter& feed_events = NewCounter(
      "tenure_feed_events_total",
      "Changes read from the store because another replica made them, or made one before them.");

  // The machine.

  Histogram& batch_commands = NewHistogram("tenure_batch_commands", "Commands per transaction.",
                                           {1, 2, 4, 8, 16, 32, 64, 128, 256});
  Family<Counter>& transactions_by_outcome = NewCounters(
      "tenure_transactions_total",
      "Transactions that were committed, or that failed because the store was unavailable.");
  Counter& transactions = transactions_by_outcome.Add({{"outcome", "committed"}});
  Counter& transactions_failed = transactions_by_outcome.Add({{"outcome", "failed"}});
  Family<Counter>& transactions_remembered =
      NewCounters("tenure_remembered_transactions_total",
                  "Transactions that were decided from memory, by what the database said: "
                  "committed, or refused "
                  "since something had changed, and then decided from what was locked.");
  Counter& transactions_from_memory = transactions_remembered.Add({{"outcome", "committed"}});
  Counter& transactions_refused = transactions_remembered.Add({{"outcome", "refused"}});
  Family<Counter>& transaction_retries =
      NewCounters("tenure_transaction_retries_total", "Retries by the store, by reason.");
  const Children<Histogram, Operation> database_seconds = OfEachOperation(
      NewHistograms("tenure_database_seconds",
                    "Duration of database operations including retries, by operation."));
  Counter& commands_busy =
      NewCounter("tenure_commands_busy_total",
                 "Commands postponed because another transaction had locked their election.");
  Family<Gauge>& queue_depth = NewGauges("tenure_queue_depth", "Items waiting in a queue.");
  Family<Gauge>& queue_max =
      NewGauges("tenure_queue_max", "Capacity of a queue. Further items are refused.");
  Family<Counter>& refused =
      NewCounters("tenure_refused_total",
                  "Calls refused and streams ended because of overload or an unavailable database, "
                  "by the reason sent to the client.");
  Gauge& connections = NewGauge("tenure_connections", "Open connections to the gRPC port.");
  Gauge& connections_max =
      NewGauge("tenure_connections_max", "Maximum number of open connections to the gRPC port.");
  Family<Counter>& connections_refused =
      NewCounters("tenure_connections_refused_total",
                  "Connections to the gRPC port that were closed at once, by the limit that was "
                  "reached: of all, or of one address.");
  Counter& connections_refused_in_all = connections_refused.Add({{"limit", "all"}});
  Counter& connections_refused_per_address = connections_refused.Add({{"limit", "address"}});
  Family<Gauge>& newcomers = NewGauges(
      "tenure_newcomers",
      "Unfinished handshakes, calls without a message, and bytes of arriving messages, by kind.");
  Gauge& newcomers_handshakes = newcomers.Add({{"kind", "handshakes"}});
  Gauge& newcomers_calls = newcomers.Add({{"kind", "calls"}});
  Gauge& newcomers_message_bytes = newcomers.Add({{"kind", "message_bytes"}});
  Family<Counter>& newcomers_refused =
      NewCounters("tenure_newcomers_refused_total",
                  "Handshakes, calls and large messages refused since too many of their kind were "
                  "unfinished.");
  Counter& newcomers_handshakes_refused = newcomers_refused.Add({{"kind", "handshakes"}});
  Counter& newcomers_calls_refused = newcomers_refused.Add({{"kind", "calls"}});
  Counter& newcomers_messages_refused = newcomers_refused.Add({{"kind", "message_bytes"}});
  Family<Gauge>& store_connections =
      NewGauges("tenure_store_connections", "Open database connections, by state.");
  Gauge& store_connections_busy = store_connections.Add({{"state", "busy"}});
  Gauge& store_connections_idle = store_connections.Add({{"state", "idle"}});
  Gauge& store_connections_max =
      NewGauge("tenure_store_connections_max", "Maximum number of database connections.");
  Gauge& store_up = NewGauge("tenure_store_up",
                             "1 if the store answered recently and can be written, otherwise 0.");
  Gauge& ready = NewGauge("tenure_ready",
                          "1 if this replica is ready to serve calls, as in /readyz, otherwise 0.");
  Gauge& database_clock_offset_seconds =
      NewGauge("tenure_database_clock_offset_seconds",
               "How far the database's clock is ahead of this machine's clock.");
  Counter& database_resets = NewCounter("tenure_database_resets_total",
                                        "Times that the database was found to have lost commits, "
                                        "or that it may have lost some.");
  Family<Gauge>& last_reload_successful = NewGauges(
      "tenure_last_reload_successful",
      "0 while files have changed but cannot be used, so that their previous content stays "
      "in force; otherwise 1.");
  Gauge& policy_reloaded = last_reload_successful.Add({{"files", "policy"}});
  Gauge& tls_reloaded = last_reload_successful.Add({{"files", "tls"}});
  Gauge& tls_certificate_expiry =
      NewGauge("tenure_tls_certificate_expiry_timestamp_seconds",
               "When the first certificate of the chain that this replica serves with expires, in "
               "seconds since 1970; 0 without TLS.");
  Gauge& database_warnings =
      NewGauge("tenure_database_warnings",
               "How many settings of the database server in use put commits at risk.");
  Counter& events_trimmed = NewCounter("tenure_events_trimmed_total",
                                       "Events deleted to keep the history within its limits.");

  // Calls, under the names that gRPC servers commonly use.

  Family<Counter>& rpc_started =
      NewCounters("grpc_server_started_total", "RPCs started on the server.");
  Family<Counter>& rpc_handled =
      NewCounters("grpc_server_handled_total", "RPCs completed on the server, by status code.");
  Family<Histogram>& rpc_handling_seconds =
      NewHistograms("grpc_server_handling_seconds", "Duration of RPCs on the server.");
  Family<Counter>& rpc_received =
      NewCounters("grpc_server_msg_received_total", "Messages received from clients.");
  Family<Counter>& rpc_sent =
      NewCounters("grpc_server_msg_sent_total", "Messages sent to clients.");
};

}  // namespace tenure
