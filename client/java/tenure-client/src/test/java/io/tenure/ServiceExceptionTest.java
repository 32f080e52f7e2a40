package io.tenure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Status;
import java.nio.channels.ClosedChannelException;
import org.junit.jupiter.api.Test;

/** What an error of gRPC means. */
class ServiceExceptionTest {
  @Test
  void aConnectionThatBreaksIsNotTheServicesAnswer() {
    Status unknown = Status.UNKNOWN.withDescription("channel closed");
    Status broken = unknown.withCause(new ClosedChannelException());

    ServiceException error = ServiceException.of(broken.asRuntimeException());

    assertTrue(error.isTransient());
    assertEquals("UNAVAILABLE: channel closed", error.getMessage());
    assertFalse(ServiceException.of(unknown.asRuntimeException()).isTransient());
  }
}
