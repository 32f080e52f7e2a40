package io.tenure;

import io.tenure.testing.Relays;
import io.tenure.testing.Service;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections that nothing uses. */
@Timeout(120)
class IdleConnectionsTest {
  private static final Duration SHORT = Duration.ofSeconds(1);

  @Test
  void aClientKeepsOnlyTheConnectionThatItUses() throws Exception {
    try (Service service = Service.start();
        Service second = service.startReplica();
        Service third = service.startReplica();
        Relays relays = new Relays(service, second, third)) {
      TenureClient.Builder builder = TenureClient.builder().endpoints(relays.endpoints());
      try (TenureClient client = builder.idleTimeout(SHORT).build()) {
        new Elector(client).stand("orders").awaitSeat();

        relays.awaitOneLeft();
      }
    }
  }

  @Test
  void anObserverKeepsOnlyTheConnectionThatItUses() throws Exception {
    try (Service service = Service.start();
        Service second = service.startReplica();
        Service third = service.startReplica();
        Relays relays = new Relays(service, second, third)) {
      Observer.Builder builder = Observer.builder().endpoints(relays.endpoints()).names("orders");
      try (Observer observer = builder.idleTimeout(SHORT).build()) {
        observer.start(new ObserverListener() {});

        relays.awaitOneLeft();
      }
    }
  }
}
