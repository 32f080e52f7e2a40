package io.tenure.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.tenure.ClientMetrics;
import io.tenure.v1.Cause;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Metrics for Micrometer, which the application brings: {@code TenureClient.builder().metrics(new
 * MicrometerMetrics(registry))}.
 *
 * <p>In Prometheus, they have the names that {@code docs/clients.md} lists. Each client needs its
 * own object; clients that share a registry share the series. Thread-safe.
 */
public final class MicrometerMetrics implements ClientMetrics {
  private static final double[] MARGIN_SECONDS = {0.1, 0.25, 0.5, 1, 2, 3, 5, 7.5, 10, 20, 30, 60};
  private static final Duration[] RENEWAL_BUCKETS =
      Arrays.stream(new double[] {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5})
          .mapToObj(seconds -> Duration.ofNanos(Math.round(seconds * 1e9)))
          .toArray(Duration[]::new);

  private final MeterRegistry registry;
  private final Map<String, AtomicInteger> leads = new ConcurrentHashMap<>();
  private final Timer renewals;
  private final DistributionSummary margins;
  private final Counter replicaChanges;

  /**
   * Registers the metrics that do not depend on an election.
   *
   * @param registry where to
   */
  public MicrometerMetrics(MeterRegistry registry) {
    this.registry = registry;
    renewals =
        Timer.builder("tenure.client.renewal")
            .description("Time from sending a renewal to its answer.")
            .serviceLevelObjectives(RENEWAL_BUCKETS)
            .register(registry);
    margins =
        DistributionSummary.builder("tenure.client.renewal.margin")
            .description("Time left until the process's own deadline when a renewal was answered.")
            .baseUnit("seconds")
            .serviceLevelObjectives(MARGIN_SECONDS)
            .register(registry);
    replicaChanges =
        Counter.builder("tenure.client.replica.changes")
            .description("Switches to another replica after one failed.")
            .register(registry);
  }

  @Override
  public void stands(String election) {
    leads.computeIfAbsent(election, this::registerStatus);
    slowPath(election);
    elections(election);
    overruns(election);
  }

  private AtomicInteger registerStatus(String election) {
    AtomicInteger status = new AtomicInteger();
    Gauge.builder("leader.election.master.status", status, AtomicInteger::get)
        .description("1 if this process leads the election, otherwise 0.")
        .tag("name", election)
        .register(registry);
    return status;
  }

  private Counter slowPath(String election) {
    return Counter.builder("leader.election.slowpath")
        .description("Times that a leader went half its lease without a renewal.")
        .tag("name", election)
        .register(registry);
  }

  private Counter elections(String election) {
    return Counter.builder("tenure.client.elected")
        .description("Terms in which this process was the leader.")
        .tag("name", election)
        .register(registry);
  }

  private Counter overruns(String election) {
    return Counter.builder("tenure.client.overruns")
        .description("Times that a leader's work was still running at its deadline.")
        .tag("name", election)
        .register(registry);
  }

  @Override
  public void elected(String election) {
    elections(election).increment();
    leads.get(election).set(1);
  }

  @Override
  public void lost(String election, Cause cause) {
    Counter.builder("tenure.client.lost")
        .description("Ended terms of this process, by cause.")
        .tag("name", election)
        .tag("cause", cause.name().replace("CAUSE_", ""))
        .register(registry)
        .increment();
    leads.get(election).set(0);
  }

  @Override
  public void suspended(String election) {
    slowPath(election).increment();
  }

  @Override
  public void overrun(String election) {
    overruns(election).increment();
  }

  @Override
  public void renewed(Duration roundTrip, Duration margin) {
    renewals.record(roundTrip);
    margins.record(Math.max(margin.toNanos(), 0) / 1e9);
  }

  @Override
  public void replicaChanged() {
    replicaChanges.increment();
  }
}
