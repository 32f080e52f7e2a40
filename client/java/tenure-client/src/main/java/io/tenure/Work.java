package io.tenure;

/** What a process does while it leads. */
@FunctionalInterface
public interface Work {
  /**
   * Called in each term. Must return soon after {@link Seat#isStopping}: the seat is given up when
   * it has returned, and not before.
   *
   * @param seat the term in which this process leads
   * @throws Exception when it fails; its term ends then, too
   */
  void run(Seat seat) throws Exception;
}
