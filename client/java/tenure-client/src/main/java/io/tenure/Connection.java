package io.tenure;

import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.tenure.v1.ElectionServiceGrpc;
import io.tenure.v1.ElectionServiceGrpc.ElectionServiceStub;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** The replicas of one service, one of them in use. Any will do. Not thread-safe. */
final class Connection implements AutoCloseable {
  private static final long BACKOFF_MIN_MS = 20;
  private static final long BACKOFF_MAX_MS = 500;
  private static final long PING_INTERVAL_S = 10; // gRPC allows no shorter one
  private static final long PING_TIMEOUT_S = 3;
  private static final int CONNECT_TIMEOUT_MS = 3_000;
  private static final long LOOKUP_INTERVAL_NS = 1_000_000_000; // at least, of one name

  /** Of several addresses behind one name, the next call uses the next one that is connected. */
  private static final Map<String, ?> SERVICE_CONFIG =
      Map.of("loadBalancingConfig", List.of(Map.of("round_robin", Map.of())));

  /**
   * How to connect: without TLS if both are null.
   *
   * @param other any credentials of gRPC, instead of {@code tls}
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

  static final class Replica {
    private final ManagedChannel channel;
    private final ElectionServiceStub stub;
    private final long openedAt = System.nanoTime();
    private boolean answered; // anything came back on this connection

    private Replica(ManagedChannel channel) {
      this.channel = channel;
      this.stub = ElectionServiceGrpc.newStub(channel);
    }

    ElectionServiceStub stub() {
      return stub;
    }
  }

  private final List<String> endpoints;
  private final Credentials credentials;
  private List<Replica> replicas = List.of(); // one for each endpoint
  private final List<ManagedChannel> replaced = new ArrayList<>(); // with calls under way
  private List<Object> stamp;
  private ChannelCredentials current;
  private int inUse;
  private int failures; // in a row

  /** Connects to nothing yet. */
  Connection(String endpoints, Credentials credentials) {
    this.endpoints = Validation.checkEndpoints(endpoints);
    this.credentials = credentials;
    try {
      openAll(credentials.stamp());
    } catch (IOException unreadable) {
      throw new UncheckedIOException("cannot read a file for TLS", unreadable);
    }
    inUse = ThreadLocalRandom.current().nextInt(replicas.size());
  }

  /** To one replica, on this channel. */
  Connection(ManagedChannel channel) {
    endpoints = List.of(channel.authority());
    credentials = Credentials.NONE;
    replicas = new ArrayList<>(List.of(new Replica(channel)));
    stamp = List.of();
  }

  /** The one in use. */
  Replica replica() {
    return replicas.get(inUse);
  }

  /**
   * Uses the next replica from now on. The connection to the one in use is made again, which looks
   * its name up again, unless it is being made: that is waited for, however long it takes.
   */
  void moveOn(boolean silent) {
    if (!takesChangedFiles()) connectAgain(silent);
    inUse = (inUse + 1) % replicas.size();
    // gRPC's own pauses between two attempts grow to minutes.
    replica().channel.resetConnectBackoff();
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
      return; // the old one tries again by itself
    }
    if (silent) {
      old.channel.shutdownNow();
    } else {
      old.channel.shutdown(); // calls to another address of this name continue
      replaced.add(old.channel);
    }
  }

  /** How long to wait before the next try: longer with each one in a row. */
  long backoffMs() {
    long longest = Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS << Math.min(failures++, 10));
    return ThreadLocalRandom.current().nextLong(longest / 2, longest + 1);
  }

  /** It has said something, so its connection stands. */
  void answered(Replica replica) {
    replica.answered = true;
    failures = 0;
  }

  /** Whatever is under way fails. Does not wait. */
  @Override
  public void close() {
    for (Replica replica : replicas) replica.channel.shutdownNow();
    replaced.forEach(ManagedChannel::shutdownNow);
    replaced.clear();
  }

  /** What is open is shut down only when this has gone well. */
  private void openAll(List<Object> newStamp) throws IOException {
    ChannelCredentials read = credentials.read();
    List<Replica> opened = new ArrayList<>();
    for (String endpoint : endpoints) opened.add(open(endpoint, read));
    close();
    replicas = opened;
    current = read;
    stamp = newStamp;
  }

  private static Replica open(String endpoint, ChannelCredentials credentials) {
    String target = Spelling.next(endpoint);
    NettyChannelBuilder channel = NettyChannelBuilder.forTarget(target, credentials);
    if (!target.equals(endpoint)) channel.overrideAuthority(endpoint);
    ManagedChannel built =
        Transport.shared()
            .use(channel)
            .defaultServiceConfig(SERVICE_CONFIG)
            .disableServiceConfigLookUp()
            .keepAliveTime(PING_INTERVAL_S, TimeUnit.SECONDS)
            .keepAliveTimeout(PING_TIMEOUT_S, TimeUnit.SECONDS)
            .withOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MS)
            // A full page of elections with long values is larger than gRPC's own limit.
            .maxInboundMessageSize(Integer.MAX_VALUE)
            .userAgent("tenure-java")
            .build();
    return new Replica(built);
  }

  private boolean takesChangedFiles() {
    try {
      List<Object> now = credentials.stamp();
      if (now.equals(stamp)) return false;
      openAll(now);
      return true;
    } catch (IOException | RuntimeException beingReplaced) {
      return false; // the next failure looks again
    }
  }
}
