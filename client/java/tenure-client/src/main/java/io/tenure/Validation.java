package io.tenure;

import com.google.protobuf.ByteString;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/** What the service would refuse, refused at once: each throws IllegalArgumentException. */
final class Validation {
  private static final int NAME_BYTES_MAX = 255;
  private static final int VALUE_BYTES_MAX = 4096;

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

  /** In nanoseconds. */
  static long checkNotNegative(Duration duration, String what) {
    if (duration.isNegative()) {
      throw new IllegalArgumentException(what + " is " + duration + "; it must be 0 or more");
    }
    return nanoseconds(duration);
  }

  /** What is longer than the clock can count is as long as that. */
  static long nanoseconds(Duration duration) {
    Duration most = Duration.ofNanos(Long.MAX_VALUE / 4);
    return (duration.compareTo(most) < 0 ? duration : most).toNanos();
  }

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
    return named;
  }
}
