package io.tenure;

import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.tenure.Connection.Replica;
import io.tenure.v1.ObserveRequest;
import io.tenure.v1.ObserveResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Reports every change of elections: who leads, with which value, and why a term ended.
 *
 * <pre>{@code
 * Observer observer = Observer.builder().endpoints("tenure:7070").names("orders").build();
 * observer.start(new ObserverListener() {
 *   @Override
 *   public void event(Event event) {
 *     show(event.getType(), event.getLeadership().getCandidate());
 *   }
 * });
 * }</pre>
 *
 * <p>What it promises
 *
 * <ul>
 *   <li>Each election starts with a snapshot: its state at one revision. Then follows every event
 *       once, in the order of revisions, without gaps. There is no order between two elections.
 *   <li>When a stream breaks, or is silent for too long, the observer continues by itself on
 *       another replica, from where it was. Elections created meanwhile start with their first
 *       event.
 *   <li>It never skips changes silently. If events are no longer available, because the service
 *       keeps its history for a limited time only, a snapshot with the reason RESYNC replaces them.
 *       Everything before it is void, and events continue with its revision + 1. Its revision may
 *       be lower than earlier ones, after the service's database was restored from a backup.
 *   <li>At least every ten seconds the service confirms that all has been reported. Without that,
 *       the observer may be out of date; {@code broken} reports when it is disconnected.
 * </ul>
 *
 * <p>What it does not promise. What it reports is already past, if only by milliseconds: to act as
 * a leader use an {@link Elector}, and fence your actions. And one observer can watch at most
 * 10,000 elections.
 *
 * <p>Thread-safe.
 */
public final class Observer implements AutoCloseable {
  private static final int OBSERVED_MAX = 10_000;
  private static final int PREFIXES_MAX = 64;
  private static final int MESSAGES_MAX = 256; // received, but not reported yet

  private final List<String> prefixes; // none: it observes names
  private final Observation.Wish wish;
  private Observation observation; // for the observer's thread
  private final Supplier<Connection> newConnection;
  private final long silenceMax;
  private final ReentrantLock gate = new ReentrantLock(); // held while the listener runs
  private final CountDownLatch closed = new CountDownLatch(1);
  private boolean started; // under this
  private volatile Stream stream; // null: none is open
  private final Queue<Runnable> lateAnswers = new ConcurrentLinkedQueue<>(); // of surveys
  private CompletableFuture<List<ServiceChoice.Answer>> survey; // null: taken in; for its thread

  private Observer(Builder builder) {
    prefixes = builder.prefix ? builder.names : List.of();
    wish =
        new Observation.Wish(
            builder.names, builder.prefix, builder.fromRevision, builder.fromRevisions);
    observation = new Observation(wish);
    newConnection = builder.connections();
    silenceMax = builder.silenceMax;
  }

  /**
   * An observer of the elections named next.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /** Chooses what to observe, and where. Not thread-safe. */
  public static final class Builder extends ServiceBuilder<Builder> {
    private List<String> names = List.of();
    private boolean prefix;
    private long fromRevision = Observation.SNAPSHOT;
    private Map<String, Long> fromRevisions = Map.of();
    private long silenceMax = 30 * Lease.SECOND;

    private Builder() {}

    @Override
    Builder self() {
      return this;
    }

    /**
     * Observes these elections, whether or not they exist yet.
     *
     * @param names 1 to 10,000
     * @return this
     * @throws IllegalArgumentException if a name is malformed, or if there are none or too many
     */
    public Builder names(String... names) {
      checkCount(names, OBSERVED_MAX);
      for (String name : names) Validation.checkName(name, "name");
      this.names = List.of(names);
      prefix = false;
      return this;
    }

    /**
     * Observes all elections whose names begin with one of these.
     *
     * @param prefixes 1 to 64; an empty one selects all elections
     * @return this
     * @throws IllegalArgumentException if one is malformed, or if there are none or too many
     */
    public Builder prefixes(String... prefixes) {
      checkCount(prefixes, PREFIXES_MAX);
      for (String one : prefixes) {
        if (!one.isEmpty()) Validation.checkName(one, "prefix");
      }
      this.names = List.of(prefixes);
      prefix = true;
      return this;
    }

