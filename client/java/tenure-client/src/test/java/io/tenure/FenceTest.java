package io.tenure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.rpc.ErrorInfo;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerInterceptors;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import io.tenure.testing.Service;
import io.tenure.v1.ElectionServiceGrpc;
import io.tenure.v1.ElectionServiceGrpc.ElectionServiceBlockingStub;
import io.tenure.v1.KeepAliveRequest;
import io.tenure.v1.KeepAliveResponse;
import io.tenure.v1.LeaderRequest;
import io.tenure.v1.LeaderResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Fenced gRPC calls, and the guard on the called side. */
@Timeout(60)
class FenceTest {
  private final TermGuard guard = new TermGuard();
  private final Handler handler = new Handler();
  private Server server;
  private ManagedChannel channel;
  private ElectionServiceBlockingStub stub;

  /** Any service will do; the test can hold up its handlers. */
  private static final class Handler extends ElectionServiceGrpc.ElectionServiceImplBase {
    final BlockingQueue<String> entered = new LinkedBlockingQueue<>();
    final CountDownLatch mayAnswer = new CountDownLatch(1);
    final BlockingQueue<StreamObserver<KeepAliveResponse>> streams = new LinkedBlockingQueue<>();

    @Override
    public void leader(LeaderRequest request, StreamObserver<LeaderResponse> answer) {
      entered.add(request.getElection());
      try {
        if (request.getElection().equals("slow")) mayAnswer.await();
      } catch (InterruptedException interruption) {
        throw new AssertionError(interruption);
      }
      if (request.getElection().equals("fails")) throw new IllegalStateException("on purpose");
      answer.onNext(LeaderResponse.getDefaultInstance());
      answer.onCompleted();
    }

    @Override
    public StreamObserver<KeepAliveRequest> keepAlive(StreamObserver<KeepAliveResponse> answers) {
      streams.add(answers);
      return new Ignoring<>();
    }
  }

  private static final class Ignoring<T> implements StreamObserver<T> {
    @Override
    public void onNext(T message) {}

    @Override
    public void onError(Throwable failure) {}

    @Override
    public void onCompleted() {}
  }

  @BeforeEach
  void start() throws IOException {
    server =
        Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
            .addService(ServerInterceptors.intercept(handler, new GuardCalls(guard, "orders")))
            .build()
            .start();
    String address = "127.0.0.1:" + server.getPort();
    channel = Grpc.newChannelBuilder(address, InsecureChannelCredentials.create()).build();
    stub = ElectionServiceGrpc.newBlockingStub(channel);
  }

  @AfterEach
  void stop() {
    channel.shutdownNow();
    server.shutdownNow();
  }

  private ElectionServiceBlockingStub in(long term) {
    return stub.withInterceptors(FenceCalls.with(new Fence("orders", term)));
  }

  private static LeaderRequest request(String what) {
    return LeaderRequest.newBuilder().setElection(what).build();
  }

  private static void assertRefused(Status.Code code, String reason, Runnable call) {
    StatusRuntimeException refusal = assertThrows(StatusRuntimeException.class, call::run);
    assertEquals(code, refusal.getStatus().getCode());
    assertEquals(reason, ServiceException.of(refusal).reason());
  }

  private <T> T take(BlockingQueue<T> queue) throws InterruptedException {
    T taken = queue.poll(Service.PATIENCE, TimeUnit.SECONDS);
    if (taken == null) throw new AssertionError("timed out");
    return taken;
  }

  private CompletableFuture<LeaderResponse> later(
      ElectionServiceBlockingStub stub, LeaderRequest request) {
    return CompletableFuture.supplyAsync(() -> stub.leader(request));
  }

