package io.tenure.leader;

/**
 * Called when this process gains or loses the leadership. The methods are called in order, on a
 * thread of the client that does nothing else.
 */
public interface LeaderLatchListener {
  /** This process leads. It may have lost the seat again by now: ask the latch. */
  void isLeader();

  /** This process no longer leads. */
  void notLeader();
}
