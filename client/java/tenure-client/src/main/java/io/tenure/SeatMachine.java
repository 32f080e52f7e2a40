package io.tenure;

import com.google.protobuf.ByteString;
import io.tenure.v1.Cause;
import io.tenure.v1.Leadership;
import io.tenure.v1.Standing;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * One elector's seat: what to ask of the service, what to believe, what to report.
 *
 * <pre>
 *   OUTSIDE --campaign--> STANDING --elected--> LEADING --asked to stop--> STOPPING
 *      ^                                           |                          | the work has ended
 *      |                                           | lost                     v
 *      +---------- the work has ended ----------- ENDING                   RESIGNING --> OUTSIDE
 * </pre>
 *
 * <p>A holder that stops because its lease ran out, but wants to keep leading, does not resign: as
 * long as its lease is believed in, so the session is alive, it asks for the next term of its own
 * seat.
 *
 * <pre>
 *   STOPPING --the work has ended--> RETAKING --elected in the next term--> LEADING
 * </pre>
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>It believes in a term only while the session's lease is believed in, and never again in a
 *       term in which it has ceased to believe.
 *   <li>It gives up a seat only when the work that needs it has ended.
 *   <li>A resignation that may be on its way ends the belief for good.
 *   <li>It reports the beginning and the end of each term once, in this order.
 * </ul>
 */
final class SeatMachine {
  private static final int GRACE_DIVISOR = 4;

  private enum Phase {
    OUTSIDE,
    STANDING,
    LEADING,
    STOPPING,
    ENDING,
    RETAKING,
    RESIGNING
  }

  /** The next request to the service. */
  enum Need {
    NOTHING,
    CAMPAIGN,
    RESIGN
  }

  private enum Trouble {
    NONE,
    UNANSWERED,
    REFUSED
  }

  private final SeatOptions options;
  private ByteString value;
  private long closedTerm; // reports about terms up to this one no longer count
  private long needAt; // the earliest time for the need
  private boolean wanted = true;
  private Phase phase = Phase.OUTSIDE;
  private Leadership leadership = Leadership.getDefaultInstance(); // of the term that is held
  private long askedInTerm; // the term that was held when the last campaign was sent
  private long askedAfterTerm; // the term that it was meant to follow
  private boolean maybePlaced; // a campaign of this session is under way or may have been received
  private boolean proclaiming; // the service may not know the value yet
  private boolean believes;
  private boolean working;
  private boolean suspended;
  private boolean overran;
  private boolean outlivedLease; // the last belief ended with the lease, or nearly
  private Trouble trouble = Trouble.NONE;
  private long leaseTtl; // when the term began
  private long stopAskedAt;
  private List<Consumer<SeatListener>> events = new ArrayList<>();

  SeatMachine(SeatOptions options, long closedTerm) {
    this.options = options;
    this.value = options.value();
    this.closedTerm = closedTerm;
  }

  // What this process wants and does.

  void proclaim(ByteString value, long now) {
    this.value = value;
    proclaiming = true;
    if (phase == Phase.STANDING || phase == Phase.LEADING) needAt = now;
  }

  /** No longer stands: the work is asked to end, then the seat is given up. */
  void leave(long now) {
    wanted = false;
    if (phase == Phase.LEADING) {
      askToStop(now);
    } else if (phase == Phase.STANDING
        || phase == Phase.RETAKING
        || (phase == Phase.OUTSIDE && maybePlaced)) {
      giveUp(now);
    }
  }

  /** Like leave, after the elector is gone: the work has ended and nobody is notified. */
  void abandon(long now) {
    wanted = false;
    working = false;
    if (phase == Phase.ENDING) phase = Phase.OUTSIDE;
    if (phase != Phase.OUTSIDE || maybePlaced) giveUp(now);
  }

  void workEnded(long now) {
    working = false;
    if (phase == Phase.STOPPING) {
      stopped(now);
    } else if (phase == Phase.LEADING) {
      giveUp(now);
    } else if (phase == Phase.ENDING) {
      phase = Phase.OUTSIDE;
      needAt = now;
      if (!wanted && maybePlaced) giveUp(now);
    }
  }

  /** A reader has seen the deadline pass, even if {@code now} is earlier. */
  void beliefEnded(long now) {
    if (!believes) return;
    if (working && phase == Phase.LEADING) events.add(SeatListener::stopWork);
    if (working) overrun();
    stopBelieving(Cause.CAUSE_EXPIRED);
    outlivedLease = true;
    if (working) {
      phase = Phase.STOPPING;
    } else {
      stopped(now);
    }
  }

  // Progress of the need.

  /** A campaign was sent. One at a time, and never beside a resignation. */
  void asked() {
    askedInTerm = term();
    askedAfterTerm = afterTerm();
    maybePlaced = true;
    proclaiming = false;
  }

  /** The request failed, or was refused for now. It is repeated at {@code retryAt}. */
  void unanswered(ServiceException error, long retryAt) {
    Trouble now = error.isTransient() ? Trouble.UNANSWERED : Trouble.REFUSED;
    if (now != trouble) events.add(listener -> listener.troubled(error));
    trouble = now;
    proclaiming = true;
    needAt = retryAt;
  }

