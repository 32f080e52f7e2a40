package io.tenure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Status;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.tenure.micrometer.MicrometerMetrics;
import io.tenure.testing.Relays;
import io.tenure.testing.Service;
import io.tenure.testing.Told;
import io.tenure.v1.Cause;
import io.tenure.v1.Event;
import io.tenure.v1.Standing;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What an elector promises, against a real service. */
@Timeout(60)
class ElectorTest {
  private static final Duration PATIENCE = Duration.ofSeconds(Service.PATIENCE);
  private static final Duration LONG = Duration.ofSeconds(10);
  private static final Duration BRIEF = Duration.ofSeconds(2);

  private Service service;
  private final List<TenureClient> clients = new ArrayList<>();

  @BeforeEach
  void start() {
    service = Service.start();
  }

  @AfterEach
  void stop() {
    service.resume();
    for (TenureClient client : clients) {
      try {
        client.close(Duration.ofSeconds(1));
      } catch (TenureException alreadyTested) {
        // The work hangs, or the service is gone, on purpose.
      }
    }
    service.close();
  }

  private TenureClient client(TenureClient.Builder builder) {
    TenureClient client = builder.build();
    clients.add(client);
    return client;
  }

  private TenureClient client(String candidate, Duration leaseTtl) {
    return client(builder().candidate(candidate).leaseTtl(leaseTtl));
  }

  private TenureClient.Builder builder() {
    return TenureClient.builder().endpoints(service.endpoint());
  }

  private Elector elector(String candidate) {
    return new Elector(client(candidate, LONG));
  }

  private Elector brief(Told told) {
    return Elector.builder(client("a", BRIEF)).listener(told).build();
  }

  private static void await(CountDownLatch latch) throws InterruptedException {
    assertTrue(latch.await(Service.PATIENCE, TimeUnit.SECONDS));
  }

  private static <T> T take(BlockingQueue<T> queue) throws InterruptedException {
    T taken = queue.poll(Service.PATIENCE, TimeUnit.SECONDS);
    if (taken == null) throw new AssertionError("timed out");
    return taken;
  }

  @Test
  void itLeadsWithinTheBlockAndAnotherOneAfterwards() throws InterruptedException {
    Elector rival = elector("b");
    Seat first;

    try (Seat seat = elector("a").lead("orders")) {
      first = seat;
      assertTrue(seat.isLeader());
      assertFalse(seat.isStopping());
      assertTrue(seat.remaining().compareTo(Duration.ofSeconds(9)) <= 0);
      assertFalse(seat.remaining().isZero());
      assertEquals(Optional.empty(), rival.tryLead("orders", Duration.ZERO));
    }

    assertFalse(first.isLeader());
    assertTrue(first.isStopping());
    assertEquals(Duration.ZERO, first.remaining());
    try (Seat second = rival.lead("orders")) {
      assertTrue(second.term() > first.term());
    }
  }

  @Test
  void itMayLeadAgainAndAgain() throws InterruptedException {
    Elector elector = elector("a");
    List<Long> terms = new ArrayList<>();

    for (int i = 0; i < 3; i++) {
      try (Seat seat = elector.lead("orders")) {
        terms.add(seat.term());
      }
    }

    assertEquals(terms.stream().sorted().distinct().toList(), terms);
  }

  @Test
  void aSeatThatIsNotWonInTimeIsAnAnswer() throws InterruptedException {
    Elector rival = elector("b");

    try (Seat seat = elector("a").lead("orders")) {
      assertEquals(Optional.empty(), rival.tryLead("orders", Duration.ofMillis(100)));
      assertTrue(seat.isLeader());
    }

    rival.tryLead("orders", PATIENCE).orElseThrow().close();
  }

  @Test
  void aRefusalForGoodIsAnException() {
    Elector elector = new Elector(client("a", Duration.ofDays(7)));

    ServiceException error =
        assertThrows(ServiceException.class, () -> elector.tryLead("orders", PATIENCE));

    assertEquals(Status.Code.INVALID_ARGUMENT, error.code());
    assertEquals("INVALID_LEASE_TTL", error.reason());
    assertTrue(error.metadata().containsKey("max_ms"));
    assertThrows(ServiceException.class, () -> elector.run("orders", seat -> {}));
  }

