package io.tenure;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.tenure.v1.CampaignRequest;
import io.tenure.v1.CampaignResponse;
import io.tenure.v1.Cause;
import io.tenure.v1.KeepAliveRequest;
import io.tenure.v1.KeepAliveResponse;
import io.tenure.v1.Leadership;
import io.tenure.v1.Renewal;
import io.tenure.v1.ResignRequest;
import io.tenure.v1.SeatNotice;
import io.tenure.v1.SessionRenewal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * One session and its electors' seats: which calls to make, when to renew, what answers mean.
 *
 * <p>The session is opened by the first campaign, and renewed on one KeepAlive stream however many
 * elections there are. A place in a queue needs no open call: the stream reports a grant. So a
 * broken connection loses nothing while the lease lasts.
 *
 * <p>Usage: report what happened, then decide, and carry out the effects. Not thread-safe.
 */
final class Session {
  private static final int CALLS_MAX = 64; // under way at a time
  private static final int END_TRIES_MAX = 3;
  private static final int REQUEST_ID_BYTES = 16;
  private static final long BACKOFF_MIN = 20 * Lease.MILLISECOND;
  private static final long BACKOFF_MAX = 500 * Lease.MILLISECOND;
  // How late a lost place in a queue may be noticed, if an operator removed it.
  private static final long CHECK_MIN = 20 * Lease.SECOND;
  private static final long CHECK_MAX = 40 * Lease.SECOND;
  // After a refusal that only an operator, or other candidates, can lift.
  static final long REFUSED_FOR_NOW_MIN = 1 * Lease.SECOND;
  static final long REFUSED_FOR_NOW_MAX = 5 * Lease.SECOND;
  // How long a replica may take to answer before another one is asked.
  private static final long ANSWER_PATIENCE_MIN = 100 * Lease.MILLISECOND;
  private static final long ANSWER_PATIENCE_MAX = 3 * Lease.SECOND;

  private static final int THE_SESSION = 0; // in place of a seat: the call is about all of them

  /**
   * The candidate's options.
   *
   * @param leaseTtl in nanoseconds; 0: the default of the election or the server
   */
  record Options(String candidate, long leaseTtl, boolean supersede) {}

  /** News for one seat. */
  record News(int seat, Consumer<SeatListener> event) {}

  /**
   * An answered renewal.
   *
   * @param margin time that was left until the deadline when the answer came
   */
  record AnsweredRenewal(long roundTrip, long margin) {}

  /**
   * A call under way.
   *
   * @param term of the resignation
   */
  private record Call(int seat, String sessionId, long term, long replica, long sentAt) {}

  private final Options options;
  private final RandomGenerator random;

  private String sessionId = ""; // empty: none is open
  private ByteString requestId;
  private String previousSessionId = "";
  private Lease lease = new Lease();
  private final Seats seats = new Seats();
  private final Map<Long, Call> calls = new HashMap<>();
  private long lastNumber; // of calls and streams
  private int nextStray = -1; // seats below 0 are the session's own; nobody else knows them

  private long replica; // rises with each change of replica
  private Consumer<Effects> moveOn; // null: stay
  private int failures; // of replicas, in a row

  private long stream; // 0: none is open
  private long streamReplica;
  private long droppedStream; // to be closed
  private long openAt;
  private long nextRenewal = Lease.NEVER;
  private long sequence; // of the last renewal
  private long renewalSent = Lease.NEVER; // when the renewal that awaits an answer was sent
  private List<AnsweredRenewal> renewals = new ArrayList<>();
  private List<Leadership> list; // of the parts that have arrived; null: complete

  private boolean ending;
  private boolean ended;
  private ServiceException endError;
  private boolean insists;
  private long insistUntil;
  private long resignUntil;
  private long endAt; // the next try
  private int endTries;

  Session(Options options, RandomGenerator random) {
    this.options = options;
    this.random = random;
    this.requestId = newRequestId();
  }

  // What this process wants and does. Seats that are gone, or were never added, are ignored.