  // What the service says.

  /**
   * The last campaign was answered: this session is in the queue. It is repeated at {@code
   * checkAt}, because nobody reports the loss of a place.
   */
  void onStanding(Standing place, long now, long checkAt) {
    trouble = Trouble.NONE;
    boolean held = phase == Phase.LEADING || phase == Phase.STOPPING || phase == Phase.RETAKING;
    if (held && askedInTerm == term()) {
      over(Cause.CAUSE_UNSPECIFIED, now); // the answer is not older than the grant
    }
    if (phase != Phase.OUTSIDE && phase != Phase.STANDING) return;
    boolean stood = phase == Phase.STANDING;
    phase = Phase.STANDING;
    if (!wanted) {
      giveUp(now);
      return;
    }
    if (!stood) events.add(listener -> listener.standing(place));
    needAt = proclaiming ? now : checkAt;
  }

  void onElected(Leadership granted, long now, Lease lease) {
    if (granted.getTerm() <= term()) return;
    if (granted.getTerm() <= closedTerm) {
      // Either stale, or the service still thinks we lead a term that we have given up.
      if (term() == 0 && phase != Phase.ENDING) {
        leadership = granted;
        giveUp(now);
      }
      return;
    }
    if (term() != 0) over(Cause.CAUSE_UNSPECIFIED, now);
    leadership = granted;
    trouble = Trouble.NONE;
    outlivedLease = false;
    if (working) {
      phase = Phase.STOPPING; // still working for an earlier term: give this one up afterwards
    } else if (!wanted || !lease.believedAt(now)) {
      giveUp(now);
    } else {
      begin(now, lease);
    }
  }

  /** The last campaign was answered: this session leads in {@code term}. */
  void onCampaignElected(long term, long now) {
    if (phase == Phase.RETAKING && term == term() && term == askedAfterTerm) {
      giveUp(now); // the service does not know after_term
    }
  }

  void onLost(long term, Cause cause, long now) {
    if (term <= closedTerm || term < term()) return;
    closedTerm = term;
    if (phase == Phase.RESIGNING && term == term()) return; // the answer ends it
    if (term() != 0) {
      over(cause, now);
    } else if (phase == Phase.STANDING) {
      // Elected and lost before this process knew.
      phase = Phase.OUTSIDE;
      needAt = now;
    }
  }

  void onStepDownAsked(long term, String successor, long now) {
    if (term != term()) return;
    leadership = leadership.toBuilder().setSuccessor(successor).build();
    if (phase == Phase.LEADING) {
      askToHandOver(now);
    } else if (phase == Phase.RETAKING) {
      giveUp(now);
    }
  }

  /** The session has ended, and with it all that it held. */
  void onSessionOver(Cause cause, long now) {
    maybePlaced = false;
    over(cause, now);
  }

  /** The last campaign will never be granted. */
  void onRefused(ServiceException error, long now) {
    events.add(listener -> listener.refused(error));
    // While it leads, only the value is refused.
    if (phase != Phase.LEADING && phase != Phase.STOPPING) leave(now);
  }

  /**
   * A resignation was answered, from {@code term} or, with 0, from the queue. If it {@code waits},
   * the session may still be in the queue. The elector stands again at {@code againAt} at the
   * earliest.
   */
  void onResigned(long term, boolean waits, long againAt) {
    if (phase != Phase.RESIGNING || term != term()) return;
    closedTerm = Math.max(closedTerm, term);
    leadership = Leadership.getDefaultInstance();
    maybePlaced = waits;
    phase = Phase.OUTSIDE;
    needAt = againAt;
    if (!wanted && maybePlaced) giveUp(againAt);
  }

  // Time.

  /** Call it before any other input, and at nextWake. */
  void pass(long now, Lease lease) {
    if (believes && !lease.believedAt(now)) beliefEnded(now);
    if (believes) {
      if (suspended != now >= lease.overdueAt()) {
        suspended = !suspended;
        events.add(suspended ? SeatListener::suspended : SeatListener::resumed);
      }
      if (stopsEarly() && now >= stopAt(lease)) {
        outlivedLease = true;
        askToStop(now);
      }
    }
    if (phase == Phase.RETAKING) {
      if (!lease.believedAt(now)) {
        needAt = Lease.NEVER; // until a renewal confirms that the session is alive
      } else if (needAt == Lease.NEVER) {
        needAt = now;
      }
    }
    if (isStoppingOrEnding() && now >= overrunAt(lease)) {
      if (working) {
        overrun();
      } else {
        giveUp(now);
      }
    }
  }

  long nextWake(Lease lease) {
    long wake = Lease.NEVER;
    if (believes) {
      wake = lease.believedUntil();
      if (!suspended) wake = Math.min(wake, lease.overdueAt());
      if (stopsEarly()) wake = Math.min(wake, stopAt(lease));
    }
    if (isStoppingOrEnding() && !overran) wake = Math.min(wake, overrunAt(lease));
    return wake;
  }

