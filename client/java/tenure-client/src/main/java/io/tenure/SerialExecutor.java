package io.tenure;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** Runs tasks one after another, on a thread that does nothing else. Thread-safe. */
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

  /** Ends after the tasks that it has. */
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
        // An interrupt from elsewhere does not end this thread.
      }
    }
  }
}
