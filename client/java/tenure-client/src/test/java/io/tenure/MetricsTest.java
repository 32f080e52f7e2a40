package io.tenure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.tenure.micrometer.MicrometerMetrics;
import io.tenure.testing.Repository;
import io.tenure.testing.Service;
import io.tenure.v1.Cause;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The metrics of a client, as Prometheus reads them. */
@Timeout(60)
class MetricsTest {
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final MicrometerMetrics metrics = new MicrometerMetrics(registry);

  private boolean has(String line) {
    return registry.scrape().lines().anyMatch(line::equals);
  }

  private static void assertHas(MetricsTest of, String... lines) {
    for (String line : lines) assertTrue(of.has(line), () -> line + "\n" + of.registry.scrape());
  }

  @Test
  void eachEventMovesItsNumber() {
    metrics.stands("orders");
    assertHas(
        this,
        "leader_election_master_status{name=\"orders\"} 0.0",
        "leader_election_slowpath_total{name=\"orders\"} 0.0",
        "tenure_client_elected_total{name=\"orders\"} 0.0",
        "tenure_client_overruns_total{name=\"orders\"} 0.0",
        "tenure_client_replica_changes_total 0.0");

    metrics.elected("orders");
    assertHas(this, "leader_election_master_status{name=\"orders\"} 1.0");
    metrics.suspended("orders");
    metrics.overrun("orders");
    metrics.lost("orders", Cause.CAUSE_EXPIRED);
    metrics.replicaChanged();
    metrics.renewed(Duration.ofMillis(3), Duration.ofSeconds(4));
    metrics.renewed(Duration.ofMillis(1), Duration.ofSeconds(-1));

    assertHas(
        this,
        "leader_election_master_status{name=\"orders\"} 0.0",
        "leader_election_slowpath_total{name=\"orders\"} 1.0",
        "tenure_client_elected_total{name=\"orders\"} 1.0",
        "tenure_client_lost_total{cause=\"EXPIRED\",name=\"orders\"} 1.0",
        "tenure_client_overruns_total{name=\"orders\"} 1.0",
        "tenure_client_replica_changes_total 1.0",
        "tenure_client_renewal_seconds_bucket{le=\"0.0025\"} 1",
        "tenure_client_renewal_seconds_bucket{le=\"0.005\"} 2",
        "tenure_client_renewal_margin_seconds_bucket{le=\"0.1\"} 1",
        "tenure_client_renewal_margin_seconds_bucket{le=\"5.0\"} 2");
  }

  @Test
  void theNamesAreThoseOfTheDocumentation() throws IOException {
    String page = Files.readString(Repository.ROOT.resolve("docs/clients.md"));
    Set<String> documented =
        Pattern.compile("^\\| `((?:leader_election|tenure_client)_\\w+)", Pattern.MULTILINE)
            .matcher(page)
            .results()
            .map((MatchResult match) -> match.group(1))
            .collect(Collectors.toSet());
    metrics.stands("orders");
    metrics.elected("orders");
    metrics.lost("orders", Cause.CAUSE_RESIGNED);

    Set<String> scraped =
        registry
            .scrape()
            .lines()
            .filter(line -> line.startsWith("# TYPE "))
            .map(line -> line.split(" ")[2])
            .filter(name -> !name.endsWith("_max"))
            .collect(Collectors.toSet());

    assertEquals(documented, scraped);
  }

  @Test
  void aClientCounts() throws InterruptedException {
    CountDownLatch renewed = new CountDownLatch(1);
    ClientMetrics last =
        new ClientMetrics() {
          @Override
          public void renewed(Duration roundTrip, Duration margin) {
            renewed.countDown();
          }
        };
    TenureClient.Builder builder = TenureClient.builder().metrics(metrics).metrics(last);
    try (Service service = Service.start();
        TenureClient client = builder.endpoints(service.endpoint()).build()) {
      try (Seat seat = new Elector(client).lead("orders")) {
        assertHas(
            this,
            "leader_election_master_status{name=\"orders\"} 1.0",
            "tenure_client_elected_total{name=\"orders\"} 1.0");
        assertTrue(seat.isLeader());
      }
      try (Seat again = new Elector(client).lead("orders")) {
        assertHas(
            this,
            "tenure_client_lost_total{cause=\"RESIGNED\",name=\"orders\"} 1.0",
            "tenure_client_elected_total{name=\"orders\"} 2.0");
        assertTrue(again.isLeader());
      }
      assertTrue(renewed.await(Service.PATIENCE, TimeUnit.SECONDS));
      List<String> renewals =
          registry
              .scrape()
              .lines()
              .filter(line -> line.startsWith("tenure_client_renewal_seconds_count"))
              .toList();
      assertTrue(Double.parseDouble(renewals.get(0).split(" ")[1]) >= 1, renewals::toString);
    }
  }
}
