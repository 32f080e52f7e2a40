package io.tenure;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A client is one candidate. All its electors, for however many elections, share one session and
 * one heartbeat. Several endpoints are replicas of one service: the client uses one at a time, and
 * another as soon as that one fails or does not answer within half a heartbeat.
 *
 * <p>It connects, and starts its threads, when the first elector stands. They are daemons: they do
 * not keep the program running. When the program ends, by the end of {@code main}, by {@code
 * System.exit}, SIGINT or SIGTERM, a client that is still open is closed, with a patience of a
 * second: so the successor leads at once.
 *
 * <p>Thread-safe.
 */
public final class TenureClient implements AutoCloseable {
  private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(5);
  private static final Duration EXIT_PATIENCE = Duration.ofSeconds(1);

  private final Supplier<ClientLoop> newLoop;
  private final boolean closesOnExit;
  private final Map<String, Candidacy> standing = new HashMap<>(); // under this
  private final Set<Candidacy> unfinished = new HashSet<>(); // or with seats that are not free
  private ClientLoop loop; // null: nobody has stood yet
  private boolean closed;

  private TenureClient(Builder builder) {
    Supplier<Connection> connections = builder.connections();
    HolderClock clock = builder.clock();
    Consumer<ClientLoop> listener = builder.loopListener();
    List<ClientMetrics> metrics = List.copyOf(builder.metrics);
    String candidate = builder.candidate == null ? defaultCandidate() : builder.candidate;
    Session.Options options = new Session.Options(candidate, builder.leaseTtl, builder.supersede);
    newLoop =
        () -> {
          ClientLoop loop = new ClientLoop(options, connections.get(), clock, metrics);
          listener.accept(loop);
          return loop;
        };
    closesOnExit = builder.closeOnExit;
    if (closesOnExit) OpenClients.add(this);
  }

  /** This client is not closed when the program ends. */
  TenureClient(Supplier<ClientLoop> newLoop) {
    this.newLoop = newLoop;
    closesOnExit = false;
  }

  static String defaultCandidate() {
    String host;
    try {
      host = InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException nameless) {
      host = "unknown";
    }
    return host + ":" + ProcessHandle.current().pid();
  }

  /**
   * A client with the default options, without TLS.
   *
   * @param endpoints replicas: {@code host:port[,host:port...]}
   * @return an open client
   * @throws IllegalArgumentException if it names no replica
   */
  public static TenureClient create(String endpoints) {
    return builder().endpoints(endpoints).build();
  }

  /**
   * A client with other options.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /** Chooses the candidate and the service. Not thread-safe. */
  public static final class Builder extends ServiceBuilder<Builder> {
    private String candidate;
    private long leaseTtl;
    private boolean supersede;
    private final List<ClientMetrics> metrics = new ArrayList<>();
    private boolean closeOnExit = true;

    private Builder() {}

    @Override
    Builder self() {
      return this;
    }

    /**
     * Sets the candidate's name, for people. Unset: {@code hostname:process}.
     *
     * @param candidate 1 to 255 bytes
     * @return this
     * @throws IllegalArgumentException if it is malformed
     */
    public Builder candidate(String candidate) {
      this.candidate = Validation.checkName(candidate, "candidate");
      return this;
    }

    /**
     * Sets how long the seats are kept after the last renewal. Renewals are sent every third of it.
     * Unset: the default of the election or the service.
     *
     * @param leaseTtl the service's limits apply; zero counts as unset
     * @return this
     * @throws IllegalArgumentException if it is negative
     */
    public Builder leaseTtl(Duration leaseTtl) {
      this.leaseTtl = Validation.checkNotNegative(leaseTtl, "leaseTtl");
      return this;
    }

    /**
     * Ends older sessions of the same candidate in the elections of this client, and takes over
     * their seats and places, so that a restarted process need not wait for its own old lease. Use
     * it only if no two processes share a candidate name.
     *
     * @param supersede whether to do that
     * @return this
     */
    public Builder supersede(boolean supersede) {
      this.supersede = supersede;
      return this;
    }

    /**
     * Counts what happens. May be called several times.
     *
     * @param metrics such as those of {@code io.tenure.micrometer}
     * @return this
     */
    public Builder metrics(ClientMetrics metrics) {
      this.metrics.add(Objects.requireNonNull(metrics, "metrics"));
      return this;
    }

