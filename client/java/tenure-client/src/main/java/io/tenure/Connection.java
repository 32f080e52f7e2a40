package io.tenure;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.tenure.v1.ElectionServiceGrpc;
import io.tenure.v1.ElectionServiceGrpc.ElectionServiceStub;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/** The replicas of one service, one of them in use. Any will do. Not thread-safe. */
final class Connection implements AutoCloseable {
  /** After a survey only the replica in use has a stream, so the other connections are closed. */
  static final Duration IDLE_TIMEOUT = Duration.ofSeconds(30);

  private static final long BACKOFF_MIN_MS = 20;
  private static final long BACKOFF_MAX_MS = 500;
  private static final long PING_INTERVAL_S = 10; // the shortest that gRPC allows
  private static final long PING_TIMEOUT_S = 3;
  private static final int CONNECT_TIMEOUT_MS = 3_000;
  // While a session or a stream is open: from the start of one survey to the start of the next.
  private static final long SURVEY_AGAIN = 10 * Lease.SECOND;
  private static final long SURVEY_AGAIN_MIN = 1 * Lease.SECOND; // after WRONG_SERVICE
  private static final long LOOKUP_INTERVAL_NS = 1_000_000_000; // minimum, per name

  /** If a name has several addresses, each call uses the next one that is connected. */
  private static final Map<String, ?> SERVICE_CONFIG =
      Map.of("loadBalancingConfig", List.of(Map.of("round_robin", Map.of())));

  /**
   * How to connect: without TLS if both are null.
   *
   * @param other any gRPC credentials, instead of {@code tls}
   */
  record Credentials(Tls tls, ChannelCredentials other) {
    static final Credentials NONE = new Credentials(null, null);

    static Credentials of(Tls tls) {
      return new Credentials(tls, null);
    }

    static Credentials of(ChannelCredentials other) {
      return new Credentials(null, other);
    }

    List<Object> stamp() throws IOException {
      return tls == null ? List.of() : tls.stamp();
    }

    ChannelCredentials read() throws IOException {
      if (tls != null) return tls.channelCredentials();
      return other == null ? InsecureChannelCredentials.create() : other;
    }
  }

  private static final Metadata.Key<String> SERVICE_ID =
      Metadata.Key.of("tenure-service-id", Metadata.ASCII_STRING_MARSHALLER);

  static final class Replica {
    private final String endpoint;
    private final ManagedChannel channel;
    private final ElectionServiceStub plainStub;
    private final ElectionServiceStub stub;
    private final long openedAt = System.nanoTime();
    private boolean answered; // something was received on this connection

    private Replica(String endpoint, ManagedChannel channel, ClientInterceptor interceptor) {
      this.endpoint = endpoint;
      this.channel = channel;
      this.plainStub = ElectionServiceGrpc.newStub(channel);
      this.stub = plainStub.withInterceptors(interceptor);
    }

    String endpoint() {
      return endpoint;
    }

    /** Calls through this stub do not name the service. */
    ElectionServiceStub plainStub() {
      return plainStub;
    }

    ElectionServiceStub stub() {
      return stub;
    }
  }

  private final List<String> endpoints;
  private final Credentials credentials;
  private List<Replica> replicas = List.of(); // one for each endpoint
  private final List<ManagedChannel> replaced = new ArrayList<>(); // with calls under way
  private final List<ClientInterceptor> interceptors; // the application's
  private final Duration idleTimeout;
  private final boolean isQuiet;
  private boolean isSure = true; // more than half of all endpoints belong to the service
  private boolean isRefused; // WRONG_SERVICE was received since the last survey began
  private long surveyedAt = System.nanoTime() - SURVEY_AGAIN; // when the last survey began
  private final Trouble trouble;
  private final boolean isPinned; // the user has set the service
  private volatile String serviceId; // null: not known yet
  private final Set<String> notUsed = new HashSet<>(); // endpoints of other services
  private final Set<String> warnedOf = new HashSet<>(); // those that a warning has named
  private final ClientInterceptor withServiceId = new WithServiceId();
  private List<Object> stamp;
  private ChannelCredentials current;
  private int inUse;
  private int failures; // in a row

  /** Does not connect yet. */
  Connection(
      String endpoints,
      Credentials credentials,
      String serviceId,
      List<ClientInterceptor> interceptors,
      Duration idleTimeout) {
    this.interceptors = interceptors;
    this.idleTimeout = idleTimeout;
    this.endpoints = Validation.checkEndpoints(endpoints);
    this.serviceId = serviceId;
    isPinned = serviceId != null;
    this.credentials = credentials;
    isQuiet = false;
    trouble = new Trouble(isQuiet);
    try {
      openAll(credentials.stamp());
    } catch (IOException unreadable) {
      throw new UncheckedIOException("cannot read a file for TLS", unreadable);
    }
    inUse = ThreadLocalRandom.current().nextInt(replicas.size());
  }

