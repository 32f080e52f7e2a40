package io.tenure.spring;

import io.micrometer.core.instrument.MeterRegistry;
import io.tenure.Candidacy;
import io.tenure.ClientMetrics;
import io.tenure.Elector;
import io.tenure.TenureClient;
import io.tenure.Tls;
import io.tenure.micrometer.MicrometerMetrics;
import io.tenure.spring.TenureProperties.TlsProperties;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Makes a {@link TenureClient} and an {@link Elector} from the properties {@code tenure.*};
 * supports {@link LeaderOnly}, stands in {@code tenure.elections}, publishes {@link OnGrantedEvent}
 * and {@link OnRevokedEvent}, and provides the health indicator {@code tenure} and metrics. Beans
 * of the application replace the client and the elector.
 */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
      "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"
    })
@ConditionalOnProperty(name = "tenure.enabled", matchIfMissing = true)
@EnableConfigurationProperties(TenureProperties.class)
public class TenureAutoConfiguration {
  /** For Spring. */
  public TenureAutoConfiguration() {}

  @Bean
  LeadershipMonitor tenureLeadershipMonitor(ApplicationEventPublisher publisher) {
    return new LeadershipMonitor(publisher);
  }

  /** Closed with the application, not with the program, to follow the application's order. */
  @Bean(destroyMethod = "") // by tenureEnd
  @ConditionalOnMissingBean
  TenureClient tenureClient(
      TenureProperties properties,
      LeadershipMonitor monitor,
      ObjectProvider<ClientMetrics> metrics) {
    TenureClient.Builder client =
        TenureClient.builder()
            .endpoints(properties.endpoints())
            .leaseTtl(properties.leaseTtl())
            .supersede(properties.supersede())
            .metrics(monitor.renewals())
            .closeOnExit(false);
    metrics.ifUnique(client::metrics);
    if (properties.candidate() != null) client.candidate(properties.candidate());
    if (properties.tls() != null) client.credentials(tlsOf(properties.tls()));
    return client.build();
  }

  private static Tls tlsOf(TlsProperties properties) {
    Tls.Builder tls = Tls.builder();
    if (properties.ca() != null) tls.ca(properties.ca());
    if (properties.certificate() != null) {
      tls.certificate(properties.certificate(), properties.key());
    }
    if (properties.token() != null) tls.token(properties.token());
    return tls.build();
  }

  @Bean
  @ConditionalOnMissingBean
  Elector tenureElector(
      TenureClient client, TenureProperties properties, LeadershipMonitor monitor) {
    Elector.Builder elector = Elector.builder(client).value(properties.value()).listener(monitor);
    if (properties.stopGrace() != null) elector.stopGrace(properties.stopGrace());
    return elector.build();
  }

  /** Created before all users of the elector, and therefore destroyed after them. */
  @Bean
  DisposableBean tenureEnd(TenureClient client, TenureProperties properties) {
    return () -> client.close(properties.closeTimeout());
  }

  @Bean
  static LeaderOnlyPostProcessor tenureLeaderOnlyPostProcessor(ObjectProvider<Elector> elector) {
    return new LeaderOnlyPostProcessor(elector);
  }

  @Bean
  SmartLifecycle tenureElections(Elector elector, TenureProperties properties) {
    return new Elections(elector, properties.elections());
  }

  /** Stands in the elections of the properties while the application runs. */
  private static final class Elections implements SmartLifecycle {
    private final Elector elector;
    private final List<String> names;
    private final List<Candidacy> candidacies = new ArrayList<>();
    private volatile boolean running;

    Elections(Elector elector, List<String> names) {
      this.elector = elector;
      this.names = names;
    }

    @Override
    public void start() {
      for (String name : names) candidacies.add(elector.stand(name));
      running = true;
    }

    @Override
    public void stop() {
      candidacies.forEach(Candidacy::resign); // their ends are still reported
      candidacies.clear();
      running = false;
    }

    @Override
    public boolean isRunning() {
      return running;
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(MeterRegistry.class)
  static class WithMicrometer {
    @Bean
    @ConditionalOnBean(MeterRegistry.class)
    @ConditionalOnMissingBean
    ClientMetrics tenureMetrics(MeterRegistry registry) {
      return new MicrometerMetrics(registry);
    }
  }

  /** Spring Boot 3. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
  static class WithHealth {
    @Bean
    @ConditionalOnEnabledHealthIndicator("tenure")
    HealthIndicator tenureHealthIndicator(LeadershipMonitor monitor) {
      return () -> {
        Health.Builder health =
            monitor
                .problem()
                .map(problem -> Health.down().withDetail("problem", problem))
                .orElseGet(Health::up);
        return health.withDetail("elections", monitor.states()).build();
      };
    }
  }

  /** Spring Boot 4, whose classes have the same names in other packages. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(
      name = {
        "org.springframework.boot.health.contributor.HealthIndicator",
        "org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator"
      })
  static class WithHealthOfBoot4 {
    @Bean
    @org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator(
        "tenure")
    org.springframework.boot.health.contributor.HealthIndicator tenureHealthIndicator(
        LeadershipMonitor monitor) {
      return () -> {
        org.springframework.boot.health.contributor.Health.Builder health =
            monitor
                .problem()
                .map(
                    problem ->
                        org.springframework.boot.health.contributor.Health.down()
                            .withDetail("problem", problem))
                .orElseGet(org.springframework.boot.health.contributor.Health::up);
        return health.withDetail("elections", monitor.states()).build();
      };
    }
  }

  /** A later version may move them again: then users must not miss them silently. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(name = "org.springframework.boot.actuate.endpoint.annotation.Endpoint")
  @ConditionalOnMissingClass({
    "org.springframework.boot.actuate.health.HealthIndicator",
    "org.springframework.boot.health.contributor.HealthIndicator"
  })
  static class WithoutHealth {
    WithoutHealth() {
      System.getLogger("io.tenure")
          .log(
              Level.WARNING,
              "no health indicator for Tenure: it knows those of Spring Boot 3 and 4, and"
                  + " spring-boot-health is needed with 4");
    }
  }
}
