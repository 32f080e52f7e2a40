package candidate;

import com.google.protobuf.ByteString;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.tenure.v1.CampaignRequest;
import io.tenure.v1.CampaignResponse;
import io.tenure.v1.Cause;
import io.tenure.v1.ElectionServiceGrpc;
import io.tenure.v1.ElectionServiceGrpc.ElectionServiceBlockingStub;
import io.tenure.v1.KeepAliveRequest;
import io.tenure.v1.KeepAliveResponse;
import io.tenure.v1.Leadership;
import io.tenure.v1.Renewal;
import io.tenure.v1.ResignRequest;
import io.tenure.v1.ResignResponse;
import io.tenure.v1.SeatNotice;
import io.tenure.v1.SessionRenewal;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** run() makes all decisions, one after the other; streams and signals only put into its mailbox. */
final class Candidate {
  private static final long SECOND = 1_000_000_000;
  private static final double TRUST = 0.9; // of a lease; the rest is for clocks that drift apart
  private static final int RENEWALS_PER_LEASE = 3;
  /** Renewals, each for a sixth of the lease; then the replica hangs. */
  private static final int UNANSWERED_MAX = 2;
  /** How often to see that the place in the queue is still there. */
  private static final long CHECK_PLACE = 30 * SECOND;

  private final String election;
  private final String name;
  private final long ttl;
  private final Replicas replicas;
  private final BlockingQueue<Runnable> mailbox = new LinkedBlockingQueue<>();
  private boolean stopping = false;

  private long lease;
  private String session;
  private String previous;
  private ByteString requestId;
  private long campaignAt;

  private long granted = 0; // the term that the service says we hold
  private long term = 0; // the one that we believe in, and that only before `until`
  private long until = 0;
  private long over = 0; // the last one in which our belief has ended: it never comes back
  private long workAt;

  private ManagedChannel streamChannel;
  private ClientCallStreamObserver<KeepAliveRequest> stream; // null: none is open
  private long openAt;
  private long renewAt;
  private long sequence;
  private final TreeMap<Long, Long> sentAt = new TreeMap<>(); // of renewals that are not answered
  private long believedAtOpen;

  Candidate(String election, String name, Duration ttl, Replicas replicas) {
    this.election = election;
    this.name = name;
    this.ttl = ttl.toNanos();
    this.lease = this.ttl;
    this.replicas = replicas;
    newSession("");
  }

  /** From any thread. */
  void stop() {
    mailbox.add(() -> stopping = true);
  }

