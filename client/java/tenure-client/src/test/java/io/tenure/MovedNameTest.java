package io.tenure;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Replicas behind one name that move to other addresses, as in an orchestrator. */
@Timeout(120)
class MovedNameTest {
  private Path folder;
  private Path hosts;
  private Service service;

  @BeforeEach
  void start() throws IOException {
    folder = Service.temporaryFolder();
    hosts = folder.resolve("hosts");
    service = Service.start();
  }

  @AfterEach
  void stop() {
    service.close();
    Service.delete(folder);
  }

  /** In place: the mount would not show another file. */
  private void nameLeadsTo(Service... replicas) throws IOException {
    StringBuilder lines = new StringBuilder("127.0.0.1 localhost\n");
    for (Service replica : replicas) {
      lines.append(replica.endpoint().replaceFirst(":.*", "")).append(" replicas\n");
    }
    Files.writeString(hosts, lines);
  }

  private Reports startCandidate(String port, int leaseSeconds) throws IOException {
    List<String> command = new ArrayList<>(List.of("unshare", "--mount"));
    if (!System.getProperty("user.name").equals("root")) command.add("--map-root-user");
    command.addAll(List.of("sh", "-c", "mount --bind \"$0\" /etc/hosts && exec \"$@\""));
    command.add(hosts.toString());
    command.addAll(ReportingCandidate.command("replicas:" + port, leaseSeconds));
    return new Reports(command);
  }

  @Test
  void aSeatIsKeptWhileTheNameLeadsToAHealthyReplica() throws Exception {
    String port = service.endpoint().replaceFirst(".*:", "");
    String network = Service.freeAddress().replaceFirst("\\.[0-9]+:.*", ".");
    List<Service> replicas = new ArrayList<>();
    for (int host = 1; host <= 2; host++) {
      replicas.add(service.startReplicaAt(network + host + ":" + port));
    }
    nameLeadsTo(replicas.get(0), replicas.get(1));
    try (Reports candidate = startCandidate(port, 6)) {
      candidate.until("working");

      List<String> before = new ArrayList<>();
      for (int moved = 0; moved < 2; moved++) {
        replicas.get(moved).close();
        replicas.set(moved, service.startReplicaAt(network + (3 + moved) + ":" + port));
        nameLeadsTo(replicas.get(0), replicas.get(1));
        candidate.forget();
        before.addAll(candidate.until("renewed")); // may have been answered before
        before.addAll(candidate.until("renewed"));
      }

      assertFalse(before.stream().anyMatch(line -> line.startsWith("lost")), before.toString());
    } finally {
      replicas.forEach(Service::close);
    }
  }

  @Test
  void aReplicaWhoseNameComesLateIsFound() throws Exception {
    String port = service.endpoint().replaceFirst(".*:", "");
    nameLeadsTo();
    try (Reports candidate = startCandidate(port, 6)) {
      candidate.until("trouble");

      nameLeadsTo(service);
      long begun = System.nanoTime();
      candidate.until("working");

      // The JVM remembers for 10 s that the name does not exist.
      assertTrue(System.nanoTime() - begun < Duration.ofSeconds(9).toNanos());
    }
  }

  @Test
  void aNameIsSpelledInManyWays() {
    List<String> spelled =
        IntStream.range(0, 8).mapToObj(number -> Spelling.spell("a-1.Bc", number)).toList();

    assertEquals(8, spelled.stream().distinct().count());
    assertTrue(spelled.stream().allMatch("a-1.bc"::equalsIgnoreCase));
    for (String address : List.of("127.0.0.1:7070", "[fe80::1]:7070", "dns:///tenure:7070")) {
      assertEquals(address, Spelling.next(address));
    }
  }
}
