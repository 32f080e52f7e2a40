package io.tenure;

import io.tenure.v1.Event;
import io.tenure.v1.ObserveRequest;
import io.tenure.v1.ObserveResponse;
import io.tenure.v1.Selector;
import io.tenure.v1.Snapshot;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What an observer has seen, and therefore what it requests next and what is news to it.
 *
 * <p>Pure: no I/O, no clock. Streams are noted one after another; whatever each repeats or leaves
 * out, every event is news exactly once, and in order. Not thread-safe.
 */
final class Observation {
  static final long SNAPSHOT = 0; // in place of a revision: begin with a snapshot

  /**
   * What to observe.
   *
   * @param names of elections, or their prefixes
   * @param fromRevision {@link #SNAPSHOT}, or the revision to start with
   * @param fromRevisions the same for single elections, in place of it
   */
  record Wish(
      List<String> names, boolean prefix, long fromRevision, Map<String, Long> fromRevisions) {
    Wish(List<String> names, boolean prefix, long fromRevision) {
      this(names, prefix, fromRevision, Map.of());
    }

    /** For another service, where these revisions mean nothing. */
    Wish withoutRevisions() {
      return new Wish(names, prefix, SNAPSHOT);
    }
  }

  enum Verdict {
    NEWS,
    /** It was reported before, or was not requested. */
    KNOWN,
    /** Something before it is missing: open another stream. */
    GAP
  }

  private final Wish wish;
  private final Map<String, Long> seen = new HashMap<>(); // the last revision of each election
  private boolean opened; // everything has been reported once

  Observation(Wish wish) {
    this.wish = wish;
    // As if all earlier events had been seen.
    wish.fromRevisions.forEach((election, revision) -> seen.put(election, revision - 1));
  }

  /**
   * What to ask for on the next stream. An observer resumes every election that it has seen by
   * name: the contract allows one selector for each election that a stream may watch, plus the
   * prefixes.
   */
  ObserveRequest request() {
    ObserveRequest.Builder request = ObserveRequest.newBuilder();
    seen.forEach(
        (election, revision) ->
            request.addSelectors(
                Selector.newBuilder().setElection(election).setFromRevision(revision + 1)));
    for (String name : wish.names) {
      if (wish.prefix || !seen.containsKey(name)) request.addSelectors(select(name));
    }
    return request.build();
  }

  private Selector select(String name) {
    Selector.Builder selector = Selector.newBuilder();
    if (wish.prefix) {
      selector.setPrefix(name);
    } else {
      selector.setElection(name);
    }
    if (wish.fromRevision != SNAPSHOT) {
      selector.setFromRevision(wish.fromRevision);
    } else if (wish.prefix && opened) {
      selector.setFromRevision(1); // those created since: from their beginning
    }
    return selector.build();
  }

  /** Classifies a message of the stream in use. Only news counts as seen. */
  Verdict note(ObserveResponse message) {
    return switch (message.getMessageCase()) {
      case SNAPSHOT -> noteSnapshot(message.getSnapshot());
      case EVENT -> noteEvent(message.getEvent());
      case PROGRESS -> {
        opened = true;
        yield Verdict.NEWS;
      }
      case MESSAGE_NOT_SET -> Verdict.KNOWN; // from a newer service
    };
  }

  private Verdict noteSnapshot(Snapshot snapshot) {
    String election = snapshot.getElection();
    Long known = seen.get(election);
    // Only a RESYNC may skip events, or go back, to a restored database.
    if (known != null && snapshot.getReason() != Snapshot.Reason.REASON_RESYNC) {
      return snapshot.getRevision() <= known ? Verdict.KNOWN : Verdict.GAP;
    }
    // A deleted election that was found by prefix need not be requested by name, if the prefix asks
    // for first events.
    if (wish.prefix && snapshot.getRevision() == 0 && wish.fromRevision <= 1) {
      seen.remove(election);
    } else {
      seen.put(election, snapshot.getRevision());
    }
    return Verdict.NEWS;
  }

  private Verdict noteEvent(Event event) {
    Long known = seen.get(event.getElection());
    long revision = event.getRevision();
    long next = known == null ? Math.max(wish.fromRevision, 1) : known + 1;
    if (revision < next) return Verdict.KNOWN;
    // The service knows which event is the first: in a restored database it is not 1.
    if (revision > next && next != 1) return Verdict.GAP;
    seen.put(event.getElection(), revision);
    return Verdict.NEWS;
  }
}
