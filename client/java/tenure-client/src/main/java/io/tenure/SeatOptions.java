package io.tenure;

import com.google.protobuf.ByteString;

/**
 * How a process stands in an election.
 *
 * @param hasWork there is work, which must be asked to end, and reports when it has. Without it,
 *     anything begun while leading ends within the grace
 * @param stopGrace how long the work may take to end, at most half of the lease, in nanoseconds.
 *     {@link #QUARTER}: a quarter of it
 * @param oneTerm it leads for one term, and then no longer stands
 */
record SeatOptions(
    String election,
    ByteString value,
    int priority,
    boolean hasWork,
    long stopGrace,
    boolean oneTerm) {
  static final long QUARTER = -1;

  /** For a seat that nobody wants. */
  static SeatOptions unwanted(String election) {
    return new SeatOptions(election, ByteString.EMPTY, 0, false, QUARTER, false);
  }
}
