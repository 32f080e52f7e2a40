package io.tenure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Status;
import io.tenure.testing.Service;
import io.tenure.testing.Told;
import io.tenure.v1.Cause;
import io.tenure.v1.Snapshot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Some of the endpoints work on another database. */
@Timeout(120)
class WrongServiceTest {
  private static final Duration PATIENCE = Duration.ofSeconds(Service.PATIENCE);

  private Service service;
  private Service replica;
  private Service stranger;
  private final List<TenureClient> clients = new ArrayList<>();

  @BeforeEach
  void start() {
    service = Service.start();
    replica = service.startReplica();
    stranger = Service.start();
  }

  @AfterEach
  void stop() {
    for (TenureClient client : clients) {
      try {
        client.close(Duration.ofSeconds(1));
      } catch (TenureException itsServiceIsGone) {
        // On purpose.
      }
    }
    stranger.close();
    replica.close();
    service.close();
  }

  private static String endpoints(Service... services) {
    List<String> endpoints = new ArrayList<>();
    for (Service one : services) endpoints.add(one.endpoint());
    return String.join(",", endpoints);
  }

  private TenureClient client(TenureClient.Builder builder) {
    TenureClient client = builder.build();
    clients.add(client);
    return client;
  }

  private TenureClient client(String candidate, Duration leaseTtl, Service... services) {
    return client(
        TenureClient.builder()
            .endpoints(endpoints(services))
            .candidate(candidate)
            .leaseTtl(leaseTtl));
  }

  private static String idOf(Service service) {
    Connection connection =
        new Connection(
            service.endpoint(),
            Connection.Credentials.NONE,
            null,
            List.of(),
            Connection.IDLE_TIMEOUT);
    try (connection) {
      return connection.survey(PATIENCE.toNanos(), (replica, id) -> {}).join().get(0).serviceId();
    }
  }

  @Test
  void oneLeadsEvenIfAReplicaWorksOnAnotherDatabase() throws InterruptedException {
    Duration lease = Duration.ofSeconds(10);
    List<Candidacy> candidacies = new ArrayList<>();
    for (int i = 0; i < 8; i++) { // each client starts at a random endpoint
      TenureClient client = client("c" + i, lease, service, replica, stranger);
      candidacies.add(new Elector(client).stand("orders"));
    }

    for (Candidacy candidacy : candidacies) candidacy.awaitSeat(Duration.ZERO);

    assertEquals(1, candidacies.stream().filter(Candidacy::isLeader).count());
    assertTrue(stranger.tool("list").lines().noneMatch(line -> line.contains("orders")));
  }

  @Test
  void aSeatIsKeptWhenItsReplicaRestartsOnAnotherDatabase() throws Exception {
    BlockingQueue<Duration> renewals = new LinkedBlockingQueue<>();
    Told told = new Told("lost");
    TenureClient client =
        client(
            TenureClient.builder()
                .endpoints(endpoints(service, replica))
                .leaseTtl(Duration.ofSeconds(6))
                .metrics(
                    new ClientMetrics() {
                      @Override
                      public void renewed(Duration roundTrip, Duration margin) {
                        renewals.add(margin);
                      }
                    }));
    Seat seat = Elector.builder(client).listener(told).build().stand("orders").awaitSeat();

    for (Service one : List.of(replica, service)) {
      one.stop();
      try (Service other = Service.startAt(one.endpoint())) {
        assertFalse(idOf(other).isEmpty());
        renewals.clear();
        for (int i = 0; i < 2; i++) {
          assertTrue(renewals.poll(Service.PATIENCE, TimeUnit.SECONDS) != null);
        }
      }
      one.restart();
    }

    assertTrue(seat.isLeader());
  }

  @Test
  void aServiceThatIsReplacedEndsTheTermLongBeforeItsLease() throws InterruptedException {
    Told told = new Told("elected", "lost");
    TenureClient client = client("a", Duration.ofHours(1), service);
    Candidacy candidacy = Elector.builder(client).listener(told).build().stand("orders");
    Seat seat = candidacy.awaitSeat();
    assertEquals("elected", told.next().method());

    service.stop();
    try (Service other = Service.startAt(service.endpoint())) {
      assertEquals(new Told.Call("lost", seat, Cause.CAUSE_EXPIRED), told.next());
      Told.Call elected = told.next();
      assertEquals("elected", elected.method());
      assertEquals(1, ((Seat) elected.of()).term());
      assertFalse(seat.isLeader(), "the seat belongs to the old service");
      assertTrue(other.tool("list").contains("orders"));
      client.close();
    }
  }

  /** Adds what the library logs to {@code lines}. */
  private static Handler logTo(BlockingQueue<String> lines) {
    return new Handler() {
      @Override
      public void publish(LogRecord record) {
        lines.add(record.getMessage());
      }

      @Override
      public void flush() {}

      @Override
      public void close() {}
    };
  }

