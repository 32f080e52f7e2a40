package io.tenure.spring;

import io.tenure.Seat;
import org.springframework.context.ApplicationEvent;

/**
 * A change of this process's leadership. The events of the application are published in order, on a
 * thread of the client that does nothing else: a slow listener delays the others, but no renewal.
 */
public abstract class LeaderEvent extends ApplicationEvent {
  private static final long serialVersionUID = 1;

  /** The term. */
  private final transient Seat seat;

  LeaderEvent(Object source, Seat seat) {
    super(source);
    this.seat = seat;
  }

  /**
   * The election, which Spring Integration calls a role.
   *
   * @return its name
   */
  public String getRole() {
    return seat.election();
  }

  /**
   * The term that has begun or ended.
   *
   * @return its seat
   */
  public Seat getSeat() {
    return seat;
  }
}
