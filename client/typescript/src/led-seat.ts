// One term in which this process leads an election.

import type { ClientLoop } from "./client-loop.js";
import { SeatLost } from "./errors.js";
import type { Fence } from "./fence.js";
import { MILLISECOND } from "./lease.js";
import type { Leadership } from "./stubs/tenure/v1/election.js";
import { within } from "./within.js";

export const RELEASE_PATIENCE_MS = 1_000;
const nativeAborted = Object.getOwnPropertyDescriptor(AbortSignal.prototype, "aborted")!.get!;

/** The owner of a seat. */
export interface SeatOwner {
  readonly loop: ClientLoop;
  readonly number: number;
  /** The work has ended; fulfilled when the seat is given up. */
  onReleased(seat: Seat): Promise<void>;
}

/**
 * A seat that this process holds, in one term.
 *
 *     await using seat = await elector.lead("orders");
 *     while (!seat.signal.aborted) await shipTheNextOrder(seat.term, seat.signal);
 */
export class Seat implements AsyncDisposable {
  /**
   * Aborted when the work must end: a grace before this process's deadline (without work, at the
   * deadline), when an operator asks it to make way, when the seat is lost, and when it is
   * released. Its reason is a SeatLost. `aborted` and `throwIfAborted` read the clock, so they are
   * right in time even if the event loop is blocked.
   * loop is blocked.
   */
  readonly signal: AbortSignal;
  private readonly stop = new AbortController();
  private released = false;
  private lost = false; // a later term may have its number, in another service
  private releasing: Promise<void> | undefined;

  /** @internal */
  constructor(
    private readonly owner: SeatOwner,
    readonly leadership: Readonly<Leadership>,
  ) {
    this.signal = this.stop.signal;
    Object.defineProperty(this.signal, "aborted", { get: () => this.stopping });
    Object.defineProperty(this.signal, "throwIfAborted", { value: () => this.check() });
  }

  get election(): string {
    return this.leadership.election;
  }

  /** The fencing token. It stays the same when the seat is lost. */
  get term(): number {
    return this.leadership.term;
  }

  get fence(): Fence {
    return { election: this.election, term: this.term };
  }

  /** Whether this process may act as the leader in this term now. Looks at the clock. */
  get isLeader(): boolean {
    this.owner.loop.catchUp();
    return this.remaining > 0;
  }

  /**
   * For how long this process may still act if no further renewal is answered; 0 if it does not
   * lead.
   */
  get remainingMs(): number {
    return Math.max(this.remaining / MILLISECOND, 0);
  }

  /** Throws SeatLost if the work must end. For the beginning of each step that matters. */
  check(): void {
    if (this.stopping) throw this.signal.reason;
  }

  /**
   * The work has ended: gives up the seat, or what is left of it. Waits for the service's answer,
   * for at most a second; the attempt continues.
   */
  async release(): Promise<void> {
    if (!this.released) {
      this.released = true;
      this.askToStop("given up");
      this.releasing = this.owner.onReleased(this);
    }
    await within(RELEASE_PATIENCE_MS, this.releasing ?? Promise.resolve());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  /** @internal */
  askToStop(why: string, cause?: unknown): void {
    if (nativeAborted.call(this.signal)) return;
    const message = `term ${this.term} of ${JSON.stringify(this.election)}: ${why}`;
    this.stop.abort(new SeatLost(message, cause === undefined ? {} : { cause }));
  }

  /** @internal The term has ended. */
  end(why: string, cause?: unknown): void {
    this.lost = true;
    this.askToStop(why, cause);
  }

  private get remaining(): number {
    if (this.released || this.lost) return 0;
    return this.owner.loop.remaining(this.owner.number, this.term);
  }

  private get stopping(): boolean {
    if (!nativeAborted.call(this.signal) && !this.isLeader) {
      this.askToStop("the lease has run out", this.owner.loop.log.lastError);
    }
    return nativeAborted.call(this.signal);
  }
}
