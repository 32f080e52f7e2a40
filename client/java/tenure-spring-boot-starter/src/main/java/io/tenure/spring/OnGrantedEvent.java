package io.tenure.spring;

import io.tenure.Seat;

/** This process leads. */
public final class OnGrantedEvent extends LeaderEvent {
  private static final long serialVersionUID = 1;

  OnGrantedEvent(Object source, Seat seat) {
    super(source, seat);
  }
}
