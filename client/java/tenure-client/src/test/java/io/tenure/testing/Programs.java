package io.tenure.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Several processes, and their output. They end when this is closed. */
public final class Programs implements AutoCloseable {
  /**
   * A line that matched.
   *
   * @param by the index of the process that printed it
   * @param at when, by {@link System#nanoTime}
   */
  public record Said(int by, Matcher match, long at) {}

  private record Line(int by, String text, long at) {}

  private static final int NOBODY = -1;
  private static final int PATIENCE = 3 * Service.PATIENCE; // a machine may start a few at once

  private final List<Process> all = new ArrayList<>();
  private final List<Thread> readers = new ArrayList<>();
  private final BlockingQueue<Line> lines = new LinkedBlockingQueue<>();

  /** Starts another one, as a terminal would: a program in the background ignores SIGINT. */
  public void start(List<String> command, Path folder) throws IOException {
    int index = all.size();
    List<String> inForeground = new ArrayList<>(List.of("env", "--default-signal=INT"));
    inForeground.addAll(command);
    Process process =
        new ProcessBuilder(inForeground)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .start();
    all.add(process);
    BufferedReader reader = new BufferedReader(new InputStreamReader(process.getInputStream()));
    Thread thread =
        new Thread(
            () -> reader.lines().forEach(text -> lines.add(new Line(index, text, now()))),
            "reader");
    thread.setDaemon(true);
    thread.start();
    readers.add(thread);
  }

  private static long now() {
    return System.nanoTime();
  }

  /** Waits until any process prints this. */
  public Said awaitLine(String pattern) throws InterruptedException {
    return awaitLine(pattern, NOBODY);
  }

  /** Waits until any process but that one prints this. */
  public Said awaitLine(String pattern, int notBy) throws InterruptedException {
    Pattern compiled = Pattern.compile(pattern);
    List<Line> before = new ArrayList<>();
    while (true) {
      Line line = lines.poll(PATIENCE, TimeUnit.SECONDS);
      if (line == null) throw new AssertionError("nobody says " + pattern + ", but " + before);
      before.add(line);
      Matcher match = compiled.matcher(line.text);
      if (match.find() && line.by != notBy) return new Said(line.by, match, line.at);
    }
  }

  /** Sends a signal, and waits for the end. Returns when the signal was sent. */
  public long end(int index, String signal) throws InterruptedException {
    long at = now();
    Service.signal(all.get(index), signal);
    if (!all.get(index).waitFor(PATIENCE, TimeUnit.SECONDS)) {
      throw new AssertionError("it does not end");
    }
    return at;
  }

  /** Waits until all have ended. Returns how many of the remaining lines match. */
  public long awaitEnds(String pattern) throws InterruptedException {
    for (Process process : all) {
      if (!process.waitFor(PATIENCE, TimeUnit.SECONDS)) throw new AssertionError("it does not end");
    }
    for (Thread reader : readers) reader.join();
    return lines.stream()
        .filter(line -> Pattern.compile(pattern).matcher(line.text).find())
        .count();
  }

  @Override
  public void close() {
    all.forEach(Service::end);
  }
}