  @Test
  void aClientThatCouldOnlyReachAWrongEndpointMovesToTheServiceOfTheOthers() throws Exception {
    service.stop();
    replica.stop();
    BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    Handler handler = logTo(lines);
    Logger.getLogger("").addHandler(handler);
    Told told = new Told("elected", "lost");
    BlockingQueue<String> observed = new LinkedBlockingQueue<>();
    TenureClient client = client("a", Duration.ofHours(1), service, replica, stranger);
    Observer.Builder builder = Observer.builder().prefixes("");
    try (Observer observer = builder.endpoints(endpoints(service, replica, stranger)).build()) {
      Seat seat = Elector.builder(client).listener(told).build().stand("orders").awaitSeat();
      assertEquals("elected", told.next().method());
      observer.start(listenerOf(observed));
      assertEquals("orders a", observed.poll(Service.PATIENCE, TimeUnit.SECONDS));

      service.restart();
      replica.restart();

      assertEquals(new Told.Call("lost", seat, Cause.CAUSE_EXPIRED), told.next());
      assertFalse(seat.isLeader());
      assertEquals("elected", told.next().method());
      assertTrue(service.tool("list").contains("orders"));
      String replaced = "replaced by " + idOf(service);
      assertEquals(replaced, observed.poll(Service.PATIENCE, TimeUnit.SECONDS));
      String named = stranger.endpoint() + " belongs to service " + idOf(stranger);
      assertTrue(lines.stream().anyMatch(line -> line.startsWith(named)), lines.toString());
    } finally {
      Logger.getLogger("").removeHandler(handler);
    }
  }

  private static ObserverListener listenerOf(BlockingQueue<String> told) {
    return new ObserverListener() {
      @Override
      public void snapshot(Snapshot snapshot) {
        told.add(snapshot.getElection() + " " + snapshot.getLeader().getCandidate());
      }

      @Override
      public void serviceReplaced(String serviceId) {
        told.add("replaced by " + serviceId);
      }
    };
  }

  @Test
  void noneIsUsedIfTheEndpointsDiffer() throws InterruptedException {
    Told told = new Told("trouble", "elected");
    TenureClient client = client("a", Duration.ofSeconds(10), service, stranger);

    Elector.builder(client).listener(told).build().stand("orders");

    Told.Call call = told.next();
    ServiceException error = (ServiceException) call.detail();
    assertEquals(Status.Code.FAILED_PRECONDITION, error.code());
    assertEquals("WRONG_SERVICE", error.reason());
    assertTrue(error.getMessage().contains("the endpoints belong to different services: "));
  }

  @Test
  void theServiceThatIsSetIsUsed() throws InterruptedException {
    for (Service wanted : List.of(service, stranger)) {
      TenureClient client =
          client(
              TenureClient.builder()
                  .endpoints(endpoints(service, replica, stranger))
                  .serviceId(idOf(wanted)));
      new Elector(client).tryLead("jobs", PATIENCE).orElseThrow().close();
      assertTrue(wanted.tool("list").contains("jobs"));

      TenureClient.Builder other = TenureClient.builder().serviceId("0".repeat(32));
      assertThrows(IllegalArgumentException.class, () -> other.serviceId("0".repeat(31)));
      assertThrows(IllegalArgumentException.class, () -> other.serviceId("A".repeat(32)));
      TenureClient lost = client(other.endpoints(endpoints(service, replica)));
      Told told = new Told("trouble");
      Elector.builder(lost).listener(told).build().stand("jobs");
      ServiceException error = (ServiceException) told.next().detail();
      assertTrue(error.getMessage().contains("no endpoint belongs to service 000000"));
    }
  }

  @Test
  void aTimedLockIsTakenInOneServiceOnly() {
    for (int round = 0; round < 8; round++) { // each client starts at a random endpoint
      TimedLocks.Builder builder =
          TimedLocks.builder().endpoints(endpoints(service, replica, stranger));
      try (TimedLocks locks = builder.build()) {
        assertEquals(round == 0, locks.tryLock("backup", Duration.ofHours(1)).isPresent());
      }
    }
  }

  @Test
  void anObserverKeepsToItsServiceUntilItIsReplaced() throws InterruptedException {
    TenureClient first = client("a", Duration.ofHours(1), service);
    new Elector(first).stand("orders").awaitSeat();
    new Elector(client("b", Duration.ofHours(1), stranger)).stand("orders").awaitSeat();
    BlockingQueue<String> told = new LinkedBlockingQueue<>();
    ObserverListener listener = listenerOf(told);
    for (int round = 0; round < 8; round++) { // each observer starts at a random endpoint
      Observer.Builder builder = Observer.builder().prefixes("");
      try (Observer observer = builder.endpoints(endpoints(service, replica, stranger)).build()) {
        observer.start(listener);
        assertEquals("orders a", told.poll(Service.PATIENCE, TimeUnit.SECONDS));
      }
    }

    BlockingQueue<String> cached = new LinkedBlockingQueue<>();
    Observer.Builder one = Observer.builder().endpoints(service.endpoint()).prefixes("");
    try (Observer observer = one.build();
        LeaderCache leaders = new LeaderCache(one, (name, seat) -> cached.add(name))) {
      observer.start(listener);
      assertEquals("orders a", told.poll(Service.PATIENCE, TimeUnit.SECONDS));
      assertTrue(leaders.awaitReady(PATIENCE));
      service.stop();
      // Otherwise it would lead in the new service, too.
      assertThrows(TenureException.class, () -> first.close(Duration.ofMillis(1)));
      try (Service other = Service.startAt(service.endpoint())) {
        String replaced = "replaced by " + idOf(other);
        assertEquals(replaced, told.poll(Service.PATIENCE, TimeUnit.SECONDS));
        new Elector(client("c", Duration.ofHours(1), other)).stand("mail").awaitSeat();
        assertEquals("orders", cached.poll(Service.PATIENCE, TimeUnit.SECONDS));
        assertEquals("mail", cached.poll(Service.PATIENCE, TimeUnit.SECONDS));
        assertTrue(leaders.leader("orders").isEmpty());
      }
    }
  }
}
