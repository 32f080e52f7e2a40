package io.tenure;

import io.tenure.v1.Leadership;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * One term in which this process leads an election. Thread-safe.
 *
 * <pre>{@code
 * try (Seat seat = elector.lead("orders")) {
 *   while (!seat.awaitStop(Duration.ofSeconds(1))) shipTheNextOrder(seat.term());
 * }
 * }</pre>
 *
 * <p>The work must end a grace before this process's deadline, when an operator asks it to make
 * way, when the seat is lost, and when this process stands no more. No thread is interrupted,
 * unless the work asks for it: {@code seat.onStop(Thread.currentThread()::interrupt)}.
 */
public final class Seat implements AutoCloseable {
  private static final Logger LOGGER = System.getLogger("io.tenure");

  private final Candidacy candidacy;
  private final Leadership leadership;
  private final CountDownLatch stop = new CountDownLatch(1);
  private final List<Runnable> stopActions = new ArrayList<>(); // under its own lock
  private volatile String why; // null: the work need not end; written under that lock
  private volatile boolean released; // whoever worked in it has given it up
  private boolean workTold; // that it has ended, to the session; under the candidacy's lock

  Seat(Candidacy candidacy, Leadership leadership) {
    this.candidacy = candidacy;
    this.leadership = leadership;
  }

  /**
   * The name of the election.
   *
   * @return the name of the election
   */
  public String election() {
    return leadership.getElection();
  }

  /**
   * The fencing token. It stays the same when the seat is lost.
   *
   * @return the term, from 1
   */
  public long term() {
    return leadership.getTerm();
  }

  /**
   * What to send with everything that only the leader may do.
   *
   * @return the election and the term
   */
  public Fence fence() {
    return new Fence(election(), term());
  }

  /**
   * The service's word, as of the grant.
   *
   * @return candidate, value, time of the election, lease
   */
  public Leadership leadership() {
    return leadership;
  }

  /**
   * Whether this process may act as the leader in this term now. Looks at the clock, and never
   * waits. Once it was false, it is never true again.
   *
   * @return true until this process's own deadline
   */
  public boolean isLeader() {
    return !released && candidacy.term() == term();
  }

  /**
   * For how long this process may still act if no further renewal is answered.
   *
   * @return zero if it does not lead
   */
  public Duration remaining() {
    return released ? Duration.ZERO : candidacy.remaining(term());
  }

  /**
   * Whether the work has been asked to end, or must have ended. Looks at the clock, and never
   * waits.
   *
   * @return true if the work must end
   */
  public boolean isStopping() {
    return why != null || !isLeader();
  }

  /**
   * Waits until the work must end, or for {@code timeout}.
   *
   * @param timeout how long to wait at most
   * @return true if the work must end
   * @throws InterruptedException if this thread is interrupted
   */
  public boolean awaitStop(Duration timeout) throws InterruptedException {
    stop.await(Validation.nanoseconds(timeout), TimeUnit.NANOSECONDS);
    return isStopping();
  }

  /**
   * For the beginning of each step that matters.
   *
   * @throws SeatLostException if the work must end
   */
  public void check() {
    if (isStopping()) throw lost();
  }

  /**
   * Has {@code action} run when the work must end; at once if it has been asked already. To have a
   * thread interrupted that blocks: {@code seat.onStop(Thread.currentThread()::interrupt)}.
   *
   * @param action called once, on the thread that renews the lease: it must return at once. It is
   *     not called after the work has ended
   */
  public void onStop(Runnable action) {
    synchronized (stopActions) {
      if (why == null) {
        stopActions.add(action);
        return;
      }
    }
    runAction(action);
  }

  /**
   * Gives up the seat, if this term was led by {@link Elector#lead} or {@link Elector#tryLead}: the
   * work has ended. Returns at once, and the service is told. In a {@link Work}, it only says that
   * the seat is not needed any more; the seat is given up when the work returns.
   */
  @Override
  public void close() {
    candidacy.release(this);
  }

  @Override
  public String toString() {
    return "term " + term() + " of election " + election();
  }

  Candidacy candidacy() {
    return candidacy;
  }

  boolean isReleased() {
    return released;
  }

  boolean isAskedToStop() {
    return why != null;
  }

  /** The work has ended by itself: there is nobody to be told any more. */
  void markReleased() {
    released = true;
    synchronized (stopActions) {
      stopActions.clear();
    }
    askToStop("given up");
  }

  void askToStop(String reason) {
    synchronized (stopActions) { // so that no action comes after the release
      if (why != null) return;
      why = reason;
      stop.countDown();
      stopActions.forEach(this::runAction);
    }
  }

  /** The first time; twice might end the next term. */
  boolean tellsThatWorkEnded() {
    boolean first = !workTold;
    workTold = true;
    return first;
  }

  private SeatLostException lost() {
    String reason = why;
    return new SeatLostException(this + ": " + (reason == null ? "the lease has run out" : reason));
  }

  private void runAction(Runnable action) {
    try {
      action.run();
    } catch (RuntimeException | Error failure) {
      LOGGER.log(Level.ERROR, "what was to run at the end of " + this + " has failed", failure);
    }
  }
}