    /**
     * Sets whether the client is closed when the program ends. False is for frameworks that shut
     * down in an order of their own and close the client themselves.
     *
     * @param closeOnExit true by default
     * @return this
     */
    public Builder closeOnExit(boolean closeOnExit) {
      this.closeOnExit = closeOnExit;
      return this;
    }

    /**
     * Ends the choice.
     *
     * @return an open client, which does not connect yet
     */
    public TenureClient build() {
      return new TenureClient(this);
    }
  }

  /**
   * Gives up every seat and place, and ends the session: {@link #close(Duration)} with five
   * seconds.
   *
   * @throws TenureException if that was not enough: then the seats are free when the lease has
   *     ended
   */
  @Override
  public void close() {
    close(CLOSE_PATIENCE);
  }

  /**
   * Gives up every seat and place, and ends the session. Waits for work that is asked to end, and
   * then for the service's answer. If this thread is interrupted meanwhile, it stops waiting, and
   * stays interrupted.
   *
   * <p>Not to be called by work, nor by a listener: it would wait for itself.
   *
   * @param patience for all of that
   * @throws TenureException if that was not enough: then the seats are free when the lease has
   *     ended
   */
  public void close(Duration patience) {
    long deadline = System.nanoTime() + Validation.checkNotNegative(patience, "patience");
    if (closesOnExit) OpenClients.remove(this);
    List<Candidacy> candidacies;
    synchronized (this) {
      closed = true;
      if (loop == null) return;
      candidacies = new ArrayList<>(unfinished);
    }
    try {
      candidacies.forEach(Candidacy::resign);
      for (Candidacy candidacy : candidacies) {
        if (!candidacy.awaitIdle(deadline - System.nanoTime())) {
          throw new TenureException("work is still running; its seat is free when the lease ends");
        }
      }
      ServiceException error = loop.close(Math.max(deadline - System.nanoTime(), 0));
      if (error != null) throw error;
    } catch (InterruptedException interruption) {
      Thread.currentThread().interrupt();
      throw new TenureException("interrupted; the seats are free when the lease ends");
    }
  }

  /**
   * Why the service cannot be used: lets a caller of {@link Elector#tryLead} find out whether
   * somebody else leads, or nobody could be asked.
   *
   * @return the last failure; empty if the last call was answered, or if nobody has stood yet
   */
  public synchronized Optional<ServiceException> trouble() {
    return Optional.ofNullable(loop).map(ClientLoop::trouble);
  }

  // For its electors.

  /** No stand begins once the client is being closed. */
  synchronized Candidacy stand(String election, Function<ClientLoop, Candidacy> onLoop) {
    if (closed) throw new TenureException("the client is closed");
    if (standing.containsKey(election)) {
      throw new IllegalStateException("this client already stands in election " + election);
    }
    if (loop == null) {
      loop = newLoop.get();
      Rehearsal.begin();
    }
    Candidacy candidacy = onLoop.apply(loop);
    standing.put(election, candidacy);
    unfinished.add(candidacy);
    return candidacy;
  }

  /** Frees the election for another stand of this client. */
  synchronized void release(Candidacy candidacy) {
    standing.remove(candidacy.election(), candidacy);
  }

  /** Nothing is left to do for this stand. */
  synchronized void forget(Candidacy candidacy) {
    release(candidacy);
    unfinished.remove(candidacy);
  }

  /** Closes what is still open when the program ends. */
  private static final class OpenClients {
    private static final Set<TenureClient> OPEN = new HashSet<>(); // under itself

    static {
      try {
        Runtime.getRuntime().addShutdownHook(new Thread(OpenClients::closeAll, "tenure-exit"));
      } catch (IllegalStateException theProgramIsEnding) {
        // The caller must close the clients that it opens now.
      }
    }

    static void add(TenureClient client) {
      synchronized (OPEN) {
        OPEN.add(client);
      }
    }

    static void remove(TenureClient client) {
      synchronized (OPEN) {
        OPEN.remove(client);
      }
    }

    private static void closeAll() {
      List<TenureClient> open;
      synchronized (OPEN) {
        open = new ArrayList<>(OPEN);
      }
      for (TenureClient client : open) {
        try {
          client.close(EXIT_PATIENCE);
        } catch (RuntimeException | Error seatsAreFreeWhenTheLeaseHasEnded) {
          Thread.interrupted(); // close the other clients all the same
        }
      }
    }
  }
}
