package io.tenure.spring;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties {@code tenure.*}.
 *
 * @param enabled whether there is a client at all
 * @param endpoints replicas of the service: {@code host:port[,host:port...]}
 * @param candidate this process's name, for people; unset: {@code hostname:process}
 * @param leaseTtl how long seats are kept after the last renewal; unset: the service's default
 * @param supersede whether to take over the seats of older sessions of the same candidate
 * @param value what to publish while leading
 * @param stopGrace how long work may take to end; unset: a quarter of the lease
 * @param closeTimeout how long the end of the application may wait for work and for the service
 * @param elections in which this process stands from the start, for the events. Those of {@link
 *     LeaderOnly} are not among them
 * @param tls how to connect with TLS; unset: without
 */
@ConfigurationProperties("tenure")
public record TenureProperties(
    @DefaultValue("true") boolean enabled,
    @DefaultValue("127.0.0.1:7070") String endpoints,
    String candidate,
    @DefaultValue("0s") Duration leaseTtl,
    @DefaultValue("false") boolean supersede,
    @DefaultValue("") String value,
    Duration stopGrace,
    @DefaultValue("5s") Duration closeTimeout,
    @DefaultValue List<String> elections,
    TlsProperties tls) {

  /**
   * The properties {@code tenure.tls.*}.
   *
   * @param ca a bundle of authorities (PEM); unset: those that Java trusts
   * @param certificate the client's certificate (PEM); unset: none
   * @param key its private key (PEM, PKCS #8)
   * @param token a file whose first line is the token; unset: none
   */
  public record TlsProperties(Path ca, Path certificate, Path key, Path token) {}
}
