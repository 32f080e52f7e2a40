package io.tenure.shedlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tenure.ServiceException;
import io.tenure.TimedLocks;
import io.tenure.testing.Service;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What ShedLock expects of any provider, that is the cases of its unpublished test support; and
 * what this one promises. Against a real service.
 */
@Timeout(60)
class TenureLockProviderTest {
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final Duration BRIEF = Duration.ofSeconds(1);

  private Service service;
  private TenureLockProvider provider;
  private TenureLockProvider rival;

  @BeforeEach
  void start() {
    service = Service.start();
    provider = newProvider();
    rival = newProvider();
  }

  @AfterEach
  void stop() {
    provider.close();
    rival.close();
    service.close();
  }

  private TenureLockProvider newProvider() {
    return new TenureLockProvider(TimedLocks.builder().endpoints(service.endpoint()).build());
  }

  private static LockConfiguration configuration(Duration atMost, Duration atLeast) {
    return new LockConfiguration(ClockProvider.now(), "nightly", atMost, atLeast);
  }

  private static LockConfiguration configuration() {
    return configuration(LONG, Duration.ZERO);
  }

  /** By somebody else. */
  private boolean isLocked() {
    Optional<SimpleLock> lock = rival.lock(configuration());
    lock.ifPresent(SimpleLock::unlock);
    return lock.isEmpty();
  }

  private SimpleLock lock(Duration atMost, Duration atLeast) {
    return provider.lock(configuration(atMost, atLeast)).orElseThrow();
  }

  // Any provider.

  @Test
  void aLockIsHeldUntilItIsReleased() {
    SimpleLock lock = lock(LONG, Duration.ZERO);
    assertTrue(isLocked());

    lock.unlock();

    assertFalse(isLocked());
  }

  @Test
  void theSameProviderDoesNotGetItTwice() {
    lock(LONG, Duration.ZERO);

    assertEquals(Optional.empty(), provider.lock(configuration()));
  }

  @Test
  void locksOfTwoNamesAreIndependent() {
    lock(LONG, Duration.ZERO);

    LockConfiguration other =
        new LockConfiguration(ClockProvider.now(), "hourly", LONG, Duration.ZERO);
    assertTrue(provider.lock(other).isPresent());
  }

  @Test
  void aLockCanBeTakenAgainAndAgain() {
    for (int i = 0; i < 10; i++) {
      SimpleLock lock = lock(LONG, Duration.ZERO);
      assertEquals(Optional.empty(), provider.lock(configuration()));
      lock.unlock();
    }
  }

  @Test
  void aLockIsReleasedWhenUnlockReturns() {
    unlockBy(new HastyClock(), lock(LONG, Duration.ZERO));

    assertFalse(isLocked());
  }

  @Test
  void aClockThatIsSetBackDoesNotKeepALock() {
    Clock anHourAgo = Clock.offset(Clock.systemUTC(), Duration.ofHours(-1));

    unlockBy(anHourAgo, lock(LONG, Duration.ZERO));

    assertFalse(isLocked());
  }

  private static void unlockBy(Clock clock, SimpleLock lock) {
    ClockProvider.setClock(clock);
    try {
      lock.unlock();
    } finally {
      ClockProvider.setClock(Clock.systemUTC());
    }
  }

  /** One hour later at each reading. */
  private static final class HastyClock extends Clock {
    private Instant now = Instant.now();

