package io.tenure;

import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.grpc.stub.StreamObserver;
import io.tenure.Connection.Replica;
import io.tenure.v1.CampaignRequest;
import io.tenure.v1.CampaignResponse;
import io.tenure.v1.Cause;
import io.tenure.v1.ElectionServiceGrpc.ElectionServiceStub;
import io.tenure.v1.KeepAliveRequest;
import io.tenure.v1.KeepAliveResponse;
import io.tenure.v1.Leadership;
import io.tenure.v1.ResignRequest;
import io.tenure.v1.ResignResponse;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The I/O of a client: carries out what its session decides, on one thread.
 *
 * <pre>
 *   calls' answers, stream's messages, electors' wishes --queue--> [loop: Session] -->
 *   beliefs, calls, news
 * </pre>
 *
 * <p>Thread-safe. The queue has no limit of its own: each sender has a few messages under way.
 */
final class ClientLoop {
  // A waiting thread's clock stops while the machine sleeps; the holder's does not.
  private static final long WAIT_MAX = 1 * Lease.SECOND;

  // Calls that were under way before the end get this part of the time.
  private static final int CUT_OFF_DIVISOR = 4;

  /** One elector's stand, as the loop sees it. Called on the loop's thread: it must not block. */
  interface Listener extends SeatListener {
    String election();

    /** Up to date before each event. */
    Belief belief();

    /** Nothing is left to do, and no news follows. */
    void gone();
  }

  /** An input for the session. */
  interface Input {
    void tell(Session session, long now);
  }

  /** The last state of a listener's belief. Counts the listener's events. */
  private final class Published implements SeatListener {
    final Listener listener;
    long term; // 0: no belief stands
    long until;
    long ledTerm; // 0: its listener knows of no term

    Published(Listener listener) {
      this.listener = listener;
    }

    void tell(Consumer<SeatListener> event) {
      event.accept(this);
      event.accept(listener);
    }

    @Override
    public void elected(Leadership leadership) {
      ledTerm = leadership.getTerm();
      say("elected in " + listener.election() + ": term " + ledTerm);
      count(to -> to.elected(listener.election()));
    }

    @Override
    public void suspended() {
      count(to -> to.suspended(listener.election()));
    }

    @Override
    public void overrun() {
      count(to -> to.overrun(listener.election()));
    }

    @Override
    public void lost(Cause cause) {
      String why = cause.name().replaceFirst("^CAUSE_", "").toLowerCase(Locale.ROOT);
      say("term " + ledTerm + " of " + listener.election() + " has ended: " + why);
      ledTerm = 0;
      count(to -> to.lost(listener.election(), cause));
    }

    @Override
    public void troubled(ServiceException error) {
      if (error.isTransient() || error.isOfAnotherService()) return; // the connection has logged it
      warn("cannot campaign in " + listener.election() + " for now: " + reasonOf(error));
    }

    @Override
    public void refused(ServiceException error) {
      warn("cannot campaign in " + listener.election() + ": " + reasonOf(error));
    }
  }

  private final HolderClock clock;
  private final List<ClientMetrics> metrics;
  private final BlockingQueue<Input> inputs = new LinkedBlockingQueue<>();
  private final AtomicLong told = new AtomicLong();
  private final AtomicInteger lastSeat = new AtomicInteger();
  private final Map<Integer, Published> published = new ConcurrentHashMap<>(); // by seat
  private final SerialExecutor callbacks = new SerialExecutor("tenure-callbacks");
  private final Thread thread = new Thread(this::run, "tenure-client");
  private volatile boolean over;
  private volatile ServiceException endError;

  // For the loop's thread.
  private final Session session;
  private final Connection connection;
  private final Effects effects = new CarryOut();
  private ClientCallStreamObserver<KeepAliveRequest> stream; // null: none is open
  private long openStream; // its number
  private volatile long wake = Lease.NEVER; // written by its thread
  private long giveUpAt = Lease.NEVER;
  private long cutOffAt = Lease.NEVER; // cancels the calls under way before the end
  private final Map<Long, Answer<?, ?>> underWay = new HashMap<>(); // by call
  private final Map<Long, Runnable> waiting = new LinkedHashMap<>(); // for the survey; campaigns
  private boolean isSurveying; // one at a time, for all waiting campaigns

  ClientLoop(
      Session.Options options,
      Connection connection,
      HolderClock clock,
      List<ClientMetrics> metrics) {
    this.session = new Session(options, new SecureRandom());
    this.connection = connection;
    this.clock = clock;
    this.metrics = metrics;
    thread.setDaemon(true);
    try {
      callbacks.start();
      thread.start();
    } catch (RuntimeException | Error noThread) {
      callbacks.close();
      connection.close();
      throw noThread;
    }
  }

