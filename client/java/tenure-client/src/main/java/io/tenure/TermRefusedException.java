package io.tenure;

import com.google.protobuf.Any;
import com.google.rpc.ErrorInfo;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.util.Map;

/**
 * A fenced call that is not let in, or not sent. A handler can pass it to {@code onError}: status
 * and trailers are those that the caller gets. Codes and reasons are as in {@code election.proto}:
 *
 * <ul>
 *   <li>INVALID_ARGUMENT with INVALID_ELECTION_NAME or INVALID_TERM: no fence, or one of another
 *       election.
 *   <li>FAILED_PRECONDITION with STALE_TERM, metadata {@code current_term}: the caller no longer
 *       leads.
 *   <li>FAILED_PRECONDITION with NOT_LEADER: this process does not lead, and has not sent the call.
 *   <li>UNAVAILABLE: calls of a lower term were inside for too long.
 *   <li>RESOURCE_EXHAUSTED: the guard tracks too many other elections.
 * </ul>
 */
public final class TermRefusedException extends StatusRuntimeException {
  private static final long serialVersionUID = 1;
  private static final String DOMAIN = "tenure.v1";

  private TermRefusedException(Status status, Metadata trailers) {
    super(status, trailers);
  }

  static TermRefusedException of(Status.Code code, String details) {
    return new TermRefusedException(code.toStatus().withDescription(details), new Metadata());
  }

  static TermRefusedException of(
      Status.Code code, String details, String reason, Map<String, String> metadata) {
    ErrorInfo info =
        ErrorInfo.newBuilder().setReason(reason).setDomain(DOMAIN).putAllMetadata(metadata).build();
    com.google.rpc.Status rich =
        com.google.rpc.Status.newBuilder()
            .setCode(code.value())
            .setMessage(details)
            .addDetails(Any.pack(info))
            .build();
    Metadata trailers = StatusProto.toStatusRuntimeException(rich).getTrailers();
    return new TermRefusedException(code.toStatus().withDescription(details), trailers);
  }
}
