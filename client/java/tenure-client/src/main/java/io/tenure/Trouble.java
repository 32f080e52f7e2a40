package io.tenure;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Logs once that an endpoint cannot be used, and once that it answers again; in between only other
 * reasons, at most once a minute. Thread-safe.
 */
final class Trouble {
  private static final long AGAIN_NS = Duration.ofMinutes(1).toNanos();

  private final boolean quiet;
  private final Map<String, Failing> failing = new HashMap<>(); // by endpoint; these under this
  private ServiceException latest; // null: none

  /** Since when, and what was logged last. */
  private record Failing(long began, String kind, long saidAt) {}

  Trouble(boolean quiet) {
    this.quiet = quiet;
  }

  synchronized void failed(String endpoint, ServiceException error, boolean connected) {
    failed(error);
    found(endpoint, error, connected);
  }

  /** Logs nothing. */
  synchronized void failed(ServiceException error) {
    latest = error;
  }

  /** A survey has found this: the endpoint may not even be in use. */
  synchronized void found(String endpoint, ServiceException error, boolean connected) {
    long now = System.nanoTime();
    Reason reason = Reason.of(error, connected);
    Failing before = failing.get(endpoint);
    if (before != null) {
      if (reason.kind().equals(before.kind) || now - before.saidAt < AGAIN_NS) return;
    }
    long began = before == null ? now : before.began;
    failing.put(endpoint, new Failing(began, reason.kind(), now));
    if (!quiet) Log.warn("cannot use " + endpoint + ": " + reason + "; still trying");
  }

  synchronized void answered(String endpoint) {
    latest = null;
    Failing before = failing.remove(endpoint);
    if (before == null || quiet) return;
    long seconds = Duration.ofNanos(System.nanoTime() - before.began).toSeconds();
    Log.info(endpoint + " answers after " + seconds + " s");
  }

  /** The trouble of all these endpoints together has ended. */
  synchronized void settled(String endpoints) {
    failing.remove(endpoints);
  }

  /** The last failure; null if the last call was answered. */
  synchronized ServiceException latest() {
    return latest;
  }
}
