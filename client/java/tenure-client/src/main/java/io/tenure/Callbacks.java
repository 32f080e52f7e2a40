package io.tenure;

/** Calls the application's code. */
final class Callbacks {
  private Callbacks() {}

  /** Logs whatever it throws, also what it does not declare. */
  static void call(String what, Runnable callback) {
    try {
      callback.run();
    } catch (Throwable failure) {
      Log.error(what + " has failed", failure);
    }
  }

  /** The same on a thread of the library, which the callback cannot leave interrupted. */
  static void callOnOwnThread(String what, Runnable callback) {
    try {
      call(what, callback);
    } finally {
      Thread.interrupted();
    }
  }
}
