package io.tenure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.MethodDescriptor;
import io.tenure.TimedLocks.TimedLock;
import io.tenure.testing.Service;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Locks for a fixed time, against a real service. */
@Timeout(60)
class TimedLocksTest {
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final Duration SHORTER = Duration.ofMinutes(1);
  private static final Duration BRIEF = Duration.ofSeconds(1);

  private Service service;
  private TimedLocks locks;
  private TimedLocks rivals;

  @BeforeEach
  void start() {
    service = Service.start();
    locks = TimedLocks.builder().endpoints(service.endpoint()).candidate("a").build();
    rivals = TimedLocks.builder().endpoints(service.endpoint()).candidate("b").build();
  }

  @AfterEach
  void stop() {
    locks.close();
    rivals.close();
    service.close();
  }

  /** Waits for the lock by polling: nobody reports when it is free. */
  private static TimedLock lock(TimedLocks locks, String name) {
    Optional<TimedLock> lock = Optional.empty();
    while (lock.isEmpty()) lock = locks.tryLock(name, LONG);
    return lock.get();
  }

  @Test
  void itsCallsBelongToTheCallersTrace() {
    ThreadLocal<String> span = new ThreadLocal<>();
    List<String> spans = new CopyOnWriteArrayList<>();
    ClientInterceptor tracing =
        new ClientInterceptor() {
          @Override
          public <Request, Response> ClientCall<Request, Response> interceptCall(
              MethodDescriptor<Request, Response> method, CallOptions options, Channel next) {
            spans.add(method.getBareMethodName() + " in " + span.get());
            return next.newCall(method, options);
          }
        };
    span.set("span 7");
    TimedLocks.Builder builder = TimedLocks.builder().endpoints(service.endpoint());

    try (TimedLocks locks = builder.interceptor(tracing).build()) {
      locks.tryLock("backup", Duration.ofMinutes(1)).orElseThrow().unlock();
    }

    assertEquals(List.of("Campaign in span 7", "Resign in span 7"), spans);
  }

  @Test
  void oneHasTheLockUntilItIsGivenBack() {
    TimedLock lock = locks.tryLock("backup", LONG).orElseThrow();
    assertEquals("backup", lock.fence().election());
    assertEquals(Optional.empty(), rivals.tryLock("backup", LONG));
    assertEquals(Optional.empty(), locks.tryLock("backup", LONG));
    assertTrue(rivals.tryLock("reports", LONG).isPresent());

    lock.unlock();

    TimedLock next = rivals.tryLock("backup", LONG).orElseThrow();
    assertTrue(next.fence().term() > lock.fence().term());
    lock.unlock(); // no longer valid
    assertEquals(Optional.empty(), locks.tryLock("backup", LONG));
  }

  @Test
  void aProcessThatDoesNotGetTheLockLeavesNoTrace() {
    TimedLock lock = locks.tryLock("backup", LONG).orElseThrow();

    for (int i = 0; i < 3; i++) rivals.tryLock("backup", LONG);

    assertFalse(service.tool("sessions").contains("b#"));
    lock.unlock();
    assertTrue(locks.tryLock("backup", LONG).isPresent());
  }

  @Test
  void aLockEndsWithItsTime() {
    TimedLock lock = locks.tryLock("backup", BRIEF).orElseThrow();
    assertTrue(lock.remaining().compareTo(BRIEF) <= 0);

    TimedLock next = lock(rivals, "backup");

    assertEquals(lock.fence().term() + 1, next.fence().term());
    assertEquals(Duration.ZERO, lock.remaining());
    assertEquals(Optional.empty(), lock.extend(LONG));
    assertEquals(Optional.empty(), locks.tryLock("backup", LONG));
  }

  @Test
  void theWorkEndsBeforeTheLockDoesEvenIfTheClocksDrift() {
    TimedLock lock = locks.tryLock("backup", LONG).orElseThrow();

    Duration most = LONG.minus(LONG.dividedBy(10));
    assertTrue(lock.remaining().compareTo(most) <= 0);
    assertTrue(lock.extend(LONG).orElseThrow().remaining().compareTo(most) <= 0);
  }

  @Test
  void anExtendedLockIsHeldForItsNewTime() {
    TimedLock lock = locks.tryLock("backup", LONG).orElseThrow();

    TimedLock shorter = lock.extend(SHORTER).orElseThrow();

    assertEquals(lock.fence().term() + 1, shorter.fence().term());
    lock.unlock(); // no longer valid
    assertEquals(Optional.empty(), rivals.tryLock("backup", LONG));
    TimedLock longer = shorter.extend(LONG).orElseThrow();
    assertTrue(longer.remaining().compareTo(SHORTER) > 0);
    assertEquals(Optional.empty(), rivals.tryLock("backup", LONG));
    longer.unlock();
    assertTrue(rivals.tryLock("backup", LONG).isPresent());
  }

  @Test
  void aLockThatWasTakenAwayIsNotExtended() {
    TimedLock lock = locks.tryLock("backup", LONG).orElseThrow();
    service.tool("depose", "backup");
    TimedLock other = rivals.tryLock("backup", LONG).orElseThrow();

    assertEquals(Optional.empty(), lock.extend(LONG));
    other.unlock();
    assertEquals(Optional.empty(), lock.extend(LONG));

    assertTrue(rivals.tryLock("backup", LONG).isPresent());
  }

  @Test
  void ifNoReplicaAnswersAllAreAskedAgain() {
    AtomicInteger asked = new AtomicInteger();
    ClientInterceptor counting =
        new ClientInterceptor() {
          @Override
          public <Request, Response> ClientCall<Request, Response> interceptCall(
              MethodDescriptor<Request, Response> method, CallOptions options, Channel next) {
            asked.incrementAndGet();
            return next.newCall(method, options);
          }
        };
    service.stop();
    TimedLocks.Builder builder =
        TimedLocks.builder().endpoints(service.endpoint() + ",127.0.0.1:1");

    try (TimedLocks both = builder.interceptor(counting).build()) {
      assertThrows(ServiceException.class, () -> both.tryLock("backup", LONG));
    }

    assertTrue(asked.get() > 2, "each was asked once");
  }

  @Test
  void aDeadReplicaIsAbandoned() {
    try (Service other = service.startReplica();
        TimedLocks both =
            TimedLocks.builder().endpoints(service.endpoint() + "," + other.endpoint()).build()) {
      for (Service replica : new Service[] {service, other}) {
        replica.stop();
        both.tryLock("backup", LONG).orElseThrow().unlock();
        replica.restart();
      }
    }
  }

  @Test
  void aServiceThatDoesNotAnswerIsAnException() {
    service.stop();

    assertThrows(ServiceException.class, () -> locks.tryLock("backup", LONG));
  }

  @Test
  void aRefusalOfTheServiceIsAnException() {
    Duration tooShort = Duration.ofMillis(50);
    ServiceException error =
        assertThrows(ServiceException.class, () -> locks.tryLock("backup", tooShort));
    assertEquals("INVALID_LEASE_TTL", error.reason());
    assertEquals("1000", error.metadata().get("min_ms"));
    assertThrows(IllegalArgumentException.class, () -> locks.tryLock("", LONG));
    assertThrows(IllegalArgumentException.class, () -> locks.tryLock("backup", Duration.ZERO));
    TimedLocks.Builder builder = TimedLocks.builder();
    assertThrows(IllegalArgumentException.class, () -> builder.candidate("c".repeat(239)));
  }
}
