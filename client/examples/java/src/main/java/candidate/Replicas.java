package candidate;

import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ThreadLocalRandom;

/** Which replica to talk to. Any will do; whoever meets a broken one moves on. For one thread. */
final class Replicas {
  private final Deque<ManagedChannel> channels = new ArrayDeque<>();
  private int failures = 0;

  Replicas(String endpoints) {
    for (String endpoint : endpoints.split(",")) {
      channels.add(
          Grpc.newChannelBuilder(endpoint, InsecureChannelCredentials.create()).build());
    }
  }

  ManagedChannel current() {
    return channels.getFirst();
  }

  void succeeded() {
    failures = 0;
  }

  /** Answers how long to wait before the next try: longer each time, and never in step. */
  Duration failed(ManagedChannel channel) {
    if (channel == channels.getFirst()) {
      channels.addLast(channels.removeFirst());
    }
    channel.resetConnectBackoff(); // gRPC's own may be two minutes
    failures = Math.min(failures + 1, 5);
    return Duration.ofMillis(
        (long) ((30 << failures) * ThreadLocalRandom.current().nextDouble(0.5, 1)));
  }
}