  /** Ignored if the session has ended. */
  void tell(Input input) {
    if (over) return;
    told.incrementAndGet();
    inputs.add(input);
  }

  /** Number of inputs so far. */
  long told() {
    return told.get();
  }

  /** When the session decides next if no input comes before. */
  long nextWake() {
    return wake;
  }

  boolean isOver() {
    return over;
  }

  /** A number for a seat, never the same twice. */
  int newNumber() {
    return lastSeat.incrementAndGet();
  }

  /** The listener learns of the loop's end, even if that has already come. */
  void add(int number, SeatOptions options, Listener listener) {
    published.put(number, new Published(listener));
    if (over) throw new TenureException("the client has failed: see its log, and make another one");
    tell(
        (session, now) -> {
          count(to -> to.stands(options.election()));
          session.add(number, options);
        });
  }

  /** Runs the application's callbacks, one after another. */
  void callBack(Runnable callback) {
    callbacks.run(callback);
  }

  long now() {
    return clock.now();
  }

  /**
   * Ends the session. Waits for {@code patience}, and a little longer if the application keeps the
   * loop's thread from noticing the end. Returns null if the service has ended the session. Do not
   * call it on the loop's thread.
   */
  ServiceException close(long patience) throws InterruptedException {
    tell(
        (session, now) -> {
          if (giveUpAt != Lease.NEVER) return;
          giveUpAt = now + patience;
          cutOffAt = now + patience / CUT_OFF_DIVISOR;
          session.end(now, giveUpAt);
        });
    TimeUnit.NANOSECONDS.timedJoin(thread, patience + WAIT_MAX);
    return thread.isAlive() ? notAnswered() : endError;
  }

  // All of these run on the loop's thread.

  private void run() {
    try {
      while (!isOverAt(clock.now())) turn();
    } catch (RuntimeException | Error failure) {
      Log.error("the client has failed, and does not lead any more", failure);
    } finally {
      finish();
    }
  }

  private void finish() {
    over = true;
    for (Published one : published.values()) one.listener.belief().end();
    for (Published one : published.values()) {
      if (one.ledTerm != 0) one.tell(told -> told.lost(Cause.CAUSE_UNSPECIFIED));
      one.listener.gone();
    }
    connection.close();
    callbacks.close();
    endError = session.endError();
    if (!session.ended() && endError == null) endError = notAnswered();
  }

  private ServiceException notAnswered() {
    String details = "the session's end was not answered in time";
    ServiceException error = new ServiceException(Status.Code.DEADLINE_EXCEEDED, details);
    if (trouble() != null) error.initCause(trouble());
    return error;
  }

  private boolean isOverAt(long now) {
    return session.ended() || now >= giveUpAt;
  }

  private void turn() {
    List<Input> taken = takeInputs();
    long now = clock.now();
    if (taken.isEmpty() && now < wake) return;
    for (Input input : taken) input.tell(session, now);
    if (now >= cutOffAt) cutOff();
    step(now);
    if (now >= surveyAt(now)) survey(Survey.PATIENCE);
    wake = Math.min(Math.min(session.nextWake(), surveyAt(now)), Math.min(giveUpAt, cutOffAt));
  }

  /** The replica in use may hang, so the rest of the time is for another one. */
  private void cutOff() {
    cutOffAt = Lease.NEVER;
    underWay.values().forEach(Answer::cutOff);
    List<Long> surveyed = List.copyOf(waiting.keySet());
    waiting.clear();
    for (long call : surveyed)
      session.onCampaignFailed(call, clock.now(), Answer.notAnsweredInTime());
  }

  /** When to ask an open session's endpoints again. */
  private long surveyAt(long now) {
    if (isSurveying || !session.isOpen()) return Lease.NEVER;
    long wait = connection.untilSurvey();
    return wait == Lease.NEVER ? Lease.NEVER : now + wait;
  }

  private void survey(long patience) {
    if (isSurveying) return;
    isSurveying = true;
    connection
        .survey(
            bounded(patience),
            (replica, id) -> tell((session, now) -> connection.heardLate(replica, id)))
        .thenAccept(answers -> tell((session, now) -> surveyed(answers)));
  }

