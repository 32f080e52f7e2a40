package io.tenure;

import io.tenure.v1.Cause;
import io.tenure.v1.Leadership;
import io.tenure.v1.Standing;

/** The events of one seat, in this order. */
interface SeatListener {
  default void standing(Standing place) {}

  default void elected(Leadership leadership) {}

  /** Renewals are late. The seat is still held. */
  default void suspended() {}

  default void resumed() {}

  /** An operator wants another leader. The work is asked to end, then the seat is given up. */
  default void handoverAsked(String successor) {}

  /** The work must end. Only if there is work. */
  default void stopWork() {}

  /** The work has not ended in time, and another candidate may soon hold the seat. */
  default void overrun() {}

  default void lost(Cause cause) {}

  /** A campaign was not answered, or was refused for now; it is repeated. */
  default void troubled(ServiceException error) {}

  /** The service refuses this campaign for good; the elector no longer stands. */
  default void refused(ServiceException error) {}
}
