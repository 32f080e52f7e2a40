package io.tenure;

import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * Lets each call of a gRPC service into a {@link TermGuard} before its handler begins, until it has
 * ended: {@code ServerInterceptors.intercept(service, new GuardCalls(guard, "orders"))}.
 *
 * <p>A call is inside until it is answered and no method of its handler runs any more. Handlers
 * that continue after that, or on threads of their own after a cancellation, must call {@link
 * TermGuard#enter} themselves.
 *
 * <p>A call that waits for others to leave occupies a thread of the server's executor. Thread-safe.
 */
public final class GuardCalls implements ServerInterceptor {
  private final TermGuard guard;
  private final String election;

  /**
   * An interceptor for a service whose effects this election guards.
   *
   * @param guard one for all handlers that touch the same resource
   * @param election its name
   */
  public GuardCalls(TermGuard guard, String election) {
    this.guard = Objects.requireNonNull(guard, "guard");
    this.election = Validation.checkName(election, "election");
  }

  @Override
  public <Request, Response> ServerCall.Listener<Request> interceptCall(
      ServerCall<Request, Response> call,
      Metadata headers,
      ServerCallHandler<Request, Response> next) {
    TermGuard.Entry entry;
    try {
      entry = guard.enter(headers, election, left());
    } catch (TermRefusedException refusal) {
      call.close(refusal.getStatus(), refusal.getTrailers());
      return new ServerCall.Listener<>() {};
    } catch (InterruptedException interruption) {
      Thread.currentThread().interrupt();
      call.close(Status.UNAVAILABLE.withDescription("the server is stopping"), new Metadata());
      return new ServerCall.Listener<>() {};
    }
    Inside inside = new Inside(entry);
    ServerCall<Request, Response> guarded =
        new SimpleForwardingServerCall<>(call) {
          @Override
          public void close(Status status, Metadata trailers) {
            try {
              super.close(status, trailers);
            } finally {
              inside.answered();
            }
          }
        };
    inside.begin();
    try {
      return new Guarded<>(next.startCall(guarded, headers), inside);
    } catch (RuntimeException | Error failure) {
      inside.answered();
      throw failure;
    } finally {
      inside.end();
    }
  }

  private static Duration left() {
    Deadline deadline = Context.current().getDeadline();
    if (deadline == null) return Duration.ofNanos(Long.MAX_VALUE);
    return Duration.ofNanos(Math.max(deadline.timeRemaining(TimeUnit.NANOSECONDS), 0));
  }

  /** Leaves when the call is answered, or cancelled, and no method of its handler runs. */
  private static final class Inside {
    private final TermGuard.Entry entry;
    private int running;
    private boolean answered;

    Inside(TermGuard.Entry entry) {
      this.entry = entry;
    }

    synchronized void begin() {
      running++;
    }

    synchronized void end() {
      running--;
      leaveIfDone();
    }

    synchronized void answered() {
      answered = true;
      leaveIfDone();
    }

    private void leaveIfDone() {
      if (answered && running == 0) entry.close();
    }
  }

  private static final class Guarded<Request> extends ServerCall.Listener<Request> {
    private final ServerCall.Listener<Request> handler;
    private final Inside inside;

    Guarded(ServerCall.Listener<Request> handler, Inside inside) {
      this.handler = handler;
      this.inside = inside;
    }

    private void run(Runnable method) {
      inside.begin();
      try {
        method.run();
      } catch (RuntimeException | Error failure) {
        inside.answered(); // the server answers with the error
        throw failure;
      } finally {
        inside.end();
      }
    }

    @Override
    public void onMessage(Request message) {
      run(() -> handler.onMessage(message));
    }

    @Override
    public void onHalfClose() {
      run(handler::onHalfClose);
    }

    @Override
    public void onReady() {
      run(handler::onReady);
    }

    @Override
    public void onComplete() {
      run(handler::onComplete);
    }

    @Override
    public void onCancel() {
      try {
        run(handler::onCancel);
      } finally {
        inside.answered();
      }
    }
  }
}
