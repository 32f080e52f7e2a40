package io.tenure.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.MeterRegistry;
import io.tenure.Elector;
import io.tenure.Seat;
import io.tenure.testing.Service;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** The starter in an application of Spring Boot 4: jobs, events, health and metrics. */
@Timeout(120)
class SpringBoot4Test {
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @EnableScheduling
  static class Application {
    final BlockingQueue<LeaderEvent> events = new LinkedBlockingQueue<>();

    @EventListener
    void keep(LeaderEvent event) {
      events.add(event);
    }

    @Bean
    Jobs jobs(Elector elector) {
      return new Jobs(elector);
    }
  }

  static class Jobs {
    private final BlockingQueue<Long> terms = new LinkedBlockingQueue<>();
    private final Elector elector;

    Jobs(Elector elector) {
      this.elector = elector;
    }

    Long takeTerm() throws InterruptedException { // not the field, because this is a proxy
      return terms.poll(Service.PATIENCE, TimeUnit.SECONDS);
    }

    @Scheduled(fixedDelay = 50)
    @LeaderOnly("nightly")
    void nightly() {
      elector.seat("nightly").map(Seat::term).ifPresent(terms::add);
    }
  }

  @Test
  void jobsEventsHealthAndMetricsWork() throws InterruptedException {
    try (Service service = Service.start();
        ConfigurableApplicationContext context =
            SpringApplication.run(
                Application.class,
                "--tenure.endpoints=" + service.endpoint(),
                "--tenure.elections=orders")) {
      Application application = context.getBean(Application.class);

      assertNotNull(application.events.poll(Service.PATIENCE, TimeUnit.SECONDS));
      assertNotNull(context.getBean(Jobs.class).takeTerm());

      HealthIndicator indicator = context.getBean("tenureHealthIndicator", HealthIndicator.class);
      Health health = indicator.health();
      assertEquals(Status.UP, health.getStatus());
      assertTrue(health.getDetails().toString().contains("orders=leading in term 1"));
      MeterRegistry registry = context.getBean(MeterRegistry.class);
      double elected =
          registry.get("tenure.client.elected").tag("name", "orders").counter().count();
      assertEquals(1, elected);
    }
  }
}
