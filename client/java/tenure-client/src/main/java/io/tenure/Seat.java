package io.tenure;

import io.tenure.v1.Leadership;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
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
 * <p>The work must end a grace period before this process's deadline, when an operator asks it to
 * make way, when the seat is lost, and when this process stops standing. No thread is interrupted,
 * unless the work asks for it: {@code seat.onStop(Thread.currentThread()::interrupt)}.
 */
public final class Seat implements AutoCloseable {
  private final Candidacy candidacy;
  private final Leadership leadership;
  private final Stop stop;
  private final Thread job; // the thread of a job; null: the term's own seat
  private volatile boolean released; // the work in it has given it up; written under stop

  /** The end of a term, shared by all work in it. */
  private static final class Stop {
    private final CountDownLatch asked = new CountDownLatch(1);
    private final Deque<Action> actions = new ArrayDeque<>(); // under this
    private volatile String why; // null: the work need not end; written under this
    private volatile boolean lost; // a later term may have its number, in another service
    private boolean workEnded; // the session knows; under the candidacy's lock
  }

  private record Action(Seat of, Runnable what) {}

  Seat(Candidacy candidacy, Leadership leadership) {
    this(candidacy, leadership, new Stop(), null);
  }

  private Seat(Candidacy candidacy, Leadership leadership, Stop stop, Thread job) {
    this.candidacy = candidacy;
    this.leadership = leadership;
    this.stop = stop;
    this.job = job;
  }

  /** The seat of a job on this thread, which ends before its term does. */
  Seat forJob() {
    return new Seat(candidacy, leadership, stop, Thread.currentThread());
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
   * The service's record, as of the grant.
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
    return !released && !stop.lost && candidacy.term() == term();
  }

  /**
   * For how long this process may still act if no further renewal is answered.
   *
   * @return zero if it does not lead
   */
  public Duration remaining() {
    return released || stop.lost ? Duration.ZERO : candidacy.remaining(term());
  }

  /**
   * Whether the work has been asked to end, or must have ended. Looks at the clock, and never
   * waits.
   *
   * @return true if the work must end
   */
  public boolean isStopping() {
    return stop.why != null || !isLeader();
  }

  /**
   * Waits until the work must end, or for {@code timeout}.
   *
   * @param timeout how long to wait at most
   * @return true if the work must end
   * @throws InterruptedException if this thread is interrupted
   */
  public boolean awaitStop(Duration timeout) throws InterruptedException {
    stop.asked.await(Validation.nanoseconds(timeout), TimeUnit.NANOSECONDS);
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
   * Runs {@code action} when the work must end; at once if it has been asked already. To interrupt
   * a thread that blocks: {@code seat.onStop(Thread.currentThread()::interrupt)}.
   *
   * @param action called once, on the thread that renews the lease: it must return at once. It is
   *     not called after the work has ended
   */
  public void onStop(Runnable action) {
    synchronized (stop) {
      if (stop.why == null && !released) {
        stop.actions.add(new Action(this, action));
        return;
      }
    }
    runAction(action);
  }

  /**
   * Gives up the seat, if it is that of {@link Elector#lead} or {@link Elector#tryLead}: the work
   * has ended. Returns at once, and the service is notified. Other seats stay as they are: a {@link
   * Work} gives its seat up when it returns, and a {@link Candidacy} when it is closed.
   */
  @Override
  public void close() {
    candidacy.blockEnded(this);
  }

  @Override
  public String toString() {
    return "term " + term() + " of election " + election();
  }

  Candidacy candidacy() {
    return candidacy;
  }

  boolean isForJobOn(Thread thread) {
    return job == thread;
  }

  boolean isAskedToStop() {
    return stop.why != null;
  }

  /** The work has ended, and nobody is left to notify. Unless it was a job, the term ends, too. */
  void release() {
    synchronized (stop) {
      released = true;
      stop.actions.removeIf(action -> action.of == this);
    }
    if (job == null) askToStop("given up");
  }

  /** The term has ended. */
  void lose(String reason) {
    stop.lost = true;
    askToStop(reason);
  }

  /** False if it was called before. Requires the candidacy's lock. */
  boolean workEnds() {
    boolean isFirst = !stop.workEnded;
    stop.workEnded = true;
    return isFirst;
  }

  void askToStop(String reason) {
    synchronized (stop) { // so that no action follows the release
      if (stop.why != null) return;
      stop.why = reason;
      stop.asked.countDown();
      while (!stop.actions.isEmpty()) runAction(stop.actions.poll().what); // one may release it
    }
  }

  private SeatLostException lost() {
    String reason = stop.why;
    SeatLostException lost =
        new SeatLostException(this + ": " + (reason == null ? "the lease has run out" : reason));
    candidacy.trouble().ifPresent(lost::initCause);
    return lost;
  }

  private void runAction(Runnable action) {
    Callbacks.call("what was to run at the end of " + this, action);
  }
}
