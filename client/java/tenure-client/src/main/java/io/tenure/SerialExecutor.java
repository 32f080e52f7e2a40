package io.tenure;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** Runs tasks one after the other, on a thread that does nothing else. Thread-safe. */
final class SerialExecutor {
  private static final Runnable LAST = () -> {};

  private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();

  SerialExecutor(String name) {
    Thread thread = new Thread(this::work, name);
    thread.setDaemon(true);
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
        Callbacks.call("a callback", task);
      } catch (InterruptedException nobodysConcern) {
        // A callback has interrupted its own thread; the next one runs all the same.
      }
    }
  }
}
