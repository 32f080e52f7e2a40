package io.tenure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class HolderClockTest {
  private static final long HOUR = 3600 * Lease.SECOND;
  private static final long MS = Lease.MILLISECOND;

  /** A machine whose clocks the test moves. */
  private static final class Machine implements HolderClock.Sources {
    private long monotonic = 5_000;
    private long wall = 1_000_000 * Lease.SECOND;
    private long uptime = 7_000 * Lease.SECOND;
    private long pauseOfLook;

    final HolderClock clock = new HolderClock(this);
    long before = clock.now();

    long passed() {
      return clock.now() - before;
    }

    void runs(long time) {
      sleeps(time);
      monotonic += time;
    }

    void sleeps(long time) {
      wall += time;
      uptime += time;
    }

    void setsTheTime(long step) {
      wall += step;
    }

    /** A paused virtual machine notices only by the time of day. */
    void isPaused(long time) {
      wall += time;
    }

    /** The next reading of the clock is interrupted halfway. */
    void pausesNextLook(long time) {
      pauseOfLook = time;
    }

    @Override
    public long monotonic() {
      return monotonic;
    }

    @Override
    public long wall() {
      runs(pauseOfLook);
      pauseOfLook = 0;
      return wall;
    }

    @Override
    public long uptime() {
      return uptime;
    }
  }

  private final Machine machine = new Machine();

  @Test
  void itRunsLikeTheMonotonicClock() {
    machine.runs(1_234_567);

    assertEquals(1_234_567, machine.passed());
  }

  @Test
  void itKeepsRunningWhileTheMachineSleepsEachTime() {
    machine.sleeps(HOUR);
    assertEquals(HOUR, machine.passed());
    machine.runs(10);
    machine.sleeps(HOUR);

    assertEquals(2 * HOUR + 10, machine.passed());
  }

  @Test
  void itKeepsRunningWhileAVirtualMachineIsPaused() {
    machine.isPaused(HOUR);

    assertEquals(HOUR, machine.passed());
  }

  @Test
  void settingTheTimeOfDayBackChangesNothing() {
    machine.setsTheTime(-HOUR);
    machine.runs(10);

    assertEquals(10, machine.passed());
  }

  @Test
  void aSleepAfterTheTimeOfDayWasSetBackCounts() {
    machine.setsTheTime(-HOUR);
    machine.clock.now();
    machine.sleeps(HOUR / 2);

    assertEquals(HOUR / 2, machine.passed());
  }

  @Test
  void settingTheTimeOfDayBackHidesNoSleep() {
    machine.sleeps(HOUR);
    machine.setsTheTime(-HOUR / 2);
    assertEquals(HOUR, machine.passed());

    machine.sleeps(HOUR);
    machine.setsTheTime(-2 * HOUR);
    assertEquals(2 * HOUR, machine.passed());
  }

  @Test
  void shortSleepsAddUp() {
    for (int i = 0; i < 100; i++) {
      machine.sleeps(40 * MS);
      machine.clock.now();
    }

    assertTrue(machine.passed() >= 99 * 40 * MS);
  }

  @Test
  void slowingTheTimeOfDayDownHidesNoSleep() {
    for (int i = 0; i < 100; i++) {
      machine.setsTheTime(-40 * MS);
      machine.clock.now();
    }
    machine.sleeps(60 * MS);

    assertEquals(60 * MS, machine.passed());
  }

  @Test
  void aThreadPausedWhileItReadsTheClocksHasNotSlept() {
    machine.pausesNextLook(200 * MS);

    assertEquals(200 * MS, machine.passed());
    assertEquals(200 * MS, machine.passed());
  }

  @Test
  void itNeverGoesBack() {
    long before = machine.before;
    long[] moves = {HOUR, -HOUR, 1_000 * MS, -2_000 * MS, 49 * MS, -49 * MS, 51 * MS, -51 * MS};

    for (int i = 0; i < 2 * moves.length; i++) {
      machine.setsTheTime(moves[i % moves.length]);
      long now = machine.clock.now();
      assertTrue(now >= before);
      before = now;
    }
  }

  @Test
  void theClockOfThisProcessRises() {
    long before = HolderClock.SYSTEM.now();

    assertTrue(before > 0);
    assertTrue(HolderClock.SYSTEM.now() >= before);
  }
}
