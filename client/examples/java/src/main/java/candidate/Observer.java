package candidate;

import io.grpc.ManagedChannel;
import io.grpc.StatusException;
import io.grpc.stub.BlockingClientCall;
import io.tenure.v1.Cause;
import io.tenure.v1.ElectionServiceGrpc;
import io.tenure.v1.Event;
import io.tenure.v1.Leadership;
import io.tenure.v1.ObserveRequest;
import io.tenure.v1.ObserveResponse;
import io.tenure.v1.Selector;
import io.tenure.v1.Snapshot;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Prints every change, each once and in order, from whichever replica. */
final class Observer implements Runnable {
  /** Of a stream, which says something at least every 10 s. */
  private static final long SILENCE_MAX_S = 25;

  private final Replicas replicas;
  private final Selector.Builder selector;

  Observer(String election, Replicas replicas) {
    this.replicas = replicas;
    this.selector = Selector.newBuilder().setElection(election);
  }

  @Override
  public void run() {
    try {
      while (true) {
        ManagedChannel channel = replicas.current();
        observeOneStream(channel);
        Thread.sleep(replicas.failed(channel).toMillis());
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private void observeOneStream(ManagedChannel channel) throws InterruptedException {
    ObserveRequest request = ObserveRequest.newBuilder().addSelectors(selector).build();
    BlockingClientCall<?, ObserveResponse> stream =
        ElectionServiceGrpc.newBlockingV2Stub(channel).observe(request);
    try {
      ObserveResponse message;
      while ((message = stream.read(SILENCE_MAX_S, TimeUnit.SECONDS)) != null) {
        replicas.succeeded();
        if (message.hasEvent()) {
          say(message.getEvent());
        } else if (message.hasSnapshot()) {
          say(message.getSnapshot());
        }
      }
    } catch (StatusException error) {
      Output.complain(error);
    } catch (TimeoutException silent) {
      stream.cancel("silent", silent);
    }
  }

  private void say(Event event) {
    Leadership leadership = event.getLeadership();
    Output.say("observed", "revision", event.getRevision(), "type", word(event.getType()),
        "term", leadership.getTerm(), "candidate", leadership.getCandidate(),
        "cause", event.getCause() == Cause.CAUSE_UNSPECIFIED ? null : word(event.getCause()));
    selector.setFromRevision(event.getRevision() + 1);
  }

  private void say(Snapshot snapshot) {
    boolean resync = snapshot.getReason() == Snapshot.Reason.REASON_RESYNC;
    Output.say("observed", "revision", snapshot.getRevision(),
        "type", resync ? "RESYNC" : "SNAPSHOT", "term", snapshot.getTerm(),
        "candidate", snapshot.hasLeader() ? snapshot.getLeader().getCandidate() : null,
        "cause", null);
    selector.setFromRevision(snapshot.getRevision() + 1);
  }

  /** EXPIRED of CAUSE_EXPIRED. */
  static String word(Enum<?> value) {
    return value.name().substring(value.name().indexOf('_') + 1);
  }
}
