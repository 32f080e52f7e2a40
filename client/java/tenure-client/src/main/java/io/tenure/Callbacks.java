package io.tenure;

/** Calls the application's code. */
final class Callbacks {
  private Callbacks() {}

  /** Logs whatever the callback throws, including undeclared exceptions. */
  static void call(String what, Runnable callback) {
    try {
      callback.run();
    } catch (Throwable failure) {
      Log.error(what + " has failed", failure);
    }
  }

  /** The same on a thread of the library; clears an interrupt that the callback leaves behind. */
  static void callOnOwnThread(String what, Runnable callback) {
    try {
      call(what, callback);
    } finally {
      Thread.interrupted();
    }
  }
}
