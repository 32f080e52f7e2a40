package io.tenure.leader;

import io.tenure.Candidacy;
import io.tenure.ElectionListener;
import io.tenure.Elector;
import io.tenure.Seat;
import io.tenure.TenureClient;
import io.tenure.TenureException;
import io.tenure.v1.Cause;
import java.io.EOFException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The counterpart of Curator's class of this name: of all processes that have started a latch, one
 * has the leadership, until it closes the latch.
 *
 * <p>What is different from Curator
 *
 * <ul>
 *   <li>{@link #hasLeadership} looks at the clock. It is false before anyone else can lead, also
 *       when the connection hangs or the process was paused, and {@code notLeader} comes late.
 *   <li>A connection that breaks costs nothing: the leadership is lost only with the lease.
 *   <li>{@link #seat} has the term, for what must never be done by two leaders.
 *   <li>When the leadership ends while the lease lasts, {@code hasLeadership} is false at once, and
 *       others lead a quarter of the lease later: work that was begun has that long to end. To have
 *       work waited for, use a {@link LeaderSelector} or an {@link Elector}.
 * </ul>
 *
 * <p>Thread-safe.
 */
public final class LeaderLatch implements AutoCloseable {
  /** The state of a latch. */
  public enum State {
    /** It was not started yet. */
    LATENT,
    /** It stands. */
    STARTED,
    /** It no longer stands. */
    CLOSED
  }

  private static final Logger LOGGER = System.getLogger("io.tenure");

  private final String election;
  private final Elector elector;
  private final List<LeaderLatchListener> listeners = new CopyOnWriteArrayList<>();
  private State state = State.LATENT; // these under this
  private Candidacy candidacy;

  /**
   * A latch, which does not stand yet.
   *
   * @param client whose session it uses
   * @param election its name, in place of Curator's path
   */
  public LeaderLatch(TenureClient client, String election) {
    this.election = Objects.requireNonNull(election, "election");
    elector = Elector.builder(client).listener(new Told()).build();
  }

  /**
   * Begins to stand, in the background.
   *
   * @throws IllegalStateException if it was started before, or if the client stands in this
   *     election otherwise
   * @throws IllegalArgumentException if the name of the election is malformed
   */
  public synchronized void start() {
    if (state != State.LATENT) throw new IllegalStateException("the latch was started before");
    candidacy = elector.stand(election);
    state = State.STARTED;
  }

  /**
   * Stops standing. No listener is called after it has returned, as in Curator.
   *
   * @throws IllegalStateException if it was not started
   */
  @Override
  public void close() {
    Candidacy standing;
    synchronized (this) {
      if (state == State.LATENT) throw new IllegalStateException("the latch was not started");
      state = State.CLOSED;
      standing = candidacy;
    }
    standing.close();
  }

  /**
   * Whether this process leads now. Looks at the clock, and never waits.
   *
   * @return true until this process's own deadline
   */
  public boolean hasLeadership() {
    return seat().isPresent();
  }

  /**
   * The seat of this process.
   *
   * @return empty if it does not lead
   */
  public synchronized Optional<Seat> seat() {
    return state == State.STARTED ? candidacy.seat() : Optional.empty();
  }

  /**
   * The state of this latch.
   *
   * @return its state
   */
  public synchronized State getState() {
    return state;
  }

  /**
   * Waits until this process leads.
   *
   * @throws InterruptedException if this thread is interrupted
   * @throws EOFException if the latch is closed
   */
  public void await() throws InterruptedException, EOFException {
    try {
      standing().awaitSeat();
    } catch (TenureException end) {
      throw ended(end);
    }
  }

  /**
   * Waits until this process leads, or until the timeout.
   *
   * @param timeout how long to wait at most
   * @param unit of the timeout
   * @return whether it leads
   * @throws InterruptedException if this thread is interrupted
   */
  public boolean await(long timeout, TimeUnit unit) throws InterruptedException {
    try {
      return standing().awaitSeat(Duration.ofNanos(unit.toNanos(timeout))).isPresent();
    } catch (EOFException | TenureException end) {
      return false; // as in Curator
    }
  }

  private synchronized Candidacy standing() throws EOFException {
    if (state == State.LATENT) throw new IllegalStateException("the latch was not started");
    if (state == State.CLOSED) throw new EOFException("the latch is closed");
    return candidacy;
  }

  private static EOFException ended(TenureException end) {
    EOFException translated = new EOFException(end.getMessage());
    translated.initCause(end);
    return translated;
  }

  /**
   * Adds a listener.
   *
   * @param listener is called for what happens from now on
   */
  public void addListener(LeaderLatchListener listener) {
    listeners.add(Objects.requireNonNull(listener, "listener"));
  }

  /**
   * Removes a listener.
   *
   * @param listener is not called from now on, except by a call that already runs
   */
  public void removeListener(LeaderLatchListener listener) {
    listeners.remove(listener);
  }

  private final class Told implements ElectionListener {
    @Override
    public void elected(Seat seat) {
      tellAll(LeaderLatchListener::isLeader);
    }

    @Override
    public void lost(Seat seat, Cause cause) {
      tellAll(LeaderLatchListener::notLeader);
    }

    /** A listener that fails, or interrupts this thread, does not affect the others. */
    private void tellAll(Consumer<LeaderLatchListener> what) {
      for (LeaderLatchListener listener : listeners) {
        try {
          what.accept(listener);
        } catch (Throwable failure) {
          LOGGER.log(
              Level.ERROR, "a listener of the latch of " + election + " has failed", failure);
        } finally {
          Thread.interrupted();
        }
      }
    }
  }
}
