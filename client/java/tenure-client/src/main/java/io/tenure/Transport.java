package io.tenure;

import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.nio.NioEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioSocketChannel;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads on which all connections of this process run.
 *
 * <p>Everything needed to connect, and to reconnect, is started with the first connection. gRPC's
 * own pools start threads on demand: if the operating system refuses one, a renewal would fail, and
 * a channel that cannot look up its name would never work again.
 */
final class Transport {
  private static final int LOOKUPS_MAX = 16; // at a time; a dead name server delays each of them
  private static final long IDLE_S = 60;

  private static Transport shared; // under the class

  @SuppressWarnings("deprecation") // its successor is missing in the Netty of older gRPC versions
  private final EventLoopGroup loop =
      new NioEventLoopGroup(1, (ThreadFactory) task -> newThread(task, "tenure-connections"));

  private final SerialExecutor reserve = new SerialExecutor("tenure-lookups");
  private final ThreadPoolExecutor more =
      new ThreadPoolExecutor(
          0,
          LOOKUPS_MAX,
          IDLE_S,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          task -> newThread(task, "tenure-lookup"));

  private Transport() {
    loop.submit(() -> {}).syncUninterruptibly(); // starts its thread
    reserve.start();
  }

  /** Starts its threads the first time. */
  static synchronized Transport shared() {
    if (shared == null) shared = new Transport();
    return shared;
  }

  /** Answers are handled on the thread that receives them: the library only queues them there. */
  NettyChannelBuilder use(NettyChannelBuilder channel) {
    Executor offload = this::offload;
    return channel
        .eventLoopGroup(loop)
        .channelType(NioSocketChannel.class)
        .directExecutor()
        .offloadExecutor(offload);
  }

  private void offload(Runnable task) {
    try {
      more.execute(task);
    } catch (RejectedExecutionException | OutOfMemoryError noThread) {
      reserve.run(task);
    }
  }

  private static Thread newThread(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }
}
