package io.tenure;

import io.tenure.v1.Cause;
import io.tenure.v1.Standing;

/**
 * Learns what happens to the stands of an {@link Elector}.
 *
 * <p>Each method is called once per occurrence, in order, on a thread of the client that does
 * nothing else: a slow one delays the others, but no renewal. An exception is logged. Only {@link
 * #overrun} is called on another thread.
 */
public interface ElectionListener {
  /**
   * This process waits in the queue.
   *
   * @param candidacy where it stands
   * @param place its position, and who leads
   */
  default void standing(Candidacy candidacy, Standing place) {}

  /**
   * This process leads. Called before the work begins.
   *
   * @param seat the term
   */
  default void elected(Seat seat) {}

  /**
   * Half of the lease has passed without a renewal. The seat is still held.
   *
   * @param seat the term
   */
  default void suspended(Seat seat) {}

  /**
   * Renewals work again.
   *
   * @param seat the term
   */
  default void resumed(Seat seat) {}

  /**
   * An operator asks this process to make way. The work has been asked to stop.
   *
   * @param seat the term
   * @param successor the candidate that will lead next
   */
  default void stepDown(Seat seat, String successor) {}

  /**
   * The term has ended, and {@link Seat#isLeader} is false.
   *
   * @param seat the term
   * @param cause {@code CAUSE_RESIGNED} if this process gave up the seat, {@code CAUSE_EXPIRED} if
   *     its deadline passed, {@code CAUSE_UNSPECIFIED} if it is unknown
   */
  default void lost(Seat seat, Cause cause) {}

  /**
   * The watchdog: the work has not ended in time, and another candidate may soon hold the seat. End
   * the work, or the process, by force. Called on the thread that renews the lease, since the other
   * one may be the one that hangs: it must return at once.
   *
   * @param seat the term
   */
  default void overrun(Seat seat) {}

  /**
   * A call failed, or the service does not let this process stand for now. It keeps trying. Called
   * once for unanswered calls, and once for a refusal.
   *
   * @param candidacy where it stands
   * @param error what has failed
   */
  default void trouble(Candidacy candidacy, ServiceException error) {}

  /**
   * The service does not let this process stand: an option is malformed, or there is a newer
   * session of the same candidate. It does not try again.
   *
   * @param candidacy where it stood
   * @param error why
   */
  default void refused(Candidacy candidacy, ServiceException error) {}
}
