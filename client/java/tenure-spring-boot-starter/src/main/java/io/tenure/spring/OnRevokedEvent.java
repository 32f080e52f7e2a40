package io.tenure.spring;

import io.tenure.Seat;
import io.tenure.v1.Cause;

/** This process no longer leads. */
public final class OnRevokedEvent extends LeaderEvent {
  private static final long serialVersionUID = 1;

  /** Why the term has ended. */
  private final Cause cause;

  OnRevokedEvent(Object source, Seat seat, Cause cause) {
    super(source, seat);
    this.cause = cause;
  }

  /**
   * Why the term has ended.
   *
   * @return {@code CAUSE_RESIGNED} if this process gave up the seat, {@code CAUSE_EXPIRED} if its
   *     deadline passed
   */
  public Cause getCause() {
    return cause;
  }
}