  /**
   * Numbers start at 1, and are never reused. If an earlier seat has not yet left the election,
   * this one starts when that is gone.
   */
  void add(int number, SeatOptions options) {
    seats.add(number, options);
  }

  void proclaim(int number, ByteString value, long now) {
    with(number, seat -> seat.proclaim(value, now));
  }

  void leave(int number, long now) {
    pass(now);
    with(number, seat -> seat.leave(now));
  }

  void abandon(int number, long now) {
    with(number, seat -> seat.abandon(now));
  }

  /** A reader has acted on the end of a belief that this session has not noticed yet. */
  void beliefEnded(int number, long now) {
    with(number, seat -> seat.beliefEnded(now));
  }

  void workEnded(int number, long now) {
    pass(now);
    with(number, seat -> seat.workEnded(now));
  }

  private void with(int number, Consumer<SeatMachine> what) {
    Seats.Entry entry = seats.find(number);
    if (entry != null) what.accept(entry.seat);
  }

  /**
   * Abandons all seats and ends the session. Half of the time until {@code insistUntil} is for the
   * resignations, and the rest for ending the session, which also frees the seats.
   */
  void end(long now, long insistUntil) {
    insists = true;
    this.insistUntil = insistUntil;
    beginEnd(now, now + (insistUntil - now) / 2);
  }

  /** The same, but both are only tried a few times, at once. */
  void end(long now) {
    insists = false;
    beginEnd(now, now);
  }

  private void beginEnd(long now, long resignUntil) {
    ending = true;
    this.resignUntil = resignUntil;
    endTries = 0;
    for (Seats.Entry entry : seats.all()) entry.seat.abandon(now);
  }

  // What the service answers.

  void onCampaignDone(long number, long now, CampaignResponse response) {
    pass(now);
    Call call = takeCall(number);
    if (call == null) return;
    failures = 0;
    if (sessionId.isEmpty()) onOpened(response.getSession().getSessionId());
    // Counted from before the call, not from the answer: the service began to count in between.
    lease.renewed(call.sentAt, Lease.nanoseconds(response.getSession().getLeaseTtl()));
    Seats.Entry entry = seats.find(call.seat);
    if (entry == null) return;
    if (response.hasElected()) {
      seatElected(response.getElected(), now);
      entry.seat.onCampaignElected(response.getElected().getTerm(), now);
    } else if (response.hasStanding()) {
      entry.seat.onStanding(response.getStanding(), now, within(CHECK_MIN, CHECK_MAX, now));
    }
  }

  void onCampaignFailed(long number, long now, ServiceException error) {
    pass(now);
    Call call = takeCall(number);
    Seats.Entry entry = call == null ? null : seats.find(call.seat);
    if (entry == null) return;
    SeatMachine seat = entry.seat;
    if (error.isSessionGone()) {
      if (!sessionId.isEmpty()) {
        sessionOver(causeOf(error), now);
        return;
      }
      requestId = newRequestId(); // it had opened a session whose lease has already expired
      seat.unanswered(error, backoff(now));
    } else if (error.isTransient()) {
      replicaFailed(call.replica, error.isSilence());
      long wished = now + error.retryDelay().toNanos();
      seat.unanswered(error, Math.max(backoff(now), wished));
    } else if (error.isRefusedForNow()) {
      seat.unanswered(error, within(REFUSED_FOR_NOW_MIN, REFUSED_FOR_NOW_MAX, now));
    } else {
      seat.onRefused(error, now);
    }
  }

  /** {@code error} is null if the resignation succeeded. */
  void onResignDone(long number, long now, ServiceException error) {
    pass(now);
    Call call = takeCall(number);
    if (call == null) return;
    boolean refused = error != null && !error.isSessionGone() && error.isRefusedForNow();
    boolean unanswered = refused || (error != null && error.isTransient());
    if (unanswered) replicaFailed(call.replica, error.isSilence());
    if (call.seat == THE_SESSION) {
      onEndAnswered(error, refused, now);
      return;
    }
    Seats.Entry entry = seats.find(call.seat);
    if (entry == null) return;
    if (unanswered) {
      long retryAt = refused ? within(REFUSED_FOR_NOW_MIN, REFUSED_FOR_NOW_MAX, now) : backoff(now);
      entry.seat.unanswered(error, retryAt);
    } else {
      onResigned(call, entry.seat, error, now);
    }
  }

