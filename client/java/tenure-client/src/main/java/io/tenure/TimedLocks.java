package io.tenure;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.tenure.Connection.Replica;
import io.tenure.v1.CampaignRequest;
import io.tenure.v1.CampaignResponse;
import io.tenure.v1.ElectionServiceGrpc;
import io.tenure.v1.ElectionServiceGrpc.ElectionServiceBlockingStub;
import io.tenure.v1.Leadership;
import io.tenure.v1.ResignRequest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Locks for a fixed time: seats with a session of their own, which is never renewed. So a lock ends
 * when it expires or is given back, whether its holder lives, hangs or was cut off. {@code
 * docs/seats.md} calls them automatic locks: for jobs that many hosts start, and only one must run.
 *
 * <pre>{@code
 * TimedLocks locks = TimedLocks.builder().endpoints("tenure:7070").build();
 * locks.tryLock("backup", Duration.ofHours(1)).ifPresent(lock -> {
 *   backUp();
 *   lock.unlock();
 * });
 * }</pre>
 *
 * <p>What it promises
 *
 * <ul>
 *   <li>Of all that ask for a lock, one gets it. Nobody else gets it before it expires, counted by
 *       the service from after the request was sent, unless it is given back or an operator ends
 *       it.
 *   <li>Nobody waits in a queue: a request that does not get the lock leaves no trace in its
 *       election.
 *   <li>Nobody else held an extended lock in between.
 * </ul>
 *
 * <p>What it does not promise
 *
 * <ul>
 *   <li>Nothing stops the work of a holder whose lock has expired. Whatever must never be done
 *       twice must carry the lock's {@link TimedLock#fence}.
 *   <li>If the answer to a request is lost, and no replica answers again, the lock may stay taken,
 *       without a holder, until it expires.
 *   <li>The time has the service's limits: one second to one day, unless an operator has changed
 *       them.
 * </ul>
 *
 * <p>Each call waits for the service's answer, for at most 15 seconds. Thread-safe.
 */
public final class TimedLocks implements AutoCloseable {
  private static final Duration ANSWER_PATIENCE = Duration.ofSeconds(3);
  // How long a request is retried, each time on another replica.
  private static final Duration REQUEST_PATIENCE = Duration.ofSeconds(5);
  private static final int REQUEST_ID_BYTES = 16;
  private static final int SUFFIX_BYTES = 8;

  private final String candidate;
  private final HolderClock clock;
  private final SecureRandom random = new SecureRandom();
  private final Connection connection; // under itself
  private boolean isUnsure = true; // which endpoints belong to the service; under the connection

  private TimedLocks(Builder builder) {
    candidate = builder.candidate == null ? TenureClient.defaultCandidate() : builder.candidate;
    connection = builder.connections().get();
    clock = builder.clock();
  }

  /**
   * Locks of the service named next.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /** Chooses the holder and the service. Not thread-safe. */
  public static final class Builder extends ServiceBuilder<Builder> {
    private String candidate;

    private Builder() {}

    @Override
    Builder self() {
      return this;
    }

    /**
     * Sets the holder's name, for people. Each lock appends a number of its own. Unset: {@code
     * hostname:process}.
     *
     * @param candidate 1 to 238 bytes
     * @return this
     * @throws IllegalArgumentException if it is malformed
     */
    public Builder candidate(String candidate) {
      Validation.checkName(candidate + "#" + "0".repeat(2 * SUFFIX_BYTES), "candidate");
      this.candidate = candidate;
      return this;
    }

    /**
     * Ends the choice.
     *
     * @return locks, which do not connect before the first one is taken
     */
    public TimedLocks build() {
      return new TimedLocks(this);
    }
  }

  /** A lock that is held until its time has passed, or until it is given back. Thread-safe. */
  public final class TimedLock {
    private final String holder;
    private final String session;
    private final Fence fence;
    private final Lease lease; // by this process's own clock

    private TimedLock(String holder, String session, Fence fence, Lease lease) {
      this.holder = holder;
      this.session = session;
      this.fence = fence;
      this.lease = lease;
    }

    /**
     * What to send with everything that only the holder may do.
     *
     * @return the election and the term
     */
    public Fence fence() {
      return fence;
    }

    /**
     * How long the work may continue, by this process's own clock: a tenth less than the lock
     * lasts, to allow for drift between this clock and the service's.
     *
     * @return zero if it must have ended
     */
    public Duration remaining() {
      return Duration.ofNanos(Math.max(lease.believedUntil() - clock.now(), 0));
    }

    /**
     * Gives the lock back: somebody else may have it at once. Does nothing once it has expired.
     *
     * @throws ServiceException if no replica answers: then the lock is free when it expires
     */
    public void unlock() {
      end(session);
    }

    /**
     * Holds the lock for this time, from now on; this object is void afterwards.
     *
     * @param time may be shorter than the rest of the current time
     * @return a lock of the next term; empty if this one has expired, or was taken away
     * @throws ServiceException if the service refuses, or no replica answers; then this lock may be
     *     void, and free when the new time ends
     */
    public Optional<TimedLock> extend(Duration time) {
      if (clock.now() >= lease.endsAt()) return Optional.empty();
      CampaignRequest.Builder request =
          CampaignRequest.newBuilder().setElection(fence.election()).setSupersede(true);
      Optional<TimedLock> extended = campaign(request, fence.election(), holder, time);
      if (extended.isEmpty()) return extended;
      if (extended.get().fence.term() == fence.term() + 1) return extended;
      extended.get().unlock(); // somebody has had it in between
      return Optional.empty();
    }
  }

