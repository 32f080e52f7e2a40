package io.tenure;

import io.tenure.v1.Event;
import io.tenure.v1.Progress;
import io.tenure.v1.Snapshot;

/**
 * Learns what an {@link Observer} sees. The methods are called one after the other, on the
 * observer's own thread. A slow one delays the next, but nothing is lost unless it takes longer
 * than the service keeps its history. An exception is logged.
 */
public interface ObserverListener {
  /**
   * The state of an election at one revision: at the beginning, or, with the reason {@code
   * REASON_RESYNC}, in place of events that are no longer available. Then everything before it is
   * void.
   *
   * @param snapshot the state
   */
  default void snapshot(Snapshot snapshot) {}

  /**
   * A change.
   *
   * @param event the change
   */
  default void event(Event event) {}

  /**
   * Everything that the replica knew at this time has been reported. First called when all
   * elections have started, then at least every ten seconds.
   *
   * @param progress when it was sent
   */
  default void progress(Progress progress) {}

  /**
   * The stream broke, or could not be opened. The observer tries again, on the next replica.
   *
   * @param error why
   */
  default void broken(ServiceException error) {}

  /**
   * Most endpoints belong to another service now, on another database. Everything before is void,
   * also the revisions that the observer was asked to start with; snapshots follow.
   *
   * @param serviceId the new one
   */
  default void serviceReplaced(String serviceId) {}

  /**
   * The service refuses this observer for good. The last call.
   *
   * @param error why
   */
  default void failed(ServiceException error) {}
}