    private static void checkCount(String[] names, int most) {
      if (names.length >= 1 && names.length <= most) return;
      throw new IllegalArgumentException(
          "there are " + names.length + " names; there must be 1 to " + most);
    }

    /**
     * Starts with this revision in each election, instead of a snapshot.
     *
     * @param fromRevision 1: all events that the service still has
     * @return this
     * @throws IllegalArgumentException if it is not positive
     */
    public Builder fromRevision(long fromRevision) {
      if (fromRevision < 1) {
        throw new IllegalArgumentException(
            "fromRevision is " + fromRevision + "; revisions start at 1");
      }
      this.fromRevision = fromRevision;
      return this;
    }

    /**
     * Starts with these revisions in single elections, in place of {@code fromRevision}: for
     * programs that store how far they have come in each. Elections that it does not have start as
     * if it were not set.
     *
     * @param fromRevisions by election: each is among the names, or begins with one of the prefixes
     * @return this
     * @throws IllegalArgumentException if one is not positive
     */
    public Builder fromRevisions(Map<String, Long> fromRevisions) {
      fromRevisions.forEach(
          (election, revision) -> {
            if (revision >= 1) return;
            throw new IllegalArgumentException(
                "fromRevisions has " + revision + " for " + election + "; revisions start at 1");
          });
      this.fromRevisions = Map.copyOf(fromRevisions);
      return this;
    }

    private boolean selects(String election) {
      return prefix ? names.stream().anyMatch(election::startsWith) : names.contains(election);
    }

    /**
     * Sets how long a stream may be silent before it is given up. The service sends something at
     * least every ten seconds. Unset: 30 s.
     *
     * @param silenceMax a shorter limit than ten seconds gives up healthy streams, too
     * @return this
     * @throws IllegalArgumentException if it is not positive
     */
    public Builder silenceMax(Duration silenceMax) {
      if (silenceMax.isNegative() || silenceMax.isZero()) {
        throw new IllegalArgumentException("silenceMax is " + silenceMax + "; it must be positive");
      }
      this.silenceMax = Validation.nanoseconds(silenceMax);
      return this;
    }

    /**
     * Ends the choice.
     *
     * @return an observer, which does not connect before it is started
     * @throws IllegalArgumentException if no election is named, or if {@code fromRevisions} has too
     *     many, or one that is not observed
     */
    public Observer build() {
      if (names.isEmpty()) throw new IllegalArgumentException("no election is named");
      if (prefix && names.size() + fromRevisions.size() > OBSERVED_MAX) {
        throw new IllegalArgumentException(
            "fromRevisions has %d elections; the maximum is %d"
                .formatted(fromRevisions.size(), OBSERVED_MAX - names.size()));
      }
      for (String election : fromRevisions.keySet()) {
        if (selects(election)) continue;
        throw new IllegalArgumentException(
            "fromRevisions has the election '" + election + "', which is not observed");
      }
      return new Observer(this);
    }
  }

  /**
   * Begins to observe, in the background.
   *
   * @param listener is called for what happens
   * @throws IllegalStateException if it was started before
   * @throws java.io.UncheckedIOException if a file for TLS cannot be read; it may be started again
   */
  public synchronized void start(ObserverListener listener) {
    Objects.requireNonNull(listener, "listener");
    if (started) throw new IllegalStateException("the observer was started before");
    Connection connection = newConnection.get();
    try {
      Thread thread = new Thread(() -> observe(connection, listener), "tenure-observer");
      thread.setDaemon(true);
      thread.start();
    } catch (RuntimeException | Error noThread) {
      connection.close();
      throw noThread;
    }
    started = true;
  }

  /**
   * Ends the observation. No listener is called after it has returned. Waits for a running call,
   * unless the listener makes this call.
   */
  @Override
  public void close() {
    closed.countDown();
    Stream open = stream;
    if (open != null) open.cancel();
    gate.lock(); // until a running call has returned
    gate.unlock();
  }