  @Test
  void anOldTermIsRefusedOnceANewerOneHasBeenSeen() throws Exception {
    in(7).leader(request("a"));
    in(8).leader(request("b"));

    StatusRuntimeException refusal =
        assertThrows(StatusRuntimeException.class, () -> in(7).leader(request("c")));

    assertEquals(Status.Code.FAILED_PRECONDITION, refusal.getStatus().getCode());
    ErrorInfo info = StatusProto.fromThrowable(refusal).getDetails(0).unpack(ErrorInfo.class);
    assertEquals("STALE_TERM", info.getReason());
    assertEquals("tenure.v1", info.getDomain());
    assertEquals("8", info.getMetadataOrThrow("current_term"));
    assertEquals(8, guard.highest("orders"));
    assertEquals(2, handler.entered.size());
  }

  @Test
  void aNewerTermWaitsUntilTheOlderOneHasLeft() throws Exception {
    CompletableFuture<LeaderResponse> slow = later(in(7), request("slow"));
    assertEquals("slow", take(handler.entered));

    CompletableFuture<LeaderResponse> next = later(in(8), request("next"));
    while (guard.highest("orders") < 8) Thread.onSpinWait();
    assertRefused(
        Status.Code.UNAVAILABLE,
        "",
        () -> {
          try (TermGuard.Entry entry =
              guard.enter(headersOf("orders", "8"), "orders", Duration.ofMillis(50))) {
            throw new AssertionError("it was let in");
          } catch (InterruptedException impossible) {
            throw new AssertionError(impossible);
          }
        });

    assertTrue(handler.entered.isEmpty());
    handler.mayAnswer.countDown();
    assertEquals("next", take(handler.entered));
    slow.get();
    next.get();
  }

  @Test
  void aCancelledCallIsInsideUntilItsHandlerHasReturned() throws Exception {
    Future<LeaderResponse> slow =
        ElectionServiceGrpc.newFutureStub(channel)
            .withInterceptors(FenceCalls.with(new Fence("orders", 7)))
            .leader(request("slow"));
    assertEquals("slow", take(handler.entered));
    assertTrue(slow.cancel(true));

    CompletableFuture<LeaderResponse> next = later(in(8), request("next"));
    while (guard.highest("orders") < 8) Thread.onSpinWait();

    assertTrue(handler.entered.isEmpty());
    handler.mayAnswer.countDown();
    assertEquals("next", take(handler.entered));
    next.get();
  }

  @Test
  void aStreamIsInsideUntilItIsAnswered() throws Exception {
    ElectionServiceGrpc.newStub(channel)
        .withInterceptors(FenceCalls.with(new Fence("orders", 7)))
        .keepAlive(new Ignoring<>());
    StreamObserver<KeepAliveResponse> stream = take(handler.streams);

    CompletableFuture<LeaderResponse> next = later(in(8), request("next"));
    while (guard.highest("orders") < 8) Thread.onSpinWait();

    assertTrue(handler.entered.isEmpty());
    stream.onCompleted();
    assertEquals("next", take(handler.entered));
    next.get();
  }

  @Test
  void aHandlerThatFailsHasLeft() {
    assertThrows(StatusRuntimeException.class, () -> in(7).leader(request("fails")));

    in(8).leader(request("next"));
  }

  @Test
  void aCallWithoutExactlyOneFenceIsRefused() {
    assertRefused(
        Status.Code.INVALID_ARGUMENT, "INVALID_ELECTION_NAME", () -> stub.leader(request("a")));
    assertRefusedWith("INVALID_ELECTION_NAME", headersOf("", "7"));
    assertRefusedWith("INVALID_ELECTION_NAME", headersOf("mail", "7"));
    Metadata two = headersOf("orders", "7");
    two.put(FenceCalls.ELECTION, "orders".getBytes(StandardCharsets.UTF_8));
    assertRefusedWith("INVALID_ELECTION_NAME", two);
    Metadata notUtf8 = headersOf("orders", "7");
    notUtf8.removeAll(FenceCalls.ELECTION);
    notUtf8.put(FenceCalls.ELECTION, new byte[] {(byte) 0xff});
    assertRefusedWith("INVALID_ELECTION_NAME", notUtf8);
    for (String term : new String[] {"", "0", "-7", "7a", "+7", "99999999999999999999"}) {
      assertRefusedWith("INVALID_TERM", headersOf("orders", term));
    }
    assertTrue(handler.entered.isEmpty());
  }

