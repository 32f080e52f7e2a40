package io.tenure.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A real service for the tests: {@code tenured} of build/bin, on its embedded store. */
public final class Service implements AutoCloseable {
  /** In seconds, for what must happen; only a failing test waits this long. */
  public static final int PATIENCE = 20;

  private final Path folder; // null: belongs to another replica
  private final String store;
  private final String endpoint;
  private final List<String> command = new ArrayList<>();
  private Process process;

  private Service(Path folder, String store, String endpoint, String... options) {
    this.folder = folder;
    this.store = store;
    this.endpoint = endpoint;
    String tenured = Repository.BIN.resolve("tenured").toString();
    command.addAll(List.of(tenured, "--store", store, "--listen", endpoint));
    command.addAll(List.of("--http-listen", freeAddress()));
    command.addAll(Arrays.asList(options));
  }

  /** Starts a service with its own store. */
  public static Service start(String... options) {
    return startAt(freeAddress(), options);
  }

  /** Starts a service at this address, with its own store. */
  public static Service startAt(String endpoint, String... options) {
    Path folder = temporaryFolder();
    String store = "sqlite:" + folder.resolve("tenure.db");
    return new Service(folder, store, endpoint, options).restart();
  }

  /** Starts a service on an existing store. */
  public static Service startOn(String store, String... options) {
    return new Service(null, store, freeAddress(), options).restart();
  }

  /** Starts another replica of the same service. */
  public Service startReplica() {
    return startOn(store);
  }

  /** Starts another replica of the same service at this address. */
  public Service startReplicaAt(String endpoint) {
    return new Service(null, store, endpoint).restart();
  }

  public String endpoint() {
    return endpoint;
  }

  /** Starts it again after stop. */
  public Service restart() {
    try {
      process = new ProcessBuilder(command).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
      awaitLine(process.getErrorStream(), " info ready");
      return this;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  public void pause() {
    signal(process, "STOP");
  }

  public void resume() {
    signal(process, "CONT");
  }

  /** At once, like kill -9. */
  public void stop() {
    if (process != null) end(process);
    process = null;
  }

  @Override
  public void close() {
    stop();
    if (folder != null) delete(folder);
  }

  /** Runs the command line tool; returns its output. */
  public String tool(String... arguments) {
    List<String> tool = new ArrayList<>();
    tool.add(Repository.BIN.resolve("tenure").toString());
    tool.addAll(List.of("--endpoint", endpoint));
    tool.addAll(Arrays.asList(arguments));
    return output(tool);
  }

  /** On its own loopback address, so that nobody else takes the port meanwhile. */
  public static String freeAddress() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    byte[] bytes = {127, octet(random), octet(random), octet(random)};
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByAddress(bytes))) {
      return socket.getInetAddress().getHostAddress() + ":" + socket.getLocalPort();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static byte octet(ThreadLocalRandom random) {
    return (byte) random.nextInt(1, 255);
  }

  public static Path temporaryFolder() {
    try {
      return Files.createTempDirectory("tenure-java-");
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  public static void delete(Path folder) {
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) Files.delete(path);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Returns the output of the command. Fails if the command does. */
  public static String output(List<String> command) {
    try {
      Process tool = new ProcessBuilder(command).redirectErrorStream(true).start();
      byte[] said = tool.getInputStream().readAllBytes();
      String text = new String(said, StandardCharsets.UTF_8);
      if (tool.waitFor() != 0) throw new AssertionError(command + ": " + text);
      return text;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException interruption) {
      throw new AssertionError(interruption);
    }
  }

  public static void signal(Process process, String name) {
    output(List.of("kill", "-" + name, String.valueOf(process.pid())));
  }

  public static void end(Process process) {
    try {
      process.destroyForcibly();
      if (!process.waitFor(PATIENCE, TimeUnit.SECONDS)) throw new AssertionError("it does not end");
    } catch (InterruptedException interruption) {
      throw new AssertionError(interruption);
    }
  }

  /** Waits for a line with this text; later lines are read and dropped. */
  public static void awaitLine(InputStream stream, String end) throws IOException {
    BufferedReader reader =
        new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8));
    List<String> lines = new ArrayList<>();
    for (String line; (line = reader.readLine()) != null; ) {
      lines.add(line);
      if (!line.contains(end)) continue;
      Thread drain = new Thread(() -> reader.lines().forEach(dropped -> {}), "drain");
      drain.setDaemon(true);
      drain.start();
      return;
    }
    throw new AssertionError(String.join("\n", lines));
  }
}
