// Who leads which election, from memory: for routers, clients and dashboards that ask often.

import type { ServiceError } from "./errors.js";
import { MILLISECOND } from "./lease.js";
import { type Change, Observer, type ObserverOptions } from "./observer.js";
import { Event_Type, type Leadership } from "./stubs/tenure/v1/election.js";
import { THIS_MACHINE } from "./surroundings.js";
import { Teller } from "./teller.js";
import { within } from "./within.js";

export interface CachedSeat {
  /** Undefined: the seat is vacant. */
  leader: Leadership | undefined;
  /** The highest term ever granted; 0: nobody has ever led. */
  term: number;
  /** The latest revision; 0: nobody has ever campaigned. */
  revision: number;
}

export interface LeaderCacheEvents {
  /** The state of an election has changed. */
  change: [election: string, seat: CachedSeat];
  /** Like the Observer's. The cache keeps its contents, which grow older. */
  broken: [error: ServiceError];
  /** The service refuses the cache for good: it keeps its contents, and learns nothing more. */
  failed: [error: unknown];
}

/**
 *     using leaders = new LeaderCache({ endpoints, names: ["shards/"], prefix: true });
 *     await leaders.ready();
 *     const seat = leaders.get("shards/7");
 *     if (seat?.leader) send(seat.leader.value, seat.term);
 *
 * It stores what an Observer reports, and recovers by itself from every failure.
 *
 * What it does not promise
 * - It may be late: by milliseconds normally, and by at least `ageMs` while the service cannot be
 *   reached. It keeps naming the last leader it knew; the caller decides how old is too old.
 * - So the leader it names may no longer lead. Send the term with your request to a leader, and let
 *   the leader, or the resource it writes to, refuse other terms.
 */
export class LeaderCache extends Teller<LeaderCacheEvents> implements Disposable {
  private readonly seats = new Map<string, CachedSeat>();
  private readonly observer: Observer;
  private readonly prefixes: readonly string[];
  private readonly complete: Promise<void>;
  private nowComplete!: () => void;
  private isReady = false;
  private toldAt: number;

  /** Starts to observe. Throws a RangeError if an option is malformed. */
  constructor(
    options: ObserverOptions,
    /** @internal */ private readonly surroundings = THIS_MACHINE,
  ) {
    super();
    this.toldAt = surroundings.clock.now();
    this.observer = new Observer(options, surroundings);
    this.observer.on("broken", (error) => this.tell("broken", error));
    this.observer.on("replaced", () => {
      this.seats.clear();
      this.isReady = false;
    });
    this.prefixes = options.prefix ? options.names : [];
    this.complete = new Promise((resolve, reject) => {
      this.nowComplete = resolve;
      this.follow().then(() => reject(new Error("the cache is closed")), reject);
    });
    this.complete.catch(() => {}); // `failed` reports it, and `ready` rejects
  }

  /**
   * Undefined: the election is not among those asked for, or its state has not arrived yet. With
   * `prefix`, once the cache is ready, an unreported election with that prefix is known: nobody has
   * campaigned in it.
   */
  get(election: string): CachedSeat | undefined {
    const seat = this.seats.get(election);
    if (seat) return seat;
    const none = this.isReady && this.prefixes.some((prefix) => election.startsWith(prefix));
    return none ? { leader: undefined, term: 0, revision: 0 } : undefined;
  }

  /**
   * Waits until the state of every requested election has arrived; from then on the cache stays
   * ready. If most endpoints belong to another service one day, it forgets what it knew of the
   * first. False if that takes longer than `timeoutMs`. Rejects if the service refuses it for good,
   * or the cache is closed.
   */
  async ready(timeoutMs?: number): Promise<boolean> {
    if (timeoutMs !== undefined) return within(timeoutMs, this.complete);
    await this.complete;
    return true;
  }

  /**
   * Time since the last message from the service, or since the cache was made if there was none.
   * While the service can be reached, a message comes at least every ten seconds.
   */
  get ageMs(): number {
    return (this.surroundings.clock.now() - this.toldAt) / MILLISECOND;
  }

  close(): void {
    this.observer.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  private async follow(): Promise<void> {
    try {
      for await (const change of this.observer) {
        this.toldAt = this.surroundings.clock.now();
        this.take(change);
      }
    } catch (error) {
      this.tell("failed", error);
      throw error;
    }
  }

  private take(change: Change): void {
    if (change.kind === "snapshot") {
      const { election, leader, term, revision } = change.snapshot;
      this.keep(election, { leader, term, revision });
    } else if (change.kind === "event") {
      const { election, type, leadership, revision } = change.event;
      const leader = type === Event_Type.VACATED ? undefined : leadership;
      this.keep(election, { leader, term: leadership?.term ?? 0, revision });
    } else {
      this.isReady = true;
      this.nowComplete();
    }
  }

  private keep(election: string, seat: CachedSeat): void {
    this.seats.set(election, seat);
    this.tell("change", election, seat);
  }
}
