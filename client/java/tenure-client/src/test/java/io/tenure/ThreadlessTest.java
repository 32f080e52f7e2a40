package io.tenure;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tenure.testing.ReportingCandidate;
import io.tenure.testing.Reports;
import io.tenure.testing.Service;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Promises about a process that gets no more threads from its operating system. */
@Timeout(60)
class ThreadlessTest {
  private static final Duration PATIENCE = Duration.ofSeconds(Service.PATIENCE);

  private Service service;
  private TenureClient client;
  private Elector rival;
  private Reports candidate;

  @BeforeEach
  void start() {
    service = Service.start();
    client = TenureClient.builder().endpoints(service.endpoint()).candidate("b").build();
    rival = new Elector(client);
  }

  @AfterEach
  void stop() {
    if (candidate != null) candidate.close();
    client.close();
    service.close();
  }

  private void startCandidate(String endpoints, int leaseSeconds) throws IOException {
    List<String> command = asOneWithALimit();
    command.addAll(ReportingCandidate.command(endpoints, leaseSeconds));
    candidate = new Reports(command);
  }

  /** Root has no limit on threads. */
  private static List<String> asOneWithALimit() {
    List<String> command = new ArrayList<>();
    if (System.getProperty("user.name").equals("root")) {
      command.addAll(List.of("setpriv", "--reuid=65534", "--clear-groups"));
      command.addAll(List.of("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"));
    }
    return command;
  }

  private void limitThreads(String limit) {
    List<String> command = asOneWithALimit();
    command.addAll(
        List.of("prlimit", "--pid=" + candidate.process().pid(), "--nproc=" + limit + ":"));
    Service.output(command);
  }

  private void liftTheLimit() throws IOException {
    Path limits = Path.of("/proc", String.valueOf(candidate.process().pid()), "limits");
    String line =
        Files.readAllLines(limits).stream()
            .filter(one -> one.startsWith("Max processes"))
            .findFirst()
            .orElseThrow(); // name, soft limit, hard limit
    limitThreads(line.split("\\s+")[3]);
  }

  @Test
  void aSeatWhoseWorkCannotStartIsGivenUp() throws Exception {
    Seat seat = rival.lead("orders");
    startCandidate(service.endpoint(), 2);
    candidate.until("standing");
    limitThreads("1");

    seat.close();
    candidate.until("elected");

    candidate.until("cannot start the work of term 2 of election orders");
    candidate.until("lost CAUSE_RESIGNED");
    rival.tryLead("orders", PATIENCE).orElseThrow().close();
    liftTheLimit();
    candidate.until("working");
  }

  @Test
  void aLeaderKeepsItsSeatWhenItsReplicasRestart() throws Exception {
    try (Service other = service.startReplica()) {
      startCandidate(service.endpoint() + "," + other.endpoint(), 6);
      candidate.until("working");
      limitThreads("1");

      for (Service replica : List.of(service, other)) {
        replica.stop();
        candidate.forget();
        List<String> before = candidate.until("renewed"); // may have been answered before
        before.addAll(candidate.until("renewed"));
        assertFalse(before.stream().anyMatch(line -> line.startsWith("lost")), before.toString());
        replica.restart();
      }

      assertTrue(rival.tryLead("orders", Duration.ZERO).isEmpty());
    }
  }
}
