package io.tenure;

import com.google.protobuf.ByteString;

/**
 * How a process stands in an election.
 *
 * @param hasWork there is work that has to be asked to end, and that says when it has ended. If
 *     not, whatever was begun in belief ends within the grace
 * @param stopGrace how long the work may take to end, at most half of the lease, in nanoseconds.
 *     {@link #QUARTER}: a quarter of it
 * @param oneTerm it stands no more once it leads: there is one term
 */
record SeatOptions(
    String election,
    ByteString value,
    int priority,
    boolean hasWork,
    long stopGrace,
    boolean oneTerm) {
  static final long QUARTER = -1;

  /** Of a seat that nobody wants. */
  static SeatOptions unwanted(String election) {
    return new SeatOptions(election, ByteString.EMPTY, 0, false, QUARTER, false);
  }
}