  /** The survey is done: the waiting campaigns continue, or fail. */
  private void surveyed(List<ServiceChoice.Answer> answers) {
    isSurveying = false;
    Map<Long, Runnable> waited = new LinkedHashMap<>(waiting);
    waiting.clear();
    String before = connection.serviceId();
    ServiceException error = connection.takeIn(answers);
    if (before != null && !before.equals(connection.serviceId())) {
      session.onServiceReplaced(clock.now());
    }
    waited.forEach(
        (call, send) -> {
          if (error == null) {
            send.run();
          } else {
            session.onCampaignFailed(call, clock.now(), error);
          }
        });
  }

  /** Turns an error from another service into one that only means: use another replica. */
  private ServiceException ofAnotherService(
      Replica replica, ServiceException error, Session session, long now) {
    if (!error.isOfAnotherService()) return error;
    String id = error.metadata().getOrDefault("service_id", "");
    connection.isOfThisService(replica, id);
    session.onWrongService(now);
    return ServiceException.anotherService(id);
  }

  /** At the end, each call leaves time for another attempt. */
  private long bounded(long patience) {
    if (giveUpAt == Lease.NEVER) return patience;
    return Math.min(patience, Math.max((giveUpAt - clock.now()) / 2, 1));
  }

  /** Takes all inputs, so that many answers cost one decision. */
  private List<Input> takeInputs() {
    List<Input> taken = new ArrayList<>();
    long patience = wake == Lease.NEVER ? WAIT_MAX : Math.max(wake - clock.now(), 0);
    try {
      Input first = inputs.poll(Math.min(patience, WAIT_MAX), TimeUnit.NANOSECONDS);
      if (first != null) taken.add(first);
      inputs.drainTo(taken);
    } catch (InterruptedException nobodysConcern) {
      // This thread is the client's own, and ends with it.
    }
    return taken;
  }

  private void step(long now) {
    List<Consumer<Effects>> decided = session.decide(now);
    // The belief ends before anything is sent that gives up the seat.
    published.forEach((number, one) -> publish(number, one, now));
    for (Consumer<Effects> effect : decided) effect.accept(effects);
    for (Session.AnsweredRenewal renewal : session.takeRenewals()) {
      Duration roundTrip = Duration.ofNanos(renewal.roundTrip());
      count(to -> to.renewed(roundTrip, Duration.ofNanos(renewal.margin())));
    }
    for (Session.News news : session.takeNews()) {
      published.get(news.seat()).tell(news.event());
    }
    for (int number : session.takeGone()) published.remove(number).listener.gone();
  }

  private void publish(int number, Published one, long now) {
    Belief belief = one.listener.belief();
    long until = session.believedUntil(number);
    long term = until == 0 ? 0 : session.termOf(number);
    if (term != one.term) {
      belief.end();
      if (term != 0) belief.begin(term, until);
    } else if (term != 0 && until != one.until && !belief.extend(until)) {
      session.beliefEnded(number, now);
      term = 0;
    }
    one.term = term;
    one.until = until;
  }

  private static Reason reasonOf(ServiceException error) {
    return Reason.of(error, true);
  }

  private void say(String what) {
    if (!connection.isQuiet()) Log.info(what);
  }

  private void warn(String what) {
    if (!connection.isQuiet()) Log.warn(what);
  }

  /** Why the service cannot be used; null if its last answer was no error. From any thread. */
  ServiceException trouble() {
    return connection.trouble();
  }

  private void count(Consumer<ClientMetrics> what) {
    for (ClientMetrics one : metrics) {
      Callbacks.callOnOwnThread("a metric", () -> what.accept(one));
    }
  }

  /** Handles one call. Its methods run on gRPC's thread unless they say otherwise. */
  private final class Answer<Request, Response>
      implements ClientResponseObserver<Request, Response> {
    private final long call;
    private final Replica replica;
    private final Function<Response, String> serviceId; // empty: the response has none
    private final Function<Response, Input> answered;
    private final Function<ServiceException, Input> failed;
    private ClientCallStreamObserver<Request> stream; // for the loop's thread
    private volatile boolean isCutOff;
    private Response response;

    Answer(
        long call,
        Replica replica,
        Function<Response, String> serviceId,
        Function<Response, Input> answered,
        Function<ServiceException, Input> failed) {
      this.call = call;
      this.replica = replica;
      this.serviceId = serviceId;
      this.answered = answered;
      this.failed = failed;
    }

    /** On the loop's thread, before the call is sent. */
    @Override
    public void beforeStart(ClientCallStreamObserver<Request> stream) {
      this.stream = stream;
    }

    /** On the loop's thread. */
    void cutOff() {
      isCutOff = true;
      stream.cancel("the client is being closed", null);
    }

    @Override
    public void onNext(Response response) {
      this.response = response;
    }

    @Override
    public void onError(Throwable failure) {
      ServiceException error = isCutOff ? notAnsweredInTime() : ServiceException.of(failure);
      tell(
          (session, now) -> {
            underWay.remove(call);
            connection.failed(replica, error);
            ServiceException told = ofAnotherService(replica, error, session, now);
            failed.apply(told).tell(session, now);
          });
    }

    @Override
    public void onCompleted() {
      tell(
          (session, now) -> {
            underWay.remove(call);
            String id = serviceId.apply(response);
            if (connection.isOfThisService(replica, id)) {
              connection.answered(replica);
              answered.apply(response).tell(session, now);
            } else {
              session.onWrongService(now);
              failed.apply(ServiceException.anotherService(id)).tell(session, now);
            }
          });
    }

    private static ServiceException notAnsweredInTime() {
      String details = "not answered within a quarter of the time to close the client";
      return new ServiceException(Status.Code.DEADLINE_EXCEEDED, details);
    }
  }