  private void onEndAnswered(ServiceException error, boolean refused, long now) {
    endError = error != null && error.isSessionGone() ? null : error;
    boolean answered = error == null || !(refused || error.isTransient());
    if (insists) {
      ended = answered || refused || now >= insistUntil;
      endAt = backoff(now);
    } else {
      ended = answered || endTries >= END_TRIES_MAX;
    }
  }

  private void onResigned(Call call, SeatMachine seat, ServiceException error, long now) {
    boolean stale = error != null && error.reason().equals("STALE_TERM");
    if (stale && call.term == 0) {
      // The place in the queue has become the seat.
      long term = currentTerm(error);
      if (term == 0) {
        seat.unanswered(error, backoff(now));
        return;
      }
      Leadership held = Leadership.newBuilder().setElection(seat.election()).setTerm(term).build();
      seat.onElected(held, now, lease);
      return;
    }
    // If the term is stale, the session may still stand, but not as we assumed.
    long othersFirst = seat.outlivedLease() ? 0 : lease.renewalInterval();
    seat.onResigned(call.term, stale, now + othersFirst);
  }

  void onStreamMessage(long stream, KeepAliveResponse message, long now) {
    pass(now);
    if (stream != this.stream) return;
    switch (message.getMessageCase()) {
      case NOTICE -> takeInNotice(message.getNotice(), now);
      case SESSION_ENDED -> sessionOver(message.getSessionEnded().getCause(), now);
      case RENEWAL -> takeInRenewal(message.getRenewal(), now);
      case MESSAGE_NOT_SET -> {} // from a newer service
    }
  }

  void onStreamClosed(long stream, long now) {
    pass(now);
    if (stream != this.stream) return;
    replicaFailed(streamReplica, false);
    this.stream = 0;
    renewalSent = Lease.NEVER;
    openAt = backoff(now);
  }

  /**
   * A replica has answered that it belongs to another service. The session continues; but if a
   * whole lease has passed without a renewal, its service is gone as far as this client knows.
   */
  void onWrongService(long now) {
    pass(now);
    if (!sessionId.isEmpty() && now >= lease.endsAt()) sessionOver(Cause.CAUSE_EXPIRED, now);
  }

  /**
   * Most endpoints belong to another service now. That ends the session; terms of the old service
   * say nothing about those of the new one.
   */
  void onServiceReplaced(long now) {
    pass(now);
    sessionOver(Cause.CAUSE_EXPIRED, now);
    previousSessionId = "";
    seats.onServiceReplaced();
  }

  // Decisions.

  boolean isOpen() {
    return !sessionId.isEmpty();
  }

  List<Consumer<Effects>> decide(long now) {
    pass(now);
    List<Consumer<Effects>> effects = new ArrayList<>();
    if (moveOn != null) effects.add(moveOn);
    moveOn = null;
    closeDroppedStream(effects);
    if (ending) {
      decideEnd(now, effects);
    } else {
      decideStream(now, effects);
      decideSeats(now, effects);
    }
    return effects;
  }

  /** When to decide again if nothing happens before. */
  long nextWake() {
    if (ending && resignUntil == 0) return calls.isEmpty() && !ended ? endAt : Lease.NEVER;
    long wake = ending ? resignUntil : Lease.NEVER;
    if (!ending && !sessionId.isEmpty()) wake = streamWake();
    for (Seats.Entry entry : seats.all()) {
      wake = Math.min(wake, Math.min(entry.seat.nextWake(lease), callAt(entry)));
    }
    return wake;
  }

  /** The news for each seat since the last call. */
  List<News> takeNews() {
    List<News> news = new ArrayList<>();
    for (Seats.Entry entry : seats.all()) {
      for (Consumer<SeatListener> event : entry.seat.takeEvents()) {
        if (entry.number > 0) news.add(new News(entry.number, event));
      }
    }
    return news;
  }

