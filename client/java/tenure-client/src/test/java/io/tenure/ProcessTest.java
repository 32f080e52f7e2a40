package io.tenure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tenure.testing.Candidate;
import io.tenure.testing.Service;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Promises about a process that is stopped, or that ends. */
@Timeout(60)
class ProcessTest {
  private static final Duration PATIENCE = Duration.ofSeconds(Service.PATIENCE);

  private Service service;
  private TenureClient client;
  private Elector rival;
  private Process process;
  private BufferedReader said;

  @BeforeEach
  void start() {
    service = Service.start();
    client = TenureClient.builder().endpoints(service.endpoint()).candidate("b").build();
    rival = new Elector(client);
  }

  @AfterEach
  void stop() {
    if (process != null) Service.end(process);
    client.close();
    service.close();
  }

  private void startLeading(int leaseSeconds) throws IOException {
    start(leaseSeconds, List.of());
    assertEquals("leading", said.readLine());
  }

  private void start(int leaseSeconds, List<String> jvmOptions) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(jvmOptions);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(Candidate.class.getName(), service.endpoint(), "orders"));
    command.add(String.valueOf(leaseSeconds));
    process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    said = new BufferedReader(new InputStreamReader(process.getInputStream()));
  }

  @Test
  void aProcessThatWasStoppedPastItsLeaseDoesNotLeadWhenItGoesOn() throws Exception {
    startLeading(2);
    Service.signal(process, "STOP");

    try (Seat seat = rival.lead("orders")) {
      Writer input = process.outputWriter();
      input.write("\n");
      input.flush();
      Service.signal(process, "CONT");

      assertEquals("false", said.readLine());
      assertTrue(seat.isLeader());
    }
  }

  @Test
  void aProcessThatReturnsFromMainGivesUpItsSeat() throws Exception {
    startLeading(600);

    process.getOutputStream().close();

    rival.tryLead("orders", PATIENCE).orElseThrow().close();
  }

  @Test
  void aProcessThatIsInterruptedGivesUpItsSeat() throws Exception {
    startLeading(600);

    Service.signal(process, "TERM");

    rival.tryLead("orders", PATIENCE).orElseThrow().close();
  }

  @Test
  void theCodeForAChangeOfLeaderIsLoadedBeforehand() throws Exception {
    start(600, List.of("-Xlog:class+load:stdout:none"));
    CompletableFuture.delayedExecutor(Service.PATIENCE, TimeUnit.SECONDS)
        .execute(process::destroyForcibly); // so that no read blocks forever

    Set<String> missing =
        new HashSet<>(List.of("SeatNotice$Builder", "ResignRequest", "ResignResponse", "SeatLost"));
    while (!missing.isEmpty()) {
      String line = said.readLine(); // such as "io.tenure.v1.ResignRequest source: ..."
      assertNotNull(line, () -> "not loaded: " + missing);
      missing.removeIf(name -> line.startsWith("io.tenure.v1." + name + " "));
    }
  }
}
