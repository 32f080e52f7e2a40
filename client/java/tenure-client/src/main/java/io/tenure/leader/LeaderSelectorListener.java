package io.tenure.leader;

import io.tenure.Seat;

/** The work of a process while it leads. */
@FunctionalInterface
public interface LeaderSelectorListener {
  /**
   * Called when this process leads. It leads until this method returns. The thread is interrupted
   * when it must return: before the lease ends, when an operator wants another leader, when the
   * seat is lost, and when the selector is closed.
   *
   * @param seat the term, for what must never be done by two leaders
   * @throws Exception when it fails, or is interrupted; its term ends then, too
   */
  void takeLeadership(Seat seat) throws Exception;
}
