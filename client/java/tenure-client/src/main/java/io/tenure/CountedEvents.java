package io.tenure;

import io.tenure.v1.Cause;
import io.tenure.v1.Leadership;
import io.tenure.v1.Standing;

/** Which events of a seat count for the metrics. */
record CountedEvents(ClientMetrics metrics, String election) implements SeatListener {
  @Override
  public void standing(Standing place) {}

  @Override
  public void elected(Leadership leadership) {
    metrics.elected(election);
  }

  @Override
  public void suspended() {
    metrics.suspended(election);
  }

  @Override
  public void resumed() {}

  @Override
  public void handoverAsked(String successor) {}

  @Override
  public void stopWork() {}

  @Override
  public void overrun() {
    metrics.overrun(election);
  }

  @Override
  public void lost(Cause cause) {
    metrics.lost(election, cause);
  }

  @Override
  public void troubled(ServiceException error) {}

  @Override
  public void refused(ServiceException error) {}
}
