package io.tenure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tenure.testing.Candidate;
import io.tenure.testing.Service;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a process promises that is stopped, or that ends. */
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
    process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Candidate.class.getName(),
                service.endpoint(),
                "orders",
                String.valueOf(leaseSeconds))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    said = new BufferedReader(new InputStreamReader(process.getInputStream()));
    assertEquals("leading", said.readLine());
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
}
