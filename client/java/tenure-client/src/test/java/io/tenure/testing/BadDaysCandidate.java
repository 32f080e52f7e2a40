package io.tenure.testing;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.tenure.Candidacy;
import io.tenure.ElectionListener;
import io.tenure.Elector;
import io.tenure.Seat;
import io.tenure.ServiceException;
import io.tenure.TenureClient;
import io.tenure.v1.Cause;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Semaphore;

/** A candidate that lives through bad days: it speaks the protocol of tests/polyglot/bad_days. */
public final class BadDaysCandidate implements ElectionListener {
  private static final Duration BETWEEN_QUESTIONS = Duration.ofMillis(20);
  private static final long BETWEEN_LINES_NS = 50_000_000;

  private final TenureClient client;
  private final Elector elector;
  private final Semaphore over = new Semaphore(1); // has a permit unless it leads
  private volatile Candidacy candidacy;
  private volatile boolean lingers;
  private volatile boolean resigns;
  private volatile boolean interruptsItself;

  private BadDaysCandidate(JsonObject stand) {
    client =
        TenureClient.builder()
            .endpoints(stand.get("endpoints").getAsString())
            .candidate(stand.get("candidate").getAsString())
            .leaseTtl(Duration.ofMillis(stand.get("lease_ms").getAsLong()))
            .supersede(stand.get("supersede").getAsBoolean())
            .build();
    elector = Elector.builder(client).listener(this).build();
    candidacy = elector.stand(stand.get("election").getAsString(), this::work);
    Thread beliefs = new Thread(this::sayBeliefs, "beliefs");
    beliefs.setDaemon(true);
    beliefs.start();
  }

  @Override
  public void elected(Seat seat) {
    over.drainPermits();
    say("leading", seat.term());
  }

  @Override
  public void lost(Seat seat, Cause cause) {
    JsonObject line = event("over", seat.term());
    line.addProperty("cause", cause.name().substring("CAUSE_".length()));
    say(line);
    over.release();
    if (interruptsItself) Thread.currentThread().interrupt();
    interruptsItself = false;
  }

  @Override
  public void refused(Candidacy refused, ServiceException error) {
    say("refused", 0);
  }

  private void standAgain() throws InterruptedException {
    candidacy.resign();
    over.acquire();
    over.release();
    candidacy.close();
    candidacy = elector.stand(candidacy.election(), this::work);
  }

  private void work(Seat seat) throws InterruptedException {
    resigns = false;
    say("working", seat.term());
    boolean stopping = false;
    while (!resigns && !stopping) stopping = seat.awaitStop(BETWEEN_QUESTIONS);
    if (stopping) {
      say("stop", seat.term());
      while (lingers && seat.isLeader()) Thread.sleep(BETWEEN_QUESTIONS.toMillis());
    }
    say("stopped", seat.term());
  }

  /** One line for a run of equal answers, and a new one every now and then. */
  private void sayBeliefs() {
    JsonObject belief = null;
    long saidNs = 0;
    while (true) {
      long beforeNs = nowNs();
      Candidacy asked = candidacy;
      long term = asked.term();
      long remainingNs = asked.seat().map(Seat::remaining).orElse(Duration.ZERO).toNanos();
      long afterNs = nowNs();
      boolean same = belief != null && belief.get("term").getAsLong() == term;
      if (!same) {
        if (belief != null) say(belief);
        belief = new JsonObject();
        belief.addProperty("event", "belief");
        belief.addProperty("term", term);
        belief.addProperty("first_ns", afterNs);
      }
      belief.addProperty("last_ns", beforeNs);
      belief.addProperty("at_ns", afterNs);
      if (remainingNs > 0) belief.addProperty("deadline_ns", beforeNs + remainingNs);
      if (!same || (term != 0 && afterNs - saidNs >= BETWEEN_LINES_NS)) {
        say(belief);
        saidNs = afterNs;
      }
      try {
        Thread.sleep(BETWEEN_QUESTIONS.toMillis());
      } catch (InterruptedException end) {
        return;
      }
    }
  }

  /** CLOCK_MONOTONIC: on Linux, the JVM reads it. */
  private static long nowNs() {
    return System.nanoTime();
  }

  private static JsonObject event(String event, long term) {
    JsonObject line = new JsonObject();
    line.addProperty("event", event);
    line.addProperty("term", term);
    line.addProperty("at_ns", nowNs());
    return line;
  }

  private static void say(String event, long term) {
    say(event(event, term));
  }

  private static synchronized void say(JsonObject line) {
    System.out.println(line);
  }

  /**
   * Carries out its input, line by line.
   *
   * @param arguments none
   * @throws IOException if standard input cannot be read
   * @throws InterruptedException never
   */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    BadDaysCandidate candidate = null;
    BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      JsonObject command = JsonParser.parseString(line).getAsJsonObject();
      switch (command.get("do").getAsString()) {
        case "stand" -> candidate = new BadDaysCandidate(command);
        case "linger" -> candidate.lingers = true;
        case "heed" -> candidate.lingers = false;
        case "resign" -> candidate.resigns = true;
        case "trouble" -> candidate.interruptsItself = true;
        case "stand again" -> candidate.standAgain();
        case "quit" -> {
          candidate.client.close();
          System.exit(0);
        }
        default -> throw new IllegalArgumentException(line);
      }
    }
    if (candidate != null) candidate.client.close();
  }
}