  List<String> prefixes() {
    return prefixes;
  }

  // All of these run on the observer's thread.

  private void observe(Connection connection, ObserverListener listener) {
    try (connection) {
      while (!isClosed()) {
        Replica inUse = connection.replica();
        ServiceException error = followOneStream(connection, listener);
        if (isClosed()) return;
        if (error == null) continue;
        if (isRefusal(error)) {
          Log.warn("cannot observe: " + Reason.of(error, true));
          tell(() -> listener.failed(error));
          return;
        }
        connection.failed(inUse, error);
        tell(() -> listener.broken(error));
        connection.moveOn(error.isSilence());
        long pause = pauseAfter(error, connection.backoffMs() * Lease.MILLISECOND);
        awaitFor(pause, left -> closed.await(left, TimeUnit.NANOSECONDS));
      }
    }
  }

  /** Waits for something, for at most this many nanoseconds. */
  private interface Wait<Result> {
    Result awaitFor(long patience) throws InterruptedException;
  }

  /** This thread is the observer's own: an interrupt from elsewhere does not end it. */
  private static <Result> Result awaitFor(long patience, Wait<Result> what) {
    long began = System.nanoTime();
    while (true) {
      try {
        return what.awaitFor(Math.max(patience - (System.nanoTime() - began), 0));
      } catch (InterruptedException fromOutside) {
        // Wait for the rest of the time.
      }
    }
  }

  /** The same request would be refused again. */
  private static boolean isRefusal(ServiceException error) {
    if (error.code() == Status.Code.PERMISSION_DENIED) return true;
    if (error.reason().equals("OBSERVE_TOO_WIDE")) return true;
    return !error.isTransient() && !error.isRefusedForNow();
  }

  /** In nanoseconds, like the backoff; at least as long as the service asks. */
  static long pauseAfter(ServiceException error, long backoff) {
    long refused =
        ThreadLocalRandom.current()
            .nextLong(Session.REFUSED_FOR_NOW_MIN, Session.REFUSED_FOR_NOW_MAX);
    return Math.max(error.isTransient() ? backoff : refused, error.retryDelay().toNanos());
  }

  private boolean isClosed() {
    return closed.getCount() == 0;
  }

  /** Returns why the stream ended; null if the service was replaced. */
  private ServiceException followOneStream(Connection connection, ObserverListener listener) {
    if (connection.needsSurvey()) {
      beginSurvey(connection);
      ServiceException unknown = takeInSurvey(connection, listener);
      if (unknown != null) return unknown;
    }
    Replica replica = connection.replica();
    Stream opened = new Stream();
    stream = opened;
    if (isClosed()) return unavailable("the observer is closed");
    try {
      replica.stub().observe(observation.request(), opened);
      long heardAt = System.nanoTime();
      while (true) {
        if (survey == null && connection.untilSurvey() == 0) {
          beginSurvey(connection).thenRun(() -> opened.messages.add(Message.SURVEYED));
        }
        long silence = Math.max(heardAt + silenceMax - System.nanoTime(), 0);
        long patience = survey == null ? Math.min(silence, connection.untilSurvey()) : silence;
        Message message =
            awaitFor(patience, left -> opened.messages.poll(left, TimeUnit.NANOSECONDS));
        hearLateAnswers();
        if (message == null && patience < silence) continue;
        if (message == null) {
          String details = "the stream was silent for " + Duration.ofNanos(silenceMax);
          return new ServiceException(Status.Code.DEADLINE_EXCEEDED, details);
        }
        if (message == Message.SURVEYED) {
          String before = connection.serviceId();
          takeInSurvey(connection, listener);
          if (before.equals(connection.serviceId())) continue;
          return null;
        }
        if (message.end != null) return ofAnotherService(connection, replica, message.end);
        String id = message.response.getServiceId();
        if (!connection.isOfThisService(replica, id)) return ServiceException.anotherService(id);
        connection.answered(replica);
        Observation.Verdict verdict = observation.note(message.response);
        if (verdict == Observation.Verdict.GAP) return unavailable("the stream skipped changes");
        if (verdict == Observation.Verdict.NEWS) tellChange(listener, message.response);
        opened.taken();
        heardAt = System.nanoTime();
      }
    } catch (RuntimeException | Error failure) {
      return ServiceException.of(failure);
    } finally {
      opened.cancel();
    }
  }

