package io.tenure;

import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * On the called side of fenced calls: knows the highest term of each election, and which calls are
 * inside. For a whole gRPC service, see {@link GuardCalls}.
 *
 * <p>What it promises. While a call is inside, no call of a higher term is let in. Once a higher
 * term has been seen, no call of a lower one is let in. So all effects that a term makes inside
 * come before those of the next term, however long a call was on its way or its process was paused.
 *
 * <p>What it does not promise
 *
 * <ul>
 *   <li>It refuses an old term as of the first call of a newer one, not as of the newer term's
 *       grant. To learn of terms sooner, call {@link #raise} from a {@link LeaderCache}'s listener.
 *   <li>A guard is the memory of one process. Two processes that serve the same data, or one that
 *       restarts, do not know each other's terms, unless {@link Keep} stores the highest term with
 *       the data. If several processes write to the same data at the same time, only a comparison
 *       within the data's own transaction is enough.
 *   <li>It trusts the caller's term. It guards against leaders that are late, not against liars.
 * </ul>
 *
 * <p>Thread-safe.
 */
public final class TermGuard {
  private static final int ELECTIONS_MAX = 10_000;
  private static final Duration WAIT_MAX = Duration.ofSeconds(10);

  /** Stores the highest term with the guarded data, so that it outlives the process. */
  @FunctionalInterface
  public interface Keep {
    /**
     * Called once before the first call of each new highest term is let in, for one term of an
     * election at a time. It must store the term, unless a higher one is stored. What it throws
     * ends the call, and nothing changes.
     *
     * @param fence the election and the term
     * @return the term that is stored then; a lower one than the call's ends the call, too
     * @throws Exception if it cannot be stored
     */
    long keep(Fence fence) throws Exception;
  }

  /** A call that was let in. Close it after the last effect. */
  public final class Entry implements AutoCloseable {
    private final GuardedSeat seat;
    private final Fence fence;
    private boolean left; // under the lock

    private Entry(GuardedSeat seat, Fence fence) {
      this.seat = seat;
      this.fence = fence;
    }

    /**
     * What the call carries.
     *
     * @return the election and the term
     */
    public Fence fence() {
      return fence;
    }

    /** The call leaves. The second time it does nothing. */
    @Override
    public void close() {
      lock.lock();
      try {
        if (left) return;
        left = true;
        if (fence.term() == seat.highest) {
          seat.inside--;
        } else {
          seat.insideBefore--;
        }
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  /** One election, as a guard knows it. */
  private static final class GuardedSeat {
    long highest; // highest term seen
    long kept; // highest term let in, which `keep` has stored
    boolean keeping; // `keep` is under way
    int inside; // calls of the highest term
    int insideBefore; // calls of lower terms

    /** Whether calls of lower terms are inside, or `keep` has yet to return for this term. */
    boolean mustWait(long term) {
      if (term < highest) return false; // refused at once
      return term > kept ? keeping : insideBefore > 0;
    }

    void see(long term) {
      if (term <= highest) return;
      highest = term;
      insideBefore += inside;
      inside = 0;
    }
  }

  private final Keep keep;
  private final Duration waitMax;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<String, GuardedSeat> seats = new HashMap<>(); // entries are never removed

  /**
   * A guard that lets a call wait for up to ten seconds, and trusts the first call of a process.
   */
  public TermGuard() {
    this(Fence::term, WAIT_MAX);
  }

  /**
   * A guard whose terms outlive the process.
   *
   * @param keep stores the highest term of each election
   * @param waitMax how long a call may wait for calls of a lower term to leave, but never beyond
   *     its own deadline
   */
  public TermGuard(Keep keep, Duration waitMax) {
    this.keep = keep;
    this.waitMax = waitMax;
  }

  /**
   * Lets in a call with this fence, until the entry is closed. May wait for calls of a lower term
   * to leave.
   *
   * @param fence the election and the term
   * @return the entry, for {@code try}
   * @throws TermRefusedException if it is not let in; see there
   * @throws InterruptedException if this thread is interrupted while it waits
   */
  public Entry enter(Fence fence) throws InterruptedException {
    return enter(fence, waitMax);
  }

  /**
   * The same for a call to a gRPC server, which must carry a fence of {@code election}, the
   * election that guards what its handler touches.
   *
   * @param headers those of the call
   * @param election its name
   * @param left how long the call has until its deadline
   * @return the entry, for {@code try}
   * @throws TermRefusedException if it is not let in; see there
   * @throws InterruptedException if this thread is interrupted while it waits
   */
  public Entry enter(Metadata headers, String election, Duration left) throws InterruptedException {
    Fence fence = FenceCalls.fenceOf(headers);
    if (!fence.election().equals(election)) {
      String details =
          "the call carries a term of election '"
              + fence.election()
              + "', but election '"
              + election
              + "' guards this";
      throw TermRefusedException.of(
          Status.Code.INVALID_ARGUMENT, details, "INVALID_ELECTION_NAME", Map.of());
    }
    return enter(fence, left.compareTo(waitMax) < 0 ? left : waitMax);
  }

  /**
   * A term has been granted: lower ones are refused from now on. Does not wait, and does not call
   * {@link Keep}.
   *
   * @param fence the election and the term
   * @throws TermRefusedException RESOURCE_EXHAUSTED if the guard tracks too many others
   */
  public void raise(Fence fence) {
    lock.lock();
    try {
      seatOf(fence.election()).see(fence.term());
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * The highest term seen so far.
   *
   * @param election its name
   * @return 0 if there was none
   */
  public long highest(String election) {
    lock.lock();
    try {
      GuardedSeat seat = seats.get(election);
      return seat == null ? 0 : seat.highest;
    } finally {
      lock.unlock();
    }
  }

  private Entry enter(Fence fence, Duration patience) throws InterruptedException {
    long left = Validation.nanoseconds(patience);
    lock.lockInterruptibly();
    try {
      GuardedSeat seat = seatOf(fence.election());
      while (true) {
        while (seat.mustWait(fence.term())) {
          if (left <= 0) throw stillRunning(fence);
          left = changed.awaitNanos(left);
        }
        if (fence.term() < seat.highest) throw stale(fence, seat.highest);
        if (fence.term() <= seat.kept) {
          seat.inside++;
          return new Entry(seat, fence);
        }
        keepTerm(seat, fence);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Releases the lock while `keep` runs. */
  private void keepTerm(GuardedSeat seat, Fence fence) {
    long kept;
    seat.keeping = true;
    lock.unlock();
    try {
      kept = keep.keep(fence);
    } catch (RuntimeException failure) {
      throw failure;
    } catch (Exception failure) {
      throw new TenureException("term " + fence.term() + " cannot be stored", failure);
    } finally {
      lock.lock();
      seat.keeping = false;
      changed.signalAll();
    }
    if (kept < fence.term()) {
      throw notStored(fence, kept);
    }
    seat.kept = Math.max(seat.kept, kept);
    seat.see(kept);
  }

  private GuardedSeat seatOf(String election) {
    GuardedSeat seat = seats.get(election);
    if (seat != null) return seat;
    if (seats.size() >= ELECTIONS_MAX) {
      String details = "the guard already tracks " + ELECTIONS_MAX + " elections";
      throw TermRefusedException.of(Status.Code.RESOURCE_EXHAUSTED, details);
    }
    seats.put(election, seat = new GuardedSeat());
    return seat;
  }

  private static TermRefusedException stillRunning(Fence fence) {
    String details = "calls from a lower term of election '" + fence.election() + "' still run";
    return TermRefusedException.of(Status.Code.UNAVAILABLE, details);
  }

  private static TermRefusedException notStored(Fence fence, long kept) {
    String term = "term " + fence.term() + " of election '" + fence.election() + "'";
    return TermRefusedException.of(
        Status.Code.INTERNAL, term + " is not stored: `keep` returned " + kept);
  }

  private static TermRefusedException stale(Fence fence, long highest) {
    String details =
        "term "
            + fence.term()
            + " of election '"
            + fence.election()
            + "' is out of date: term "
            + highest
            + " has been seen";
    return TermRefusedException.of(
        Status.Code.FAILED_PRECONDITION,
        details,
        "STALE_TERM",
        Map.of("current_term", String.valueOf(highest)));
  }
}