  private final class CarryOut implements Effects {
    @Override
    public void campaign(long call, CampaignRequest request, long patience) {
      Runnable send = () -> sendCampaign(call, request, patience);
      if (!request.getSessionId().isEmpty() || !connection.needsSurvey()) {
        send.run();
        return;
      }
      waiting.put(call, send);
      survey(patience);
    }

    private void sendCampaign(long call, CampaignRequest request, long patience) {
      send(
          call,
          patience,
          (stub, answer) -> stub.campaign(request, answer),
          (CampaignResponse response) -> response.getSession().getServiceId(),
          (CampaignResponse response) ->
              (session, now) -> session.onCampaignDone(call, now, response),
          error -> (session, now) -> session.onCampaignFailed(call, now, error));
    }

    @Override
    public void resign(long call, ResignRequest request, long patience) {
      send(
          call,
          patience,
          (stub, answer) -> stub.resign(request, answer),
          (ResignResponse response) -> "",
          (ResignResponse response) -> (session, now) -> session.onResignDone(call, now, null),
          error -> (session, now) -> session.onResignDone(call, now, error));
    }

    /** A call with one answer. */
    private <Request, Response> void send(
        long call,
        long patience,
        BiConsumer<ElectionServiceStub, StreamObserver<Response>> start,
        Function<Response, String> serviceId,
        Function<Response, Input> answered,
        Function<ServiceException, Input> failed) {
      Replica replica = connection.replica();
      Answer<Request, Response> answer = new Answer<>(call, replica, serviceId, answered, failed);
      underWay.put(call, answer);
      try {
        start.accept(
            replica.stub().withDeadlineAfter(bounded(patience), TimeUnit.NANOSECONDS), answer);
      } catch (RuntimeException | Error notSent) {
        answer.onError(notSent);
      }
    }

    @Override
    public void open(long number) {
      Replica replica = connection.replica();
      StreamObserver<KeepAliveResponse> responses =
          new StreamObserver<>() {
            @Override
            public void onNext(KeepAliveResponse message) {
              tell(
                  (session, now) -> {
                    if (number != openStream) return;
                    if (connection.isOfThisService(replica, message.getServiceId())) {
                      connection.answered(replica);
                      session.onStreamMessage(number, message, now);
                      return;
                    }
                    session.onWrongService(now);
                    session.onStreamClosed(number, now);
                    close(number);
                  });
            }

            @Override
            public void onError(Throwable failure) {
              ServiceException error = ServiceException.of(failure);
              tell(
                  (session, now) -> {
                    if (number == openStream) {
                      connection.failed(replica, error);
                      ofAnotherService(replica, error, session, now);
                    }
                    session.onStreamClosed(number, now);
                  });
            }

            @Override
            public void onCompleted() {
              tell((session, now) -> session.onStreamClosed(number, now));
            }
          };
      openStream = number;
      try {
        stream = (ClientCallStreamObserver<KeepAliveRequest>) replica.stub().keepAlive(responses);
      } catch (RuntimeException | Error notOpened) {
        responses.onError(notOpened);
      }
    }

    @Override
    public void renew(long number, KeepAliveRequest request) {
      try {
        if (stream != null) stream.onNext(request);
      } catch (RuntimeException | Error notSent) {
        tell((session, now) -> session.onStreamClosed(number, now));
      }
    }

    @Override
    public void close(long number) {
      if (stream != null) stream.cancel("another stream is used", null);
      stream = null;
      openStream = 0;
    }

    @Override
    public void anotherReplica(boolean silent) {
      if (silent) connection.silent();
      connection.moveOn(silent);
      count(ClientMetrics::replicaChanged);
    }
  }
}
