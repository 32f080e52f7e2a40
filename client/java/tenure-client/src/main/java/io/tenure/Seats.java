package io.tenure;

import io.tenure.v1.Cause;
import io.tenure.v1.Leadership;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The seats of one session, by number and by election. For the session, and as pure. */
final class Seats {
  private static final int CLOSED_TERMS_MAX = 10_000; // elections, the latest ones

  static final class Entry {
    final int number;
    final SeatMachine seat;
    private long termAsked; // the term held when the stream requested the list of seats
    private long noticedOn; // the last stream that reported a grant
    private boolean inDoubt; // not listed, and granted before or after the list was read
    private boolean called; // a call for it is under way

    private Entry(int number, SeatMachine seat) {
      this.number = number;
      this.seat = seat;
    }

    void callBegins() {
      called = true;
    }

    void callEnds() {
      called = false;
    }

    /** This stream has reported the grant. */
    void noticed(long stream) {
      noticedOn = stream;
      inDoubt = false;
    }
  }

  private final Map<Integer, Entry> entries = new LinkedHashMap<>();
  private final Map<String, Deque<Entry>> byElection = new HashMap<>(); // the first one acts

  /** Of removed seats: they refute late news, which comes within moments or never. */
  private final Map<String, Long> closedTerms =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
          return size() > CLOSED_TERMS_MAX;
        }
      };

  Entry add(int number, SeatOptions options) {
    long closedTerm = closedTerms.getOrDefault(options.election(), 0L);
    Entry entry = new Entry(number, new SeatMachine(options, closedTerm));
    entries.put(number, entry);
    byElection.computeIfAbsent(options.election(), election -> new ArrayDeque<>()).add(entry);
    return entry;
  }

  /** Null if there is none. */
  Entry find(int number) {
    return entries.get(number);
  }

  Collection<Entry> all() {
    return entries.values();
  }

  /** The seat that acts in this election, or null. Others start when it is gone. */
  Entry actingIn(String election) {
    Deque<Entry> standing = byElection.get(election);
    return standing == null ? null : standing.peekFirst();
  }

  /** Removes the seats that have nothing left to do, and returns their numbers. */
  List<Integer> takeGone() {
    List<Integer> gone = new ArrayList<>();
    for (Entry entry : entries.values()) {
      if (entry.seat.gone() && !entry.called) gone.add(entry.number);
    }
    for (int number : gone) forget(entries.remove(number));
    return gone;
  }

  private void forget(Entry entry) {
    String election = entry.seat.election();
    Long before = closedTerms.remove(election); // now the latest
    long closedTerm = Math.max(entry.seat.closedTerm(), before == null ? 0 : before);
    closedTerms.put(election, closedTerm);
    Deque<Entry> standing = byElection.get(election);
    standing.remove(entry);
    if (standing.isEmpty()) {
      byElection.remove(election);
    } else {
      standing.peekFirst().seat.closeUpTo(closedTerm);
    }
  }

  /** When the seat's next call is due; never, if none is. */
  long callAt(Entry entry) {
    if (entry.called || entry.seat.need() == SeatMachine.Need.NOTHING) return Lease.NEVER;
    boolean acts = byElection.get(entry.seat.election()).peekFirst() == entry;
    return acts ? entry.seat.needAt() : Lease.NEVER;
  }

  /** Number of elections with closed terms where nobody stands any more. */
  int closedTermsKept() {
    return closedTerms.size();
  }

  /** The session has ended: nothing received in it counts any more. */
  void forgetTerms() {
    closedTerms.clear();
  }

  /** Terms start from the beginning. No session is open. */
  void onServiceReplaced() {
    forgetTerms();
    for (Entry entry : entries.values()) entry.seat.reopenTerms();
  }

  // A new stream's first answer lists the held seats. The stream reports all changes from before
  // the list was read. So a seat that is not listed is lost, if it was held when the list was
  // requested. A seat granted since then was either granted after the list was read, and the stream
  // reports that too, or it was granted and lost before.

  void listAsked() {
    for (Entry entry : entries.values()) entry.termAsked = entry.seat.term();
  }

  /** The stream has delivered the list, and each seat in it has been notified. */
  void listed(List<Leadership> held, long stream, long now) {
    Map<String, Long> terms = new HashMap<>();
    for (Leadership leadership : held) terms.put(leadership.getElection(), leadership.getTerm());
    for (Entry entry : entries.values()) {
      SeatMachine seat = entry.seat;
      boolean listed = terms.getOrDefault(seat.election(), -1L) >= seat.term();
      boolean missing = seat.term() != 0 && !listed && entry.noticedOn != stream;
      entry.inDoubt = missing && entry.termAsked != seat.term();
      if (missing && !entry.inDoubt) seat.onLost(seat.term(), Cause.CAUSE_UNSPECIFIED, now);
    }
  }

  /** Whether the list must be requested again. */
  boolean anyInDoubt() {
    for (Entry entry : entries.values()) {
      if (entry.inDoubt && entry.seat.term() != 0) return true;
    }
    return false;
  }
}
