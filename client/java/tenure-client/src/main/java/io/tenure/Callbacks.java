package io.tenure;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/** Calls the application's code on the library's threads. */
final class Callbacks {
  private static final Logger LOGGER = System.getLogger("io.tenure");

  private Callbacks() {}

  /** Whatever it throws is logged, also what it does not declare, and costs nothing else. */
  static void call(String what, Runnable callback) {
    try {
      callback.run();
    } catch (Throwable failure) {
      LOGGER.log(Level.ERROR, what + " has failed", failure);
    }
  }
}
