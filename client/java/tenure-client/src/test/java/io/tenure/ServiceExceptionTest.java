package io.tenure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Status;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What an error of gRPC means. */
class ServiceExceptionTest {
  @Test
  void anErrorOfAServerThatIsNotTenureIsTransient() {
    for (Status status :
        List.of(
            Status.UNIMPLEMENTED,
            Status.UNKNOWN.withDescription("HTTP status code 200\ninvalid content-type: text/html"),
            Status.INTERNAL.withDescription("HTTP status code 400\ninvalid content-type: null"),
            Status.UNKNOWN.withDescription("missing GRPC status in response"))) {
      assertTrue(ServiceException.of(status.asException()).isTransient(), status.toString());
    }
    assertFalse(ServiceException.of(Status.UNKNOWN.asException()).isTransient());
  }

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