  /** To one replica within this process, on this channel. Logs nothing. */
  Connection(ManagedChannel channel) {
    interceptors = List.of();
    idleTimeout = IDLE_TIMEOUT;
    isQuiet = true;
    trouble = new Trouble(isQuiet);
    isPinned = false;
    endpoints = List.of(channel.authority());
    credentials = Credentials.NONE;
    replicas = new ArrayList<>(List.of(new Replica(channel.authority(), channel, withServiceId)));
    stamp = List.of();
  }

  /** The replica in use. */
  Replica replica() {
    return replicas.get(inUse);
  }

  /**
   * Switches to the next replica. The connection to the current one is made again, which looks its
   * name up again; a connection that is still being made is left alone, however long it takes.
   */
  void moveOn(boolean silent) {
    if (!takesChangedFiles()) connectAgain(silent);
    useNext();
    // gRPC's own pauses between two attempts grow to minutes.
    replica().channel.resetConnectBackoff();
  }

  /** If all replicas belong to other services, all are used: somebody may have repaired them. */
  private void useNext() {
    int tries = 0;
    do {
      inUse = (inUse + 1) % replicas.size();
    } while (notUsed.contains(replica().endpoint) && ++tries < replicas.size());
  }

  // Which service this is.

  /** Whether to ask the endpoints before a session or an observation begins. */
  boolean needsSurvey() {
    return !isQuiet && (endpoints.size() > 1 || serviceId != null);
  }

  /**
   * How long to wait, in nanoseconds, before asking the endpoints again while a session or a stream
   * is open; {@link Lease#NEVER} if that is not needed.
   */
  long untilSurvey() {
    if (isSure || isPinned || serviceId == null) return Lease.NEVER;
    long pause = isRefused ? SURVEY_AGAIN_MIN : SURVEY_AGAIN;
    return Math.max(surveyedAt + pause - System.nanoTime(), 0);
  }

  /** Pass what comes {@code late} to {@link #heardLate}, on the thread of this connection. */
  CompletableFuture<List<ServiceChoice.Answer>> survey(
      long patience, BiConsumer<Replica, String> late) {
    surveyedAt = System.nanoTime();
    isRefused = false;
    return Survey.of(replicas, isPinned ? serviceId : null, patience, late);
  }

  /** Takes in the endpoints' answers. Returns null, or why no call can be made now. */
  ServiceException takeIn(List<ServiceChoice.Answer> answers) {
    for (int i = 0; i < answers.size(); i++) {
      ServiceException error = answers.get(i).error();
      // An endpoint too old to know this call may be used.
      if (error == null || error.code() == Status.Code.UNIMPLEMENTED || !isTrouble(error)) continue;
      trouble.found(endpoints.get(i), error, replicas.get(i).answered);
    }
    ServiceChoice choice = ServiceChoice.of(serviceId, isPinned, answers);
    if (choice.error() != null) return refuse(choice.error(), answers);
    if (serviceId != null && !serviceId.equals(choice.serviceId())) {
      Log.warn(
          "most endpoints belong to service %s now, not to %s: the service was replaced"
              .formatted(choice.serviceId(), serviceId));
    }
    trouble.settled(allEndpoints());
    serviceId = choice.serviceId();
    notUsed.clear();
    int agreeing = 0;
    for (ServiceChoice.Answer answer : answers) {
      if (!serviceId.equals(answer.serviceId())) continue;
      agreeing++;
      warnedOf.remove(answer.endpoint());
    }
    isSure = 2 * agreeing > answers.size();
    choice.notUsed().forEach(this::doNotUse);
    if (notUsed.contains(replica().endpoint)) useNext();
    return null;
  }

  private ServiceException refuse(ServiceException error, List<ServiceChoice.Answer> answers) {
    for (int i = 0; i < answers.size(); i++) {
      ServiceException refusal = answers.get(i).error();
      boolean isRefused =
          refusal != null
              && (refusal.code() == Status.Code.UNIMPLEMENTED || !refusal.isTransient());
      if (error.isOfAnotherService() || !isRefused) continue;
      inUse = i; // the call itself will tell more: not permitted, or Identify is too new
      return null;
    }
    if (error.isOfAnotherService()) {
      trouble.failed(allEndpoints(), error, false);
    } else {
      trouble.failed(error); // the reasons were logged per endpoint
    }
    return error;
  }

  private String allEndpoints() {
    return String.join(",", endpoints);
  }

  /**
   * Takes in an answer that arrived after the end of its survey. If it arrives before {@link
   * #takeIn}, it does not choose the service.
   */
  void heardLate(Replica replica, String id) {
    if (serviceId != null && !serviceId.equals(id)) doNotUse(replica.endpoint, id);
  }

  /** False if it belongs to another service: then ignore its answer. */
  boolean isOfThisService(Replica replica, String id) {
    if (id.isEmpty()) return true; // from an older server
    if (serviceId == null) serviceId = id;
    if (serviceId.equals(id)) return true;
    isSure = false;
    isRefused = true;
    doNotUse(replica.endpoint, id);
    return false;
  }