  /**
   * The time that leases are counted by, to a hundredth of a second. A lease goes on while the
   * machine is suspended, and so does this clock of Linux; System.nanoTime() does not.
   */
  private static long now() {
    try {
      String uptime = Files.readString(Path.of("/proc/uptime"));
      return (long) (Double.parseDouble(uptime.substring(0, uptime.indexOf(' '))) * SECOND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void newSession(String previousSession) {
    closeStream();
    session = "";
    previous = previousSession;
    granted = 0;
    // The same in every retry: if an answer is lost, the retry finds the session that it opened.
    byte[] random = new byte[16];
    new SecureRandom().nextBytes(random);
    requestId = ByteString.copyFrom(random);
    campaignAt = now();
    openAt = now();
  }

  void run() throws InterruptedException {
    while (!stopping) {
      if (term != 0 && now() >= until) {
        stopWork("lost", "cause", "EXPIRED"); // whatever the network says, or does not
      }
      if (term == 0 && now() >= campaignAt) {
        campaign();
      }
      if (!session.isEmpty() && stream == null && now() >= openAt) {
        openStream();
      }
      if (stream != null && now() >= renewAt) {
        renew();
      }
      if (term != 0 && now() >= workAt) {
        work();
      }
      Runnable message = mailbox.poll(due() - now(), TimeUnit.NANOSECONDS);
      if (message != null) {
        message.run();
      }
    }
    leave();
  }

  /** When the next thing is to be done by itself. */
  private long due() {
    long due = term != 0 ? Math.min(until, workAt) : campaignAt;
    if (stream != null) {
      return Math.min(due, renewAt);
    }
    return session.isEmpty() ? due : Math.min(due, openAt);
  }

  /** Longer work runs elsewhere, and asks the same before each step that matters. */
  private void work() {
    workAt = now() + SECOND;
    long left = until - now();
    if (left > 0) {
      // The term is the fencing token: pass it along with every write.
      Output.say("work", "term", term, "left_ms", TimeUnit.NANOSECONDS.toMillis(left));
    }
  }

  /** Ends the belief for good. Work that runs elsewhere has to be waited for here. */
  private void stopWork(String event, String reason, String why) {
    if (term != 0) {
      Output.say(event, "term", term, reason, why);
    }
    term = 0;
    over = Math.max(over, granted);
    campaignAt = now();
  }

  /** The service says that we hold the seat in this term. */
  private void seat(long seatTerm) {
    if (term != 0 && seatTerm > term) {
      stopWork("lost", "cause", "UNKNOWN");
    }
    granted = Math.max(granted, seatTerm);
    if (granted <= over) {
      campaignAt = now(); // which resigns it first
    } else if (term == 0 && now() < until) {
      term = granted;
      workAt = now();
      Output.say("elected", "election", election, "term", term, "candidate", name);
    }
  }

  private ElectionServiceBlockingStub stub(ManagedChannel channel) {
    return ElectionServiceGrpc.newBlockingStub(channel)
        .withDeadlineAfter(lease / RENEWALS_PER_LEASE, TimeUnit.NANOSECONDS);
  }

  /** Takes a place in the queue, or sees that it is still there. KeepAlive tells the rest. */
  private void campaign() {
    if (0 < granted && granted <= over && !resign(election)) {
      return;
    }
    CampaignRequest request = CampaignRequest.newBuilder()
        .setElection(election)
        .setCandidate(name)
        .setSessionId(session)
        .setRequestId(requestId)
        .setPreviousSessionId(previous)
        .setLeaseTtl(com.google.protobuf.Duration.newBuilder()
            .setSeconds(ttl / SECOND)
            .setNanos((int) (ttl % SECOND)))
        .setWait(com.google.protobuf.Duration.getDefaultInstance()) // zero
        .build();
    ManagedChannel channel = replicas.current();
    CampaignResponse answer;
    try {
      answer = stub(channel).campaign(request);
    } catch (StatusRuntimeException error) {
      Output.complain(error);
      campaignAt = now() + replicas.failed(channel).toNanos();
      switch (error.getStatus().getCode()) {
        case INVALID_ARGUMENT -> throw error;
        case NOT_FOUND -> newSession("");
        case FAILED_PRECONDITION -> renewAt = now(); // the session is over; the renewal tells why
        default -> { }
      }
      return;
    }
    campaignAt = now() + CHECK_PLACE;
    session = answer.getSession().getSessionId();
    previous = "";
    if (answer.hasElected()) {
      seat(answer.getElected().getTerm());
    }
  }

  /**
   * Leaves the election, or all and the session if it is empty. False if that has to be repeated.
   *
   * <p>Only when the work has stopped: once this call is on its way, another one may lead.
   */
  private boolean resign(String from) {
    ResignRequest.Builder request =
        ResignRequest.newBuilder().setSessionId(session).setElection(from);
    if (!from.isEmpty()) {
      request.setTerm(granted);
    }
    ManagedChannel channel = replicas.current();
    try {
      ResignResponse answer = stub(channel).resign(request.build());
      boolean ended = answer.getOutcome() == ResignResponse.Outcome.OUTCOME_SESSION_ENDED;
      if (!from.isEmpty() && !ended) {
        Output.say("resigned", "term", granted);
      }
    } catch (StatusRuntimeException error) {
      Output.complain(error);
      Status.Code code = error.getStatus().getCode();
      if (code != Status.Code.NOT_FOUND && code != Status.Code.FAILED_PRECONDITION) {
        campaignAt = now() + replicas.failed(channel).toNanos();
        return false;
      }
    }
    granted = 0;
    return true;
  }

  private void leave() throws InterruptedException {
    over = granted; // nothing works any more
    long giveUpAt = now() + lease; // by then the service has taken the seat back
    while (!session.isEmpty() && now() < giveUpAt) {
      if ((granted == 0 || resign(election)) && resign("")) {
        return;
      }
      TimeUnit.NANOSECONDS.sleep(campaignAt - now());
    }
  }

  private void openStream() {
    streamChannel = replicas.current();
    believedAtOpen = term;
    sequence = 0;
    sentAt.clear();
    renewAt = now();
    Reader reader = new Reader();
    reader.stream = stream = (ClientCallStreamObserver<KeepAliveRequest>)
        ElectionServiceGrpc.newStub(streamChannel).keepAlive(reader);
  }

  private void closeStream() {
    if (stream != null) {
      stream.cancel("closed", null);
      stream = null;
      openAt = now() + replicas.failed(streamChannel).toNanos();
    }
  }

  /** Called by gRPC's threads. What a stream says that was closed meanwhile is dropped. */
  private final class Reader implements StreamObserver<KeepAliveResponse> {
    private ClientCallStreamObserver<KeepAliveRequest> stream;

    @Override
    public void onNext(KeepAliveResponse message) {
      later(() -> takeIn(message));
    }

    @Override
    public void onError(Throwable error) {
      later(() -> {
        Output.complain(error);
        closeStream();
      });
    }

    @Override
    public void onCompleted() {
      later(Candidate.this::closeStream);
    }

    private void later(Runnable what) {
      mailbox.add(() -> {
        if (stream == Candidate.this.stream) {
          what.run();
        }
      });
    }
  }

  private void renew() {
    if (sentAt.size() == UNANSWERED_MAX) {
      closeStream();
      return;
    }
    // The lease counts from before the request is sent: the service begins to count it later, so
    // our belief ends before its lease does, however long request and answer are on their way.
    sentAt.put(++sequence, now());
    renewAt = now() + lease / RENEWALS_PER_LEASE / 2; // unless this one is answered
    stream.onNext(
        KeepAliveRequest.newBuilder().setSequence(sequence).addSessionIds(session).build());
  }

  private void takeIn(KeepAliveResponse message) {
    switch (message.getMessageCase()) {
      case RENEWAL -> takeIn(message.getRenewal());
      case NOTICE -> takeIn(message.getNotice());
      case SESSION_ENDED -> sessionEnded(message.getSessionEnded().getCause());
      default -> { }
    }
  }

  private void takeIn(SeatNotice notice) {
    if (!notice.getElection().equals(election)) {
      return;
    }
    if (notice.hasElected()) {
      seat(notice.getElected().getTerm());
    } else if (notice.hasLost() && notice.getLost().getTerm() == granted) {
      stopWork("lost", "cause", Observer.word(notice.getLost().getCause()));
      granted = 0;
    } else if (notice.hasStepDown() && notice.getStepDown().getTerm() == granted) {
      stopWork("step_down", "successor", notice.getStepDown().getSuccessor());
    }
  }

  private void takeIn(Renewal renewal) {
    SessionRenewal answer = renewal.getSessions(0);
    if (!answer.hasLeaseTtl()) {
      sessionEnded(answer.getEnded());
      return;
    }
    replicas.succeeded();
    lease = answer.getLeaseTtl().getSeconds() * SECOND + answer.getLeaseTtl().getNanos();
    long sent = sentAt.get(renewal.getSequence());
    until = Math.max(until, sent + (long) (TRUST * lease));
    renewAt = sent + lease / RENEWALS_PER_LEASE;
    sentAt.headMap(renewal.getSequence(), true).clear();
    if (renewal.getSequence() == 1) { // the first of a stream lists what the session holds
      Leadership held = answer.getSeatsList().stream()
          .filter(seat -> seat.getElection().equals(election))
          .findFirst().orElse(Leadership.getDefaultInstance());
      if (term != 0 && term == believedAtOpen && term != held.getTerm()) {
        stopWork("lost", "cause", "UNKNOWN");
        granted = 0;
      }
      if (held.getTerm() != 0) {
        seat(held.getTerm());
      }
      if (!held.getSuccessor().isEmpty() && held.getTerm() == granted) {
        stopWork("step_down", "successor", held.getSuccessor());
      }
    }
    if (granted != 0) {
      seat(granted);
    }
  }

  private void sessionEnded(Cause cause) {
    stopWork("lost", "cause", Observer.word(cause));
    // To name a session that expired although this process lives gives the next a longer lease.
    newSession(cause == Cause.CAUSE_EXPIRED ? session : "");
  }
}
