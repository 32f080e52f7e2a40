package io.tenure.leader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tenure.Elector;
import io.tenure.Seat;
import io.tenure.TenureClient;
import io.tenure.TenureException;
import io.tenure.testing.Service;
import java.io.EOFException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The recipes for users of Curator, against a real service. */
@Timeout(60)
class RecipesTest {
  private Service service;
  private final List<TenureClient> clients = new ArrayList<>();

  @BeforeEach
  void start() {
    service = Service.start();
  }

  @AfterEach
  void stop() {
    service.resume();
    clients.forEach(TenureClient::close);
    service.close();
  }

  private TenureClient client(String candidate) {
    return client(candidate, Duration.ofSeconds(10));
  }

  private TenureClient client(String candidate, Duration leaseTtl) {
    TenureClient client =
        TenureClient.builder()
            .endpoints(service.endpoint())
            .candidate(candidate)
            .leaseTtl(leaseTtl)
            .build();
    clients.add(client);
    return client;
  }

  private static <T> T take(BlockingQueue<T> queue) throws InterruptedException {
    T taken = queue.poll(Service.PATIENCE, TimeUnit.SECONDS);
    if (taken == null) throw new AssertionError("timed out");
    return taken;
  }

  private static final class Told implements LeaderLatchListener {
    final BlockingQueue<String> calls = new LinkedBlockingQueue<>();

    @Override
    public void isLeader() {
      calls.add("isLeader");
    }

    @Override
    public void notLeader() {
      calls.add("notLeader");
    }
  }

  // The latch.

  @Test
  void aLatchListenerThatFailsOrInterruptsKeepsNothingFromTheOthers() throws Exception {
    BlockingQueue<String> told = new LinkedBlockingQueue<>();
    LeaderLatch latch = new LeaderLatch(client("a"), "orders");
    LeaderLatchListener failing =
        new LeaderLatchListener() {
          @Override
          public void isLeader() {
            Thread.currentThread().interrupt();
            throw new AssertionError("on purpose");
          }

          @Override
          public void notLeader() {
            isLeader();
          }
        };
    LeaderLatchListener other =
        new LeaderLatchListener() {
          @Override
          public void isLeader() {
            told.add("isLeader " + Thread.currentThread().isInterrupted());
          }

          @Override
          public void notLeader() {
            told.add("notLeader " + Thread.currentThread().isInterrupted());
          }
        };
    latch.addListener(failing);
    latch.addListener(other);

    latch.start();
    assertEquals("isLeader false", take(told));
    service.tool("depose", "orders");

    assertEquals("notLeader false", take(told));
    latch.close();
  }

  @Test
  void oneLatchHasTheLeadershipUntilItIsClosed() throws Exception {
    LeaderLatch first = new LeaderLatch(client("a"), "orders");
    LeaderLatch second = new LeaderLatch(client("b"), "orders");
    assertEquals(LeaderLatch.State.LATENT, first.getState());
    assertFalse(first.hasLeadership());
    first.start();
    first.await();
    second.start();

    assertTrue(first.hasLeadership());
    assertEquals(1, first.seat().orElseThrow().term());
    assertFalse(second.await(50, TimeUnit.MILLISECONDS));
    assertFalse(second.hasLeadership());
    first.close();
    assertTrue(second.await(Service.PATIENCE, TimeUnit.SECONDS));

    assertEquals(LeaderLatch.State.CLOSED, first.getState());
    assertFalse(first.hasLeadership());
    assertEquals(2, second.seat().orElseThrow().term());
    assertThrows(EOFException.class, first::await);
    assertFalse(first.await(1, TimeUnit.SECONDS));
  }

  @Test
  void aLatchThatIsClosedWhileAThreadWaitsEndsTheWait() throws Exception {
    LeaderLatch leader = new LeaderLatch(client("a"), "orders");
    leader.start();
    leader.await();
    LeaderLatch waiting = new LeaderLatch(client("b"), "orders");
    waiting.start();
    BlockingQueue<Exception> ends = new LinkedBlockingQueue<>();
    Thread waiter =
        new Thread(
            () -> {
              try {
                waiting.await();
              } catch (Exception end) {
                ends.add(end);
              }
            });
    waiter.start();

    waiting.close();

    assertEquals(EOFException.class, take(ends).getClass());
    waiter.join();
  }

  @Test
  void aLatchReportsEachTerm() throws Exception {
    Told told = new Told();
    Told removed = new Told();
    LeaderLatch latch = new LeaderLatch(client("a"), "orders");
    latch.addListener(told);
    latch.addListener(removed);
    latch.removeListener(removed);
    latch.start();
    assertEquals("isLeader", take(told.calls));

    service.tool("depose", "orders");

    assertEquals("notLeader", take(told.calls));
    assertEquals("isLeader", take(told.calls));
    latch.close();
    new Elector(client("b")).lead("orders").close();
    assertTrue(told.calls.isEmpty()); // as in Curator
    assertTrue(removed.calls.isEmpty());
  }