  /**
   * Takes a lock if nobody has it.
   *
   * @param name that of its election, 1 to 255 bytes
   * @param time how long it is held unless it is given back before
   * @return empty if somebody else has it
   * @throws ServiceException if the service refuses, or no replica answers
   * @throws IllegalArgumentException if the name is malformed, or the time is not positive
   */
  public Optional<TimedLock> tryLock(String name, Duration time) {
    Validation.checkName(name, "name");
    String holder = candidate + "#" + HexFormat.of().formatHex(randomBytes(SUFFIX_BYTES));
    // Sets, even of one election, never wait in a queue.
    return campaign(CampaignRequest.newBuilder().addElections(name), name, holder, time);
  }

  /** Held locks keep their time. */
  @Override
  public void close() {
    synchronized (connection) {
      connection.close();
    }
  }

  private Optional<TimedLock> campaign(
      CampaignRequest.Builder request, String name, String holder, Duration time) {
    if (time.isNegative() || time.isZero()) {
      throw new IllegalArgumentException("time is " + time + "; it must be positive");
    }
    CampaignRequest complete =
        request
            .setCandidate(holder)
            .setLeaseTtl(Lease.duration(Validation.nanoseconds(time)))
            .setWait(Lease.duration(0))
            .setRequestId(ByteString.copyFrom(randomBytes(REQUEST_ID_BYTES)))
            .build();
    long sentAt = clock.now();
    CampaignResponse response = ask(stub -> stub.campaign(complete));
    checkService(response.getSession().getServiceId());
    String session = response.getSession().getSessionId();
    Leadership leadership = leadershipOf(response);
    if (leadership == null) {
      end(session); // so that it does not wait in a queue
      return Optional.empty();
    }
    Lease lease = new Lease();
    lease.renewed(sentAt, Lease.nanoseconds(response.getSession().getLeaseTtl()));
    Fence fence = new Fence(name, leadership.getTerm());
    return Optional.of(new TimedLock(holder, session, fence, lease));
  }

  /** Null if this session was not elected. */
  private static Leadership leadershipOf(CampaignResponse response) {
    return switch (response.getOutcomeCase()) {
      case ELECTED -> response.getElected();
      case ALL_ELECTED -> response.getAllElected().getLeaderships(0);
      default -> null;
    };
  }

  private void end(String session) {
    ResignRequest request = ResignRequest.newBuilder().setSessionId(session).build();
    try {
      ask(stub -> stub.resign(request));
    } catch (ServiceException error) {
      if (!error.isSessionGone()) throw error;
    }
  }

  /** Repeats the request, on other replicas, as long as that may help. */
  private <Response> Response ask(Function<ElectionServiceBlockingStub, Response> call) {
    long begun = System.nanoTime();
    while (true) {
      try {
        survey();
      } catch (ServiceException error) {
        if (!error.isTransient() || isLate(begun)) throw error;
        pause(backoff());
        continue;
      }
      Replica replica = replica();
      try {
        Response response =
            call.apply(
                ElectionServiceGrpc.newBlockingStub(replica.stub().getChannel())
                    .withDeadlineAfter(ANSWER_PATIENCE.toNanos(), TimeUnit.NANOSECONDS));
        answered(replica);
        return response;
      } catch (StatusRuntimeException failure) {
        ServiceException error = ServiceException.of(failure);
        boolean elsewhere = error.isTransient() || error.isOfAnotherService();
        if (!elsewhere || isLate(begun)) throw error;
        pause(moveOn(replica, error));
      }
    }
  }

  private static boolean isLate(long begun) {
    return System.nanoTime() - begun >= REQUEST_PATIENCE.toNanos();
  }

  /** Needed before the first request, and after a refusal by another service. */
  private void survey() {
    CompletableFuture<List<ServiceChoice.Answer>> survey;
    synchronized (connection) {
      if (!isUnsure || !connection.needsSurvey()) return;
      survey = connection.survey(ANSWER_PATIENCE.toNanos(), this::heard);
    }
    List<ServiceChoice.Answer> answers = survey.join();
    synchronized (connection) {
      ServiceException error = connection.takeIn(answers);
      if (error != null) throw error;
      isUnsure = false;
    }
  }

  private void heard(Replica replica, String id) {
    synchronized (connection) {
      connection.heardLate(replica, id);
    }
  }

  private Replica replica() {
    synchronized (connection) {
      return connection.replica();
    }
  }

  /** Learns the service from the first lock if there was no survey. */
  private void checkService(String id) {
    synchronized (connection) {
      if (!connection.isOfThisService(connection.replica(), id)) {
        throw ServiceException.anotherService(id);
      }
      isUnsure = false;
    }
  }

  private void answered(Replica replica) {
    synchronized (connection) {
      connection.answered(replica);
    }
  }

  private long backoff() {
    synchronized (connection) {
      return connection.backoffMs();
    }
  }

  /** Returns how long to wait, in milliseconds. */
  private long moveOn(Replica failed, ServiceException error) {
    synchronized (connection) {
      connection.failed(failed, error);
      if (error.isOfAnotherService()) {
        isUnsure = true;
        connection.isOfThisService(failed, error.metadata().getOrDefault("service_id", ""));
      }
      if (connection.replica() == failed) connection.moveOn(error.isSilence());
      return Math.max(connection.backoffMs(), error.retryDelay().toMillis());
    }
  }

  private static void pause(long milliseconds) {
    try {
      TimeUnit.MILLISECONDS.sleep(Math.min(milliseconds, ANSWER_PATIENCE.toMillis()));
    } catch (InterruptedException interruption) {
      Thread.currentThread().interrupt();
      throw new ServiceException(Status.Code.CANCELLED, "interrupted");
    }
  }

  private byte[] randomBytes(int count) {
    byte[] bytes = new byte[count];
    random.nextBytes(bytes);
    return bytes;
  }
}
