package io.tenure.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Relays to replicas, which count the connections through them. */
public final class Relays implements AutoCloseable {
  private static final long PATIENCE_NS = Duration.ofSeconds(Service.PATIENCE).toNanos();

  private final List<ServerSocket> listeners = new ArrayList<>();
  private final Set<Socket> open = new HashSet<>(); // these under this
  private int opened;
  private volatile boolean isHanging;

  /** A relay to each of these endpoints. */
  public Relays(Service... replicas) throws IOException {
    for (Service replica : replicas) {
      ServerSocket listener = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
      listeners.add(listener);
      start(() -> accept(listener, replica.endpoint()));
    }
  }

  /** Use these instead of the replicas' endpoints. */
  public String endpoints() {
    List<String> endpoints = new ArrayList<>();
    for (ServerSocket one : listeners) endpoints.add("127.0.0.1:" + one.getLocalPort());
    return String.join(",", endpoints);
  }

  /** Waits until there were as many connections as replicas, and only one is left. */
  public synchronized void awaitOneLeft() throws InterruptedException {
    long begun = System.nanoTime();
    while (opened < listeners.size() || open.size() != 1) {
      if (System.nanoTime() - begun > PATIENCE_NS) throw new AssertionError(open.size() + " left");
      wait(100);
    }
  }

  /** From now on nothing passes, and no connection ends. */
  public void hang() {
    isHanging = true;
  }

  @Override
  public void close() throws IOException {
    for (ServerSocket one : listeners) one.close();
  }

  private interface Task {
    void run() throws IOException;
  }

  private static void start(Task task) {
    Thread thread =
        new Thread(
            () -> {
              try {
                task.run();
              } catch (IOException closed) {
                // Either side closed it.
              }
            });
    thread.setDaemon(true);
    thread.start();
  }

  private void accept(ServerSocket listener, String endpoint) throws IOException {
    String[] parts = endpoint.split(":");
    while (true) {
      Socket socket = listener.accept();
      Socket onward = new Socket(parts[0], Integer.parseInt(parts[1]));
      synchronized (this) {
        opened++;
        open.add(socket);
      }
      start(() -> pump(socket, onward, socket));
      start(() -> pump(onward, socket, socket));
    }
  }

  private void pump(Socket from, Socket to, Socket counted) throws IOException {
    try (from;
        to;
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream()) {
      byte[] bytes = new byte[8192];
      for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
        if (!isHanging) out.write(bytes, 0, read);
      }
    } finally {
      synchronized (this) {
        open.remove(counted);
        notifyAll();
      }
    }
  }
}
