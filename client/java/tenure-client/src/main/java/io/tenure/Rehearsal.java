package io.tenure;

import com.google.protobuf.MessageLite;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.tenure.v1.CampaignResponse;
import io.tenure.v1.Cause;
import io.tenure.v1.KeepAliveRequest;
import io.tenure.v1.KeepAliveResponse;
import io.tenure.v1.Leadership;
import io.tenure.v1.Renewal;
import io.tenure.v1.ResignRequest;
import io.tenure.v1.ResignResponse;
import io.tenure.v1.SeatLost;
import io.tenure.v1.SeatNotice;
import io.tenure.v1.SessionRenewal;
import io.tenure.v1.Standing;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A term that begins and ends within this process.
 *
 * <p>A JVM loads and links code when it first runs. Without a rehearsal, it would do so in the
 * middle of the first change of leader, and take longer than all the rest. The rehearsal is a
 * client of a service that exists only here: it waits, is elected, works, resigns, and is closed.
 * Then all code that a change of leader needs has run.
 */
final class Rehearsal {
  private static final String NAME = "rehearsal";
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final AtomicBoolean BEGUN = new AtomicBoolean();

  private Rehearsal() {}

  /** Runs in the background, once in this process. */
  static void begin() {
    if (BEGUN.getAndSet(true)) return;
    try {
      Thread thread = new Thread(Rehearsal::run, "tenure-rehearsal");
      thread.setDaemon(true);
      thread.start();
    } catch (RuntimeException | Error theFirstChangeIsSlower) {
      // The library works without a rehearsal, too.
    }
  }

  private static void run() {
    TenureClient client = new TenureClient(Rehearsal::newLoop);
    try {
      lead(client);
    } catch (Exception | Error theFirstChangeIsSlower) {
      // The library works without a rehearsal, too.
    }
  }

  private static void lead(TenureClient client) throws InterruptedException {
    try {
      new Elector(client).stand(NAME, seat -> seat.awaitStop(PATIENCE)).awaitSeat(PATIENCE);
    } finally {
      client.close(PATIENCE);
    }
  }

  private static ClientLoop newLoop() {
    Session.Options options = new Session.Options(NAME, 0, false);
    HolderClock clock = new HolderClock(new Standstill());
    return new ClientLoop(options, new Connection(new Service()), clock, List.of());
  }

  /** No time passes, so nothing is late on a slow machine. */
  private static final class Standstill implements HolderClock.Sources {
    @Override
    public long monotonic() {
      return 0;
    }

    @Override
    public long wall() {
      return 0;
    }

    @Override
    public long uptime() {
      return 0;
    }
  }

  /** Elects the waiting candidate. Messages are serialized and parsed as if they were sent. */
  private static final class Service extends ManagedChannel {
    private volatile Call<?, ?> stream;

    @Override
    public <Request, Response> ClientCall<Request, Response> newCall(
        MethodDescriptor<Request, Response> method, CallOptions options) {
      return new Call<>(method);
    }

    private final class Call<Request, Response> extends ClientCall<Request, Response> {
      private final MethodDescriptor<Request, Response> method;
      private Listener<Response> client;

      Call(MethodDescriptor<Request, Response> method) {
        this.method = method;
      }

      @Override
      public void start(Listener<Response> client, Metadata headers) {
        this.client = client;
      }

      @Override
      public void sendMessage(Request message) {
        Request request = method.parseRequest(method.streamRequest(message));
        if (request instanceof KeepAliveRequest renewal) {
          stream = this;
          answer(renewed(renewal));
          answer(elected());
        } else if (request instanceof ResignRequest resignation) {
          answer(ResignResponse.newBuilder().setTerm(resignation.getTerm()));
          stream.answer(lost());
        } else {
          answer(waits());
        }
      }

      private void answer(MessageLite.Builder response) {
        client.onMessage(method.parseResponse(response.build().toByteString().newInput()));
      }

      @Override
      public void halfClose() {
        client.onClose(Status.OK, new Metadata());
      }

      @Override
      public void request(int messages) {}

      @Override
      public void cancel(String message, Throwable cause) {}
    }

    private static CampaignResponse.Builder waits() {
      return CampaignResponse.newBuilder()
          .setSession(
              io.tenure.v1.Session.newBuilder()
                  .setSessionId(NAME)
                  .setLeaseTtl(Lease.duration(PATIENCE.toNanos())))
          .setStanding(Standing.newBuilder().setPosition(1));
    }

    private static KeepAliveResponse.Builder renewed(KeepAliveRequest renewal) {
      return KeepAliveResponse.newBuilder()
          .setRenewal(
              Renewal.newBuilder()
                  .setSequence(renewal.getSequence())
                  .addSessions(
                      SessionRenewal.newBuilder()
                          .setSessionId(NAME)
                          .setLeaseTtl(Lease.duration(PATIENCE.toNanos()))));
    }

    private static KeepAliveResponse.Builder elected() {
      Leadership seat = Leadership.newBuilder().setElection(NAME).setTerm(1).build();
      return notice(SeatNotice.newBuilder().setElected(seat));
    }

    private static KeepAliveResponse.Builder lost() {
      SeatLost lost = SeatLost.newBuilder().setTerm(1).setCause(Cause.CAUSE_RESIGNED).build();
      return notice(SeatNotice.newBuilder().setLost(lost));
    }

    private static KeepAliveResponse.Builder notice(SeatNotice.Builder change) {
      return KeepAliveResponse.newBuilder().setNotice(change.setSessionId(NAME).setElection(NAME));
    }

    @Override
    public String authority() {
      return NAME;
    }

    @Override
    public ManagedChannel shutdown() {
      return this;
    }

    @Override
    public ManagedChannel shutdownNow() {
      return this;
    }

    @Override
    public boolean isShutdown() {
      return true;
    }

    @Override
    public boolean isTerminated() {
      return true;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
      return true;
    }
  }
}
