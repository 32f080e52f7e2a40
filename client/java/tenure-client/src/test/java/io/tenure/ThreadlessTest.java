package io.tenure;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tenure.testing.Service;
import io.tenure.testing.ThreadlessCandidate;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a process promises that gets no further threads from its operating system. */
@Timeout(60)
class ThreadlessTest {
  private static final Duration PATIENCE = Duration.ofSeconds(Service.PATIENCE);

  private Service service;
  private TenureClient client;
  private Elector rival;
  private Process process;
  private final BlockingQueue<String> said = new LinkedBlockingQueue<>();

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

  private void startCandidate(String endpoints, int leaseSeconds) throws IOException {
    List<String> command = asOneWithALimit();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(ThreadlessCandidate.class.getName());
    command.addAll(List.of(endpoints, String.valueOf(leaseSeconds)));
    process = new ProcessBuilder(command).redirectErrorStream(true).start();
    BufferedReader reader = new BufferedReader(new InputStreamReader(process.getInputStream()));
    Thread thread = new Thread(() -> reader.lines().forEach(said::add), "reader");
    thread.setDaemon(true);
    thread.start();
  }

  /** Root has no limit on its threads. */
  private static List<String> asOneWithALimit() {
    List<String> command = new ArrayList<>();
    if (System.getProperty("user.name").equals("root")) {
      command.addAll(List.of("setpriv", "--reuid=65534", "--clear-groups"));
      command.addAll(List.of("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"));
    }
    return command;
  }

  /** Answers with what was said before. */
  private List<String> until(String wanted) throws InterruptedException {
    List<String> before = new ArrayList<>();
    while (true) {
      String line = said.poll(Service.PATIENCE, TimeUnit.SECONDS);
      if (line == null) throw new AssertionError("no " + wanted + ", but " + before);
      if (line.contains(wanted)) return before;
      before.add(line);
    }
  }

  private void limitThreads(String limit) {
    List<String> command = asOneWithALimit();
    command.addAll(List.of("prlimit", "--pid=" + process.pid(), "--nproc=" + limit + ":"));
    Service.output(command);
  }

  private void liftTheLimit() throws IOException {
    Path limits = Path.of("/proc", String.valueOf(process.pid()), "limits");
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
    until("standing");
    limitThreads("1");

    seat.close();
    until("elected");

    until("cannot start the work of term 2 of election orders");
    until("lost CAUSE_RESIGNED");
    rival.tryLead("orders", PATIENCE).orElseThrow().close();
    liftTheLimit();
    until("working");
  }

  @Test
  void aLeaderKeepsItsSeatWhenItsReplicasRestart() throws Exception {
    try (Service other = service.startReplica()) {
      startCandidate(service.endpoint() + "," + other.endpoint(), 6);
      until("working");
      limitThreads("1");

      for (Service replica : List.of(service, other)) {
        replica.stop();
        said.clear();
        List<String> before = until("renewed"); // may have been answered before
        before.addAll(until("renewed"));
        assertFalse(before.stream().anyMatch(line -> line.startsWith("lost")), before.toString());
        replica.restart();
      }

      assertTrue(rival.tryLead("orders", Duration.ZERO).isEmpty());
    }
  }
}