  List<AnsweredRenewal> takeRenewals() {
    List<AnsweredRenewal> taken = renewals;
    renewals = new ArrayList<>();
    return taken;
  }

  /** Removes the seats that have nothing left to do, and returns their numbers. */
  List<Integer> takeGone() {
    List<Integer> gone = seats.takeGone();
    gone.removeIf(number -> number < 0);
    return gone;
  }

  /** The time until which a seat's process may act as the leader; 0 if it does not lead. */
  long believedUntil(int number) {
    Seats.Entry entry = seats.find(number);
    return entry == null ? 0 : entry.seat.believedUntil(lease);
  }

  long termOf(int number) {
    Seats.Entry entry = seats.find(number);
    return entry == null ? 0 : entry.seat.term();
  }

  /** Nothing is left to do after {@code end}. */
  boolean ended() {
    return ended;
  }

  /** Null if the service has ended the session, or there is none; else its last answer. */
  ServiceException endError() {
    return endError;
  }

  // Time.

  private void pass(long now) {
    for (Seats.Entry entry : seats.all()) entry.seat.pass(now, lease);
    if (renewalIsUnderWay() && now >= renewalSent + answerPatience()) {
      replicaFailed(streamReplica, true);
      dropStream();
      openAt = backoff(now);
    }
  }

  private boolean renewalIsUnderWay() {
    return renewalSent != Lease.NEVER;
  }

  private long streamWake() {
    if (stream == 0) return openAt;
    return renewalIsUnderWay() ? renewalSent + answerPatience() : nextRenewal;
  }

  private void decideStream(long now, List<Consumer<Effects>> effects) {
    if (sessionId.isEmpty()) return;
    if (stream != 0 && !renewalIsUnderWay() && now >= nextRenewal) {
      if (seats.anyInDoubt()) {
        dropStream();
        closeDroppedStream(effects);
        openAt = now;
      } else {
        renew(now, effects);
      }
    }
    if (stream == 0 && now >= openAt) openStream(now, effects);
  }

  private void openStream(long now, List<Consumer<Effects>> effects) {
    long number = ++lastNumber;
    stream = number;
    streamReplica = replica;
    list = new ArrayList<>();
    seats.listAsked();
    effects.add(out -> out.open(number));
    renew(now, effects);
  }

  private void renew(long now, List<Consumer<Effects>> effects) {
    renewalSent = now;
    long number = stream;
    KeepAliveRequest request =
        KeepAliveRequest.newBuilder().setSequence(++sequence).addSessionIds(sessionId).build();
    effects.add(out -> out.renew(number, request));
  }

  private void decideSeats(long now, List<Consumer<Effects>> effects) {
    for (Seats.Entry entry : seats.all()) {
      if (now >= callAt(entry)) callFor(entry, now, effects);
    }
  }

  /**
   * While no session is open, one call at a time, which opens the session for all of them. While it
   * is being ended, nobody campaigns.
   */
  private long callAt(Seats.Entry entry) {
    if (ending && entry.seat.need() == SeatMachine.Need.CAMPAIGN) return Lease.NEVER;
    boolean mayCall = calls.size() < (sessionId.isEmpty() ? 1 : CALLS_MAX);
    return mayCall ? seats.callAt(entry) : Lease.NEVER;
  }

  private void callFor(Seats.Entry entry, long now, List<Consumer<Effects>> effects) {
    SeatMachine seat = entry.seat;
    long term = seat.term();
    boolean campaigns = seat.need() == SeatMachine.Need.CAMPAIGN;
    if (sessionId.isEmpty() && !campaigns) {
      // A grant, if there was one, belongs to a session that nobody will ever know of or renew.
      requestId = newRequestId();
      seat.onResigned(term, false, now);
      return;
    }
    long call = startCall(entry.number, term, now);
    entry.callBegins();
    long patience = answerPatience();
    if (campaigns) {
      seat.asked();
      CampaignRequest request = campaignRequest(seat);
      effects.add(out -> out.campaign(call, request, patience));
    } else {
      ResignRequest request =
          ResignRequest.newBuilder()
              .setSessionId(sessionId)
              .setElection(seat.election())
              .setTerm(term) // 0: from the queue
              .build();
      effects.add(out -> out.resign(call, request, patience));
    }
  }

