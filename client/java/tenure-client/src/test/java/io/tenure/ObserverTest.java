package io.tenure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.tenure.testing.Service;
import io.tenure.v1.ElectionServiceGrpc;
import io.tenure.v1.Event;
import io.tenure.v1.ObserveRequest;
import io.tenure.v1.ObserveResponse;
import io.tenure.v1.Progress;
import io.tenure.v1.Snapshot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What an observer and a cache promise, against a real service. */
@Timeout(60)
class ObserverTest {
  private Service service;
  private TenureClient client;
  private Elector elector;
  private final List<Observer> observers = new ArrayList<>();

  @BeforeEach
  void start() {
    service = Service.start();
    client = TenureClient.builder().endpoints(service.endpoint()).candidate("a").build();
    elector = new Elector(client);
  }

  @AfterEach
  void stop() {
    observers.forEach(Observer::close);
    service.resume();
    client.close();
    service.close();
  }

  /** The next report, in words. */
  private static class Told implements ObserverListener {
    final BlockingQueue<String> words = new LinkedBlockingQueue<>();

    String next() throws InterruptedException {
      String word = words.poll(Service.PATIENCE, TimeUnit.SECONDS);
      if (word == null) throw new AssertionError("timed out");
      return word;
    }

    /** Waits for this report; returns the earlier ones. */
    List<String> until(String end) throws InterruptedException {
      List<String> before = new ArrayList<>();
      for (String word = next(); !word.equals(end); word = next()) before.add(word);
      return before;
    }

    @Override
    public void snapshot(Snapshot snapshot) {
      words.add("snapshot " + snapshot.getElection() + " " + snapshot.getRevision());
    }

    @Override
    public void event(Event event) {
      String type = event.getType().name().replace("TYPE_", "");
      words.add(type + " " + event.getElection() + " " + event.getRevision());
    }

    @Override
    public void progress(Progress progress) {
      words.add("progress");
    }

    @Override
    public void broken(ServiceException error) {
      words.add("broken");
    }

    @Override
    public void failed(ServiceException error) {
      words.add("failed");
    }
  }

  private Observer.Builder builder() {
    return Observer.builder().endpoints(service.endpoint());
  }

  private Told observe(Observer.Builder builder) {
    Observer observer = builder.build();
    observers.add(observer);
    Told told = new Told();
    observer.start(told);
    return told;
  }

  /** Returns when the service has confirmed that the seat is free. */
  private void leadOnce(String election) throws InterruptedException {
    Seat seat = elector.lead(election);
    seat.close();
    assertTrue(seat.candidacy().awaitGone(Service.PATIENCE * Lease.SECOND));
  }

  @Test
  void itReportsTheStateAndThenEachChange() throws InterruptedException {
    leadOnce("orders");

    Told told = observe(builder().names("orders", "never"));
    assertEquals(
        List.of("snapshot never 0", "snapshot orders 2"),
        told.until("progress").stream().sorted().toList());
    leadOnce("orders");

    assertEquals(List.of(), told.until("ELECTED orders 3"));
    assertEquals("VACATED orders 4", told.next());
  }

  @Test
  void itBeginsWithTheRequestedRevision() throws InterruptedException {
    leadOnce("orders");

    Told told = observe(builder().names("orders").fromRevision(2));

    assertEquals("VACATED orders 2", told.next());
    assertEquals("progress", told.next());
  }

  @Test
  void itBeginsInEachElectionWithItsOwnRevision() throws InterruptedException {
    for (String election : List.of("jobs/1", "jobs/2", "jobs/3")) leadOnce(election);
    Map<String, Long> next = Map.of("jobs/1", 2L, "jobs/2", 1L);

    for (Observer.Builder builder :
        List.of(builder().prefixes("jobs/"), builder().names("jobs/1", "jobs/2", "jobs/3"))) {
      List<String> told = observe(builder.fromRevisions(next)).until("progress");

      assertEquals(
          List.of("ELECTED jobs/2 1", "VACATED jobs/1 2", "VACATED jobs/2 2", "snapshot jobs/3 2"),
          told.stream().sorted().toList());
    }
    Observer.Builder other = builder().names("jobs/3");
    assertThrows(IllegalArgumentException.class, () -> other.fromRevisions(next).build());
    assertThrows(IllegalArgumentException.class, () -> other.fromRevisions(Map.of("jobs/3", 0L)));
  }

  @Test
  void itGoesOnAfterABrokenStreamWithoutAGap() throws InterruptedException {
    try (Service other = service.startReplica()) {
      String both = service.endpoint() + "," + other.endpoint();
      Told told = observe(builder().endpoints(both).prefixes("jobs/"));
      told.until("progress");
      leadOnce("jobs/1");
      told.until("VACATED jobs/1 2");

      for (Service replica : List.of(other, service)) {
        replica.stop();
        replica.restart();
      }
      told.until("broken");
      leadOnce("jobs/1");
      leadOnce("jobs/2"); // which is new

      List<String> events =
          told.until("VACATED jobs/2 2").stream().filter(word -> word.contains("jobs/")).toList();
      assertEquals(List.of("ELECTED jobs/1 3", "VACATED jobs/1 4", "ELECTED jobs/2 1"), events);
    }
  }

