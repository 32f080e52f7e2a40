package io.tenure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.ManagedChannel;
import io.tenure.testing.Service;
import io.tenure.v1.Snapshot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** TLS, client certificates and tokens, against a real service with a policy. */
@Timeout(60)
class TlsTest {
  private static final String POLICY =
      """
      identities:
        - name: by certificate
          subjects: ["CN=orders"]
          rules: [{verbs: [campaign], prefixes: [""]}]
        - name: by token
          token_files: ["TOKEN"]
          rules: [{verbs: [campaign, observe], prefixes: [""]}]
      """;

  private final List<TenureClient> clients = new ArrayList<>();
  private Path folder;
  private int replacements;
  private Service service;

  @BeforeEach
  void start() throws IOException {
    folder = Service.temporaryFolder();
    makeAuthority("ca");
    makeAuthority("another");
    makeCertificate("orders", "DNS:orders");
    String endpoint = Service.freeAddress();
    makeCertificate("server", "IP:" + endpoint.split(":")[0]);
    Files.writeString(file("token"), "0123456789abcdef\n");
    Files.writeString(file("policy"), POLICY.replace("TOKEN", file("token").toString()));
    service =
        Service.startAt(
            endpoint,
            "--tls-cert",
            file("server.crt").toString(),
            "--tls-key",
            file("server.key").toString(),
            "--tls-client-ca",
            file("ca.crt").toString(),
            "--tls-client-certs",
            "optional",
            "--policy",
            file("policy").toString());
  }

  @AfterEach
  void stop() {
    clients.forEach(TenureClient::close);
    service.close();
    Service.delete(folder);
  }

  private Path file(String name) {
    return folder.resolve(name);
  }

  /** Even within the same second. */
  private void replace(String name, String contents) throws IOException {
    Files.writeString(file(name), contents);
    FileTime later = FileTime.fromMillis(System.currentTimeMillis() + 1_000 * ++replacements);
    Files.setLastModifiedTime(file(name), later);
  }

  private void openssl(String... options) {
    List<String> command = new ArrayList<>(List.of("openssl"));
    command.addAll(List.of(options));
    Service.output(command);
  }

  private void makeAuthority(String name) {
    openssl(
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-subj",
        "/CN=" + name,
        "-keyout",
        file(name + ".key").toString(),
        "-out",
        file(name + ".crt").toString());
  }

  private void makeCertificate(String name, String alternative) throws IOException {
    String request = file(name + ".csr").toString();
    openssl(
        "req",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-subj",
        "/CN=" + name,
        "-keyout",
        file(name + ".key").toString(),
        "-out",
        request);
    Files.writeString(file("extensions"), "subjectAltName=" + alternative);
    openssl(
        "x509",
        "-req",
        "-in",
        request,
        "-CA",
        file("ca.crt").toString(),
        "-CAkey",
        file("ca.key").toString(),
        "-CAcreateserial",
        "-extfile",
        file("extensions").toString(),
        "-out",
        file(name + ".crt").toString());
  }

  private Elector elector(Tls tls) {
    TenureClient client =
        TenureClient.builder().endpoints(service.endpoint()).credentials(tls).build();
    clients.add(client);
    return new Elector(client);
  }

  private Tls.Builder trusting(String authority) {
    return Tls.builder().ca(file(authority));
  }

  @Test
  void aClientIsKnownByItsCertificateOrByItsToken() throws InterruptedException {
    Tls certificate =
        trusting("ca.crt").certificate(file("orders.crt"), file("orders.key")).build();
    Tls token = trusting("ca.crt").token(file("token")).build();

    try (Seat orders = elector(certificate).lead("orders");
        Seat mail = elector(token).lead("mail")) {
      assertEquals(List.of(1L, 1L), List.of(orders.term(), mail.term()));
    }
  }

  @Test
  void onlyAClientWithTheRightToObserveGetsEvents() throws InterruptedException {
    BlockingQueue<String> told = new LinkedBlockingQueue<>();
    Observer.Builder observed = Observer.builder().endpoints(service.endpoint()).names("orders");

    try (Observer stranger = observed.credentials(trusting("ca.crt").build()).build()) {
      stranger.start(telling(told));
      assertEquals("failed: PERMISSION_DENIED", nextButBroken(told));
    }
    Tls token = trusting("ca.crt").token(file("token")).build();
    try (Observer known = observed.credentials(token).build()) {
      known.start(telling(told));
      assertEquals("snapshot", nextButBroken(told));
    }
  }

