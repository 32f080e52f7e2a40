package io.tenure;

import com.google.protobuf.ByteString;
import io.tenure.v1.Cause;
import io.tenure.v1.Leadership;
import io.tenure.v1.Standing;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * A stand in one election, made by {@link Elector#stand}. It waits for the seat or holds it, in one
 * term after another, until it is closed. Thread-safe.
 */
public final class Candidacy implements AutoCloseable {
  private final TenureClient client;
  private final ClientLoop loop;
  private final SeatOptions options;
  private final ElectionListener listener;
  private final Work work; // null: none of its own
  private final int number;
  private final Belief belief = new Belief();
  private final ReentrantLock gate = new ReentrantLock(); // held while the listener runs
  private boolean open = true; // the listener is still called; under the gate

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private volatile Seat latest; // of the latest term granted; written by the loop's thread
  private Seat won; // the same, once the listener knows it
  private final Set<Seat> users = ConcurrentHashMap.newKeySet(); // with work that has not ended
  private boolean answered; // the service has said whether this process leads, or could not
  private boolean leaving;
  private boolean gone;
  private ServiceException refusal;

  /** Call it under the client's monitor, so that nothing is reported before the stand is added. */
  Candidacy(
      TenureClient client,
      ClientLoop loop,
      SeatOptions options,
      ElectionListener listener,
      Work work) {
    this.client = client;
    this.loop = loop;
    this.options = options;
    this.listener = listener;
    this.work = work;
    this.number = loop.newNumber();
    loop.add(number, options, new Told());
  }

  /**
   * The name of the election.
   *
   * @return the name of the election
   */
  public String election() {
    return options.election();
  }

  /**
   * Whether this process may act as the leader now. Looks at the clock, and never waits.
   *
   * @return true until this process's own deadline
   */
  public boolean isLeader() {
    return term() != 0;
  }

  /**
   * The term in which this process leads now.
   *
   * @return 0 if it does not lead
   */
  public long term() {
    return belief.termAt(loop.now());
  }

  /**
   * The seat of the term in which this process leads now.
   *
   * @return empty if it does not lead
   */
  public Optional<Seat> seat() {
    return Optional.ofNullable(latest).filter(Seat::isLeader);
  }

  /**
   * Waits until this process leads.
   *
   * @return the seat
   * @throws InterruptedException if this thread is interrupted
   * @throws ServiceException if the service refuses this candidacy for good
   * @throws TenureException if this stand has ended
   */
  public Seat awaitSeat() throws InterruptedException {
    return await(Duration.ofNanos(Lease.NEVER), () -> false).orElseThrow();
  }

  /**
   * Waits until this process leads, or for {@code timeout}.
   *
   * @param timeout how long to wait at most. Zero: only until the service has answered
   * @return empty if this process has not been elected in that time
   * @throws InterruptedException if this thread is interrupted
   * @throws ServiceException if the service refuses this candidacy for good
   * @throws TenureException if this stand has ended
   */
  public Optional<Seat> awaitSeat(Duration timeout) throws InterruptedException {
    if (Validation.checkNotNegative(timeout, "timeout") > 0) return await(timeout, () -> false);
    return await(Duration.ofNanos(Lease.NEVER), () -> answered);
  }

  private Optional<Seat> await(Duration timeout, BooleanSupplier enough)
      throws InterruptedException {
    long left = timeout.toNanos();
    lock.lockInterruptibly();
    try {
      while (true) {
        if (refusal != null) throw refusal;
        if (gone || leaving) throw new TenureException("the stand in " + election() + " has ended");
        if (won != null && !won.isStopping()) return Optional.of(won);
        if (left <= 0 || enough.getAsBoolean()) return Optional.empty();
        left = changed.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Publishes another value, now or as soon as this process leads.
   *
   * @param value at most 4096 bytes
   */
  public void proclaim(byte[] value) {
    ByteString encoded = Validation.checkValue(value);
    loop.tell((session, now) -> session.proclaim(number, encoded, now));
  }

  /**
   * Publishes another value, in UTF-8.
   *
   * @param value at most 4096 bytes
   */
  public void proclaim(String value) {
    proclaim(value.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Steps down, and does not stand again. Returns at once; the listener's {@code lost} reports the
   * end.
   */
  public void resign() {
    lock.lock();
    try {
      leaving = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    loop.tell((session, now) -> session.leave(number, now));
  }

  /**
   * Like {@link #resign}, and no listener is called after it has returned. The client may then
   * stand in this election again. Running work is asked to end, but not waited for. Do not hold a
   * lock that the listener waits for.
   */
  @Override
  public void close() {
    gate.lock();
    try {
      open = false;
    } finally {
      gate.unlock();
    }
    leave();
  }

  // For work, and for callers that wait.

  /** Why the service cannot be used; empty if its last answer was no error. */
  Optional<ServiceException> trouble() {
    return Optional.ofNullable(loop.trouble());
  }

  Duration remaining(long term) {
    return Duration.ofNanos(Math.max(belief.remainingAt(loop.now(), term), 0));
  }

  /** Lets the client stand in this election again. */
  void leave() {
    resign();
    client.release(this);
  }

  /**
   * The seat of the job on this thread, or else of the term. Empty if this process does not lead.
   */
  Optional<Seat> seatHere() {
    Thread here = Thread.currentThread();
    Optional<Seat> ofJob = users.stream().filter(seat -> seat.isForJobOn(here)).findFirst();
    return ofJob.filter(Seat::isLeader).or(this::seat);
  }

  /** Runs work in this seat, which is not resigned meanwhile. False if the work must not begin. */
  boolean work(Seat seat, Work what) throws Exception {
    if (!beginWork(seat)) return false;
    try {
      what.run(seat);
      return true;
    } finally {
      endWork(seat);
    }
  }

  /** False if work must not begin in this seat. */
  boolean beginWork(Seat seat) {
    lock.lock();
    try {
      return !leaving && !seat.isStopping() && users.add(seat);
    } finally {
      lock.unlock();
    }
  }

  /** False if no work runs in this seat. */
  private boolean endWork(Seat seat) {
    if (!users.contains(seat)) return false;
    seat.release(); // not under the lock: it waits for actions, one of which may end the work
    lock.lock();
    try {
      if (!users.remove(seat)) return false;
      if (!users.isEmpty()) return true;
      changed.signalAll();
      if (seat.isAskedToStop()) tellThatWorkEnded(seat);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** The seat was closed: that ends the block of {@code lead}, and no other work. */
  void blockEnded(Seat seat) {
    if (work == null && seat.isForJobOn(null) && endWork(seat)) leave();
  }

  /**
   * Waits until no work runs, for at most {@code patience} nanoseconds; false if some still does.
   */
  boolean awaitIdle(long patience) throws InterruptedException {
    return awaitFor(patience, users::isEmpty);
  }

  /** Waits until this process no longer stands here, or leaves and no work runs. */
  void awaitEnd() throws InterruptedException {
    awaitFor(Lease.NEVER, () -> gone || (leaving && users.isEmpty()));
  }

  /** Waits until nothing is left to do, for at most {@code patience} nanoseconds. */
  boolean awaitGone(long patience) throws InterruptedException {
    return awaitFor(patience, () -> gone);
  }

  private boolean awaitFor(long patience, BooleanSupplier condition) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long left = patience;
      while (!condition.getAsBoolean() && left > 0) left = changed.awaitNanos(left);
      return condition.getAsBoolean();
    } finally {
      lock.unlock();
    }
  }

  /** Null if the service has not refused it. */
  ServiceException refusal() {
    lock.lock();
    try {
      return refusal;
    } finally {
      lock.unlock();
    }
  }

  /** Whether work has failed only because it was asked to end. */
  static boolean isEndOf(Seat seat, Throwable failure) {
    boolean isEnd = failure instanceof InterruptedException || failure instanceof SeatLostException;
    return isEnd && seat.isStopping();
  }

  /** Requires the lock. */
  private void tellThatWorkEnded(Seat seat) {
    if (!seat.workEnds()) return; // a second call might end the next term
    loop.tell((session, now) -> session.workEnded(number, now));
  }

  /** If the thread cannot be started, as when there are too many, the term ends, too. */
  private boolean startWork(Seat seat) {
    try {
      Thread thread = new Thread(() -> runWork(seat), "tenure-work-" + election());
      thread.setDaemon(true);
      thread.start();
      return true;
    } catch (RuntimeException | Error failure) {
      Log.error("cannot start the work of " + seat + ": the seat is given up", failure);
      lock.lock();
      try {
        tellThatWorkEnded(seat);
      } finally {
        lock.unlock();
      }
      return false;
    }
  }

  private void runWork(Seat seat) {
    try {
      work(seat, work);
    } catch (Exception | Error failure) {
      // The term ends: leading without the work would help nobody.
      if (!isEndOf(seat, failure)) {
        Log.error("the work of " + seat + " has failed", failure);
      }
    }
  }

  /** For the loop's thread. */
  private final class Told implements ClientLoop.Listener {
    @Override
    public String election() {
      return options.election();
    }

    @Override
    public Belief belief() {
      return belief;
    }

    @Override
    public void standing(Standing place) {
      callBack(() -> listener.standing(Candidacy.this, place));
      noSeat();
    }

    @Override
    public void elected(Leadership leadership) {
      Seat begun = new Seat(Candidacy.this, leadership);
      latest = begun;
      callBack(() -> listener.elected(begun));
      loop.callBack(() -> seatIsWon(begun));
    }

    private void seatIsWon(Seat begun) {
      if (work != null && !startWork(begun)) {
        noSeat();
        return;
      }
      change(
          () -> {
            won = begun;
            answered = true;
          });
    }

    @Override
    public void suspended() {
      Seat of = latest;
      callBack(() -> listener.suspended(of));
    }

    @Override
    public void resumed() {
      Seat of = latest;
      callBack(() -> listener.resumed(of));
    }

    @Override
    public void handoverAsked(String successor) {
      Seat of = latest;
      callBack(() -> listener.stepDown(of, successor));
    }

    @Override
    public void stopWork() {
      stop("the seat must be given up");
    }

    @Override
    public void overrun() {
      if (users.isEmpty()) return;
      Seat of = latest;
      Log.error("the work of " + of + " has not ended in time");
      // Not through the gate: a callback that hangs within it must not delay renewals.
      Callbacks.callOnOwnThread("a callback", () -> listener.overrun(of));
    }

    @Override
    public void lost(Cause cause) {
      Seat of = latest;
      callBack(() -> listener.lost(of, cause));
      latest.lose("the seat is lost: " + cause);
      stop("the seat is lost: " + cause);
    }

    @Override
    public void troubled(ServiceException error) {
      callBack(() -> listener.trouble(Candidacy.this, error));
      noSeat();
    }

    @Override
    public void refused(ServiceException error) {
      callBack(() -> listener.refused(Candidacy.this, error));
      change(() -> refusal = error);
    }

    @Override
    public void gone() {
      client.forget(Candidacy.this);
      if (latest != null) latest.askToStop("the stand has ended");
      loop.callBack(() -> change(() -> Candidacy.this.gone = true)); // after all other news
    }

    private void stop(String why) {
      latest.askToStop(why); // no work begins from here on
      lock.lock();
      try {
        if (options.hasWork() && users.isEmpty()) tellThatWorkEnded(latest);
      } finally {
        lock.unlock();
      }
    }

    private void noSeat() {
      change(() -> answered = true);
    }

    private void change(Runnable change) {
      lock.lock();
      try {
        change.run();
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }

    private void callBack(Runnable callback) {
      loop.callBack(
          () -> {
            gate.lock();
            try {
              if (open) callback.run();
            } finally {
              gate.unlock();
            }
          });
    }
  }
}
