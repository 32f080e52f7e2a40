package io.tenure;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A call failed. {@code election.proto} says what each reason means, and what to do next. */
public final class ServiceException extends TenureException {
  private static final long serialVersionUID = 1;

  /** The replica works on a database other than the client's. */
  static final String WRONG_SERVICE = "WRONG_SERVICE";

  private static final Set<Status.Code> TRANSIENT =
      Set.of(Status.Code.UNAVAILABLE, Status.Code.DEADLINE_EXCEEDED, Status.Code.CANCELLED);

  /** How gRPC's text begins. */
  private static final Set<String> HTTP = Set.of("HTTP status code", "missing GRPC status");

  private static final Set<Status.Code> IN_DOUBT =
      Set.of(Status.Code.UNKNOWN, Status.Code.INTERNAL);
  private static final Set<Status.Code> FOR_NOW =
      Set.of(
          Status.Code.RESOURCE_EXHAUSTED,
          Status.Code.PERMISSION_DENIED,
          Status.Code.UNAUTHENTICATED,
          Status.Code.UNKNOWN,
          Status.Code.INTERNAL);

  /** gRPC's code. */
  private final Status.Code code;

  /** The text of the service, or of gRPC. */
  private final String details;

  /** The reason of the service's ErrorInfo. */
  private final String reason;

  /** The metadata of the service's ErrorInfo. */
  private final Map<String, String> metadata;

  /** How long the service asks its caller to wait. */
  private final Duration retryDelay;

  ServiceException(
      Status.Code code,
      String details,
      String reason,
      Map<String, String> metadata,
      Duration retryDelay) {
    super(code + ": " + details + (reason.isEmpty() ? "" : " (" + reason + ")"));
    this.code = code;
    this.details = details;
    this.reason = reason;
    this.metadata = Map.copyOf(metadata);
    this.retryDelay = retryDelay;
  }

  ServiceException(Status.Code code, String details) {
    this(code, details, "", Map.of(), Duration.ZERO);
  }

  /** Converts the exception of a failed grpc-java call. */
  static ServiceException of(Throwable failure) {
    Status status = Status.fromThrowable(failure);
    // A status from the service has no cause. With a cause, the call could not be sent, or the
    // connection broke, or leads to something other than gRPC.
    if (IN_DOUBT.contains(status.getCode()) && status.getCause() != null) {
      status =
          Status.UNAVAILABLE.withDescription(status.getDescription()).withCause(status.getCause());
    }
    String details = status.getDescription() == null ? "" : status.getDescription();
    if (status.getCause() != null) details = Reason.of(status.getCause(), details);
    String reason = "";
    Map<String, String> metadata = Map.of();
    Duration retryDelay = Duration.ZERO;
    com.google.rpc.Status rich = StatusProto.fromThrowable(failure);
    try {
      for (Any detail : rich == null ? List.<Any>of() : rich.getDetailsList()) {
        if (detail.is(ErrorInfo.class)) {
          ErrorInfo info = detail.unpack(ErrorInfo.class);
          reason = info.getReason();
          metadata = info.getMetadataMap();
        } else if (detail.is(RetryInfo.class)) {
          RetryInfo info = detail.unpack(RetryInfo.class);
          retryDelay = Duration.ofNanos(Lease.nanoseconds(info.getRetryDelay()));
        }
      }
    } catch (InvalidProtocolBufferException notOfThisService) {
      // The code and the text remain.
    }
    ServiceException error =
        new ServiceException(status.getCode(), details, reason, metadata, retryDelay);
    if (status.getCause() != null) error.initCause(status.getCause());
    return error;
  }

  /**
   * The code of gRPC.
   *
   * @return the code of gRPC
   */
  public Status.Code code() {
    return code;
  }

  /**
   * The reason of the service's {@code ErrorInfo}: one of {@code ErrorReason}, without its prefix.
   *
   * @return the reason; empty if there is none
   */
  public String reason() {
    return reason;
  }

  /**
   * The metadata of the service's {@code ErrorInfo}.
   *
   * @return the metadata; empty if there is none
   */
  public Map<String, String> metadata() {
    return metadata;
  }

  /**
   * How long the service asks its caller to wait before the next attempt.
   *
   * @return the delay; zero if the service does not say
   */
  public Duration retryDelay() {
    return retryDelay;
  }

  /** Without the code and the reason. */
  String details() {
    return details;
  }

  /** The same request may succeed later or on another replica. */
  boolean isTransient() {
    if (isNotTenure()) return true;
    if (code == Status.Code.RESOURCE_EXHAUSTED) {
      return reason.isEmpty() || reason.equals("OVERLOADED");
    }
    return TRANSIENT.contains(code);
  }

  /** The server speaks HTTP without gRPC, or does not know the calls: another may be Tenure. */
  boolean isNotTenure() {
    return reason.isEmpty() && (code == Status.Code.UNIMPLEMENTED || isHttp());
  }

  /** An HTTP answer that is not gRPC. */
  boolean isHttp() {
    return reason.isEmpty() && HTTP.stream().anyMatch(details::startsWith);
  }

  /** The replica belongs to another service: only a reason to use another replica. */
  boolean isOfAnotherService() {
    return reason.equals(WRONG_SERVICE);
  }

  /** Use another replica; this one has done nothing. */
  static ServiceException anotherService(String serviceId) {
    return new ServiceException(
        Status.Code.UNAVAILABLE,
        "the replica belongs to service " + serviceId,
        WRONG_SERVICE,
        Map.of("service_id", serviceId),
        Duration.ZERO);
  }

  /** No answer came at all. */
  boolean isSilence() {
    return code == Status.Code.DEADLINE_EXCEEDED;
  }

  /** The session in use has ended or is unknown. */
  boolean isSessionGone() {
    return reason.equals("SESSION_ENDED") || reason.equals("SESSION_NOT_FOUND");
  }

  /** Only an operator, or other candidates, can lift the refusal. */
  boolean isRefusedForNow() {
    return FOR_NOW.contains(code)
        || reason.equals("CANDIDACY_WITHDRAWN")
        || reason.equals(WRONG_SERVICE);
  }
}
