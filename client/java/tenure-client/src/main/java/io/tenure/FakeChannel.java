package io.tenure;

import com.google.protobuf.MessageLite;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.tenure.v1.CampaignRequest;
import io.tenure.v1.KeepAliveRequest;
import io.tenure.v1.ObserveRequest;
import io.tenure.v1.ResignRequest;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** A connection to a {@link FakeService}. A call is answered before it returns to its caller. */
final class FakeChannel extends ManagedChannel {
  private final FakeService service;
  private final Set<Call<?, ?>> open = new LinkedHashSet<>(); // under itself
  private volatile boolean reachable = true;
  private volatile boolean shutdown;

  FakeChannel(FakeService service) {
    this.service = service;
  }

  /** While the service is not reachable, calls and streams fail. */
  void setReachable(boolean reachable) {
    this.reachable = reachable;
    if (!reachable) failAll();
  }

  private void failAll() {
    List<Call<?, ?>> failing;
    synchronized (open) {
      failing = new ArrayList<>(open);
    }
    for (Call<?, ?> call : failing) call.end(unreachable());
  }

  private static Status unreachable() {
    return Status.UNAVAILABLE.withDescription("the fake service cannot be reached");
  }

  @Override
  public <Request, Response> ClientCall<Request, Response> newCall(
      MethodDescriptor<Request, Response> method, CallOptions options) {
    return new Call<>(method);
  }

  private final class Call<Request, Response> extends ClientCall<Request, Response>
      implements FakeService.Stream {
    private final MethodDescriptor<Request, Response> method;
    private Listener<Response> client;
    private MessageLite answer; // to a call with one answer; null: none
    private boolean ended; // under this

    Call(MethodDescriptor<Request, Response> method) {
      this.method = method;
    }

    @Override
    public void start(Listener<Response> client, Metadata headers) {
      this.client = client;
      synchronized (open) {
        open.add(this);
      }
    }

    @Override
    public void sendMessage(Request message) {
      if (!reachable || shutdown) {
        end(unreachable());
        return;
      }
      try {
        if (message instanceof CampaignRequest request) {
          answer = service.campaign(request);
        } else if (message instanceof ResignRequest request) {
          answer = service.resign(request);
        } else if (message instanceof KeepAliveRequest request) {
          send(service.keepAlive(request, this));
        } else if (message instanceof ObserveRequest request) {
          service.observe(request, this);
        } else {
          end(Status.UNIMPLEMENTED);
        }
      } catch (TermRefusedException refusal) {
        end(refusal.getStatus(), refusal.getTrailers());
      }
    }

    @Override
    public void send(MessageLite message) {
      synchronized (this) {
        if (ended) return;
      }
      client.onMessage(method.parseResponse(message.toByteString().newInput()));
    }

    @Override
    public void halfClose() {
      if (answer == null) return;
      send(answer);
      end(Status.OK);
    }

    void end(Status status) {
      end(status, new Metadata());
    }

    private void end(Status status, Metadata trailers) {
      synchronized (this) {
        if (ended) return;
        ended = true;
      }
      synchronized (open) {
        open.remove(this);
      }
      service.closed(this);
      client.onClose(status, trailers);
    }

    @Override
    public void request(int messages) {}

    @Override
    public void cancel(String message, Throwable cause) {
      end(Status.CANCELLED.withDescription(message).withCause(cause));
    }
  }

  @Override
  public String authority() {
    return "the fake service";
  }

  @Override
  public ManagedChannel shutdown() {
    return shutdownNow();
  }

  @Override
  public ManagedChannel shutdownNow() {
    shutdown = true;
    failAll();
    return this;
  }

  @Override
  public boolean isShutdown() {
    return shutdown;
  }

  @Override
  public boolean isTerminated() {
    return shutdown;
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) {
    return shutdown;
  }
}
