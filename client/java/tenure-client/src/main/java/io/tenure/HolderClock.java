package io.tenure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The clock that a holder counts its lease with, in nanoseconds. Thread-safe.
 *
 * <p>Java has no clock that runs while the machine sleeps: {@link System#nanoTime} stops. So the
 * time of day is read as well. If it gets ahead of the other clock, the machine has slept, a
 * virtual machine was paused, or somebody has set the time. These cannot be told apart; at worst,
 * the seat is lost. If it goes back, which may hide a sleep, the operating system's uptime is read.
 */
final class HolderClock {
  /**
   * A difference between the two clocks that does not count. A belief ends a tenth of the lease
   * early, so at least 100 ms: the shortest lease is a second.
   */
  private static final long TOLERANCE = 50 * Lease.MILLISECOND;

  // This thread may be paused between two readings of the monotonic clock: then read again.
  private static final long LOOK_MAX = 5 * Lease.MILLISECOND;
  private static final int LOOKS_MAX = 3;
  private static final long START = 3600 * Lease.SECOND; // 0 is never

  /** In nanoseconds, from any starting point. */
  interface Sources {
    /** Never goes back. */
    long monotonic();

    long wall();

    /** Runs while the machine sleeps, if possible; else the same as monotonic. */
    long uptime();
  }

  /** The clock of this process. */
  static final HolderClock SYSTEM = new HolderClock(new SystemSources());

  private final Sources sources;
  private final long began;
  private long slept;
  private long wallAhead;
  private long uptimeAhead;

  HolderClock(Sources sources) {
    this.sources = sources;
    began = sources.monotonic();
    wallAhead = sources.wall() - began;
    uptimeAhead = sources.uptime() - began;
  }

  /** Never goes back or stops, not even while the machine sleeps. */
  synchronized long now() {
    long before;
    long wall;
    long after;
    int looks = 0;
    do {
      before = sources.monotonic();
      wall = sources.wall();
      after = sources.monotonic();
    } while (after - before > LOOK_MAX && ++looks < LOOKS_MAX);
    long ahead = wall - before;
    if (Math.abs(ahead - wallAhead) > TOLERANCE) addSleep(before, ahead);
    wallAhead = Math.min(wallAhead, ahead); // a slow clock hides no sleep
    return START + after - began + slept;
  }

  private void addSleep(long monotonic, long ahead) {
    long uptime = sources.uptime() - monotonic;
    slept += Math.max(0, Math.max(ahead - wallAhead, uptime - uptimeAhead));
    wallAhead = ahead;
    uptimeAhead = uptime;
  }

  private static final class SystemSources implements Sources {
    private static final Path UPTIME = Path.of("/proc/uptime"); // on Linux

    @Override
    public long monotonic() {
      return System.nanoTime();
    }

    @Override
    public long wall() {
      return System.currentTimeMillis() * Lease.MILLISECOND;
    }

    @Override
    public long uptime() {
      try {
        String seconds = Files.readString(UPTIME).split(" ", 2)[0];
        return (long) (Double.parseDouble(seconds) * Lease.SECOND);
      } catch (IOException | NumberFormatException noLinux) {
        return monotonic();
      }
    }
  }
}
