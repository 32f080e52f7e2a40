package io.tenure;

import io.tenure.v1.Cause;
import java.time.Duration;

/**
 * Counts what happens to a client: see {@code io.tenure.micrometer.MicrometerMetrics}. Called on
 * the thread that renews the lease: it must return at once.
 */
public interface ClientMetrics {
  /**
   * This process stands in this election from now on.
   *
   * @param election its name
   */
  default void stands(String election) {}

  /**
   * A term of this process has begun.
   *
   * @param election its name
   */
  default void elected(String election) {}

  /**
   * A term of this process has ended.
   *
   * @param election its name
   * @param cause why
   */
  default void lost(String election, Cause cause) {}

  /**
   * Half of a leader's lease has passed without a renewal.
   *
   * @param election its name
   */
  default void suspended(String election) {}

  /**
   * A leader's work was still running at its deadline.
   *
   * @param election its name
   */
  default void overrun(String election) {}

  /**
   * A renewal was answered.
   *
   * @param roundTrip from sending it to its answer
   * @param margin time left until this process's own deadline; negative if that had passed
   */
  default void renewed(Duration roundTrip, Duration margin) {}

  /** The client has left a replica because it had failed. */
  default void replicaChanged() {}
}
