package io.tenure;

import io.grpc.CallCredentials;
import io.grpc.ChannelCredentials;
import io.grpc.CompositeChannelCredentials;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.TlsChannelCredentials;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.stream.Stream;

/**
 * How to connect to a service that uses TLS: {@code Tls.builder().ca(path).build()}.
 *
 * <p>When a PEM file has changed, it is read again after a connection has failed. Immutable, and
 * safe for any thread.
 */
public final class Tls {
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private final Path ca;
  private final Path certificate;
  private final Path key;
  private final Path token;

  private Tls(Builder builder) {
    ca = builder.ca;
    certificate = builder.certificate;
    key = builder.key;
    token = builder.token;
    for (Path path : Stream.of(ca, certificate, key, token).filter(path -> path != null).toList()) {
      if (!Files.isReadable(path)) throw new IllegalArgumentException("cannot read " + path);
    }
  }

  /**
   * Without any file: the certificate authorities that Java trusts, and no client certificate.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /** Chooses the files. Not thread-safe. */
  public static final class Builder {
    private Path ca;
    private Path certificate;
    private Path key;
    private Path token;

    private Builder() {}

    /**
     * Sets the authorities that the service's certificate must chain to.
     *
     * @param ca a bundle of certificates (PEM)
     * @return this
     */
    public Builder ca(Path ca) {
      this.ca = ca;
      return this;
    }

    /**
     * Sets the certificate that this client presents.
     *
     * @param certificate the certificate (PEM)
     * @param key its private key (PEM, PKCS #8)
     * @return this
     */
    public Builder certificate(Path certificate, Path key) {
      this.certificate = certificate;
      this.key = key;
      return this;
    }

    /**
     * Sets the token that is sent with each call as a bearer token.
     *
     * @param token a file, whose first line is the token; read again for each call
     * @return this
     */
    public Builder token(Path token) {
      this.token = token;
      return this;
    }

    /**
     * Ends the choice.
     *
     * @return what these files are for
     * @throws IllegalArgumentException if one of them cannot be read
     */
    public Tls build() {
      return new Tls(this);
    }
  }

  /** Differs once a PEM file has changed. */
  List<Object> stamp() throws IOException {
    List<Object> stamp = new ArrayList<>();
    for (Path path : new Path[] {ca, certificate, key}) {
      if (path != null) stamp.add(Files.getLastModifiedTime(path));
    }
    return stamp;
  }

  /** Credentials from the files as they are now. */
  ChannelCredentials channelCredentials() throws IOException {
    TlsChannelCredentials.Builder tls = TlsChannelCredentials.newBuilder();
    if (ca != null) tls.trustManager(ca.toFile());
    if (certificate != null) tls.keyManager(certificate.toFile(), key.toFile());
    ChannelCredentials channel = tls.build();
    return token == null ? channel : CompositeChannelCredentials.create(channel, new Token(token));
  }

  private static final class Token extends CallCredentials {
    private final Path path;

    Token(Path path) {
      this.path = path;
    }

    @Override
    public void applyRequestMetadata(RequestInfo call, Executor executor, MetadataApplier applier) {
      executor.execute(
          () -> {
            try (Stream<String> lines = Files.lines(path)) {
              String token = lines.findFirst().orElse("").strip();
              if (token.isEmpty()) { // perhaps not yet, while the file is being replaced
                String details = "the first line of " + path + " holds no token";
                applier.fail(Status.UNAVAILABLE.withDescription(details));
                return;
              }
              Metadata metadata = new Metadata();
              metadata.put(AUTHORIZATION, "Bearer " + token);
              applier.apply(metadata);
            } catch (IOException | UncheckedIOException unreadable) {
              String details = "cannot read the token in " + path;
              applier.fail(Status.UNAVAILABLE.withDescription(details).withCause(unreadable));
            }
          });
    }
  }
}