  // Results.

  Need need() {
    if (phase == Phase.RESIGNING) return Need.RESIGN;
    boolean campaigns =
        phase == Phase.STANDING
            || phase == Phase.RETAKING
            || (phase == Phase.OUTSIDE && wanted)
            || (phase == Phase.LEADING && proclaiming);
    return campaigns ? Need.CAMPAIGN : Need.NOTHING;
  }

  long needAt() {
    return needAt;
  }

  /** The term that this session holds or may hold; 0 if none. */
  long term() {
    return leadership.getTerm();
  }

  /** The term that the next campaign ends, so that this session leads in the next; 0 if none. */
  long afterTerm() {
    return phase == Phase.RETAKING ? term() : 0;
  }

  long closedTerm() {
    return closedTerm;
  }

  /** Another stand of this process has given up all terms up to this one. */
  void closeUpTo(long term) {
    closedTerm = Math.max(closedTerm, term);
  }

  /** The closed terms were those of another service. */
  void reopenTerms() {
    closedTerm = 0;
  }

  String election() {
    return options.election();
  }

  ByteString value() {
    return value;
  }

  int priority() {
    return options.priority();
  }

  /** The last belief ended with the lease, or nearly: nobody wanted to let others go first. */
  boolean outlivedLease() {
    return outlivedLease;
  }

  /** Nothing is left to do for this elector, now or later. */
  boolean gone() {
    return !wanted && phase == Phase.OUTSIDE && !working;
  }

  /** The time until which this process may act as the leader; 0 if it does not lead. */
  long believedUntil(Lease lease) {
    return believes ? lease.believedUntil() : 0;
  }

  /** What has happened since the last call. */
  List<Consumer<SeatListener>> takeEvents() {
    if (events.isEmpty()) return List.of();
    List<Consumer<SeatListener>> taken = events;
    events = new ArrayList<>();
    return taken;
  }

  // Internals.

  private void begin(long now, Lease lease) {
    phase = Phase.LEADING;
    believes = true;
    wanted = !options.oneTerm();
    leaseTtl = lease.ttl();
    working = options.hasWork();
    suspended = false;
    overran = false;
    proclaiming = !value.equals(leadership.getValue());
    needAt = now;
    Leadership begun = leadership;
    events.add(listener -> listener.elected(begun));
    if (!leadership.getSuccessor().isEmpty()) askToHandOver(now);
  }

  private void stopBelieving(Cause cause) {
    if (!believes) return;
    believes = false;
    suspended = false;
    events.add(listener -> listener.lost(cause));
  }

  private void askToStop(long now) {
    phase = Phase.STOPPING;
    stopAskedAt = now;
    overran = false;
    if (options.hasWork()) {
      events.add(SeatListener::stopWork);
    } else {
      stopBelieving(Cause.CAUSE_RESIGNED);
    }
  }

  private void askToHandOver(long now) {
    String successor = leadership.getSuccessor();
    events.add(listener -> listener.handoverAsked(successor));
    askToStop(now);
  }

  private void overrun() {
    if (overran) return;
    overran = true;
    events.add(SeatListener::overrun);
  }

  /** Nothing needs the term any more; this process never believes in it again. */
  private void stopped(long now) {
    if (!outlivedLease || !wanted || !leadership.getSuccessor().isEmpty()) {
      giveUp(now);
      return;
    }
    stopBelieving(Cause.CAUSE_RESIGNED);
    phase = Phase.RETAKING;
    needAt = Lease.NEVER;
  }

  /** Nothing needs the seat or the place any more, so it is given up. */
  private void giveUp(long now) {
    stopBelieving(Cause.CAUSE_RESIGNED);
    phase = Phase.RESIGNING;
    needAt = now;
  }

  /** The service has ended the term: nothing is left to give up. */
  private void over(Cause cause, long now) {
    stopBelieving(cause);
    if (phase == Phase.LEADING && working) {
      stopAskedAt = now;
      events.add(SeatListener::stopWork);
    }
    closedTerm = Math.max(closedTerm, term());
    leadership = Leadership.getDefaultInstance();
    phase = working ? Phase.ENDING : Phase.OUTSIDE;
    needAt = now;
  }

  private boolean isStoppingOrEnding() {
    return phase == Phase.STOPPING || phase == Phase.ENDING;
  }

  private boolean stopsEarly() {
    return phase == Phase.LEADING && options.hasWork();
  }

  private long grace(Lease lease) {
    long ttl = lease.ttl() != 0 ? lease.ttl() : leaseTtl; // after the session's end
    long wished =
        options.stopGrace() == SeatOptions.QUARTER ? ttl / GRACE_DIVISOR : options.stopGrace();
    return Math.min(wished, ttl / 2);
  }

  private long stopAt(Lease lease) {
    return lease.believedUntil() - grace(lease);
  }

  private long overrunAt(Lease lease) {
    long patienceEnds = stopAskedAt + grace(lease);
    return believes ? Math.min(patienceEnds, lease.believedUntil()) : patienceEnds;
  }
}
