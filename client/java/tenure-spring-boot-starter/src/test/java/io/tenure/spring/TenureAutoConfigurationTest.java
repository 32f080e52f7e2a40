package io.tenure.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.tenure.Candidacy;
import io.tenure.Elector;
import io.tenure.Seat;
import io.tenure.TenureClient;
import io.tenure.testing.Service;
import io.tenure.v1.Cause;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.actuate.health.Status;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** The starter in real applications, against a real service. */
@Timeout(90)
class TenureAutoConfigurationTest {
  private Service service;
  private TenureClient client;
  private Elector rival;

  @BeforeEach
  void start() {
    service = Service.start();
    client = TenureClient.builder().endpoints(service.endpoint()).candidate("rival").build();
    rival = new Elector(client);
  }

  @AfterEach
  void stop() {
    service.resume();
    client.close();
    service.close();
  }

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

    @Bean
    MeterRegistry registry() {
      return new SimpleMeterRegistry();
    }
  }

  static class Jobs {
    final BlockingQueue<Long> terms = new LinkedBlockingQueue<>();
    final CountDownLatch begun = new CountDownLatch(1);
    final CountDownLatch mayEnd = new CountDownLatch(1);
    private final Elector elector;

    Jobs(Elector elector) {
      this.elector = elector;
    }

    @Scheduled(fixedDelay = 50)
    @LeaderOnly("${nightly.election}")
    void nightly() {
      elector.seat("night").map(Seat::term).ifPresent(terms::add);
    }

    @LeaderOnly("answers")
    String answer() {
      return "from the leader";
    }

    @LeaderOnly("numbers")
    int number() {
      return 7;
    }

    @LeaderOnly("failures")
    void fail() throws IOException {
      throw new IOException("on purpose");
    }

    @LeaderOnly("slow")
    void slow() throws InterruptedException {
      begun.countDown();
      mayEnd.await();
    }

    BlockingQueue<Long> terms() {
      return terms;
    }

    CountDownLatch begun() {
      return begun;
    }

    CountDownLatch mayEnd() {
      return mayEnd;
    }
  }

  private ConfigurableApplicationContext run(String... properties) {
    SpringApplication application = new SpringApplication(Application.class);
    application.setWebApplicationType(WebApplicationType.NONE);
    application.setLogStartupInfo(false);
    String[] arguments = new String[properties.length + 4];
    arguments[0] = "--tenure.endpoints=" + service.endpoint();
    arguments[1] = "--tenure.candidate=application";
    arguments[2] = "--nightly.election=night";
    arguments[3] = "--spring.main.banner-mode=off";
    System.arraycopy(properties, 0, arguments, 4, properties.length);
    return application.run(arguments);
  }

  private static <T> T take(BlockingQueue<T> queue) throws InterruptedException {
    T taken = queue.poll(Service.PATIENCE, TimeUnit.SECONDS);
    if (taken == null) throw new AssertionError("timed out");
    return taken;
  }

  /** Waits until the health has this status and these details. */
  private static Health await(
      ConfigurableApplicationContext context, Status status, String detail) {
    HealthIndicator indicator = context.getBean("tenureHealthIndicator", HealthIndicator.class);
    Health health = indicator.health();
    while (!health.getStatus().equals(status) || !health.getDetails().toString().contains(detail)) {
      Thread.onSpinWait();
      health = indicator.health();
    }
    return health;
  }

  @Test
  void aScheduledJobRunsOnTheLeader() throws InterruptedException {
    try (Seat seat = rival.lead("night");
        ConfigurableApplicationContext context = run()) {
      Jobs jobs = context.getBean(Jobs.class);
      Elector elector = context.getBean(Elector.class);
      assertFalse(elector.runIfLeader("night", mine -> {}));
      assertTrue(jobs.terms().isEmpty());

      seat.close();

      assertEquals(seat.term() + 1, take(jobs.terms()));
      assertEquals(seat.term() + 1, take(jobs.terms()));
    } catch (Exception impossible) {
      throw new AssertionError(impossible);
    }
    rival.lead("night").close(); // the end of the application has freed the seat
  }

  @Test
  void aMethodReturnsNullOnAProcessThatDoesNotLead() throws InterruptedException {
    try (ConfigurableApplicationContext context = run()) {
      Jobs jobs = context.getBean(Jobs.class);
      Seat seat = rival.lead("answers");
      assertNull(jobs.answer());
      Candidacy candidacy = rival.stand("after");
      seat.close();

      String answer = null;
      while (answer == null) answer = jobs.answer();

      assertEquals("from the leader", answer);
      candidacy.close();
      assertThrows(IllegalStateException.class, jobs::number);
      assertThrows(
          IOException.class,
          () -> {
            while (true) jobs.fail(); // until this process leads
          });
    }
  }

  @Test
  void theEndOfTheApplicationWaitsForAJob() throws InterruptedException {
    ConfigurableApplicationContext context = run("--tenure.close-timeout=60s");
    Jobs jobs = context.getBean(Jobs.class);
    Thread job =
        new Thread(
            () -> {
              try {
                while (jobs.begun().getCount() > 0) jobs.slow();
              } catch (InterruptedException impossible) {
                throw new AssertionError(impossible);
              }
            });
    job.start();
    jobs.begun().await();
    Thread end = new Thread(context::close);
    end.start();

    Candidacy successor = rival.stand("slow");
    assertTrue(successor.awaitSeat(Duration.ofMillis(300)).isEmpty());
    jobs.mayEnd().countDown();

    assertTrue(successor.awaitSeat().isLeader());
    end.join();
    job.join();
  }

  @Test
  void grantedAndRevokedAreEvents() throws InterruptedException {
    try (ConfigurableApplicationContext context = run("--tenure.elections=orders")) {
      BlockingQueue<LeaderEvent> events = context.getBean(Application.class).events;
      LeaderEvent granted = take(events);
      while (!granted.getRole().equals("orders")) granted = take(events);
      assertEquals(OnGrantedEvent.class, granted.getClass());
      assertTrue(granted.getSeat().isLeader());

      service.tool("depose", "orders");

      LeaderEvent next = take(events);
      while (!next.getRole().equals("orders")) next = take(events);
      OnRevokedEvent revoked = (OnRevokedEvent) next;
      assertEquals(Cause.CAUSE_DEPOSED, revoked.getCause());
      assertEquals(granted.getSeat(), revoked.getSeat());
      MeterRegistry registry = context.getBean(MeterRegistry.class);
      assertTrue(registry.get("tenure.client.lost").tag("name", "orders").counter().count() >= 1);
    }
  }

  @Test
  void theHealthShowsWhatIsWrong() throws InterruptedException {
    try (ConfigurableApplicationContext context =
        run("--tenure.elections=orders", "--tenure.lease-ttl=2s")) {
      Health leading = await(context, Status.UP, "leading");
      assertFalse(leading.getDetails().containsKey("problem"));

      service.pause();
      await(context, Status.DOWN, "problem");
      service.resume();

      await(context, Status.UP, "orders");
    }
  }

  @Test
  void aClientThatIsRefusedForGoodIsDown() {
    try (ConfigurableApplicationContext context =
        run("--tenure.elections=orders", "--tenure.lease-ttl=7d")) {
      Health down = await(context, Status.DOWN, "INVALID_LEASE_TTL");

      assertTrue(down.getDetails().toString().contains("refused"), down::toString);
    }
  }

  @Test
  void itCanBeSwitchedOffAndItsBeansReplaced() {
    ApplicationContextRunner runner =
        new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(TenureAutoConfiguration.class));
    runner
        .withPropertyValues("tenure.enabled=false")
        .run(context -> assertTrue(context.getBeansOfType(TenureClient.class).isEmpty()));
    runner
        .withBean("mine", TenureClient.class, () -> TenureClient.create("127.0.0.1:1"))
        .run(context -> assertEquals(1, context.getBeansOfType(TenureClient.class).size()));
    runner
        .withPropertyValues("tenure.tls.ca=/none")
        .run(context -> assertTrue(context.getStartupFailure() != null));
  }
}