  private void doNotUse(String endpoint, String id) {
    notUsed.add(endpoint);
    if (!warnedOf.add(endpoint)) return;
    Log.warn(
        "%s belongs to service %s, not to %s: its replica works on another database; it is not used"
            .formatted(endpoint, id, serviceId));
  }

  /** Null if not known yet. */
  String serviceId() {
    return serviceId;
  }

  /** Names the service in each call, so that a replica of another one refuses it. */
  private final class WithServiceId implements ClientInterceptor {
    @Override
    public <Request, Response> ClientCall<Request, Response> interceptCall(
        MethodDescriptor<Request, Response> method, CallOptions options, Channel next) {
      return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
        @Override
        public void start(Listener<Response> listener, Metadata headers) {
          String id = serviceId;
          if (id != null) headers.put(SERVICE_ID, id);
          super.start(listener, headers);
        }
      };
    }
  }

  private void connectAgain(boolean silent) {
    replaced.removeIf(ManagedChannel::isTerminated);
    Replica old = replica();
    boolean mayBeMade = silent && !old.answered;
    boolean isNew = System.nanoTime() - old.openedAt < LOOKUP_INTERVAL_NS;
    if (mayBeMade || (isNew && !silent)) return;
    try {
      replicas.set(inUse, open(endpoints.get(inUse), current));
    } catch (RuntimeException | Error noResources) {
      return; // the old channel retries by itself
    }
    if (silent) {
      old.channel.shutdownNow();
    } else {
      old.channel.shutdown(); // calls to another address of this name continue
      replaced.add(old.channel);
    }
  }

  /** How long to wait before the next attempt: longer after each failure in a row. */
  long backoffMs() {
    long longest = Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS << Math.min(failures++, 10));
    return ThreadLocalRandom.current().nextLong(longest / 2, longest + 1);
  }

  /** The replica has answered, so its connection works. */
  void answered(Replica replica) {
    replica.answered = true;
    failures = 0;
    trouble.answered(replica.endpoint);
  }

  /** A call has failed. An error that only the service can have sent counts as an answer. */
  void failed(Replica replica, ServiceException error) {
    if (!replicas.contains(replica)) return; // another connection has replaced it
    if (error.isOfAnotherService()) return; // already logged
    if (isTrouble(error)) {
      trouble.failed(replica.endpoint, error, replica.answered);
    } else {
      answered(replica);
    }
  }

  private static boolean isTrouble(ServiceException error) {
    return error.isTransient() || (error.isRefusedForNow() && error.reason().isEmpty());
  }

  /** No answer has come in time. */
  void silent() {
    failed(replica(), new ServiceException(Status.Code.DEADLINE_EXCEEDED, "no answer"));
  }

  /** Whether it logs nothing, because no call leaves this process. */
  boolean isQuiet() {
    return isQuiet;
  }

  /** The last failure; null if the last call was answered. From any thread. */
  ServiceException trouble() {
    return trouble.latest();
  }

  /** Calls that are under way fail. Does not wait. */
  @Override
  public void close() {
    for (Replica replica : replicas) replica.channel.shutdownNow();
    replaced.forEach(ManagedChannel::shutdownNow);
    replaced.clear();
  }

  /** Closes the old connections only if the new ones could be opened. */
  private void openAll(List<Object> newStamp) throws IOException {
    ChannelCredentials read = credentials.read();
    List<Replica> opened = new ArrayList<>();
    for (String endpoint : endpoints) opened.add(open(endpoint, read));
    close();
    replicas = opened;
    current = read;
    stamp = newStamp;
  }

  private Replica open(String endpoint, ChannelCredentials credentials) {
    QuietGrpc.about(endpoint);
    String target = Spelling.next(endpoint);
    NettyChannelBuilder channel = NettyChannelBuilder.forTarget(target, credentials);
    if (!target.equals(endpoint)) channel.overrideAuthority(endpoint);
    ManagedChannel built =
        Transport.shared()
            .use(channel)
            .proxyDetector(address -> null) // a proxy for web pages does not know these ports
            .defaultServiceConfig(SERVICE_CONFIG)
            .disableServiceConfigLookUp()
            .idleTimeout(idleTimeout.toMillis(), TimeUnit.MILLISECONDS)
            .keepAliveTime(PING_INTERVAL_S, TimeUnit.SECONDS)
            .keepAliveTimeout(PING_TIMEOUT_S, TimeUnit.SECONDS)
            .withOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MS)
            // A full page of elections with long values is larger than gRPC's own limit.
            .maxInboundMessageSize(Integer.MAX_VALUE)
            .intercept(interceptors)
            .userAgent("tenure-java")
            .build();
    return new Replica(endpoint, built, withServiceId);
  }

  private boolean takesChangedFiles() {
    try {
      List<Object> now = credentials.stamp();
      if (now.equals(stamp)) return false;
      openAll(now);
      return true;
    } catch (IOException | RuntimeException beingReplaced) {
      return false; // try again after the next failure
    }
  }
}
