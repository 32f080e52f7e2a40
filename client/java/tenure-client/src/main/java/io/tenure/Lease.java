package io.tenure;

import com.google.protobuf.Duration;

/**
 * A holder's own view of its lease, on its own clock.
 *
 * <p>Pure, as are {@link SeatMachine} and {@link Session}: {@code now} is an argument. In these
 * classes every time and every duration is in nanoseconds on the holder's clock, and times are
 * positive.
 *
 * <p>The service counts a lease from when it received the renewal. The holder counts it from before
 * it sent that renewal, and believes in it for a tenth less: so it stops before the service elects
 * anyone else, as long as the two clocks drift apart by less than a tenth.
 */
final class Lease {
  static final long MILLISECOND = 1_000_000;
  static final long SECOND = 1_000_000_000;
  static final long NEVER = Long.MAX_VALUE;

  /** A holder trusts all but 1/BELIEF_DIVISOR of its lease. */
  private static final int BELIEF_DIVISOR = 10;

  private static final int RENEWALS_PER_LEASE = 3;
  private static final long SECONDS_MAX = 1_000_000_000; // longer leases are cut to this

  private long ttl;
  private long believedUntil;
  private long renewedAt;

  /** A renewal sent at {@code sentAt} was answered. Answers may come in any order. */
  void renewed(long sentAt, long ttl) {
    this.ttl = ttl;
    renewedAt = Math.max(renewedAt, sentAt);
    believedUntil = Math.max(believedUntil, sentAt + ttl - ttl / BELIEF_DIVISOR);
  }

  long ttl() {
    return ttl;
  }

  long believedUntil() {
    return believedUntil;
  }

  boolean believedAt(long now) {
    return now < believedUntil;
  }

  /** Without the margin for drift. */
  long endsAt() {
    return renewedAt + ttl;
  }

  /** When a renewal, and a second attempt, should have been answered. */
  long overdueAt() {
    return renewedAt + ttl / 2;
  }

  long renewalInterval() {
    return ttl / RENEWALS_PER_LEASE;
  }

  static long nanoseconds(Duration duration) {
    return Math.min(duration.getSeconds(), SECONDS_MAX) * SECOND + duration.getNanos();
  }

  static Duration duration(long nanoseconds) {
    return Duration.newBuilder()
        .setSeconds(nanoseconds / SECOND)
        .setNanos((int) (nanoseconds % SECOND))
        .build();
  }
}
