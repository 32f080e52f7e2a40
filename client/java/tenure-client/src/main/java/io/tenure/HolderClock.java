package io.tenure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The clock by which a holder counts its lease, in nanoseconds. Thread-safe.
 *
 * <p>Java has no clock that runs on while the machine sleeps: {@link System#nanoTime} stands still.
 * So the time of day is looked at as well. When it has gone ahead of the other clock, the machine
 * has slept, or a virtual machine was paused; or somebody has set the time, which cannot be told
 * apart, and costs the seat at worst. When it has gone back, which may hide a sleep, the operating
 * system's uptime is asked.
 */
final class HolderClock {
  /**
   * What the two may differ by before it counts. A belief ends a tenth of the lease early, so at
   * least 100 ms: the shortest lease of a service is a second.
   */
  private static final long TOLERANCE = 50 * Lease.MILLISECOND;

  // Between two looks at the monotonic clock, this thread may be paused: then once more.
  private static final long LOOK_MAX = 5 * Lease.MILLISECOND;
  private static final int LOOKS_MAX = 3;
  private static final long START = 3600 * Lease.SECOND; // 0 is never

  /** In nanoseconds, from any beginning. */
  interface Sources {
    /** Only ever rises. */
    long monotonic();

    long wall();

    /** Runs on while the machine sleeps, where it can; else the same as monotonic. */
    long uptime();
  }

  /** That of this process. */
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

  /** Rises always, and also while the machine sleeps. */
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
    private static final Path UPTIME = Path.of("/proc/uptime"); // of Linux

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
