package io.tenure;

import io.tenure.v1.Event;
import io.tenure.v1.Leadership;
import io.tenure.v1.Progress;
import io.tenure.v1.Snapshot;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Who leads which election, from memory: for routers, clients and dashboards that ask often.
 *
 * <pre>{@code
 * LeaderCache leaders = new LeaderCache(Observer.builder().endpoints("tenure:7070").prefixes("shards/"));
 * leaders.awaitReady(Duration.ofSeconds(5));
 * leaders.leader("shards/7").ifPresent(leader -> send(leader.getValue(), leader.getTerm()));
 * }</pre>
 *
 * <p>It stores what an {@link Observer} reports, and recovers by itself from every failure.
 *
 * <p>What it does not promise
 *
 * <ul>
 *   <li>It may be late: by milliseconds normally, and by at least {@link #age} while the service
 *       cannot be reached. It keeps naming the last leader it knew; the caller decides how old is
 *       too old.
 *   <li>So the leader it names may no longer lead. Send the term with your request to a leader, and
 *       let the leader, or the resource it writes to, refuse other terms. To lead, use an {@link
 *       Elector}.
 * </ul>
 *
 * <p>Thread-safe.
 */
public final class LeaderCache implements AutoCloseable {
  /**
   * What is known of one election.
   *
   * @param leader empty: the seat is vacant
   * @param term the highest ever granted; 0: nobody has ever led
   * @param revision the latest one; 0: nobody has ever campaigned
   */
  public record CachedSeat(Optional<Leadership> leader, long term, long revision) {
    private static final CachedSeat NEVER_USED = new CachedSeat(Optional.empty(), 0, 0);
  }

  /** Called for each change, on the observer's thread. */
  @FunctionalInterface
  public interface Listener {
    /**
     * The state of an election has changed. {@link LeaderCache#get} already returns this state, or
     * a later one.
     *
     * @param election its name
     * @param seat its state
     */
    void changed(String election, CachedSeat seat);
  }

  private final Observer observer;
  private final Listener listener;
  private final List<String> prefixes;
  private final Map<String, CachedSeat> seats = new HashMap<>(); // these under this
  private long toldAt = HolderClock.SYSTEM.now();
  private boolean ready;
  private ServiceException failure;

  /**
   * Starts to observe.
   *
   * @param observed which elections, and where
   * @throws IllegalArgumentException if no election is named
   */
  public LeaderCache(Observer.Builder observed) {
    this(observed, (election, seat) -> {});
  }

  /**
   * The same, with a listener.
   *
   * @param observed which elections, and where
   * @param listener is called for each change
   * @throws IllegalArgumentException if no election is named
   */
  public LeaderCache(Observer.Builder observed, Listener listener) {
    this.listener = Objects.requireNonNull(listener, "listener");
    observer = observed.build();
    prefixes = observer.prefixes();
    observer.start(new Keeper());
  }

  /**
   * The state of an election. Never waits.
   *
   * @param election its name
   * @return empty if it is not among those asked for, or if its state has not arrived yet. With
   *     prefixes, once the cache is ready, an unreported election with such a prefix is known:
   *     nobody has campaigned in it
   */
  public synchronized Optional<CachedSeat> get(String election) {
    CachedSeat seat = seats.get(election);
    if (seat != null) return Optional.of(seat);
    boolean isKnown = ready && prefixes.stream().anyMatch(election::startsWith);
    return isKnown ? Optional.of(CachedSeat.NEVER_USED) : Optional.empty();
  }

  /**
   * The leader, as far as known. Never waits.
   *
   * @param election its name
   * @return empty if nobody leads, or nothing is known
   */
  public Optional<Leadership> leader(String election) {
    return get(election).flatMap(CachedSeat::leader);
  }

  /**
   * Waits until the state of every requested election has arrived. From then on the cache stays
   * ready, unless its endpoints belong to another service one day. Not to be called by the
   * listener.
   *
   * @param timeout how long to wait at most
   * @return false if that takes longer
   * @throws InterruptedException if this thread is interrupted
   * @throws ServiceException if the service refuses the cache for good
   */
  public synchronized boolean awaitReady(Duration timeout) throws InterruptedException {
    long deadline = System.nanoTime() + Validation.nanoseconds(timeout);
    while (!ready && failure == null) {
      long left = deadline - System.nanoTime();
      if (left <= 0) return false;
      TimeUnit.NANOSECONDS.timedWait(this, left);
    }
    if (!ready) throw failure;
    return true;
  }

  /**
   * The time since the last message of the service, or since the cache was made. While the service
   * can be reached, a message comes at least every ten seconds. Also counts the time that the
   * machine sleeps.
   *
   * @return how old the contents may be
   */
  public synchronized Duration age() {
    return Duration.ofNanos(HolderClock.SYSTEM.now() - toldAt);
  }

  /** Ends the observation. The contents remain. */
  @Override
  public void close() {
    observer.close();
  }

  /** On the observer's thread. */
  private final class Keeper implements ObserverListener {
    @Override
    public void snapshot(Snapshot snapshot) {
      Optional<Leadership> leader =
          snapshot.hasLeader() ? Optional.of(snapshot.getLeader()) : Optional.empty();
      keep(snapshot.getElection(), leader, snapshot.getTerm(), snapshot.getRevision());
    }

    @Override
    public void event(Event event) {
      Leadership leadership = event.getLeadership();
      boolean vacated = event.getType() == Event.Type.TYPE_VACATED;
      Optional<Leadership> leader = vacated ? Optional.empty() : Optional.of(leadership);
      keep(event.getElection(), leader, leadership.getTerm(), event.getRevision());
    }

    private void keep(String election, Optional<Leadership> leader, long term, long revision) {
      CachedSeat seat = new CachedSeat(leader, term, revision);
      synchronized (LeaderCache.this) {
        toldAt = HolderClock.SYSTEM.now();
        seats.put(election, seat);
      }
      listener.changed(election, seat);
    }

    @Override
    public void progress(Progress progress) {
      synchronized (LeaderCache.this) {
        toldAt = HolderClock.SYSTEM.now();
        ready = true;
        LeaderCache.this.notifyAll();
      }
    }

    @Override
    public void serviceReplaced(String serviceId) {
      synchronized (LeaderCache.this) {
        seats.clear();
        ready = false;
      }
    }

    @Override
    public void failed(ServiceException error) {
      synchronized (LeaderCache.this) {
        failure = error;
        LeaderCache.this.notifyAll();
      }
    }
  }
}
