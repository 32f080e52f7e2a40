package io.tenure.testing;

import io.tenure.Candidacy;
import io.tenure.ElectionListener;
import io.tenure.Seat;
import io.tenure.ServiceException;
import io.tenure.v1.Cause;
import io.tenure.v1.Standing;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Records the calls of some methods of a listener. */
public final class Told implements ElectionListener {
  /** A method that was called, with its arguments. */
  public record Call(String method, Object of, Object detail) {}

  private final BlockingQueue<Call> calls = new LinkedBlockingQueue<>();
  private final List<String> wanted;

  public Told(String... wanted) {
    this.wanted = Arrays.asList(wanted);
  }

  /** Waits for the next call. */
  public Call next() throws InterruptedException {
    Call call = calls.poll(Service.PATIENCE, TimeUnit.SECONDS);
    if (call == null) throw new AssertionError("timed out");
    return call;
  }

  private void add(String method, Object of, Object detail) {
    if (wanted.contains(method)) calls.add(new Call(method, of, detail));
  }

  @Override
  public void standing(Candidacy candidacy, Standing place) {
    add("standing", candidacy, place);
  }

  @Override
  public void elected(Seat seat) {
    add("elected", seat, null);
  }

  @Override
  public void suspended(Seat seat) {
    add("suspended", seat, null);
  }

  @Override
  public void resumed(Seat seat) {
    add("resumed", seat, null);
  }

  @Override
  public void stepDown(Seat seat, String successor) {
    add("stepDown", seat, successor);
  }

  @Override
  public void lost(Seat seat, Cause cause) {
    add("lost", seat, cause);
  }

  @Override
  public void overrun(Seat seat) {
    add("overrun", seat, null);
  }

  @Override
  public void trouble(Candidacy candidacy, ServiceException error) {
    add("trouble", candidacy, error);
  }

  @Override
  public void refused(Candidacy candidacy, ServiceException error) {
    add("refused", candidacy, error);
  }
}
