package io.tenure;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/** Logs to the application's logger {@code io.tenure}. Never throws. */
final class Log {
  private static final Logger LOGGER = System.getLogger("io.tenure");

  private Log() {}

  static void error(String what, Throwable failure) {
    log(Level.ERROR, what, failure);
  }

  static void error(String what) {
    log(Level.ERROR, what, null);
  }

  static void warn(String what) {
    log(Level.WARNING, what, null);
  }

  static void info(String what) {
    log(Level.INFO, what, null);
  }

  private static void log(Level level, String what, Throwable failure) {
    try {
      LOGGER.log(level, what, failure);
    } catch (RuntimeException | Error brokenLogger) {
      // A seat matters more than a log line.
    }
  }
}