  @Test
  void eachTermIsReportedOnceAndInOrder() throws InterruptedException {
    Told told = new Told("standing", "elected", "lost");
    TenureClient client = client("b", LONG);
    Elector observed = Elector.builder(client).listener(told).build();
    Candidacy candidacy;

    Told.Call standing;
    try (Seat first = elector("a").lead("orders")) {
      assertTrue(first.isLeader());
      candidacy = observed.stand("orders");
      standing = told.next();
    }
    Told.Call elected = told.next();
    service.tool("depose", "orders");
    Told.Call lost = told.next();

    Seat seat = (Seat) elected.of();
    assertEquals("standing", standing.method());
    assertSame(candidacy, standing.of());
    Standing place = (Standing) standing.detail();
    assertEquals(1, place.getPosition());
    assertEquals("a", place.getLeader().getCandidate());
    assertEquals("elected", elected.method());
    assertEquals(new Told.Call("lost", seat, Cause.CAUSE_DEPOSED), lost);
    assertFalse(seat.isLeader());
    Told.Call electedAgain = told.next();
    assertEquals("elected", electedAgain.method());
    Seat again = (Seat) electedAgain.of();
    assertTrue(again.term() > seat.term());
    assertSame(again, candidacy.awaitSeat());
    client.close();
    assertEquals(new Told.Call("lost", again, Cause.CAUSE_RESIGNED), told.next());
  }

  @Test
  void workRunsInEachTermAndOneThatFailsEndsIt() throws InterruptedException {
    BlockingQueue<Long> terms = new LinkedBlockingQueue<>();

    new Elector(client("a", BRIEF))
        .stand(
            "orders",
            seat -> {
              terms.add(seat.term());
              throw new ArithmeticException("on purpose");
            });

    assertTrue(take(terms) < take(terms));
  }

  @Test
  void aHandoverWaitsForTheWork() throws InterruptedException {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    Candidacy leader =
        elector("a")
            .stand(
                "orders",
                seat -> {
                  seat.awaitStop(PATIENCE);
                  asked.countDown();
                  await(mayEnd);
                });
    leader.awaitSeat();
    Candidacy successor = elector("b").stand("orders");
    assertEquals(Optional.empty(), successor.awaitSeat(Duration.ZERO));

    service.tool("appoint", "orders", "b");
    await(asked);

    assertTrue(leader.isLeader());
    assertFalse(successor.isLeader());
    mayEnd.countDown();
    successor.awaitSeat();
    assertFalse(leader.isLeader());
  }

  @Test
  void anAppointmentIsReportedToTheLeader() throws InterruptedException {
    Told told = new Told("stepDown", "lost");
    Elector observed = Elector.builder(client("a", LONG)).listener(told).build();
    Candidacy leader = observed.stand("orders", seat -> seat.awaitStop(PATIENCE));
    Seat seat = leader.awaitSeat();
    Candidacy successor = elector("b").stand("orders");
    successor.awaitSeat(Duration.ZERO);

    service.tool("appoint", "orders", "b");

    assertEquals(new Told.Call("stepDown", seat, "b"), told.next());
    assertEquals(new Told.Call("lost", seat, Cause.CAUSE_RESIGNED), told.next());
  }

  @Test
  void closingTheClientWaitsForTheWork() throws InterruptedException {
    TenureClient client = client("a", LONG);
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch ended = new CountDownLatch(1);
    Elector elector = new Elector(client);
    elector.stand(
        "orders",
        seat -> {
          begun.countDown();
          seat.awaitStop(PATIENCE);
          ended.countDown();
        });
    await(begun);

    client.close();

    assertEquals(0, ended.getCount());
    elector("b").lead("orders").close();
    assertThrows(TenureException.class, () -> elector.stand("orders"));
  }

