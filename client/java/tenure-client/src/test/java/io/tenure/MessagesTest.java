package io.tenure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerCredentials;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.TlsServerCredentials;
import io.grpc.stub.StreamObserver;
import io.tenure.testing.Service;
import io.tenure.v1.ElectionServiceGrpc;
import io.tenure.v1.IdentifyRequest;
import io.tenure.v1.IdentifyResponse;
import io.tenure.v1.Snapshot;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/** What the library logs when something is wrong, and when that ends. */
@Timeout(120)
class MessagesTest {
  private static final Logger ROOT = Logger.getLogger("");

  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
  private final Handler handler = new Lines();
  private final List<AutoCloseable> opened = new ArrayList<>();
  private Path folder;

  private final class Lines extends Handler {
    @Override
    public void publish(LogRecord record) {
      String message = new SimpleFormatter().formatMessage(record);
      lines.add(record.getLoggerName() + " " + record.getLevel() + " " + message);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  @BeforeEach
  void start() {
    folder = Service.temporaryFolder();
    ROOT.addHandler(handler);
  }

  @AfterEach
  void stop() throws Exception {
    ROOT.removeHandler(handler);
    for (AutoCloseable one : opened) one.close();
    Service.delete(folder);
  }

  /** The next line with this text; other tests run at the same time. */
  private String next(String about) throws InterruptedException {
    List<String> before = new ArrayList<>();
    while (true) {
      String line = lines.poll(Service.PATIENCE, TimeUnit.SECONDS);
      if (line == null) throw new AssertionError("no line about " + about + " in " + before);
      if (line.contains(about)) return line;
      before.add(line);
    }
  }

  private TenureClient client(String endpoint, Tls tls) {
    return client(endpoint, tls, Duration.ofSeconds(2));
  }

  private TenureClient client(String endpoint, Tls tls, Duration leaseTtl) {
    TenureClient.Builder builder = TenureClient.builder().endpoints(endpoint).leaseTtl(leaseTtl);
    if (tls != null) builder.credentials(tls);
    TenureClient client = builder.build();
    opened.add(
        () -> {
          try {
            client.close(Duration.ofMillis(1));
          } catch (TenureException nobodyAnswers) {
            // This failure is what the test wants.
          }
        });
    return client;
  }

  private static void openssl(String... options) {
    List<String> command = new ArrayList<>(List.of("openssl"));
    command.addAll(List.of(options));
    Service.output(command);
  }

  private Path file(String name) {
    return folder.resolve(name);
  }

  private Path makeAuthority(String name) {
    openssl(
        ("req -x509 -newkey rsa:2048 -nodes -subj /CN=" + name)
            .concat(" -keyout " + file(name + ".key") + " -out " + file(name + ".crt"))
            .split(" "));
    return file(name + ".crt");
  }

  /** Returns the endpoint of a server with a certificate of the authority {@code ca}. */
  private String serveTls(String alternativeName, String days) throws IOException {
    openssl(
        ("req -newkey rsa:2048 -nodes -subj /CN=server")
            .concat(" -keyout " + file("server.key") + " -out " + file("server.csr"))
            .split(" "));
    Files.writeString(file("extensions"), "subjectAltName=" + alternativeName);
    openssl(
        ("x509 -req -CAcreateserial -days " + days + " -in " + file("server.csr"))
            .concat(" -CA " + file("ca.crt") + " -CAkey " + file("ca.key"))
            .concat(" -extfile " + file("extensions") + " -out " + file("server.crt"))
            .split(" "));
    return serve(
        TlsServerCredentials.create(file("server.crt").toFile(), file("server.key").toFile()));
  }

  /** A server of gRPC that is not Tenure. */
  private String serve(ServerCredentials credentials) throws IOException {
    return serve(Grpc.newServerBuilderForPort(0, credentials));
  }

  private String serve(ServerBuilder<?> builder) throws IOException {
    Server server = builder.build().start();
    opened.add(server::shutdownNow);
    return "127.0.0.1:" + server.getPort();
  }

  /** A server that sends this to everybody, and keeps the connection open. */
  private String greet(String greeting) throws IOException {
    ServerSocket listener = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
    opened.add(listener);
    Thread thread =
        new Thread(
            () -> {
              List<Socket> open = new ArrayList<>();
              try {
                while (true) {
                  Socket socket = listener.accept();
                  open.add(socket);
                  socket.getOutputStream().write(greeting.getBytes(StandardCharsets.ISO_8859_1));
                }
              } catch (IOException end) {
                // The listener is closed.
              }
            });
    thread.setDaemon(true);
    thread.start();
    return "127.0.0.1:" + listener.getLocalPort();
  }

  private record Case(String endpoint, Tls tls, String reason) {
    private static final String SILENT = "no answer";

    /** Waits for silent servers only. */
    Duration leaseTtl() {
      return reason.equals(SILENT) ? Duration.ofSeconds(2) : Duration.ofMinutes(1);
    }

    Duration silenceMax() {
      return leaseTtl().dividedBy(4);
    }
  }

  private static Tls trusting(Path ca) {
    return Tls.builder().ca(ca).build();
  }

  @TestFactory
  Stream<DynamicTest> whatCannotBeUsedIsNamedOnceWithItsReason() throws IOException {
    Tls ca = trusting(makeAuthority("ca"));
    Tls another = trusting(makeAuthority("another"));
    String plain = serve(InsecureServerCredentials.create());
    List<Case> cases =
        List.of(
            new Case(Service.freeAddress(), null, "connection refused"),
            new Case("no-such-host.invalid:7070", null, "no such host"),
            new Case(greet(""), null, Case.SILENT),
            new Case(greet("HTTP/1.1 400 Bad Request\r\n\r\n"), null, "gRPC (is it an HTTP port?)"),
            new Case(greet("J\0\0\0\n8.4.0\0"), null, "gRPC (is it a database?)"),
            new Case(greet("\u0015\3\1\0\2\2\n"), null, "gRPC (does it want TLS?)"),
            new Case(serveTls("IP:127.0.0.1", "1"), null, "does it want TLS"),
            new Case(plain, ca, "it does not speak TLS"),
            new Case(serveTls("IP:127.0.0.1", "1"), another, "of an unknown authority"),
            new Case(serveTls("DNS:another", "1"), ca, "is for another name"),
            new Case(serveTls("IP:127.0.0.1", "-1"), ca, "its certificate has expired"));
    return cases.stream().map(one -> dynamicTest(one.reason(), () -> isNamedOnce(one)));
  }

  private void isNamedOnce(Case one) throws InterruptedException {
    lines.clear();
    BlockingQueue<ServiceException> failures = new LinkedBlockingQueue<>();
    TenureClient client = client(one.endpoint(), one.tls(), one.leaseTtl());

    new Elector(client).stand("orders");
    try (Observer observer = observer(one, failures)) {
      for (int tries = 0; tries < 3; tries++) {
        ServiceException error = failures.poll(Service.PATIENCE, TimeUnit.SECONDS);
        assertTrue(error.getMessage().lines().count() == 1, error.getMessage());
      }
    }

    for (String user : List.of("the elector", "the observer")) {
      String line = next(one.endpoint());
      String start = "io.tenure WARNING cannot use " + one.endpoint() + ": ";
      assertTrue(line.startsWith(start) && line.endsWith("; still trying"), line);
      assertTrue(line.contains(one.reason()), user + ": " + line);
    }
    assertTrue(lines.stream().noneMatch(line -> line.contains(one.endpoint())), lines.toString());
    assertTrue(client.trouble().isPresent());
  }

  private static Observer observer(Case one, BlockingQueue<ServiceException> failures) {
    Observer.Builder builder =
        Observer.builder().endpoints(one.endpoint()).names("orders").silenceMax(one.silenceMax());
    if (one.tls() != null) builder.credentials(one.tls());
    Observer observer = builder.build();
    observer.start(
        new ObserverListener() {
          @Override
          public void broken(ServiceException error) {
            failures.add(error);
          }
        });
    return observer;
  }

  @Test
  void aServerThatIsNotTenureIsNamedAndAnotherOneIsUsed() throws Exception {
    String other = serve(InsecureServerCredentials.create());
    try (Service service = Service.start()) {
      service.stop();
      Elector elector = new Elector(client(other + "," + service.endpoint(), null));
      Candidacy candidacy = elector.stand("orders");

      assertEquals(
          "io.tenure WARNING cannot use " + other + ": it is not Tenure; still trying",
          next("cannot use " + other));
      service.restart();

      assertEquals(1, candidacy.awaitSeat().term());
    }
  }

  @Test
  void anEndpointWhereNobodyListensIsNamedEvenIfAnotherOneWorks() throws Exception {
    String nobody = Service.freeAddress();
    try (Service service = Service.start()) {
      Elector elector = new Elector(client(nobody + "," + service.endpoint(), null));
      try (Seat seat = elector.stand("orders").awaitSeat()) {
        assertEquals(
            "io.tenure WARNING cannot use " + nobody + ": connection refused; still trying",
            next(nobody));
      }
    }
  }

  @Test
  void replicasThatAllHangAreNamedWithoutTheWordsOfGrpc() throws Exception {
    try (Service service = Service.start();
        Service replica = service.startReplica()) {
      service.pause();
      replica.pause();
      String endpoints = service.endpoint() + "," + replica.endpoint();
      TenureClient client = client(endpoints, null);
      new Elector(client).stand("orders");

      for (Service one : List.of(service, replica)) {
        assertEquals(
            "io.tenure WARNING cannot use " + one.endpoint() + ": no answer; still trying",
            next(one.endpoint()));
      }
      service.resume();
      replica.resume();
    }
  }

  @Test
  void aProxyForWebPagesIsNotUsed() throws Exception {
    try (Service service = Service.start()) {
      System.setProperty("https.proxyHost", "127.0.0.1");
      System.setProperty("https.proxyPort", "9");
      System.setProperty("http.nonProxyHosts", "");
      try {
        Elector elector = new Elector(client(service.endpoint(), null));
        elector.tryLead("orders", Duration.ofSeconds(Service.PATIENCE)).orElseThrow().close();
      } finally {
        for (String name : List.of("https.proxyHost", "https.proxyPort", "http.nonProxyHosts")) {
          System.clearProperty(name);
        }
      }
    }
  }

  /** A replica of another service, which answers after the others have been chosen. */
  private String serveSlowStranger(String serviceId, AtomicReference<CountDownLatch> chosen)
      throws IOException {
    ElectionServiceGrpc.ElectionServiceImplBase stranger =
        new ElectionServiceGrpc.ElectionServiceImplBase() {
          @Override
          public void identify(IdentifyRequest request, StreamObserver<IdentifyResponse> answer) {
            try {
              chosen.get().await();
            } catch (InterruptedException shutDown) {
              return;
            }
            answer.onNext(IdentifyResponse.newBuilder().setServiceId(serviceId).build());
            answer.onCompleted();
          }
        };
    ServerInterceptor refusing =
        new ServerInterceptor() {
          @Override
          public <Q, A> ServerCall.Listener<Q> interceptCall(
              ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            if (call.getMethodDescriptor().getBareMethodName().equals("Identify")) {
              return next.startCall(call, headers);
            }
            chosen.get().countDown();
            call.close(Status.UNAVAILABLE, new Metadata());
            return new ServerCall.Listener<>() {};
          }
        };
    return serve(
        Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
            .addService(stranger)
            .intercept(refusing));
  }

  @Test
  void aSlowReplicaOfAnotherServiceIsNamedOnce() throws Exception {
    String id = "9".repeat(32);
    AtomicReference<CountDownLatch> chosen = new AtomicReference<>(new CountDownLatch(1));
    String slow = serveSlowStranger(id, chosen);
    String warning = slow + " belongs to service " + id + ", not to ";
    try (Service service = Service.start();
        Service replica = service.startReplica();
        Service third = service.startReplica();
        ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      String endpoints =
          String.join(
              ",",
              slow,
              service.endpoint(),
              replica.endpoint(),
              third.endpoint(),
              "127.0.0.1:" + silent.getLocalPort());
      try (TimedLocks locks = TimedLocks.builder().endpoints(endpoints).build();
          Observer observer = Observer.builder().endpoints(endpoints).names("orders").build()) {
        locks.tryLock("backup", Duration.ofHours(1)).orElseThrow();
        chosen.get().countDown();
        next(warning);

        chosen.set(new CountDownLatch(1));
        observer.start(
            new ObserverListener() {
              @Override
              public void snapshot(Snapshot snapshot) {
                chosen.get().countDown();
              }
            });
        next(warning);

        chosen.set(new CountDownLatch(1));
        TenureClient client = client(endpoints, null, Duration.ofHours(1));
        new Elector(client).stand("orders").awaitSeat();
        chosen.get().countDown();
        next(warning);

        assertTrue(lines.stream().noneMatch(line -> line.contains(warning)), lines.toString());
      }
    }
  }

  @Test
  void aServiceThatComesLateAndEachTermAreReportedOnce() throws Exception {
    String election = "orders of " + System.nanoTime();
    try (Service service = Service.start()) {
      service.stop();
      TenureClient client = client(service.endpoint(), null);
      Candidacy candidacy = new Elector(client).stand(election);
      next("cannot use " + service.endpoint());
      ServiceException trouble = client.trouble().orElseThrow();
      assertEquals("UNAVAILABLE: connection refused", trouble.getMessage());

      service.restart();
      Seat seat = candidacy.awaitSeat();
      assertTrue(
          next(service.endpoint()).matches("io.tenure INFO [0-9.:]+ answers after [0-9]+ s"));
      assertEquals("io.tenure INFO elected in " + election + ": term 1", next(election));
      assertEquals(Optional.empty(), client.trouble());

      service.stop();
      assertTrue(seat.awaitStop(Duration.ofSeconds(Service.PATIENCE)));
      assertEquals("io.tenure INFO term 1 of " + election + " has ended: expired", next(election));
      SeatLostException lost = new SeatLostException("");
      try {
        seat.check();
      } catch (SeatLostException expected) {
        lost = expected;
      }
      assertSame(client.trouble().orElseThrow().getClass(), lost.getCause().getClass());
    }
  }
}