  /** Starts a survey unless one is running. */
  private CompletableFuture<List<ServiceChoice.Answer>> beginSurvey(Connection connection) {
    if (survey == null) {
      survey =
          connection.survey(
              Survey.PATIENCE,
              (replica, id) -> lateAnswers.add(() -> connection.heardLate(replica, id)));
    }
    return survey;
  }

  /** Finds out which replicas may be asked. Returns null, or why none may be. */
  private ServiceException takeInSurvey(Connection connection, ObserverListener listener) {
    String before = connection.serviceId();
    List<ServiceChoice.Answer> answers = awaitFor(Lease.NEVER, left -> answersOf(survey));
    survey = null;
    ServiceException error = connection.takeIn(answers);
    if (error != null || before == null || before.equals(connection.serviceId())) return error;
    observation = new Observation(wish.withoutRevisions());
    tell(() -> listener.serviceReplaced(connection.serviceId()));
    return null;
  }

  private void hearLateAnswers() {
    for (Runnable late = lateAnswers.poll(); late != null; late = lateAnswers.poll()) late.run();
  }

  /** The survey ends by itself, in bounded time. */
  private static List<ServiceChoice.Answer> answersOf(
      CompletableFuture<List<ServiceChoice.Answer>> survey) throws InterruptedException {
    try {
      return survey.get();
    } catch (ExecutionException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static ServiceException ofAnotherService(
      Connection connection, Replica replica, ServiceException error) {
    if (!error.isOfAnotherService()) return error;
    String id = error.metadata().getOrDefault("service_id", "");
    connection.isOfThisService(replica, id);
    return ServiceException.anotherService(id);
  }

  private static ServiceException unavailable(String details) {
    return new ServiceException(Status.Code.UNAVAILABLE, details);
  }

  private void tellChange(ObserverListener listener, ObserveResponse message) {
    switch (message.getMessageCase()) {
      case SNAPSHOT -> tell(() -> listener.snapshot(message.getSnapshot()));
      case EVENT -> tell(() -> listener.event(message.getEvent()));
      case PROGRESS -> tell(() -> listener.progress(message.getProgress()));
      case MESSAGE_NOT_SET -> {} // from a newer service
    }
  }

  private void tell(Runnable call) {
    gate.lock();
    try {
      if (!isClosed()) Callbacks.callOnOwnThread("an observer's listener", call);
    } finally {
      gate.unlock();
    }
  }

  /** A response of a stream, or its end, or the end of a survey. */
  private record Message(ObserveResponse response, ServiceException end) {
    static final Message SURVEYED = new Message(null, null);
  }

  /** One stream, which requests no more messages than are taken. */
  private static final class Stream
      implements ClientResponseObserver<ObserveRequest, ObserveResponse> {
    final BlockingQueue<Message> messages = new LinkedBlockingQueue<>();
    private volatile ClientCallStreamObserver<ObserveRequest> call;

    @Override
    public void beforeStart(ClientCallStreamObserver<ObserveRequest> call) {
      call.disableAutoRequestWithInitial(MESSAGES_MAX);
      this.call = call;
    }

    @Override
    public void onNext(ObserveResponse response) {
      messages.add(new Message(response, null));
    }

    @Override
    public void onError(Throwable failure) {
      messages.add(new Message(null, ServiceException.of(failure)));
    }

    @Override
    public void onCompleted() {
      messages.add(new Message(null, unavailable("the server ended the stream")));
    }

    void taken() {
      call.request(1);
    }

    void cancel() {
      if (call != null) call.cancel("the observer needs it no more", null);
    }
  }
}