    @Override
    public Instant instant() {
      now = now.plus(Duration.ofHours(1));
      return now;
    }

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }
  }

  @Test
  void aLockEndsAfterLockAtMostFor() {
    long began = System.nanoTime();
    lock(BRIEF, Duration.ZERO);

    while (isLocked()) Thread.onSpinWait();

    assertTrue(System.nanoTime() - began >= BRIEF.toNanos());
  }

  @Test
  void aLockShorterThanTheShortestLeaseEndsToo() {
    Duration atMost = Duration.ofMillis(300);
    long began = System.nanoTime();
    lock(atMost, Duration.ZERO);

    while (isLocked()) Thread.onSpinWait();

    assertTrue(System.nanoTime() - began >= atMost.toNanos());
  }

  @Test
  void aLockThatIsReleasedEarlyIsKeptForLockAtLeastFor() {
    LockConfiguration configuration = configuration(LONG, BRIEF);
    provider.lock(configuration).orElseThrow().unlock();

    while (isLocked()) Thread.onSpinWait();

    Instant atLeastUntil = configuration.getLockAtLeastUntil();
    assertFalse(ClockProvider.now().isBefore(atLeastUntil), atLeastUntil::toString);
  }

  @Test
  void manyThreadsCountWithoutLosingOne() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(8);
    int[] counters = new int[2]; // each under a lock
    List<Callable<Void>> tasks = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      int counter = i % 2;
      TenureLockProvider own = i < 4 ? provider : rival;
      tasks.add(() -> count(own, counters, counter, 25));
    }

    for (Future<Void> task : threads.invokeAll(tasks)) task.get();

    threads.shutdown();
    assertEquals(100, counters[0]);
    assertEquals(100, counters[1]);
  }

  private static Void count(TenureLockProvider own, int[] counters, int counter, int times) {
    for (int counted = 0; counted < times; ) {
      LockConfiguration configuration =
          new LockConfiguration(ClockProvider.now(), "counter" + counter, LONG, Duration.ZERO);
      Optional<SimpleLock> lock = own.lock(configuration);
      if (lock.isEmpty()) continue;
      int seen = counters[counter];
      Thread.yield();
      counters[counter] = seen + 1;
      lock.get().unlock();
      counted++;
    }
    return null;
  }

  // Providers of extensible locks.

  @Test
  void anExtendedLockOutlivesTheFirstOne() {
    Duration first = Duration.ofSeconds(3);
    SimpleLock lock = lock(first, Duration.ZERO);
    long began = System.nanoTime();

    SimpleLock extended = lock.extend(LONG, Duration.ZERO).orElseThrow();

    while (System.nanoTime() - began < first.toNanos()) assertTrue(isLocked());
    assertTrue(isLocked());
    extended.unlock();
    assertFalse(isLocked());
  }

  @Test
  void aReleasedLockIsNotExtended() {
    SimpleLock lock = lock(LONG, Duration.ZERO);
    lock.unlock();

    assertThrows(IllegalStateException.class, () -> lock.extend(LONG, Duration.ZERO));

    assertFalse(isLocked());
  }

  @Test
  void aLockThatHasEndedIsNotExtended() {
    for (Duration atMost : List.of(BRIEF, Duration.ofMillis(1))) {
      SimpleLock lock = lock(atMost, Duration.ZERO);
      while (isLocked()) Thread.onSpinWait();

      assertEquals(Optional.empty(), lock.extend(LONG, Duration.ZERO));

      assertFalse(isLocked());
    }
  }

  @Test
  void lockAtLeastForCanBeExtended() {
    SimpleLock lock = lock(LONG, Duration.ZERO);

    lock.extend(LONG, Duration.ofMinutes(1)).orElseThrow().unlock();

    assertTrue(isLocked());
  }

  @Test
  void aLockIsExtendedOnceAndThenVoid() {
    SimpleLock lock = lock(LONG, Duration.ZERO);
    lock.extend(LONG, Duration.ZERO).orElseThrow();

    assertThrows(IllegalStateException.class, () -> lock.extend(LONG, Duration.ZERO));
    assertThrows(IllegalStateException.class, lock::unlock);
    assertTrue(isLocked());
  }

  @Test
  void aLockThatIsShorterThanTheShortestLeaseCanBeExtended() {
    try (Service slow = Service.start("--lease-ttl-min", "10m", "--lease-ttl-default", "10m");
        TenureLockProvider other =
            new TenureLockProvider(TimedLocks.builder().endpoints(slow.endpoint()).build())) {
      SimpleLock lock = other.lock(configuration()).orElseThrow();

      SimpleLock extended = lock.extend(LONG, Duration.ZERO).orElseThrow();

      assertEquals(Optional.empty(), other.lock(configuration()));
      extended.unlock();
      assertTrue(other.lock(configuration()).isPresent());
    }
  }

  // This provider.

  @Test
  void aLockThatIsLongerThanTheLongestLeaseIsRefused() {
    LockConfiguration twoDays = configuration(Duration.ofDays(2), Duration.ZERO);

    ServiceException error = assertThrows(ServiceException.class, () -> provider.lock(twoDays));

    assertEquals("INVALID_LEASE_TTL", error.reason());
  }

  @Test
  void aLockIsKeptWhenItsProviderIsClosed() {
    lock(LONG, Duration.ZERO);

    provider.close();

    assertTrue(isLocked());
    assertTrue(service.tool("list").contains("shedlock/nightly"));
  }

  @Test
  void anotherPrefixIsAnotherLock() {
    lock(LONG, Duration.ZERO);

    try (TenureLockProvider other =
        new TenureLockProvider(
            TimedLocks.builder().endpoints(service.endpoint()).build(), "shop/")) {
      assertTrue(other.lock(configuration()).isPresent());
    }
  }
}
