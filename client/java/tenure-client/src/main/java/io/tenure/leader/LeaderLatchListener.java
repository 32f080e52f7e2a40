package io.tenure.leader;

/**
 * Learns whether this process leads. The methods are called in order, on a thread of the client
 * that does nothing else.
 */
public interface LeaderLatchListener {
  /** This process leads. By now it may have lost the seat again: ask the latch. */
  void isLeader();

  /** This process does not lead any more. */
  void notLeader();
}
