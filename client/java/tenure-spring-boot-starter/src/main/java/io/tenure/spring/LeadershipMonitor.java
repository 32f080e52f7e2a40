package io.tenure.spring;

import io.tenure.Candidacy;
import io.tenure.ClientMetrics;
import io.tenure.ElectionListener;
import io.tenure.Seat;
import io.tenure.ServiceException;
import io.tenure.v1.Cause;
import io.tenure.v1.Standing;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.springframework.context.ApplicationEventPublisher;

/** Publishes events, and keeps the current problem. Thread-safe. */
final class LeadershipMonitor implements ElectionListener {
  private final ApplicationEventPublisher publisher;
  private final Map<String, String> states = new TreeMap<>(); // by election; these under this
  private String problem; // null: none known
  private boolean isForGood;

  LeadershipMonitor(ApplicationEventPublisher publisher) {
    this.publisher = publisher;
  }

  /** What keeps this process from standing, or from keeping its seats. */
  synchronized Optional<String> problem() {
    return Optional.ofNullable(problem);
  }

  /** The state of this process in each election. */
  synchronized Map<String, String> states() {
    return new TreeMap<>(states);
  }

  private synchronized void is(String election, String state) {
    states.put(election, state);
  }

  private synchronized void hasProblem(String what, boolean forGood) {
    problem = what;
    isForGood |= forGood;
  }

  @Override
  public void standing(Candidacy candidacy, Standing place) {
    is(candidacy.election(), "waiting");
  }

  @Override
  public void elected(Seat seat) {
    is(seat.election(), "leading in term " + seat.term());
    publisher.publishEvent(new OnGrantedEvent(this, seat));
  }

  @Override
  public void lost(Seat seat, Cause cause) {
    is(seat.election(), "waiting");
    publisher.publishEvent(new OnRevokedEvent(this, seat, cause));
  }

  @Override
  public void trouble(Candidacy candidacy, ServiceException error) {
    hasProblem(error.getMessage(), false);
  }

  @Override
  public void refused(Candidacy candidacy, ServiceException error) {
    is(candidacy.election(), "refused");
    hasProblem(error.getMessage(), true);
  }

  @Override
  public void suspended(Seat seat) {
    hasProblem("no renewal was answered for half of the lease of " + seat, false);
  }

  private synchronized void renewalWorks() {
    if (!isForGood) problem = null;
  }

  /** An answered renewal means that all is well. */
  ClientMetrics renewals() {
    return new ClientMetrics() {
      @Override
      public void renewed(Duration roundTrip, Duration margin) {
        renewalWorks();
      }
    };
  }
}