  private void decideEnd(long now, List<Consumer<Effects>> effects) {
    if (now < resignUntil) {
      decideSeats(now, effects);
      for (Seats.Entry entry : seats.all()) {
        if (entry.seat.need() == SeatMachine.Need.RESIGN) return;
      }
    }
    resignUntil = 0;
    if (!calls.isEmpty() || now < endAt) return;
    if (sessionId.isEmpty()) ended = true;
    if (ended) return;
    endTries++;
    long call = startCall(THE_SESSION, 0, now);
    ResignRequest request = ResignRequest.newBuilder().setSessionId(sessionId).build();
    long patience = answerPatience();
    effects.add(out -> out.resign(call, request, patience));
  }

  /** The stream is no longer useful. */
  private void dropStream() {
    if (stream != 0) droppedStream = stream;
    stream = 0;
    renewalSent = Lease.NEVER;
  }

  private void closeDroppedStream(List<Consumer<Effects>> effects) {
    long number = droppedStream;
    if (number != 0) effects.add(out -> out.close(number));
    droppedStream = 0;
  }

  /** A call or stream on this replica failed, but should succeed on another. */
  private void replicaFailed(long replica, boolean silent) {
    if (replica != this.replica) return; // no longer in use
    this.replica++;
    failures++;
    moveOn = out -> out.anotherReplica(silent);
  }

  // What the service says.

  private void onOpened(String sessionId) {
    this.sessionId = sessionId;
    requestId = newRequestId(); // for the next one
    previousSessionId = "";
  }

  private void sessionOver(Cause cause, long now) {
    if (sessionId.isEmpty()) return;
    previousSessionId = cause == Cause.CAUSE_EXPIRED ? sessionId : "";
    sessionId = "";
    seats.forgetTerms();
    lease = new Lease();
    dropStream();
    for (Seats.Entry entry : seats.all()) {
      entry.seat.onSessionOver(cause, now);
      // Another session would supersede the process that took over.
      if (cause == Cause.CAUSE_SUPERSEDED) entry.seat.onRefused(superseded(), now);
    }
  }

  private ServiceException superseded() {
    String details = "superseded by a newer session of " + options.candidate;
    return new ServiceException(Status.Code.ABORTED, details);
  }

  private void seatElected(Leadership leadership, long now) {
    Seats.Entry entry = seats.actingIn(leadership.getElection());
    if (entry == null) entry = addStray(leadership.getElection(), now);
    entry.seat.onElected(leadership, now, lease);
    String successor = leadership.getSuccessor();
    if (!successor.isEmpty()) entry.seat.onStepDownAsked(leadership.getTerm(), successor, now);
  }

  /** A seat in an election where this process does not stand. It will be given up. */
  private Seats.Entry addStray(String election, long now) {
    Seats.Entry entry = seats.add(nextStray--, SeatOptions.unwanted(election));
    entry.seat.abandon(now);
    return entry;
  }

  private void takeInNotice(SeatNotice notice, long now) {
    if (notice.hasElected()) seatElected(notice.getElected(), now);
    Seats.Entry entry = seats.actingIn(notice.getElection());
    if (entry == null) return;
    switch (notice.getChangeCase()) {
      case ELECTED -> entry.noticed(stream);
      case LOST -> entry.seat.onLost(notice.getLost().getTerm(), notice.getLost().getCause(), now);
      case STEP_DOWN -> {
        String successor = notice.getStepDown().getSuccessor();
        entry.seat.onStepDownAsked(notice.getStepDown().getTerm(), successor, now);
      }
      case CHANGE_NOT_SET -> {} // from a newer service
    }
  }