  private static String next(BlockingQueue<String> told) throws InterruptedException {
    String next = told.poll(Service.PATIENCE, TimeUnit.SECONDS);
    assertNotNull(next, "timed out");
    return next;
  }

  private static String nextButBroken(BlockingQueue<String> told) throws InterruptedException {
    String next = next(told);
    while (next.startsWith("broken: ")) next = next(told);
    return next;
  }

  private static ObserverListener telling(BlockingQueue<String> told) {
    return new ObserverListener() {
      @Override
      public void snapshot(Snapshot snapshot) {
        told.add("snapshot");
      }

      @Override
      public void broken(ServiceException error) {
        told.add("broken: " + error.getMessage());
      }

      @Override
      public void failed(ServiceException error) {
        told.add("failed: " + error.reason());
      }
    };
  }

  @Test
  void aTokenThatIsBeingReplacedIsWaitedFor() throws Exception {
    Files.writeString(file("mine"), "");
    Tls tls = trusting("ca.crt").token(file("mine")).build();
    BlockingQueue<String> told = new LinkedBlockingQueue<>();

    try (Observer observer =
        Observer.builder().endpoints(service.endpoint()).names("orders").credentials(tls).build()) {
      observer.start(telling(told));
      String first = next(told);
      assertTrue(first.startsWith("broken: ") && first.contains("holds no token"), first);
      replace("mine", Files.readString(file("token")));

      assertEquals("snapshot", nextButBroken(told));
    }
  }

  @Test
  void anObserverWhoseFilesWereGoneMayBeStartedAgain() throws Exception {
    Files.copy(file("ca.crt"), file("trusted.crt"));
    Tls tls = trusting("trusted.crt").token(file("token")).build();
    BlockingQueue<String> told = new LinkedBlockingQueue<>();

    try (Observer observer =
        Observer.builder().endpoints(service.endpoint()).names("orders").credentials(tls).build()) {
      Files.delete(file("trusted.crt"));
      assertThrows(UncheckedIOException.class, () -> observer.start(telling(told)));
      Files.copy(file("ca.crt"), file("trusted.crt"));

      observer.start(telling(told));
      assertEquals("snapshot", nextButBroken(told));
    }
  }

  @Test
  void aServiceWithAnotherAuthorityIsNotUsedUntilTheFileIsReplaced() throws Exception {
    Files.copy(file("another.crt"), file("trusted.crt"));
    Candidacy candidacy =
        elector(trusting("trusted.crt").token(file("token")).build()).stand("orders");
    assertEquals(Optional.empty(), candidacy.awaitSeat(Duration.ZERO));

    replace("trusted.crt", Files.readString(file("ca.crt")));

    assertEquals(1, candidacy.awaitSeat().term());
  }

  @Test
  void filesThatAreJustBeingReplacedAreReadLater() throws IOException {
    Tls tls = trusting("ca.crt").certificate(file("orders.crt"), file("orders.key")).build();
    try (Connection connection =
        new Connection(
            service.endpoint(),
            Connection.Credentials.of(tls),
            null,
            List.of(),
            Connection.IDLE_TIMEOUT)) {
      Connection.Replica inUse = connection.replica();
      ManagedChannel channel = (ManagedChannel) inUse.plainStub().getChannel();

      for (String half : List.of("ca.crt", "orders.crt", "orders.key")) {
        String whole = Files.readString(file(half));
        replace(half, whole.substring(0, whole.length() / 2));
        connection.moveOn(false);
        assertSame(inUse, connection.replica(), half);
        assertFalse(channel.isShutdown(), half);
        replace(half, whole);
      }

      connection.moveOn(false);
      assertNotSame(inUse, connection.replica());
      assertTrue(channel.isShutdown());
    }
  }

  @Test
  void filesThatCannotBeReadAreRefusedAtOnce() {
    Tls.Builder unreadable = trusting("none");
    assertTrue(
        assertThrows(IllegalArgumentException.class, unreadable::build)
            .getMessage()
            .contains("cannot read"));
    Tls.Builder noToken = Tls.builder().token(file("none"));
    assertThrows(IllegalArgumentException.class, noToken::build);
  }
}
