package io.tenure.leader;

import io.tenure.Candidacy;
import io.tenure.Elector;
import io.tenure.Seat;
import io.tenure.TenureClient;
import java.util.Objects;

/**
 * The counterpart of Curator's class of this name: it calls {@code takeLeadership} while this
 * process leads, on a thread of its own, and gives up the leadership only when that returns.
 *
 * <p>What is different from Curator
 *
 * <ul>
 *   <li>The thread is interrupted a quarter of the lease before it ends, so that it can stop in
 *       time. There is no {@code stateChanged} to listen to: a connection that breaks costs
 *       nothing.
 *   <li>{@code takeLeadership} gets the {@link Seat}: its term, and whether it must end.
 * </ul>
 *
 * <p>Thread-safe.
 */
public final class LeaderSelector implements AutoCloseable {
  private final Elector elector;
  private final String election;
  private final LeaderSelectorListener listener;
  private boolean autoRequeue; // these under this
  private boolean started;
  private boolean closed;
  private boolean queued;
  private Candidacy candidacy;
  private Thread leading; // null: takeLeadership does not run
  private Seat seat;

  /**
   * A selector, which does not stand yet.
   *
   * @param client whose session it uses
   * @param election its name, in place of Curator's path
   * @param listener is called while this process leads
   */
  public LeaderSelector(TenureClient client, String election, LeaderSelectorListener listener) {
    this.elector = new Elector(client);
    this.election = Objects.requireNonNull(election, "election");
    this.listener = Objects.requireNonNull(listener, "listener");
  }

  /** Stands again after each term; otherwise {@link #requeue} does. Call it before the start. */
  public synchronized void autoRequeue() {
    autoRequeue = true;
  }

  /**
   * Begins to stand, in the background.
   *
   * @throws IllegalStateException if it was started before, or if the client stands in this
   *     election otherwise
   * @throws IllegalArgumentException if the name of the election is malformed
   */
  public synchronized void start() {
    if (started) throw new IllegalStateException("the selector was started before");
    candidacy = elector.stand(election, this::lead);
    started = true;
    queued = true;
  }

  /**
   * Stands again, if it does not yet.
   *
   * @return false if it does
   * @throws IllegalStateException if it was not started, or is closed
   */
  public synchronized boolean requeue() {
    if (!started || closed) throw new IllegalStateException("the selector does not run");
    if (queued) return false;
    candidacy.close(); // the new stand begins when its seat is given up
    candidacy = elector.stand(election, this::lead);
    queued = true;
    return true;
  }

  /**
   * Whether {@code takeLeadership} runs, and this process may act as the leader now.
   *
   * @return true until this process's own deadline
   */
  public synchronized boolean hasLeadership() {
    return leading != null && seat.isLeader();
  }

  /** Interrupts {@code takeLeadership}, if it runs. */
  public synchronized void interruptLeadership() {
    if (leading != null) leading.interrupt();
  }

  /**
   * Stops standing. {@code takeLeadership} is interrupted if it runs, but not waited for: closing
   * the client does that.
   */
  @Override
  public void close() {
    Candidacy standing;
    synchronized (this) {
      closed = true;
      standing = candidacy;
    }
    if (standing != null) standing.close();
  }

  private void lead(Seat begun) throws Exception {
    synchronized (this) {
      leading = Thread.currentThread();
      seat = begun;
    }
    begun.onStop(this::interruptLeadership);
    try {
      listener.takeLeadership(begun);
    } finally {
      synchronized (this) {
        leading = null;
        Thread.interrupted(); // drop a late interrupt
        if (!autoRequeue) {
          queued = false;
          candidacy.resign();
        }
      }
    }
  }
}