  /** Refuses each election's first stream with the code in its name. */
  private static final class Refusing extends ElectionServiceGrpc.ElectionServiceImplBase {
    private final Set<String> refused = ConcurrentHashMap.newKeySet();

    @Override
    public void observe(ObserveRequest request, StreamObserver<ObserveResponse> answers) {
      String code = request.getSelectors(0).getElection();
      if (refused.add(code)) {
        answers.onError(Status.Code.valueOf(code).toStatus().asRuntimeException());
      } else {
        answers.onNext(
            ObserveResponse.newBuilder().setProgress(Progress.getDefaultInstance()).build());
      }
    }
  }

  @Test
  void transientErrorsAreRetriedAndPermanentOnesAreFailures() throws Exception {
    Server server =
        Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
            .addService(new Refusing())
            .build()
            .start();
    try {
      Observer.Builder builder = Observer.builder().endpoints("127.0.0.1:" + server.getPort());
      List<Told> retrying = new ArrayList<>();
      for (String code :
          List.of(
              "UNAUTHENTICATED", "UNKNOWN", "INTERNAL", "RESOURCE_EXHAUSTED", "UNIMPLEMENTED")) {
        retrying.add(observe(builder.names(code)));
      }
      for (String code : List.of("PERMISSION_DENIED", "INVALID_ARGUMENT")) {
        assertEquals("failed", observe(builder.names(code)).next());
      }
      for (Told told : retrying) {
        assertEquals("broken", told.next());
        assertEquals("progress", told.next());
      }
    } finally {
      server.shutdownNow();
    }
  }

  @Test
  void itWaitsAsLongAsTheServiceWants() {
    Duration wanted = Duration.ofHours(1);
    ServiceException overloaded =
        new ServiceException(Status.Code.UNAVAILABLE, "", "OVERLOADED", Map.of(), wanted);
    assertEquals(wanted.toNanos(), Observer.pauseAfter(overloaded, 1));
    ServiceException refused =
        new ServiceException(Status.Code.RESOURCE_EXHAUSTED, "", "QUOTA", Map.of(), wanted);
    assertEquals(wanted.toNanos(), Observer.pauseAfter(refused, 1));
  }

  @Test
  void aStreamThatIsSilentIsGivenUp() throws InterruptedException {
    Told told = observe(builder().names("orders").silenceMax(Duration.ofSeconds(12)));
    told.until("progress");

    service.pause();
    told.until("broken");
    service.resume();
    leadOnce("orders");

    told.until("VACATED orders 2");
  }

  @Test
  void itReportsNothingAfterItIsClosed() throws InterruptedException {
    Observer observer = builder().names("orders").build();
    Told told = new Told();
    observer.start(told);
    told.until("progress");

    observer.close();
    leadOnce("orders");
    Told later = observe(builder().names("orders").fromRevision(1));
    later.until("VACATED orders 2");

    assertFalse(told.words.stream().anyMatch(word -> word.contains("ELECTED")));
    assertThrows(IllegalStateException.class, () -> observer.start(told));
  }

  @Test
  void aSlowListenerMissesNothing() throws InterruptedException {
    CountDownLatch waits = new CountDownLatch(1);
    CountDownLatch mayGoOn = new CountDownLatch(1);
    Told told =
        new Told() {
          @Override
          public void snapshot(Snapshot snapshot) {
            super.snapshot(snapshot);
            waits.countDown();
            try {
              mayGoOn.await();
            } catch (InterruptedException impossible) {
              throw new AssertionError(impossible);
            }
          }
        };
    Observer observer = builder().names("orders").build();
    observers.add(observer);
    observer.start(told);
    assertTrue(waits.await(Service.PATIENCE, TimeUnit.SECONDS));
    for (int i = 0; i < 150; i++) leadOnce("orders");

    mayGoOn.countDown();

    List<String> events = told.until("VACATED orders 300");
    for (int revision = 1; revision < 300; revision++) {
      String type = revision % 2 == 1 ? "ELECTED" : "VACATED";
      assertTrue(events.contains(type + " orders " + revision), events::toString);
    }
  }

  @Test
  void aListenerThatFailsStillGetsTheNextChange() throws InterruptedException {
    Told told =
        new Told() {
          @Override
          public void snapshot(Snapshot snapshot) {
            throw new AssertionError("on purpose");
          }
        };
    Observer observer = builder().names("orders").build();
    observers.add(observer);
    observer.start(told);

    assertEquals("progress", told.next());
  }