  @Test
  void aStandThatBeginsWhileTheClientIsClosedEndsWithItOrDoesNotBegin() throws Exception {
    for (int round = 0; round < 100; round++) {
      TenureClient client = client("a", LONG);
      Elector elector = new Elector(client);
      CyclicBarrier both = new CyclicBarrier(2);
      CompletableFuture<Candidacy> stand =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  both.await();
                  return elector.stand("orders");
                } catch (TenureException closed) {
                  return null;
                } catch (InterruptedException | BrokenBarrierException impossible) {
                  throw new AssertionError(impossible);
                }
              });

      both.await();
      client.close();

      Candidacy candidacy = stand.join();
      assertTrue(candidacy == null || candidacy.awaitGone(PATIENCE.toNanos()));
    }
  }

  @Test
  void workThatDoesNotEndKeepsItsSeatWhenTheClientIsClosed() throws InterruptedException {
    TenureClient client = client("a", LONG);
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    new Elector(client)
        .stand(
            "orders",
            seat -> {
              begun.countDown();
              await(mayEnd);
            });
    await(begun);

    TenureException error =
        assertThrows(TenureException.class, () -> client.close(Duration.ofMillis(100)));

    assertTrue(error.getMessage().contains("still running"));
    assertEquals(Optional.empty(), elector("b").tryLead("orders", Duration.ZERO));
    mayEnd.countDown();
    client.close(PATIENCE);
  }

  @Test
  void aSilentServiceStopsTheWorkBeforeTheLeaseEnds() throws InterruptedException {
    Told told = new Told("suspended", "lost");
    Duration left;
    Seat led;

    try (Seat seat = brief(told).lead("orders")) {
      led = seat;
      service.pause();
      assertTrue(seat.awaitStop(PATIENCE));
      left = seat.remaining();
    }
    service.resume();

    assertTrue(left.compareTo(Duration.ZERO) > 0, left.toString());
    assertEquals(new Told.Call("suspended", led, null), told.next());
    assertEquals(new Told.Call("lost", led, Cause.CAUSE_RESIGNED), told.next());
  }

  @Test
  void workThatIgnoresTheEndOfItsLeaseIsReportedAsOverrun() throws InterruptedException {
    Told told = new Told("overrun", "lost");
    CountDownLatch mayEnd = new CountDownLatch(1);
    BlockingQueue<Seat> begun = new LinkedBlockingQueue<>();
    Candidacy candidacy =
        brief(told)
            .stand(
                "orders",
                seat -> {
                  begun.add(seat);
                  await(mayEnd);
                });
    Seat seat = take(begun);

    service.pause();

    // On two threads, in any order.
    assertEquals(
        Set.of(
            new Told.Call("overrun", seat, null), new Told.Call("lost", seat, Cause.CAUSE_EXPIRED)),
        Set.of(told.next(), told.next()));
    assertFalse(seat.isLeader());
    service.resume();
    assertFalse(candidacy.isLeader());
    mayEnd.countDown();
    assertTrue(candidacy.awaitSeat().term() > seat.term());
  }

  @Test
  void closingTheClientDoesNotWaitForAWatchdogThatHangs() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    CountDownLatch hangs = new CountDownLatch(1);
    CountDownLatch mayReturn = new CountDownLatch(1);
    ElectionListener watchdog =
        new ElectionListener() {
          @Override
          public void overrun(Seat seat) {
            hangs.countDown();
            try {
              mayReturn.await();
            } catch (InterruptedException impossible) {
              throw new AssertionError(impossible);
            }
          }
        };
    TenureClient client = client("a", BRIEF);
    Elector.builder(client)
        .listener(watchdog)
        .build()
        .stand(
            "orders",
            seat -> {
              begun.countDown();
              await(mayEnd);
            });
    await(begun);
    service.pause();
    await(hangs);
    mayEnd.countDown();

    CompletableFuture<Void> end =
        CompletableFuture.runAsync(() -> client.close(Duration.ofSeconds(1)));

    try {
      ExecutionException error =
          assertThrows(ExecutionException.class, () -> end.get(Service.PATIENCE, TimeUnit.SECONDS));
      assertInstanceOf(TenureException.class, error.getCause());
    } finally {
      mayReturn.countDown();
    }
  }

  @Test
  void aThreadIsInterruptedOnRequest() throws InterruptedException {
    BlockingQueue<Thread> interrupted = new LinkedBlockingQueue<>();
    AtomicReference<Duration> left = new AtomicReference<>();
    new Elector(client("a", BRIEF))
        .standOnce(
            "orders",
            seat -> {
              seat.onStop(Thread.currentThread()::interrupt);
              service.pause();
              try {
                new CountDownLatch(1).await();
              } catch (InterruptedException interruption) {
                left.set(seat.remaining());
                interrupted.add(Thread.currentThread());
                throw interruption;
              }
            });

    take(interrupted);

    assertTrue(left.get().compareTo(Duration.ZERO) > 0);
  }

  @Test
  void anActionForTheEndRunsAtOnceIfTheWorkMustEndAlready() throws InterruptedException {
    CountDownLatch late = new CountDownLatch(1);

    try (Seat seat = elector("a").lead("orders")) {
      service.tool("depose", "orders");
      assertTrue(seat.awaitStop(PATIENCE));
      assertThrows(SeatLostException.class, seat::check);
      seat.onStop(late::countDown);
    }

    assertEquals(0, late.getCount());
  }

  @Test
  void noActionRunsAfterTheWorkHasEnded() throws InterruptedException {
    CountDownLatch told = new CountDownLatch(1);

    Seat seat = elector("a").lead("orders");
    seat.onStop(told::countDown);
    seat.close();
    elector("b").lead("orders").close();

    assertEquals(1, told.getCount());
  }

  @Test
  void anActionForTheEndMayCloseTheSeat() throws InterruptedException {
    Elector elector = elector("a");
    CountDownLatch late = new CountDownLatch(1);
    Seat seat = elector.lead("orders");
    seat.onStop(seat::close);
    seat.onStop(late::countDown); // when the work has ended

    service.tool("depose", "orders");

    assertTrue(seat.candidacy().awaitGone(PATIENCE.toNanos()));
    assertEquals(1, late.getCount());
    elector.tryLead("orders", PATIENCE).orElseThrow().close();
  }

  @Test
  void closingASeatOutsideABlockChangesNothing() throws InterruptedException {
    TenureClient client = client("a", LONG);
    Candidacy candidacy = new Elector(client).stand("orders");

    candidacy.awaitSeat().close();

    assertTrue(candidacy.isLeader());
    assertTrue(candidacy.seat().isPresent());
    client.close();
  }

  @Test
  void aSeatIsKeptWhenItsReplicaDies() throws InterruptedException {
    try (Service other = service.startReplica()) {
      Told told = new Told("suspended", "resumed", "lost");
      BlockingQueue<Duration> renewals = new LinkedBlockingQueue<>();
      TenureClient client =
          client(
              TenureClient.builder()
                  .endpoints(service.endpoint() + "," + other.endpoint())
                  .leaseTtl(Duration.ofSeconds(6))
                  .metrics(new Renewals(renewals)));
      Seat seat = Elector.builder(client).listener(told).build().stand("orders").awaitSeat();

      for (Service replica : List.of(service, other)) {
        replica.stop();
        renewals.clear();
        take(renewals); // may have been answered before
        take(renewals);
        replica.restart();
      }

      assertTrue(seat.isLeader());
    }
  }

  @Test
  void closingTheClientFreesTheSeatThoughItsReplicaHangs() throws Exception {
    // Not a stopped replica: that might hold the lock of the database.
    try (Service other = service.startReplica();
        Relays relay = new Relays(service)) {
      other.stop();
      String both = relay.endpoints() + "," + other.endpoint();
      TenureClient client =
          client(TenureClient.builder().endpoints(both).leaseTtl(Duration.ofMinutes(10)));
      new Elector(client).stand("orders").awaitSeat();
      other.restart();

      relay.hang();
      client.close(Duration.ofMillis(2_900)); // a call may take 3 s

      TenureClient rival = client(TenureClient.builder().endpoints(other.endpoint()));
      new Elector(rival).tryLead("orders", Duration.ZERO).orElseThrow().close();
      rival.close();
    }
  }

  private record Renewals(BlockingQueue<Duration> margins) implements ClientMetrics {
    @Override
    public void renewed(Duration roundTrip, Duration margin) {
      margins.add(margin);
    }
  }

  @Test
  void exceptionsOfTheApplicationCostNothing() throws InterruptedException {
    ClientMetrics failing =
        (ClientMetrics)
            Proxy.newProxyInstance(
                ClientMetrics.class.getClassLoader(),
                new Class<?>[] {ClientMetrics.class},
                (proxy, method, arguments) -> {
                  throw new ArithmeticException("on purpose");
                });
    ElectionListener listener =
        new ElectionListener() {
          @Override
          public void elected(Seat seat) {
            throw SqlFenceTest.<RuntimeException>undeclared(new IOException("on purpose"));
          }
        };
    TenureClient client = client(builder().metrics(failing));
    Elector elector = Elector.builder(client).listener(listener).build();

    try (Seat seat = elector.tryLead("orders", PATIENCE).orElseThrow()) {
      seat.onStop(
          () -> {
            throw SqlFenceTest.<RuntimeException>undeclared(new IOException("on purpose"));
          });
      service.tool("depose", "orders");
      assertTrue(seat.awaitStop(PATIENCE));
    }

    elector.tryLead("orders", PATIENCE).orElseThrow().close();
  }

  @Test
  void interruptsOfItsThreadsCostNothing() throws Exception {
    ThreadGroup threads = new ThreadGroup("of one client");
    BlockingQueue<String> told = new LinkedBlockingQueue<>();
    ElectionListener listener =
        new ElectionListener() {
          @Override
          public void elected(Seat seat) {
            told.add("elected " + seat.term() + " " + Thread.currentThread().isInterrupted());
            threads.interrupt();
          }

          @Override
          public void lost(Seat seat, Cause cause) {
            told.add("lost " + seat.term() + " " + Thread.currentThread().isInterrupted());
            threads.interrupt();
          }
        };
    TenureClient client = client("a", BRIEF);
    Elector elector = Elector.builder(client).listener(listener).build();
    CompletableFuture<Candidacy> stand = new CompletableFuture<>();
    new Thread(threads, () -> stand.complete(elector.stand("orders"))).start();
    Candidacy candidacy = stand.get(Service.PATIENCE, TimeUnit.SECONDS);

    for (int term = 1; term <= 2; term++) {
      candidacy.awaitSeat().onStop(() -> Thread.currentThread().interrupt());
      assertEquals("elected " + term + " false", take(told));
      service.tool("depose", "orders");
      assertEquals("lost " + term + " false", take(told));
    }

    client.close();
  }

  @Test
  void aClientThatFailsReportsItAndCannotBeUsed() throws InterruptedException {
    Told told = new Told("lost");
    MeterRegistry registry = new SimpleMeterRegistry();
    TenureClient client = client(builder().metrics(new MicrometerMetrics(registry)));
    Elector elector = Elector.builder(client).listener(told).build();
    Seat seat = elector.lead("orders");

    assertThrows(TenureException.class, () -> client.stand("mail", ElectorTest::fail));

    assertEquals(new Told.Call("lost", seat, Cause.CAUSE_UNSPECIFIED), told.next());
    assertEquals(0, registry.get("leader.election.master.status").gauge().value());
    assertFalse(seat.isLeader());
    assertTrue(seat.awaitStop(PATIENCE));
    assertThrows(TenureException.class, () -> elector.lead("mail"));
  }

  private static Candidacy fail(ClientLoop loop) {
    loop.tell(
        (session, now) -> {
          throw new ArithmeticException("on purpose");
        });
    throw new TenureException("on purpose");
  }

  @Test
  void aNewerSessionOfTheSameCandidateTakesOver() throws InterruptedException {
    Told told = new Told("lost", "refused");
    TenureClient older = client("a", Duration.ofSeconds(30));
    Candidacy old = Elector.builder(older).listener(told).build().stand("orders");
    Seat seat = old.awaitSeat();

    TenureClient newer = client(builder().candidate("a").supersede(true));
    try (Seat taken = new Elector(newer).lead("orders")) {
      assertTrue(taken.term() > seat.term());
      assertEquals(new Told.Call("lost", seat, Cause.CAUSE_SUPERSEDED), told.next());
      assertEquals("refused", told.next().method());
      ServiceException error = assertThrows(ServiceException.class, old::awaitSeat);
      assertTrue(error.getMessage().contains("superseded"));
    }
  }

  @Test
  void allElectionsShareOneSession() throws InterruptedException {
    Elector elector = elector("of-a-hundred");
    List<Candidacy> candidacies = new ArrayList<>();
    for (int i = 0; i < 100; i++) candidacies.add(elector.stand("jobs/" + i));

    for (Candidacy candidacy : candidacies) assertTrue(candidacy.awaitSeat().isLeader());

    String sessions = service.tool("sessions", "of-a-hundred");
    assertEquals(1, sessions.lines().filter(line -> line.contains("of-a-hundred")).count());
  }

  @Test
  void aClientStandsOnlyOnceInAnElection() throws InterruptedException {
    Elector elector = elector("a");

    try (Candidacy candidacy = elector.stand("orders")) {
      assertFalse(candidacy.isLeader() && candidacy.seat().isEmpty());
      assertThrows(IllegalStateException.class, () -> elector.stand("orders"));
    }

    assertTrue(elector.stand("orders").awaitSeat().isLeader());
  }

  @Test
  void standingOnceIsForOneTerm() throws InterruptedException {
    BlockingQueue<Long> terms = new LinkedBlockingQueue<>();

    Candidacy candidacy = elector("a").standOnce("orders", seat -> terms.add(seat.term()));
    take(terms);
    candidacy.awaitEnd();

    assertThrows(TenureException.class, candidacy::awaitSeat);
    elector("b").lead("orders").close();
    assertTrue(terms.isEmpty());
  }

  @Test
  void aValueIsPublished() throws InterruptedException {
    Elector elector = Elector.builder(client("a", LONG)).value("10.0.0.7:80").build();
    Candidacy candidacy = elector.stand("orders");
    candidacy.awaitSeat();

    candidacy.proclaim("10.0.0.8:80");

    try (Observer observer =
        Observer.builder().endpoints(service.endpoint()).names("orders").fromRevision(1).build()) {
      BlockingQueue<String> values = new LinkedBlockingQueue<>();
      observer.start(
          new ObserverListener() {
            @Override
            public void event(Event event) {
              values.add(event.getLeadership().getValue().toStringUtf8());
            }
          });
      assertEquals("10.0.0.7:80", take(values));
      assertEquals("10.0.0.8:80", take(values));
    }
  }

  // run

  @Test
  void runReturnsWhenTheClientIsClosed() throws InterruptedException {
    TenureClient client = client("a", LONG);
    CountDownLatch begun = new CountDownLatch(1);
    Thread closer =
        new Thread(
            () -> {
              try {
                await(begun);
                client.close();
              } catch (InterruptedException impossible) {
                throw new AssertionError(impossible);
              }
            });
    closer.start();

    new Elector(client)
        .run(
            "orders",
            seat -> {
              begun.countDown();
              seat.awaitStop(PATIENCE);
            });

    closer.join();
    elector("b").lead("orders").close();
  }

  @Test
  void runWaitsForItsWorkWhenItIsInterrupted() throws InterruptedException {
    CountDownLatch ended = new CountDownLatch(1);
    Thread caller = Thread.currentThread();

    assertThrows(
        InterruptedException.class,
        () ->
            elector("a")
                .run(
                    "orders",
                    seat -> {
                      caller.interrupt();
                      seat.awaitStop(PATIENCE);
                      ended.countDown();
                    }));

    assertEquals(0, ended.getCount());
    elector("b").lead("orders").close();
  }

  @Test
  void runReportsTheEndOfEachTerm() throws InterruptedException {
    Queue<String> told = new ConcurrentLinkedQueue<>();
    CountDownLatch elected = new CountDownLatch(1);
    Elector elector =
        Elector.builder(client("a", LONG))
            .listener(
                new ElectionListener() {
                  @Override
                  public void elected(Seat seat) {
                    told.add("elected");
                  }

                  @Override
                  public void lost(Seat seat, Cause cause) {
                    told.add("lost");
                  }
                })
            .build();
    Thread caller = Thread.currentThread();

    assertThrows(
        InterruptedException.class,
        () ->
            elector.run(
                "orders",
                seat -> {
                  caller.interrupt();
                  seat.awaitStop(PATIENCE);
                }));
    assertThrows(
        ArithmeticException.class,
        () ->
            elector.run(
                "mail",
                seat -> {
                  throw new ArithmeticException("on purpose");
                }));

    assertEquals(List.of("elected", "lost", "elected", "lost"), List.copyOf(told));
  }

  @Test
  void runFailsAsItsWorkDoes() throws InterruptedException {
    Elector elector = elector("a");

    assertThrows(
        ArithmeticException.class,
        () ->
            elector.run(
                "orders",
                seat -> {
                  throw new ArithmeticException("on purpose");
                }));
    TenureException wrapped =
        assertThrows(
            TenureException.class,
            () ->
                elector.run(
                    "orders",
                    seat -> {
                      throw new IOException("on purpose");
                    }));

    assertInstanceOf(IOException.class, wrapped.getCause());
    assertTrue(elector("b").tryLead("orders", Duration.ZERO).isPresent());
  }

  // runIfLeader

  @Test
  void aJobRunsWhereTheLeaderIsAndNowhereElse() throws Exception {
    TenureClient client = client("a", LONG);
    Elector elector = new Elector(client);
    Told told = new Told("elected");
    Elector rival = Elector.builder(client("b", LONG)).listener(told).build();
    List<String> ran = new ArrayList<>();

    for (int i = 0; i < 2; i++) {
      assertTrue(elector.runIfLeader("nightly", seat -> ran.add("a")));
      assertFalse(rival.runIfLeader("nightly", seat -> ran.add("b")));
    }

    assertEquals(List.of("a", "a"), ran);
    assertTrue(elector.seat("nightly").isPresent());
    assertTrue(rival.seat("nightly").isEmpty());
    client.close();
    told.next();
    assertTrue(rival.runIfLeader("nightly", seat -> ran.add("b")));
  }

  @Test
  void aJobThatRunsDelaysTheHandover() throws InterruptedException {
    Elector elector = elector("a");
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    BlockingQueue<Boolean> led = new LinkedBlockingQueue<>();
    Thread job =
        new Thread(
            () -> {
              try {
                elector.runIfLeader(
                    "nightly",
                    seat -> {
                      begun.countDown();
                      seat.awaitStop(PATIENCE);
                      await(mayEnd);
                      led.add(seat.isLeader());
                    });
              } catch (Exception impossible) {
                throw new AssertionError(impossible);
              }
            });
    job.start();
    await(begun);
    Candidacy successor = elector("b").stand("nightly");
    assertEquals(Optional.empty(), successor.awaitSeat(Duration.ZERO));

    service.tool("appoint", "nightly", "b");
    mayEnd.countDown();

    assertTrue(take(led));
    assertTrue(successor.awaitSeat().isLeader());
    job.join();
  }

  @Test
  void aJobThatClosesItsSeatLeavesItToTheOthers() throws Exception {
    Elector elector = elector("a");
    List<Boolean> led = new ArrayList<>();

    elector.runIfLeader(
        "nightly",
        seat -> {
          CompletableFuture.runAsync(() -> runJob(elector, Seat::close)).join();
          led.add(seat.isLeader());
        });

    assertEquals(List.of(true), led);
    assertTrue(elector.seat("nightly").isPresent());
    assertTrue(elector.runIfLeader("nightly", seat -> led.add(seat.isLeader())));
  }

  private static void runJob(Elector elector, Work job) {
    try {
      assertTrue(elector.runIfLeader("nightly", job));
    } catch (Exception impossible) {
      throw new AssertionError(impossible);
    }
  }

  @Test
  void noActionOfAJobRunsAfterItHasEnded() throws Exception {
    Elector elector = elector("a");
    CountDownLatch late = new CountDownLatch(1);
    CountDownLatch told = new CountDownLatch(1);
    List<Work> jobs =
        List.of(
            seat -> seat.onStop(late::countDown),
            seat -> elector.seat("nightly").orElseThrow().onStop(late::countDown));

    elector.runIfLeader(
        "nightly",
        seat -> {
          for (Work job : jobs) CompletableFuture.runAsync(() -> runJob(elector, job)).join();
          elector.seat("nightly").orElseThrow().onStop(told::countDown);
          service.tool("depose", "nightly");
          await(told);
        });

    assertEquals(1, late.getCount());
  }

  @Test
  void malformedArgumentsAreRefusedAtOnce() {
    for (String endpoints :
        List.of(",", "a", "a:", "a:0", "a:70000", "a:b", ":7070", "http://a:7070", "a b:7070")) {
      assertThrows(IllegalArgumentException.class, () -> TenureClient.create(endpoints), endpoints);
    }
    for (String endpoints :
        List.of(" a:7070 , b:7070 ", "[::1]:7070", "dns:///a:7070", "a_b.c-d:1")) {
      TenureClient.create(endpoints).close();
    }
    assertThrows(IllegalArgumentException.class, () -> builder().candidate(""));
    assertThrows(IllegalArgumentException.class, () -> builder().candidate("a\n"));
    Duration negative = Duration.ofSeconds(-1);
    assertThrows(IllegalArgumentException.class, () -> builder().leaseTtl(negative));
    Elector.Builder options = Elector.builder(client("a", LONG));
    assertThrows(IllegalArgumentException.class, () -> options.value(new byte[4097]));
    assertThrows(IllegalArgumentException.class, () -> options.stopGrace(negative));
    Elector elector = options.build();
    assertThrows(IllegalArgumentException.class, () -> elector.stand("ö".repeat(128)));
    assertThrows(IllegalArgumentException.class, () -> elector.tryLead("orders", negative));
  }
}
