package io.tenure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tenure.testing.Service;
import io.tenure.v1.Cause;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the fake promises to the tests of applications. No time passes unless a test says so. */
@Timeout(60)
class FakeTenureTest {
  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final Duration PATIENCE = Duration.ofSeconds(Service.PATIENCE);

  private final FakeTenure tenure = new FakeTenure();
  private final List<TenureClient> clients = new ArrayList<>();

  @AfterEach
  void stop() {
    tenure.setReachable(true);
    clients.forEach(TenureClient::close);
  }

  private TenureClient client(String candidate) {
    TenureClient client = tenure.client(candidate).leaseTtl(LEASE).build();
    clients.add(client);
    return client;
  }

  private Candidacy stand(String candidate) throws InterruptedException {
    Candidacy candidacy = new Elector(client(candidate)).stand("orders");
    candidacy.awaitSeat(Duration.ZERO);
    return candidacy;
  }

  @Test
  void oneLeadsAndTheOthersWaitInOrder() throws InterruptedException {
    Candidacy first = stand("a");
    Candidacy second = stand("b");
    stand("c");

    assertTrue(first.isLeader());
    assertEquals("a", tenure.leader("orders").orElseThrow().getCandidate());
    assertEquals(List.of("b", "c"), tenure.queue("orders"));

    first.close();
    tenure.advance(LEASE.dividedBy(4)); // for work begun while it led

    assertEquals(2, second.awaitSeat().term());
    assertEquals(List.of("c"), tenure.queue("orders"));
  }

  @Test
  void aLeaseIsRenewedForAsLongAsTheServiceCanBeReached() throws InterruptedException {
    Seat seat = stand("a").awaitSeat();

    tenure.advance(Duration.ofHours(1));

    assertTrue(seat.isLeader());
    assertEquals(1, tenure.leader("orders").orElseThrow().getTerm());
  }

  @Test
  void aHolderStopsBelievingBeforeTheServiceElectsAnother() throws InterruptedException {
    Seat seat = stand("a").awaitSeat();
    tenure.advance(Duration.ofMillis(100));

    tenure.setReachable(false);
    tenure.advance(Duration.ofSeconds(4));
    assertTrue(seat.isLeader());
    tenure.advance(Duration.ofSeconds(5)); // its deadline: nine tenths of the lease
    assertFalse(seat.isLeader());
    assertTrue(tenure.leader("orders").isPresent());
    tenure.advance(Duration.ofSeconds(1));

    assertEquals(Optional.empty(), tenure.leader("orders"));
  }

  @Test
  void aHolderThatIsBackBeforeItsLeaseEndsLeadsInTheNextTerm() throws InterruptedException {
    Candidacy holder = stand("a");
    stand("b");
    tenure.advance(Duration.ofMillis(100));

    tenure.setReachable(false);
    tenure.advance(Duration.ofMillis(9_100)); // its deadline: nine tenths of the lease
    assertFalse(holder.isLeader());
    tenure.setReachable(true);
    tenure.advance(Duration.ofMillis(600));

    assertTrue(holder.isLeader());
    assertEquals("a", tenure.leader("orders").orElseThrow().getCandidate());
    assertEquals(2, tenure.leader("orders").orElseThrow().getTerm());
    assertEquals(List.of("b"), tenure.queue("orders"));
  }

  @Test
  void anOutageBelowHalfALeaseCostsNothing() throws InterruptedException {
    Seat seat = stand("a").awaitSeat();

    for (int i = 0; i < 10; i++) {
      tenure.setReachable(false);
      tenure.advance(Duration.ofSeconds(4));
      tenure.setReachable(true);
      tenure.advance(Duration.ofSeconds(1));
    }

    assertTrue(seat.isLeader());
  }

