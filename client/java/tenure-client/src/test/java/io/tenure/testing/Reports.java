package io.tenure.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A process and its output, standard error included. It ends when this is closed. */
public final class Reports implements AutoCloseable {
  private final Process process;
  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

  public Reports(List<String> command) throws IOException {
    process = new ProcessBuilder(command).redirectErrorStream(true).start();
    BufferedReader reader = new BufferedReader(new InputStreamReader(process.getInputStream()));
    Thread thread = new Thread(() -> reader.lines().forEach(lines::add), "reader");
    thread.setDaemon(true);
    thread.start();
  }

  public Process process() {
    return process;
  }

  /** Waits for a line with this text. Returns the lines before it. */
  public List<String> until(String wanted) throws InterruptedException {
    List<String> before = new ArrayList<>();
    while (true) {
      String line = lines.poll(Service.PATIENCE, TimeUnit.SECONDS);
      if (line == null) throw new AssertionError("no " + wanted + ", but " + before);
      if (line.contains(wanted)) return before;
      before.add(line);
    }
  }

  /** Drops all lines printed so far. */
  public void forget() {
    lines.clear();
  }

  @Override
  public void close() {
    Service.end(process);
  }
}
