package io.tenure;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Spells the host of an endpoint differently each time, in capital and small letters.
 *
 * <p>A JVM remembers the addresses of a name for 30 s, and that there are none for 10 s, unless the
 * application has set {@code networkaddress.cache.ttl}. Replicas that move would stay out of reach
 * for that long. Names are the same to a name server however they are spelled, but not to this
 * cache.
 */
final class Spelling {
  private static final Pattern NAMED = Pattern.compile("(.*[a-zA-Z].*)(:\\d+)");
  private static final AtomicInteger COUNT = new AtomicInteger();

  private Spelling() {}

  /** What cannot be a name of a host stays as it is. */
  static String next(String endpoint) {
    Matcher match = named(endpoint);
    return match == null
        ? endpoint
        : spell(match.group(1), COUNT.getAndIncrement()) + match.group(2);
  }

  /** Null unless its host is a name. */
  private static Matcher named(String endpoint) {
    Matcher match = NAMED.matcher(endpoint);
    boolean isNamed = match.matches() && !match.group(1).contains(":");
    return isNamed ? match : null;
  }

  /** Each bit of the number is the case of a letter. */
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