  @Test
  void workIsAskedToStopAndAnotherLeads() throws InterruptedException {
    CountDownLatch ended = new CountDownLatch(1);
    BlockingQueue<String> told = new LinkedBlockingQueue<>();
    ElectionListener listener =
        new ElectionListener() {
          @Override
          public void elected(Seat seat) {
            told.add("elected " + seat.term());
          }

          @Override
          public void stepDown(Seat seat, String successor) {
            told.add("stepDown " + successor);
          }

          @Override
          public void lost(Seat seat, Cause cause) {
            told.add("lost " + cause);
          }
        };
    Elector elector = Elector.builder(client("a")).listener(listener).build();
    elector.stand(
        "orders",
        seat -> {
          seat.awaitStop(PATIENCE);
          ended.countDown();
        });
    assertEquals("elected 1", told.poll(Service.PATIENCE, TimeUnit.SECONDS));
    Candidacy successor = stand("b");

    assertFalse(tenure.appoint("orders", "nobody"));
    assertTrue(tenure.appoint("orders", "b"));

    assertTrue(ended.await(Service.PATIENCE, TimeUnit.SECONDS));
    assertEquals(2, successor.awaitSeat().term());
    assertEquals("stepDown b", told.poll(Service.PATIENCE, TimeUnit.SECONDS));
    assertEquals("lost CAUSE_RESIGNED", told.poll(Service.PATIENCE, TimeUnit.SECONDS));
  }

  @Test
  void aDeposedLeaderStandsAgain() throws InterruptedException {
    Candidacy candidacy = stand("a");
    Seat seat = candidacy.awaitSeat();

    assertTrue(tenure.depose("orders"));

    assertFalse(seat.isLeader());
    assertEquals(2, candidacy.awaitSeat().term());
    assertFalse(tenure.depose("mail"));
  }

  @Test
  void aNewerProcessOfTheSameNameTakesOver() throws InterruptedException {
    Candidacy old = stand("a");
    TenureClient newer = tenure.client("a").supersede(true).build();
    clients.add(newer);

    Seat seat = new Elector(newer).stand("orders").awaitSeat();

    assertEquals(2, seat.term());
    tenure.advance(Duration.ofMillis(1)); // when the older one has heard
    ServiceException error = assertThrows(ServiceException.class, old::awaitSeat);
    assertTrue(error.getMessage().contains("superseded"));
  }

  @Test
  void observersAndCachesSeeEachChange() throws InterruptedException {
    try (LeaderCache leaders = new LeaderCache(tenure.observer().prefixes("ord"))) {
      assertTrue(leaders.awaitReady(PATIENCE));
      BlockingQueue<Long> revisions = new LinkedBlockingQueue<>();
      try (Observer observer = tenure.observer().names("orders").fromRevision(1).build()) {
        observer.start(
            new ObserverListener() {
              @Override
              public void event(io.tenure.v1.Event event) {
                revisions.add(event.getRevision());
              }
            });

        Candidacy candidacy = stand("a");
        candidacy.proclaim("here");
        tenure.advance(Duration.ZERO);
        candidacy.close();
        tenure.advance(LEASE.dividedBy(4));

        for (long revision = 1; revision <= 3; revision++) {
          assertEquals(revision, revisions.poll(Service.PATIENCE, TimeUnit.SECONDS));
        }
      }
    }
  }

  @Test
  void aTimedLockEndsWithItsTime() {
    try (TimedLocks locks = tenure.locks().build();
        TimedLocks others = tenure.locks().build()) {
      TimedLocks.TimedLock lock = locks.tryLock("backup", Duration.ofMinutes(10)).orElseThrow();
      tenure.advance(Duration.ofMinutes(9));
      assertEquals(Optional.empty(), others.tryLock("backup", LEASE));
      assertEquals(Duration.ZERO, lock.remaining());

      tenure.advance(Duration.ofMinutes(1));

      assertEquals(2, others.tryLock("backup", LEASE).orElseThrow().fence().term());
      assertEquals(Optional.empty(), lock.extend(LEASE));
    }
  }

  @Test
  void malformedArgumentsAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> tenure.client(""));
    Duration negative = Duration.ofSeconds(-1);
    assertThrows(IllegalArgumentException.class, () -> tenure.advance(negative));
  }
}
