package io.tenure;

import io.tenure.v1.Leadership;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Tenure in memory, for the tests of an application: without a server, and with a clock that the
 * test moves.
 *
 * <pre>{@code
 * FakeTenure tenure = new FakeTenure();
 * TenureClient client = tenure.client("a").leaseTtl(Duration.ofSeconds(10)).build();
 * Candidacy candidacy = new Elector(client).stand("orders");
 * Seat seat = candidacy.awaitSeat();
 * tenure.setReachable(false);
 * tenure.advance(Duration.ofSeconds(9)); // the process's deadline
 * assertFalse(seat.isLeader());
 * }</pre>
 *
 * <p>Clients are the library's own, with all that they decide; only the service and the time are
 * fake. No lease runs out unless the test says so. While a test waits by itself ({@code
 * awaitSeat}), no time passes here.
 *
 * <p>It has no settings, policies, limits, pauses, cool-downs, or TLS. The times in its messages
 * are not set. Thread-safe; but only one thread should move the time.
 */
public final class FakeTenure {
  private static final long STEP_MAX = 1 * Lease.SECOND;
  private static final int ROUNDS_MAX = 1_000; // rounds in which clients answer each other
  private static final long LISTENER_MS = 1_000; // slower listeners are not waited for

  private final FakeService service = new FakeService();
  private final List<FakeChannel> channels = new CopyOnWriteArrayList<>();
  private final List<ClientLoop> loops = new CopyOnWriteArrayList<>();
  private final HolderClock clock = new HolderClock(new Time());
  private volatile long now; // moved by one thread
  private volatile boolean reachable = true;

  /** A service in which nobody has ever stood. */
  public FakeTenure() {
    service.passTo(clock.now());
  }

  private final class Time implements HolderClock.Sources {
    @Override
    public long monotonic() {
      return now;
    }

    @Override
    public long wall() {
      return now;
    }

    @Override
    public long uptime() {
      return now;
    }
  }

  /**
   * A client of this service.
   *
   * @param candidate its name
   * @return a builder, which ignores endpoints and credentials
   */
  public TenureClient.Builder client(String candidate) {
    return TenureClient.builder().candidate(candidate).closeOnExit(false).fake(this);
  }

  /**
   * An observer of this service, also for a {@link LeaderCache}.
   *
   * @return a builder, which ignores endpoints and credentials
   */
  public Observer.Builder observer() {
    return Observer.builder().fake(this);
  }

  /**
   * Locks of this service.
   *
   * @return a builder, which ignores endpoints and credentials
   */
  public TimedLocks.Builder locks() {
    return TimedLocks.builder().fake(this);
  }

  /**
   * Lets time pass. Renewals are sent and leases end on the way, in their order; when this returns,
   * clients have decided what follows, and listeners have been called, unless one takes longer than
   * a second. Work that must end does so on its own thread: wait for it.
   *
   * @param time how long
   * @throws IllegalArgumentException if it is negative
   */
  public void advance(Duration time) {
    long target = clock.now() + Validation.checkNotNegative(time, "time");
    settle();
    while (clock.now() < target) {
      long next = Math.min(target, clock.now() + STEP_MAX);
      next = Math.min(next, service.nextExpiry());
      for (ClientLoop loop : loops) next = Math.min(next, loop.nextWake());
      now += Math.min(target - clock.now(), Math.max(next - clock.now(), Lease.MILLISECOND));
      // Holders first: a lease ends for its holder before it does for the service.
      settle();
      service.passTo(clock.now());
      settle();
    }
  }

  /**
   * Sets whether calls arrive. The leases of clients that cannot renew them end as time passes.
   *
   * @param reachable true at first
   */
  public void setReachable(boolean reachable) {
    this.reachable = reachable;
    for (FakeChannel channel : channels) channel.setReachable(reachable);
    settle();
  }

  /**
   * Ends the term of a leader, as an operator does.
   *
   * @param election its name
   * @return false if nobody leads
   */
  public boolean depose(String election) {
    boolean deposed = service.depose(election);
    settle();
    return deposed;
  }

  /**
   * Asks the leader to make way for a candidate that waits, as an operator does.
   *
   * @param election its name
   * @param candidate leads next
   * @return false if it does not wait
   */
  public boolean appoint(String election, String candidate) {
    boolean appointed = service.appoint(election, candidate);
    settle();
    return appointed;
  }

  /**
   * The leader, for the service. Its own process may already have stopped believing.
   *
   * @param election its name
   * @return empty if nobody does
   */
  public Optional<Leadership> leader(String election) {
    return service.leader(election);
  }

  /**
   * The queue of an election.
   *
   * @param election its name
   * @return candidates, in the order in which they will be elected
   */
  public List<String> queue(String election) {
    return service.queue(election);
  }

  // For the builders.

  HolderClock clock() {
    return clock;
  }

  Connection connect() {
    FakeChannel channel = new FakeChannel(service);
    channel.setReachable(reachable);
    channels.add(channel);
    return new Connection(channel);
  }

  void add(ClientLoop loop) {
    loops.add(loop);
  }

  /** Waits until no client has anything left to decide at this time. */
  private void settle() {
    loops.removeIf(ClientLoop::isOver);
    channels.removeIf(FakeChannel::isShutdown);
    boolean isQuiet = false;
    for (int round = 0; round < ROUNDS_MAX && !isQuiet; round++) {
      isQuiet = true;
      for (ClientLoop loop : loops) isQuiet &= isSettled(loop);
    }
  }

  /** False if the client got other inputs meanwhile. */
  private static boolean isSettled(ClientLoop loop) {
    long before = loop.told();
    CountDownLatch calledBack = new CountDownLatch(1);
    try {
      // When the second input is handled, the effects of the first have been carried out.
      awaitTurn(loop, () -> {});
      awaitTurn(loop, () -> loop.callBack(calledBack::countDown));
      if (!loop.isOver()) calledBack.await(LISTENER_MS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException interruption) {
      Thread.currentThread().interrupt();
      return true;
    }
    return loop.isOver() || loop.told() - before == 2;
  }

  private static void awaitTurn(ClientLoop loop, Runnable what) throws InterruptedException {
    CountDownLatch turn = new CountDownLatch(1);
    loop.tell(
        (session, now) -> {
          what.run();
          turn.countDown();
        });
    while (!turn.await(10, TimeUnit.MILLISECONDS)) {
      if (loop.isOver()) return;
    }
  }
}