  private void assertRefusedWith(String reason, Metadata headers) {
    assertRefused(
        Status.Code.INVALID_ARGUMENT,
        reason,
        () ->
            stub.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
                .leader(request("a")));
  }

  private static Metadata headersOf(String election, String term) {
    Metadata headers = new Metadata();
    headers.put(FenceCalls.ELECTION, election.getBytes(StandardCharsets.UTF_8));
    headers.put(FenceCalls.TERM, term);
    return headers;
  }

  @Test
  void aProcessThatDoesNotLeadSendsNoCall() {
    AtomicLong term = new AtomicLong(7);
    ElectionServiceBlockingStub fenced =
        stub.withInterceptors(FenceCalls.with("orders", term::get));
    fenced.leader(request("a"));
    term.set(0);

    assertRefused(Status.Code.FAILED_PRECONDITION, "NOT_LEADER", () -> fenced.leader(request("b")));

    assertEquals(1, handler.entered.size());
  }

  @Test
  void aCallThatCarriesATermKeepsIt() {
    stub.withInterceptors(
            FenceCalls.with("orders", () -> 3), FenceCalls.with(new Fence("orders", 7)))
        .leader(request("a"));

    assertEquals(7, guard.highest("orders"));
  }

  // The guard alone.

  @Test
  void termsThatAreGrantedElsewhereCanBeRaised() throws InterruptedException {
    guard.enter(new Fence("orders", 7)).close();

    guard.raise(new Fence("orders", 9));

    assertRefused(Status.Code.FAILED_PRECONDITION, "STALE_TERM", () -> enter(guard, 8));
    assertEquals(0, guard.highest("mail"));
  }

  private static void enter(TermGuard guard, long term) {
    try (TermGuard.Entry entry = guard.enter(new Fence("orders", term))) {
      assertEquals(term, entry.fence().term());
    } catch (InterruptedException impossible) {
      throw new AssertionError(impossible);
    }
  }

  @Test
  void theHighestTermIsKeptBeforeItsFirstCallIsLetIn() {
    AtomicLong stored = new AtomicLong(5);
    AtomicLong times = new AtomicLong();
    TermGuard keeping =
        new TermGuard(
            fence -> {
              times.incrementAndGet();
              return stored.accumulateAndGet(fence.term(), Math::max);
            },
            Duration.ofSeconds(1));

    assertRefused(Status.Code.FAILED_PRECONDITION, "STALE_TERM", () -> enter(keeping, 4));
    enter(keeping, 6);
    enter(keeping, 6);

    assertEquals(6, stored.get());
    assertEquals(2, times.get());
  }

  @Test
  void aLowerTermThanTheCallsIsNotStored() {
    AtomicLong stored = new AtomicLong();
    TermGuard keeping =
        new TermGuard(fence -> stored.getAndSet(fence.term()), Duration.ofSeconds(1));

    assertRefused(Status.Code.INTERNAL, "", () -> enter(keeping, 6));
    assertEquals(0, keeping.highest("orders"));

    enter(keeping, 6);
  }

  @Test
  void aTermThatCannotBeKeptIsNotLetIn() {
    IOException full = new IOException("the disk is full");
    TermGuard keeping =
        new TermGuard(
            fence -> {
              throw full;
            },
            Duration.ofSeconds(1));

    TenureException failure = assertThrows(TenureException.class, () -> enter(keeping, 6));

    assertSame(full, failure.getCause());
    assertEquals(0, keeping.highest("orders"));
  }

  @Test
  void aGuardTracksABoundedNumberOfElections() {
    for (int i = 0; i < 10_000; i++) guard.raise(new Fence("jobs/" + i, 1));

    TermRefusedException refusal =
        assertInstanceOf(
            TermRefusedException.class,
            assertThrows(StatusRuntimeException.class, () -> enter(guard, 1)));

    assertEquals(Status.Code.RESOURCE_EXHAUSTED, refusal.getStatus().getCode());
  }
}
