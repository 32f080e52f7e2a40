package io.tenure;

import io.tenure.v1.Cause;
import io.tenure.v1.Leadership;
import io.tenure.v1.Standing;

/** What a process learns about one of its seats, in this order. */
interface SeatListener {
  default void standing(Standing place) {}

  default void elected(Leadership leadership) {}

  /** The lease is not renewed as it should be. The seat is still held. */
  default void suspended() {}

  default void resumed() {}

  /** An operator wants another leader. The work is asked to end, then the seat is given up. */
  default void handoverAsked(String successor) {}

  /** The work must end. Only if there is work. */
  default void stopWork() {}

  /** The work has not ended in time, and the seat may soon be another's. */
  default void overrun() {}

  default void lost(Cause cause) {}

  /** A campaign was not answered, or refused for a while; it is tried again. */
  default void troubled(ServiceException error) {}

  /** The service refuses this campaign for good; the elector stands no more. */
  default void refused(ServiceException error) {}
}
