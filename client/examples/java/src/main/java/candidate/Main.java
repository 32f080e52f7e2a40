package candidate;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Stands for one election, works while it leads, and prints every change of who leads.
 *
 * <p>It uses nothing but the stubs generated from election.proto, whose comments are the contract.
 */
final class Main {
  public static void main(String[] arguments) throws InterruptedException {
    String endpoints = System.getenv().getOrDefault("TENURE_ENDPOINTS", "127.0.0.1:7070");
    Duration ttl = Duration.ofSeconds(10);
    List<String> names = new ArrayList<>();
    for (int i = 0; i < arguments.length; ++i) {
      switch (arguments[i]) {
        case "--endpoints" -> endpoints = arguments[++i];
        case "--ttl" -> ttl = Duration.ofMillis((long) (Double.parseDouble(arguments[++i]) * 1000));
        default -> names.add(arguments[i]);
      }
    }
    if (names.size() != 2) {
      System.err.println("usage: candidate ELECTION CANDIDATE [--endpoints ...] [--ttl SECONDS]");
      System.exit(2);
    }

    String election = names.get(0);
    Thread observer = new Thread(new Observer(election, new Replicas(endpoints)), "observer");
    observer.setDaemon(true);
    observer.start();

    Candidate candidate = new Candidate(election, names.get(1), ttl, new Replicas(endpoints));
    Thread main = Thread.currentThread();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      candidate.stop();
      try {
        main.join(); // the process ends when this hook does
      } catch (InterruptedException ignored) {
        Thread.currentThread().interrupt();
      }
    }));
    candidate.run();
  }
}
