package io.tenure;

import com.google.protobuf.ByteString;
import io.grpc.NameResolverRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Refuses at once what the service would refuse: each throws IllegalArgumentException. */
final class Validation {
  private static final int NAME_BYTES_MAX = 255;
  private static final int VALUE_BYTES_MAX = 4096;
  private static final Pattern SERVICE_ID = Pattern.compile("[0-9a-f]{32}");
  private static final int PORT_MAX = 65_535;
  private static final String A_HOST = "(?:\\[[0-9a-fA-F:.%]+\\]|[^\\s:/\\[\\]]+)";
  private static final Pattern HOST = Pattern.compile(A_HOST);
  private static final Pattern HOST_AND_PORT = Pattern.compile(A_HOST + ":(\\d+)");

  private Validation() {}

  static String checkName(String name, String what) {
    int size = name.getBytes(StandardCharsets.UTF_8).length;
    if (size < 1 || size > NAME_BYTES_MAX) {
      throw new IllegalArgumentException(
          what + " is " + size + " bytes long; it must be 1 to " + NAME_BYTES_MAX + " bytes");
    }
    if (name.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException(what + " contains a control character; remove it");
    }
    return name;
  }

  static ByteString checkValue(byte[] value) {
    if (value.length > VALUE_BYTES_MAX) {
      throw new IllegalArgumentException(
          "value is " + value.length + " bytes long; the maximum is " + VALUE_BYTES_MAX);
    }
    return ByteString.copyFrom(value);
  }

  static String checkServiceId(String serviceId) {
    if (!SERVICE_ID.matcher(serviceId).matches()) {
      throw new IllegalArgumentException(
          "serviceId is '" + serviceId + "'; it must be 32 hexadecimal digits in lower case");
    }
    return serviceId;
  }

  /** In nanoseconds. */
  static long checkNotNegative(Duration duration, String what) {
    if (duration.isNegative()) {
      throw new IllegalArgumentException(what + " is " + duration + "; it must be 0 or more");
    }
    return nanoseconds(duration);
  }

  /** Longer durations than the clock can count are cut to its maximum. */
  static long nanoseconds(Duration duration) {
    Duration most = Duration.ofNanos(Long.MAX_VALUE / 4);
    return (duration.compareTo(most) < 0 ? duration : most).toNanos();
  }

  /** Blanks around an endpoint are ignored. */
  static List<String> checkEndpoints(String endpoints) {
    List<String> named =
        Arrays.stream(endpoints.split(","))
            .map(String::strip)
            .filter(endpoint -> !endpoint.isEmpty())
            .toList();
    if (named.isEmpty()) {
      throw new IllegalArgumentException(
          "endpoints names no replica; write host:port[,host:port...]");
    }
    named.forEach(Validation::checkEndpoint);
    return named;
  }

  private static void checkEndpoint(String endpoint) {
    int colon = endpoint.indexOf(':');
    if (colon > 0 && isKnownToGrpc(endpoint.substring(0, colon))) return; // such as dns:///NAME
    if (endpoint.contains("://")) {
      String host = endpoint.replaceFirst("^[^/]*://", "").replaceFirst("/.*", "");
      throw malformed(endpoint, "is a URL", withPort(host));
    }
    if (!HOST.matcher(endpoint).matches()) {
      Matcher match = HOST_AND_PORT.matcher(endpoint);
      if (!match.matches()) throw malformed(endpoint, "is malformed", "127.0.0.1:7070");
      int port = match.group(1).length() > 5 ? 0 : Integer.parseInt(match.group(1));
      if (port >= 1 && port <= PORT_MAX) return;
      throw new IllegalArgumentException(
          "the endpoint '" + endpoint + "' has no valid port; a port is a number from 1 to 65535");
    }
    throw malformed(endpoint, "has no port", withPort(endpoint));
  }

  private static boolean isKnownToGrpc(String scheme) {
    return NameResolverRegistry.getDefaultRegistry().getProviderForScheme(scheme) != null;
  }

  private static String withPort(String host) {
    return HOST_AND_PORT.matcher(host).matches() ? host : host + ":7070";
  }

  private static IllegalArgumentException malformed(String endpoint, String how, String example) {
    return new IllegalArgumentException(
        "the endpoint '" + endpoint + "' " + how + "; write host:port, such as " + example);
  }
}
