package io.tenure;

import java.util.concurrent.atomic.AtomicReference;

/**
 * Whether this process may act as the leader right now. Many threads read it; one writes it. {@code
 * now} is an argument.
 *
 * <p>Once a reader has seen "no" in a term, no reader sees "yes" in that term again. Thread-safe.
 */
final class Belief {
  private record Held(long term, long until) {}

  private final AtomicReference<Held> held = new AtomicReference<>(); // null: none stands

  // For the writer.

  /** Starts a belief in a term that is higher than all before. No other belief may stand. */
  void begin(long term, long until) {
    held.set(new Held(term, until));
  }

  /** Returns false, and changes nothing, if a reader has seen the belief end. */
  boolean extend(long until) {
    Held before = held.get();
    return before != null && held.compareAndSet(before, new Held(before.term, until));
  }

  void end() {
    held.set(null);
  }

  // From any thread.

  /** The term in which this process may act; 0 if it may not. */
  long termAt(long now) {
    for (; ; ) {
      Held current = held.get();
      if (current == null) return 0;
      if (now < current.until) return current.term;
      if (held.compareAndSet(current, null)) return 0;
    }
  }

  /** How long the belief of this term still holds; not positive if it does not. */
  long remainingAt(long now, long term) {
    Held current = held.get();
    return current == null || current.term != term ? 0 : current.until - now;
  }
}