  @Test
  void aLatchHasTheLeadershipWhenItReportsIt() throws Exception {
    BlockingQueue<Boolean> told = new LinkedBlockingQueue<>();
    LeaderLatch latch = new LeaderLatch(client("a"), "orders");
    latch.addListener(
        new LeaderLatchListener() {
          @Override
          public void isLeader() {
            told.add(latch.hasLeadership());
          }

          @Override
          public void notLeader() {}
        });

    latch.start();

    assertTrue(take(told));
  }

  @Test
  void aLatchIsStartedOnceAndThenClosed() {
    LeaderLatch latch = new LeaderLatch(client("a"), "orders");
    assertThrows(IllegalStateException.class, latch::close);
    assertThrows(IllegalStateException.class, latch::await);
    latch.start();
    assertThrows(IllegalStateException.class, latch::start);
    LeaderLatch other = new LeaderLatch(client("b"), "ö".repeat(128));
    assertThrows(IllegalArgumentException.class, other::start);
  }

  // The selector.

  @Test
  void theLeadershipIsTakenUntilTheMethodReturns() throws Exception {
    BlockingQueue<Seat> taken = new LinkedBlockingQueue<>();
    CountDownLatch mayReturn = new CountDownLatch(1);
    LeaderSelector selector =
        new LeaderSelector(
            client("a"),
            "orders",
            seat -> {
              taken.add(seat);
              mayReturn.await();
            });
    selector.start();
    Seat seat = take(taken);

    assertTrue(selector.hasLeadership());
    mayReturn.countDown();
    new Elector(client("b")).lead("orders").close();

    assertFalse(selector.hasLeadership());
    assertFalse(seat.isLeader());
    assertTrue(taken.isEmpty());
    assertTrue(selector.requeue());
    assertFalse(selector.requeue());
    assertTrue(take(taken).term() > seat.term());
    selector.close();
    assertThrows(IllegalStateException.class, selector::requeue);
  }

  @Test
  void withAutoRequeueItIsTakenAgain() throws Exception {
    BlockingQueue<Long> terms = new LinkedBlockingQueue<>();
    LeaderSelector selector =
        new LeaderSelector(
            client("a", Duration.ofSeconds(2)), "orders", seat -> terms.add(seat.term()));
    selector.autoRequeue();

    selector.start();

    assertTrue(take(terms) < take(terms));
    selector.close();
  }

  @Test
  void theThreadIsInterruptedBeforeTheLeaseEnds() throws Exception {
    BlockingQueue<Duration> left = new LinkedBlockingQueue<>();
    LeaderSelector selector =
        new LeaderSelector(
            client("a", Duration.ofSeconds(2)),
            "orders",
            seat -> {
              service.pause();
              try {
                new CountDownLatch(1).await();
              } finally {
                left.add(seat.remaining());
              }
            });

    selector.start();

    assertTrue(take(left).compareTo(Duration.ZERO) > 0);
  }

  @Test
  void theThreadIsInterruptedByAnOperatorByTheApplicationAndByTheEnd() throws Exception {
    BlockingQueue<String> ends = new LinkedBlockingQueue<>();
    BlockingQueue<Long> begun = new LinkedBlockingQueue<>();
    LeaderSelector selector =
        new LeaderSelector(
            client("a", Duration.ofSeconds(2)),
            "orders",
            seat -> {
              begun.add(seat.term());
              try {
                new CountDownLatch(1).await();
              } catch (InterruptedException interruption) {
                ends.add("interrupted in term " + seat.term());
                throw interruption;
              }
            });
    selector.autoRequeue();
    selector.start();

    take(begun);
    service.tool("depose", "orders");
    assertEquals("interrupted in term 1", take(ends));
    take(begun);
    selector.interruptLeadership();
    assertEquals("interrupted in term 2", take(ends));
    take(begun);
    selector.close();
    assertEquals("interrupted in term 3", take(ends));
  }

  @Test
  void aSelectorIsStartedOnce() {
    TenureClient client = client("a");
    LeaderSelector selector = new LeaderSelector(client, "orders", seat -> {});
    assertThrows(IllegalStateException.class, selector::requeue);
    selector.start();
    assertThrows(IllegalStateException.class, selector::start);
    client.close();
    LeaderSelector late = new LeaderSelector(client, "mail", seat -> {});
    assertThrows(TenureException.class, late::start);
  }
}
