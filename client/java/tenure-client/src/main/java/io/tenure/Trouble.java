package io.tenure;

import java.time.Duration;

/**
 * Says once that the service cannot be used, and once that it answers again; in between only what
 * is wrong in another way, at most once a minute. Thread-safe.
 */
final class Trouble {
  private static final long AGAIN_NS = Duration.ofMinutes(1).toNanos();

  private final boolean quiet;
  private ServiceException latest; // null: none; these under this
  private Reason said;
  private long began;
  private long saidAt;

  Trouble(boolean quiet) {
    this.quiet = quiet;
  }

  synchronized void failed(String endpoint, ServiceException error, boolean connected) {
    long now = System.nanoTime();
    Reason reason = Reason.of(error, connected);
    boolean first = latest == null;
    latest = error;
    if (first) began = now;
    boolean changed = !first && !reason.kind().equals(said.kind()) && now - saidAt >= AGAIN_NS;
    if (!first && !changed) return;
    said = reason;
    saidAt = now;
    if (!quiet) Log.warn("cannot use " + endpoint + ": " + reason + "; still trying");
  }

  synchronized void answered(String endpoint) {
    if (latest == null) return;
    latest = null;
    long seconds = Duration.ofNanos(System.nanoTime() - began).toSeconds();
    if (!quiet) Log.info(endpoint + " answers after " + seconds + " s");
  }

  /** The last failure; null if the last call was answered. */
  synchronized ServiceException latest() {
    return latest;
  }
}
