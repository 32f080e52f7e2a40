package io.tenure;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Varies the case of the letters in an endpoint's host name.
 *
 * <p>A JVM remembers the addresses of a name for 30 s, and that there are none for 10 s, unless the
 * application has set {@code networkaddress.cache.ttl}. Replicas that move would stay unreachable
 * for that long. A name server ignores the case of a name, but this cache does not.
 */
final class Spelling {
  private static final Pattern NAMED = Pattern.compile("(.*[a-zA-Z].*)(:\\d+)");
  private static final AtomicInteger COUNT = new AtomicInteger();

  private Spelling() {}

  /** Returns anything that cannot be a host name unchanged. */
  static String next(String endpoint) {
    Matcher match = named(endpoint);
    return match == null
        ? endpoint
        : spell(match.group(1), COUNT.getAndIncrement()) + match.group(2);
  }

  /** Null unless the host is a name. */
  private static Matcher named(String endpoint) {
    Matcher match = NAMED.matcher(endpoint);
    boolean isNamed = match.matches() && !match.group(1).contains(":");
    return isNamed ? match : null;
  }

  /** Each bit of the number sets the case of a letter. */
  static String spell(String host, int number) {
    StringBuilder spelled = new StringBuilder();
    int bits = number;
    for (char letter : host.toCharArray()) {
      if (!isLetter(letter)) {
        spelled.append(letter);
        continue;
      }
      boolean capital = (bits & 1) == 1;
      spelled.append(capital ? Character.toUpperCase(letter) : Character.toLowerCase(letter));
      bits >>= 1;
    }
    return spelled.toString();
  }

  private static boolean isLetter(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
  }
}