  @Test
  void aListenerThatInterruptsItsThreadMissesNothing() throws InterruptedException {
    Told told =
        new Told() {
          @Override
          public void snapshot(Snapshot snapshot) {
            super.snapshot(snapshot);
            Thread.currentThread().interrupt();
          }

          @Override
          public void event(Event event) {
            words.add("interrupted " + Thread.currentThread().isInterrupted());
            super.event(event);
            Thread.currentThread().interrupt();
          }

          @Override
          public void progress(Progress progress) {
            super.progress(progress);
            Thread.currentThread().interrupt();
          }

          @Override
          public void broken(ServiceException error) {
            super.broken(error);
            Thread.currentThread().interrupt();
          }
        };
    Observer observer = builder().names("orders").build();
    observers.add(observer);
    observer.start(told);
    told.until("progress");

    leadOnce("orders");

    String event = "interrupted false";
    assertEquals(List.of(event), told.until("ELECTED orders 1"));
    assertEquals(List.of(event), told.until("VACATED orders 2"));
    service.stop();
    told.until("broken");
    service.restart();
    leadOnce("orders");
    told.until("VACATED orders 4");
  }

  @Test
  void anInterruptFromOutsideEndsNoObserver() throws InterruptedException {
    BlockingQueue<Thread> threads = new LinkedBlockingQueue<>();
    Told told =
        new Told() {
          @Override
          public void progress(Progress progress) {
            super.progress(progress);
            threads.add(Thread.currentThread());
          }
        };
    Observer observer = builder().names("orders").build();
    observers.add(observer);
    observer.start(told);
    Thread thread = threads.poll(Service.PATIENCE, TimeUnit.SECONDS);

    thread.interrupt(); // while it waits for a message, as ThreadGroup.interrupt does
    leadOnce("orders");

    told.until("VACATED orders 2");
    observer.close();
    thread.join(Duration.ofSeconds(Service.PATIENCE).toMillis());
    assertFalse(thread.isAlive());
  }

  // The cache.

  @Test
  void aCacheGoesOnWhenItsListenerInterruptsItsThread() throws InterruptedException {
    BlockingQueue<String> changes = new LinkedBlockingQueue<>();
    LeaderCache.Listener listener =
        (election, seat) -> {
          changes.add(election + " " + seat.revision());
          Thread.currentThread().interrupt();
          throw new StackOverflowError("on purpose");
        };
    try (LeaderCache leaders = new LeaderCache(builder().names("orders"), listener)) {
      assertTrue(leaders.awaitReady(Duration.ofSeconds(Service.PATIENCE)));
      leadOnce("orders");

      for (int revision = 0; revision <= 2; revision++) {
        assertEquals("orders " + revision, changes.poll(Service.PATIENCE, TimeUnit.SECONDS));
      }
      assertEquals(Optional.empty(), leaders.leader("orders"));
    }
  }

  @Test
  void aCacheKnowsWhoLeads() throws InterruptedException {
    BlockingQueue<String> changes = new LinkedBlockingQueue<>();
    try (LeaderCache leaders =
        new LeaderCache(
            builder().prefixes("shards/"),
            (election, seat) ->
                changes.add(election + " " + seat.term() + " " + seat.leader().isPresent()))) {
      assertTrue(leaders.awaitReady(Duration.ofSeconds(Service.PATIENCE)));
      assertEquals(Optional.empty(), leaders.get("orders"));
      LeaderCache.CachedSeat never = leaders.get("shards/7").orElseThrow();
      assertEquals(new LeaderCache.CachedSeat(Optional.empty(), 0, 0), never);

      Seat seat = elector.lead("shards/7");
      assertEquals("shards/7 1 true", changes.poll(Service.PATIENCE, TimeUnit.SECONDS));
      assertEquals("a", leaders.leader("shards/7").orElseThrow().getCandidate());
      assertEquals(1, leaders.get("shards/7").orElseThrow().term());
      seat.close();
      assertEquals("shards/7 1 false", changes.poll(Service.PATIENCE, TimeUnit.SECONDS));

      assertEquals(Optional.empty(), leaders.leader("shards/7"));
      assertEquals(2, leaders.get("shards/7").orElseThrow().revision());
      assertTrue(leaders.age().compareTo(Duration.ofSeconds(Service.PATIENCE)) < 0);
    }
  }

  @Test
  void aCacheThatIsNotReadyKnowsNothing() throws InterruptedException {
    service.stop();

    try (LeaderCache leaders = new LeaderCache(builder().names("orders"))) {
      assertFalse(leaders.awaitReady(Duration.ofMillis(50)));
      assertEquals(Optional.empty(), leaders.get("orders"));
      service.restart();

      assertTrue(leaders.awaitReady(Duration.ofSeconds(Service.PATIENCE)));
      assertTrue(leaders.get("orders").isPresent());
    }
  }

  @Test
  void malformedArgumentsAreRefusedAtOnce() {
    assertThrows(IllegalArgumentException.class, () -> Observer.builder().build());
    assertThrows(IllegalArgumentException.class, () -> builder().names());
    assertThrows(IllegalArgumentException.class, () -> builder().names(""));
    assertThrows(IllegalArgumentException.class, () -> builder().prefixes(new String[65]));
    assertThrows(IllegalArgumentException.class, () -> builder().fromRevision(0));
    assertThrows(IllegalArgumentException.class, () -> builder().silenceMax(Duration.ZERO));
  }
}
