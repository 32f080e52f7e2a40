package io.tenure;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** Runs tasks one after the other, on a thread that does nothing else. Thread-safe. */
final class SerialExecutor {
  private static final Runnable LAST = () -> {};

  private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
  private final Thread thread;

  SerialExecutor(String name) {
    thread = new Thread(this::work, name);
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  void run(Runnable task) {
    tasks.add(task);
  }

  /** After the tasks that it has been given. */
  void close() {
    tasks.add(LAST);
  }

  private void work() {
    for (; ; ) {
      try {
        Runnable task = tasks.take();
        if (task == LAST) return;
        Callbacks.callOnOwnThread("a callback", task);
      } catch (InterruptedException fromOutside) {
        // Nobody else's interrupt ends this thread.
      }
    }
  }
}
