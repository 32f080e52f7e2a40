package io.tenure;

import java.util.Objects;

/**
 * A term of an election, to be sent with everything that only a leader may do: see {@code
 * FenceCalls} and {@code SqlFence}.
 *
 * @param election the name of the election
 * @param term the term, from 1
 */
public record Fence(String election, long term) {
  /**
   * Checks both.
   *
   * @param election the name of the election
   * @param term the term, from 1
   * @throws IllegalArgumentException if the name is malformed, or the term is not positive
   */
  public Fence {
    Validation.checkName(Objects.requireNonNull(election), "election");
    if (term < 1) throw new IllegalArgumentException("term is " + term + "; it must be 1 or more");
  }
}
