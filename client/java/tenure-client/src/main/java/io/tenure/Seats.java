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

/** The seats of one session, by number and by election. Of the session, and as pure. */
final class Seats {
  private static final int CLOSED_TERMS_MAX = 10_000; // elections, the latest ones

  static final class Entry {
    final int number;
    final SeatMachine seat;
    private long termAsked; // that was held when the stream asked for the list of seats
    private long noticedOn; // the last stream that told of a grant
    private boolean inDoubt; // the seat was not listed, and was granted before or after that
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

    /** This stream has told of the grant. */
    void noticed(long stream) {
      noticedOn = stream;
      inDoubt = false;
    }
  }

  private final Map<Integer, Entry> entries = new LinkedHashMap<>();
  private final Map<String, Deque<Entry>> byElection = new HashMap<>(); // the first one acts

  /** Of seats that are gone: against late news of them, which comes within moments if at all. */
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

  /** The one that acts in this election, or null: others begin when it is gone. */
  Entry actingIn(String election) {
    Deque<Entry> standing = byElection.get(election);
    return standing == null ? null : standing.peekFirst();
  }

  /** Forgets the seats for which nothing is left to do, and names them. */
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

  /** When its next call is due; never, while it has none. */
  long callAt(Entry entry) {
    if (entry.called || entry.seat.need() == SeatMachine.Need.NOTHING) return Lease.NEVER;
    boolean acts = byElection.get(entry.seat.election()).peekFirst() == entry;
    return acts ? entry.seat.needAt() : Lease.NEVER;
  }

  /** How many elections it knows in which nobody stands any more. */
  int closedTermsKept() {
    return closedTerms.size();
  }

  /** The session is over: nothing that was said in it counts any more. */
  void forgetTerms() {
    closedTerms.clear();
  }

  /** Terms begin again. No session is open. */
  void onServiceReplaced() {
    forgetTerms();
    for (Entry entry : entries.values()) entry.seat.reopenTerms();
  }

  // A new stream's first answer lists the seats that are held. The stream tells what happens from
  // before the list was read. So a seat that is not listed, and that was held when the list was
  // asked for, is lost. One that was granted since may have been granted after the list was read:
  // then the stream reports the grant too. Or it was granted and lost before.

  void listAsked() {
    for (Entry entry : entries.values()) entry.termAsked = entry.seat.term();
  }

  /** It is this list, on this stream; each seat in it has been notified. */
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

  /** Whether to ask again which seats are held. */
  boolean anyInDoubt() {
    for (Entry entry : entries.values()) {
      if (entry.inDoubt && entry.seat.term() != 0) return true;
    }
    return false;
  }
}
