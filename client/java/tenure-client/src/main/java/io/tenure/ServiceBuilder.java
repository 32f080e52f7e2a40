package io.tenure;

import io.grpc.ChannelCredentials;
import io.grpc.ClientInterceptor;
import io.tenure.Connection.Credentials;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Chooses the service, and how to connect to it: the part that all builders share.
 *
 * @param <Self> the builder
 */
abstract class ServiceBuilder<Self extends ServiceBuilder<Self>> {
  String endpoints = "127.0.0.1:7070";
  Credentials credentials = Credentials.NONE;
  String serviceId; // null: the service of most endpoints
  private final List<ClientInterceptor> interceptors = new ArrayList<>();
  private Duration idleTimeout = Connection.IDLE_TIMEOUT;
  private FakeTenure fake; // null: the service is real

  abstract Self self();

  /**
   * Sets the replicas of the service. Unset: {@code 127.0.0.1:7070}.
   *
   * @param endpoints {@code host:port[,host:port...]}; a host name may resolve to several addresses
   * @return this
   * @throws IllegalArgumentException if it names no replica
   */
  public Self endpoints(String endpoints) {
    Validation.checkEndpoints(endpoints);
    this.endpoints = endpoints;
    return self();
  }

  /**
   * Connects with TLS.
   *
   * @param tls which files to use
   * @return this
   */
  public Self credentials(Tls tls) {
    this.credentials = Credentials.of(Objects.requireNonNull(tls, "tls"));
    return self();
  }

  /**
   * Connects with any credentials of gRPC.
   *
   * @param credentials for each connection
   * @return this
   */
  public Self credentials(ChannelCredentials credentials) {
    this.credentials = Credentials.of(Objects.requireNonNull(credentials, "credentials"));
    return self();
  }

  /**
   * Sets which service the endpoints must belong to. Unset: the one that most of them belong to. A
   * replica of another service, which works on another database, is not used.
   *
   * @param serviceId 32 hexadecimal digits in lower case, as {@code tenure status} prints them
   * @return this
   * @throws IllegalArgumentException if it is malformed
   */
  public Self serviceId(String serviceId) {
    this.serviceId = Validation.checkServiceId(serviceId);
    return self();
  }

  /**
   * Has an interceptor of gRPC see each call: for traces, for example. Calls of {@link TimedLocks}
   * are made on the caller's thread, so that they belong to the caller's trace; those of clients
   * and observers on a thread of the library.
   *
   * @param interceptor may be called on any thread, and must not wait
   * @return this
   */
  public Self interceptor(ClientInterceptor interceptor) {
    interceptors.add(Objects.requireNonNull(interceptor, "interceptor"));
    return self();
  }

  /** At least a second, gRPC's own minimum. */
  Self idleTimeout(Duration idleTimeout) {
    this.idleTimeout = idleTimeout;
    return self();
  }

  /** Replaces endpoints and credentials. */
  Self fake(FakeTenure fake) {
    this.fake = fake;
    return self();
  }

  /** Does not connect yet. Later changes of this builder have no effect. */
  Supplier<Connection> connections() {
    FakeTenure fake = this.fake;
    String endpoints = this.endpoints;
    Credentials credentials = this.credentials;
    String serviceId = this.serviceId;
    List<ClientInterceptor> interceptors = List.copyOf(this.interceptors);
    Duration idleTimeout = this.idleTimeout;
    return () ->
        fake == null
            ? new Connection(endpoints, credentials, serviceId, interceptors, idleTimeout)
            : fake.connect();
  }

  HolderClock clock() {
    return fake == null ? HolderClock.SYSTEM : fake.clock();
  }

  Consumer<ClientLoop> loopListener() {
    FakeTenure fake = this.fake;
    return fake == null ? loop -> {} : fake::add;
  }
}
