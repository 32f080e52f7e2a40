package io.tenure.shedlock;

import io.tenure.ServiceException;
import io.tenure.TenureException;
import io.tenure.TimedLocks;
import io.tenure.TimedLocks.TimedLock;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;

/**
 * A lock provider of ShedLock: {@code new TenureLockProvider(TimedLocks.builder().endpoints(
 * "tenure:7070").build())}.
 *
 * <p>What it promises
 *
 * <ul>
 *   <li>{@code lockAtMostFor} is the lease of a session that is never renewed. Nobody else gets the
 *       lock before it expires, even if its holder is cut off from the service; then the service
 *       frees it, whether its holder lives or not. The service's clock counts, so the clocks of the
 *       hosts may differ.
 *   <li>{@code lockAtLeastFor}: a lock that is released earlier is kept until then.
 *   <li>Locks can be extended, also by ShedLock's {@code KeepAliveLockProvider}. Nobody else had an
 *       extended lock in between.
 * </ul>
 *
 * <p>What it does not promise
 *
 * <ul>
 *   <li>{@code lockAtMostFor} has the service's limits. A time longer than its longest lease (24 h)
 *       is refused with an exception. After a time shorter than its shortest lease (1 s), this
 *       process releases the lock; if it dies meanwhile, the service does so after the shortest
 *       lease.
 *   <li>A process that ends while a lock is kept for {@code lockAtLeastFor} can no longer release
 *       it: it is kept until {@code lockAtMostFor} has passed. Operators can set {@code min_hold}
 *       of the election instead.
 *   <li>As with any lock provider, nothing stops a task that takes longer than {@code
 *       lockAtMostFor}.
 * </ul>
 *
 * <p>A lock is the election {@code shedlock/NAME}. Exceptions of the service are {@link
 * ServiceException}s: the task does not run then. Thread-safe.
 */
public final class TenureLockProvider implements ExtensibleLockProvider, AutoCloseable {
  private static final Logger LOGGER = System.getLogger("io.tenure");
  private static final String PREFIX = "shedlock/";

  private final TimedLocks locks;
  private final String prefix;
  private final ScheduledThreadPoolExecutor releases;

  /**
   * Locks are the elections {@code shedlock/NAME}.
   *
   * @param locks takes the locks; closed with the provider
   */
  public TenureLockProvider(TimedLocks locks) {
    this(locks, PREFIX);
  }

  /**
   * Locks are elections with another prefix.
   *
   * @param locks takes the locks; closed with the provider
   * @param prefix of the elections' names
   */
  public TenureLockProvider(TimedLocks locks, String prefix) {
    this.locks = Objects.requireNonNull(locks, "locks");
    this.prefix = Objects.requireNonNull(prefix, "prefix");
    releases =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "tenure-shedlock");
              thread.setDaemon(true);
              return thread;
            });
    releases.setRemoveOnCancelPolicy(true);
  }

  @Override
  public Optional<SimpleLock> lock(LockConfiguration configuration) {
    String name = prefix + configuration.getName();
    return held(configuration, time -> locks.tryLock(name, time));
  }

  /** Held locks keep their time. */
  @Override
  public void close() {
    releases.shutdownNow();
    locks.close();
  }

  /** Takes a lock for this time. */
  private interface Taking {
    Optional<TimedLock> forTime(Duration time);
  }

  private Optional<SimpleLock> held(LockConfiguration configuration, Taking taking) {
    Duration atMost = configuration.getLockAtMostFor();
    try {
      return taking.forTime(atMost).map(lock -> new Held(configuration, lock, null));
    } catch (ServiceException error) {
      Duration shortest = shortestLease(error);
      if (shortest.compareTo(atMost) <= 0) throw error;
      return taking
          .forTime(shortest)
          .map(lock -> new Held(configuration, lock, releaseLater(lock, atMost)));
    }
  }

  /** Zero unless the time was refused for being too short. */
  private static Duration shortestLease(ServiceException error) {
    if (!error.reason().equals("INVALID_LEASE_TTL")) return Duration.ZERO;
    return Duration.ofMillis(Long.parseLong(error.metadata().getOrDefault("min_ms", "0")));
  }

  private Future<?> releaseLater(TimedLock lock, Duration delay) {
    return releases.schedule(() -> release(lock), delay.toNanos(), TimeUnit.NANOSECONDS);
  }

  private static void release(TimedLock lock) {
    try {
      lock.unlock();
    } catch (TenureException failure) {
      LOGGER.log(Level.WARNING, "a lock is kept until its time is over", failure);
    }
  }

  private final class Held extends AbstractSimpleLock {
    private final TimedLock lock;
    private final Future<?> early; // null: the service ends the lock

    Held(LockConfiguration configuration, TimedLock lock, Future<?> early) {
      super(configuration);
      this.lock = lock;
      this.early = early;
    }

    @Override
    protected void doUnlock() {
      Duration left =
          Duration.between(ClockProvider.now(), lockConfiguration.getLockAtLeastUntil());
      Duration atLeast = lockConfiguration.getLockAtLeastFor();
      if (left.compareTo(atLeast) > 0) left = atLeast; // the clock was set back, or is coarse
      if (left.isNegative() || left.isZero()) {
        lock.unlock();
      } else {
        releaseLater(lock, left);
      }
    }

    @Override
    protected Optional<SimpleLock> doExtend(LockConfiguration configuration) {
      if (early != null && !early.cancel(false)) return Optional.empty(); // it has ended
      return held(configuration, lock::extend);
    }
  }
}
