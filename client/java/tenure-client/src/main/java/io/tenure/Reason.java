package io.tenure;

import io.grpc.Status;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLException;

/**
 * Why a replica cannot be used, in plain words.
 *
 * @param kind the part that all such failures share
 * @param details the rest; may be empty
 */
record Reason(String kind, String details) {
  // How other protocols begin, in gRPC's hex dump of the first five bytes.
  private static final Map<String, String> GREETINGS =
      Map.of("485454502f", "is it an HTTP port?", "1503", "does it want TLS?");
  private static final String NO_GRPC = "it does not speak gRPC";
  private static final int CAUSES_MAX = 20;

  /**
   * The reason of a failed call.
   *
   * @param connected whether anything was received on this connection before
   */
  static Reason of(ServiceException error, boolean connected) {
    Reason reason = ofCauses(error.getCause());
    if (reason != null) return reason;
    if (error.isHttp()) return new Reason(NO_GRPC + " (is it an HTTP port?)", "");
    String details = error.details().lines().findFirst().orElse("");
    return switch (error.code()) {
      case DEADLINE_EXCEEDED -> new Reason("no answer", "");
      case PERMISSION_DENIED, UNAUTHENTICATED -> new Reason("permission denied", details);
      case UNIMPLEMENTED -> new Reason("it is not Tenure", "");
      case UNAVAILABLE -> ofUnavailable(error, details, connected);
      default -> new Reason(error.code().name(), details);
    };
  }

  /** Replaces gRPC's text about a call that this cause made fail. */
  static String of(Throwable cause, String said) {
    Reason reason = ofCauses(cause);
    if (reason != null) return reason.toString();
    return said.isEmpty() ? cause.toString() : said;
  }

  /** Null if they say nothing useful. */
  private static Reason ofCauses(Throwable outermost) {
    List<Throwable> causes = causesOf(outermost);
    for (int i = causes.size() - 1; i >= 0; i--) { // the innermost one is the most specific
      Reason reason = ofCause(causes.get(i));
      if (reason != null) return reason;
    }
    return null;
  }

  private static Reason ofUnavailable(ServiceException error, String details, boolean connected) {
    if (error.reason().equals("STORE_UNAVAILABLE")) {
      return new Reason("the service runs, but cannot reach its database", details);
    }
    // gRPC's text for a connection that was reset.
    if (details.equals("Network closed for unknown reason") || details.equals("io exception")) {
      return connected
          ? new Reason("the connection broke", "")
          : new Reason("it closed the connection (does it want TLS, or not speak gRPC?)", "");
    }
    return new Reason(details.isEmpty() ? Status.Code.UNAVAILABLE.name() : details, "");
  }

  /** Null if it says nothing useful. */
  private static Reason ofCause(Throwable cause) {
    String message = cause.getMessage() == null ? "" : cause.getMessage();
    String type = cause.getClass().getSimpleName(); // Netty's classes are shaded
    if (cause instanceof UnknownHostException) return new Reason("no such host", "");
    if (cause instanceof NoRouteToHostException) return new Reason("no route to the host", "");
    if (type.equals("ConnectTimeoutException")) return new Reason("no answer", "");
    if (cause instanceof ConnectException) {
      boolean refused = message.contains("refused");
      return new Reason(refused ? "connection refused" : "cannot connect", refused ? "" : message);
    }
    if (cause instanceof CertificateExpiredException) {
      return new Reason("its certificate has expired", message);
    }
    if (cause instanceof CertificateNotYetValidException) {
      return new Reason("its certificate is not valid yet", message);
    }
    if (message.contains("unable to find valid certification path")) {
      return new Reason("its certificate is of an unknown authority", "");
    }
    if (cause instanceof CertificateException && message.startsWith("No ")) {
      return new Reason("its certificate is for another name", message);
    }
    if (type.equals("NotSslRecordException")) return new Reason("it does not speak TLS", "");
    if (cause instanceof SSLException && message.contains("certificate")) {
      return new Reason("it does not accept this client's certificate", message);
    }
    if (type.equals("Http2Exception")) return new Reason(NO_GRPC + greeting(message), "");
    return null;
  }

  private static String greeting(String message) {
    String hex = message.replaceFirst(".*bytes: ", "");
    for (Map.Entry<String, String> greeting : GREETINGS.entrySet()) {
      if (hex.startsWith(greeting.getKey())) return " (" + greeting.getValue() + ")";
    }
    // A database's first packet: three bytes of length, number 0, version 10 of the protocol.
    return hex.matches("......000a.*") ? " (is it a database?)" : "";
  }

  private static List<Throwable> causesOf(Throwable outermost) {
    List<Throwable> causes = new ArrayList<>();
    for (Throwable cause = outermost; cause != null; cause = cause.getCause()) {
      if (causes.size() == CAUSES_MAX) break;
      causes.add(cause);
    }
    return causes;
  }

  @Override
  public String toString() {
    return details.isEmpty() ? kind : kind + ": " + details;
  }
}
