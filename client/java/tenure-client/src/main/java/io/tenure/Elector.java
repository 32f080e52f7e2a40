package io.tenure;

import com.google.protobuf.ByteString;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * How this process stands: in any number of elections, on the one session of its client.
 *
 * <pre>{@code
 * try (TenureClient client = TenureClient.create("tenure-0:7070,tenure-1:7070")) {
 *   new Elector(client).run("orders", seat -> {
 *     while (!seat.awaitStop(Duration.ofSeconds(1))) shipTheNextOrder(seat.term());
 *   });
 * }
 * }</pre>
 *
 * <p>What it promises
 *
 * <ul>
 *   <li>It stands until it is closed: it campaigns, waits, and campaigns again after each term and
 *       after every failure.
 *   <li>{@code isLeader} is true only until this process's own deadline. The deadline is counted
 *       from before the last answered renewal was sent, minus a tenth of the lease for clock drift.
 *       The service elects nobody else before then, unless an operator intervenes. Once it was
 *       false in a term, it is never true in that term again.
 *   <li>A seat is resigned when the work has ended, never before.
 *   <li>A slow renewal is not a loss: the seat is lost only with the lease.
 * </ul>
 *
 * <p>What it does not promise. A process that is paused between asking {@code isLeader} and acting,
 * by a long garbage collection for example, acts too late. Whatever must never be done by two
 * leaders must carry the term, and the resource must refuse any term lower than the highest it has
 * seen: see {@code SqlFence}, {@code FenceCalls} and {@code TermGuard}.
 *
 * <p>Thread-safe.
 */
public final class Elector {
  private static final ElectionListener NOBODY = new ElectionListener() {};

  // How long to wait for the service's answer when `run` gives up a seat.
  private static final long RESIGN_PATIENCE = 1 * Lease.SECOND;

  private final TenureClient client;
  private final ByteString value;
  private final int priority;
  private final long stopGrace;
  private final ElectionListener listener;
  private final Map<String, Candidacy> standing = new HashMap<>(); // of runIfLeader; under itself

  /**
   * An elector without a value, of the usual priority, and with a quarter of the lease to stop in.
   *
   * @param client whose session it uses
   */
  public Elector(TenureClient client) {
    this(new Builder(client));
  }

  private Elector(Builder builder) {
    client = builder.client;
    value = builder.value;
    priority = builder.priority;
    stopGrace = builder.stopGrace;
    listener = builder.listener;
  }

  /**
   * An elector with other options.
   *
   * @param client whose session it uses
   * @return a builder
   */
  public static Builder builder(TenureClient client) {
    return new Builder(client);
  }

  /** Chooses the options. Not thread-safe. */
  public static final class Builder {
    private final TenureClient client;
    private ByteString value = ByteString.EMPTY;
    private int priority;
    private long stopGrace = SeatOptions.QUARTER;
    private ElectionListener listener = NOBODY;

    private Builder(TenureClient client) {
      this.client = Objects.requireNonNull(client, "client");
    }

    /**
     * Sets what to publish while leading.
     *
     * @param value at most 4096 bytes
     * @return this
     * @throws IllegalArgumentException if it is longer
     */
    public Builder value(byte[] value) {
      this.value = Validation.checkValue(value);
      return this;
    }