  private void takeInRenewal(Renewal renewal, long now) {
    if (renewal.getSessionsCount() != 1) return;
    SessionRenewal session = renewal.getSessions(0);
    if (session.hasEnded()) {
      sessionOver(session.getEnded(), now);
      return;
    }
    if (session.hasNotFound()) {
      sessionOver(Cause.CAUSE_EXPIRED, now);
      return;
    }
    if (renewalIsUnderWay() && renewal.getSequence() == sequence) {
      renewed(Lease.nanoseconds(session.getLeaseTtl()), renewalSent, now);
      renewalSent = Lease.NEVER;
    }
    if (list == null) return;
    list.addAll(session.getSeatsList());
    if (!renewal.getMore()) takeInList(now);
  }

  /** The seats count as listed once the last part of the list is here. */
  private void takeInList(long now) {
    List<Leadership> held = list;
    list = null;
    for (Leadership leadership : held) seatElected(leadership, now);
    seats.listed(held, stream, now);
  }

  private void renewed(long leaseTtl, long sentAt, long now) {
    failures = 0;
    renewals.add(new AnsweredRenewal(now - sentAt, lease.believedUntil() - now));
    lease.renewed(sentAt, leaseTtl);
    nextRenewal = sentAt + lease.renewalInterval();
  }

  // Internals.

  private long startCall(int seat, long term, long sentAt) {
    calls.put(++lastNumber, new Call(seat, sessionId, term, replica, sentAt));
    return lastNumber;
  }

  /** Null if the call was made in a session that has ended. */
  private Call takeCall(long number) {
    Call call = calls.remove(number);
    if (call == null) return null;
    Seats.Entry entry = seats.find(call.seat);
    if (entry != null) entry.callEnds();
    return call.sessionId.equals(sessionId) ? call : null;
  }

  private CampaignRequest campaignRequest(SeatMachine seat) {
    CampaignRequest.Builder request =
        CampaignRequest.newBuilder()
            .setElection(seat.election())
            .setCandidate(options.candidate)
            .setValue(seat.value())
            .setPriority(seat.priority())
            .setSupersede(options.supersede)
            .setWait(Lease.duration(0)); // the stream reports the election
    if (!sessionId.isEmpty()) {
      if (seat.afterTerm() != 0) request.setAfterTerm(seat.afterTerm());
      return request.setSessionId(sessionId).build();
    }
    request.setRequestId(requestId).setPreviousSessionId(previousSessionId);
    if (options.leaseTtl != 0) request.setLeaseTtl(Lease.duration(options.leaseTtl));
    return request.build();
  }

  /** Half of a heartbeat, so that a hanging replica costs less than one. */
  private long answerPatience() {
    long leaseTtl = lease.ttl() != 0 ? lease.ttl() : options.leaseTtl;
    if (leaseTtl == 0) return ANSWER_PATIENCE_MAX;
    return Math.min(Math.max(leaseTtl / 6, ANSWER_PATIENCE_MIN), ANSWER_PATIENCE_MAX);
  }

  private long within(long least, long most, long now) {
    return now + random.nextLong(least, most + 1);
  }

  private long backoff(long now) {
    int doublings = Math.min(Math.max(failures - 1, 0), 10);
    long longest = Math.min(BACKOFF_MAX, BACKOFF_MIN << doublings);
    return within(failures <= 1 ? 0 : longest / 2, longest, now);
  }

  private ByteString newRequestId() {
    byte[] id = new byte[REQUEST_ID_BYTES];
    random.nextBytes(id);
    return ByteString.copyFrom(id);
  }

  private static Cause causeOf(ServiceException error) {
    String name = "CAUSE_" + error.metadata().getOrDefault("cause", "");
    for (Cause cause : Cause.values()) {
      if (cause.name().equals(name)) return cause;
    }
    return Cause.CAUSE_EXPIRED; // an unknown session has expired and was deleted since
  }

  private static long currentTerm(ServiceException error) {
    try {
      return Long.parseLong(error.metadata().getOrDefault("current_term", "0"));
    } catch (NumberFormatException malformed) {
      return 0;
    }
  }
}