    /**
     * Sets what to publish while leading, in UTF-8.
     *
     * @param value at most 4096 bytes
     * @return this
     * @throws IllegalArgumentException if it is longer
     */
    public Builder value(String value) {
      return value(value.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Sets the priority: higher ones are elected first. Negative: only if an operator appoints it.
     *
     * @param priority zero is the usual one
     * @return this
     */
    public Builder priority(int priority) {
      this.priority = priority;
      return this;
    }

    /**
     * Sets how long the work may take to end. It is asked to end that long before this process's
     * deadline. Unset: a quarter of the lease.
     *
     * @param stopGrace more than half of the lease counts as half
     * @return this
     * @throws IllegalArgumentException if it is negative
     */
    public Builder stopGrace(Duration stopGrace) {
      this.stopGrace = Validation.checkNotNegative(stopGrace, "stopGrace");
      return this;
    }

    /**
     * Sets the listener.
     *
     * @param listener see {@link ElectionListener}
     * @return this
     */
    public Builder listener(ElectionListener listener) {
      this.listener = Objects.requireNonNull(listener, "listener");
      return this;
    }

    /**
     * Ends the choice.
     *
     * @return an elector, which does not stand yet
     */
    public Elector build() {
      return new Elector(this);
    }
  }

  /**
   * Stands in an election, in the background, until the candidacy is closed. Ask {@link
   * Candidacy#isLeader}.
   *
   * @param election 1 to 255 bytes
   * @return the stand
   * @throws IllegalArgumentException if the name is malformed
   * @throws IllegalStateException if the client stands in this election already
   * @throws TenureException if the client is closed
   */
  public Candidacy stand(String election) {
    return stand(election, null, false, false);
  }

  /**
   * Stands in an election, in the background, until the candidacy is closed. The work runs in each
   * term, on a thread of its own. When it has returned, or failed, the seat is resigned, and a
   * third of the lease later this process stands again.
   *
   * @param election 1 to 255 bytes
   * @param work must return soon after {@link Seat#isStopping}
   * @return the stand
   * @throws IllegalArgumentException if the name is malformed
   * @throws IllegalStateException if the client stands in this election already
   * @throws TenureException if the client is closed
   */
  public Candidacy stand(String election, Work work) {
    return stand(election, Objects.requireNonNull(work, "work"), true, false);
  }

  /**
   * Like {@code stand}, but only until this process has led once.
   *
   * @param election 1 to 255 bytes
   * @param work must return soon after {@link Seat#isStopping}
   * @return the stand
   * @throws IllegalArgumentException if the name is malformed
   * @throws IllegalStateException if the client stands in this election already
   * @throws TenureException if the client is closed
   */
  public Candidacy standOnce(String election, Work work) {
    return stand(election, Objects.requireNonNull(work, "work"), true, true);
  }

  /**
   * Stands, and has the work run in each term, on a thread of its own, until the client is closed,
   * or this thread is interrupted: then the work is asked to end, and waited for.
   *
   * @param election 1 to 255 bytes
   * @param work must return soon after {@link Seat#isStopping}. If it fails, with anything but a
   *     {@link SeatLostException} of its own seat, so does this method
   * @throws InterruptedException if this thread is interrupted
   * @throws ServiceException if the service refuses this process for good
   * @throws TenureException if the work has failed with a checked exception, which is the cause
   * @throws IllegalArgumentException if the name is malformed
   * @throws IllegalStateException if the client stands in this election already
   */
  public void run(String election, Work work) throws InterruptedException {
    Objects.requireNonNull(work, "work");
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Work endingWhenItFails =
        seat -> {
          try {
            work.run(seat);
          } catch (Exception | Error failed) {
            if (Candidacy.isEndOf(seat, failed)) return;
            failure.set(failed);
            seat.candidacy().resign();
          }
        };
    Candidacy candidacy = stand(election, endingWhenItFails);
    try {
      candidacy.awaitEnd();
    } finally {
      candidacy.leave();
      awaitIdle(candidacy);
    }
    candidacy.awaitGone(RESIGN_PATIENCE);
    rethrow(failure.get());
    if (candidacy.refusal() != null) throw candidacy.refusal();
  }

  /** Waits even if this thread is interrupted: work must not outlive its caller. */
  private static void awaitIdle(Candidacy candidacy) {
    boolean interrupted = false;
    for (boolean idle = false; !idle; ) {
      try {
        idle = candidacy.awaitIdle(Lease.NEVER);
      } catch (InterruptedException again) {
        interrupted = true;
      }
    }
    if (interrupted) Thread.currentThread().interrupt();
  }

  private static void rethrow(Throwable failure) {
    if (failure instanceof RuntimeException unchecked) throw unchecked;
    if (failure instanceof Error error) throw error;
    if (failure != null) throw new TenureException("the work has failed", failure);
  }

  /**
   * Waits for the seat, and leads for one term, until the seat is closed.
   *
   * @param election 1 to 255 bytes
   * @return the seat, for {@code try}
   * @throws InterruptedException if this thread is interrupted
   * @throws ServiceException if the service refuses this process for good
   * @throws IllegalArgumentException if the name is malformed
   * @throws IllegalStateException if the client stands in this election already
   * @throws TenureException if the client is closed
   */
  public Seat lead(String election) throws InterruptedException {
    return lead(election, candidacy -> Optional.of(candidacy.awaitSeat())).orElseThrow();
  }

  /**
   * The same, but waits for at most {@code timeout}.
   *
   * @param election 1 to 255 bytes
   * @param timeout zero: only until the service has answered
   * @return the seat, for {@code try}; empty if this process was not elected in time
   * @throws InterruptedException if this thread is interrupted
   * @throws ServiceException if the service refuses this process for good
   * @throws IllegalArgumentException if the name is malformed, or the timeout is negative
   * @throws IllegalStateException if the client stands in this election already
   * @throws TenureException if the client is closed
   */
  public Optional<Seat> tryLead(String election, Duration timeout) throws InterruptedException {
    Validation.checkNotNegative(timeout, "timeout");
    return lead(election, candidacy -> candidacy.awaitSeat(timeout));
  }

  /**
   * Runs a job on this thread if this process leads, and else does nothing: for jobs that a
   * scheduler starts in every process. The process stands from the first call on, and keeps the
   * seat until the client is closed. While a job runs, the seat is not resigned; the job should
   * return soon after {@link Seat#isStopping}.
   *
   * @param election 1 to 255 bytes
   * @param job called at most once, now
   * @return whether it was called
   * @throws Exception whatever the job throws
   * @throws InterruptedException if this thread is interrupted while the service has not answered
   * @throws ServiceException if the service refuses this process for good
   */
  public boolean runIfLeader(String election, Work job) throws Exception {
    Candidacy candidacy = standingIn(election);
    Optional<Seat> seat = candidacy.awaitSeat(Duration.ZERO);
    return seat.isPresent() && candidacy.work(seat.get().forJob(), job);
  }

  /**
   * The seat in which {@link #runIfLeader} runs jobs; within a job, the job's own.
   *
   * @param election its name
   * @return empty if this process does not lead
   */
  public Optional<Seat> seat(String election) {
    synchronized (standing) {
      return Optional.ofNullable(standing.get(election)).flatMap(Candidacy::seatHere);
    }
  }

  private Candidacy standingIn(String election) {
    synchronized (standing) {
      return standing.computeIfAbsent(election, name -> stand(name, null, true, false));
    }
  }

  private Candidacy stand(String election, Work work, boolean hasWork, boolean oneTerm) {
    Validation.checkName(election, "election");
    SeatOptions options = new SeatOptions(election, value, priority, hasWork, stopGrace, oneTerm);
    return client.stand(election, loop -> new Candidacy(client, loop, options, listener, work));
  }

  /** How to wait for a seat. */
  private interface Waiting {
    Optional<Seat> in(Candidacy candidacy) throws InterruptedException;
  }

  private Optional<Seat> lead(String election, Waiting waiting) throws InterruptedException {
    Candidacy candidacy = stand(election, null, true, false);
    Optional<Seat> led = Optional.empty();
    try {
      do {
        led = waiting.in(candidacy);
      } while (led.isPresent() && !candidacy.beginWork(led.get())); // lost before it began
      return led;
    } finally {
      if (led.isEmpty()) candidacy.leave();
    }
  }
}
