// One stand in one election, and the terms that it leads.

import type { Client } from "./client.js";
import type { ClientLoop, SeatListener } from "./client-loop.js";
import { NotElected, SeatLost, type ServiceError } from "./errors.js";
import { RELEASE_PATIENCE_MS, Seat, type SeatOwner } from "./led-seat.js";
import { type CauseName, nameOf, type SeatEvent, type SeatOptions } from "./seat.js";
import type { Standing } from "./stubs/tenure/v1/election.js";
import type { Teller } from "./teller.js";
import { traceOfCaller } from "./trace.js";
import { explain, isOfTheEndpoint } from "./trouble.js";
import { checkNotNegative, checkValue } from "./validation.js";
import { within } from "./within.js";

/** Runs in each term. It must settle soon after `seat.signal` is aborted. */
export type Work = (seat: Seat) => Promise<void> | void;

export interface WaitOptions {
  /** How long to wait for the seat. Absent: no limit. 0: only until the service has answered. */
  waitMs?: number;
  /** Stops waiting. */
  signal?: AbortSignal;
}

interface Waiter {
  untilAnswered: boolean;
  resolve(seat: Seat): void;
  reject(error: unknown): void;
}

/**
 * Each event is emitted once per occurrence, in order. A listener that throws does not affect
 * others.
 */
export interface ElectorEvents {
  /** This process waits in the queue; `position` 1 is the next leader. */
  standing: [candidacy: Candidacy, place: Standing];
  /** This process leads. Emitted before the work begins. */
  elected: [seat: Seat];
  /** Half the lease passed without a renewal. The seat is still held. */
  suspended: [seat: Seat];
  /** Renewals work again. */
  resumed: [seat: Seat];
  /** An operator asks this process to make way. The work has been asked to stop. */
  stepDown: [seat: Seat, successor: string];
  /**
   * The term has ended. "RESIGNED" if this process gave the seat up, "EXPIRED" if its deadline
   * passed, "UNSPECIFIED" if it is unknown.
   */
  lost: [seat: Seat, cause: CauseName];
  /** The watchdog: the work has not ended in time, and another candidate may soon hold the seat. */
  overrun: [seat: Seat];
  /**
   * A call failed, or the service does not let this process stand for now. It keeps trying. Emitted
   * once for unanswered calls, and once for a refusal.
   */
  trouble: [candidacy: Candidacy, error: ServiceError];
  /**
   * The service does not let this process stand: an option is malformed, or there is a newer
   * session of the same candidate. It does not try again.
   */
  refused: [candidacy: Candidacy, error: ServiceError];
  /**
   * The work of `stand` has failed. As usual in Node.js, the error is thrown if there is no
   * listener.
   */
  error: [error: unknown];
}

/**
 * A stand in one election, made by Elector.stand. It waits for the seat or holds it, in one term
 * after another, until it is closed.
 */
export class Candidacy implements AsyncDisposable, SeatListener, SeatOwner {
  readonly election: string;
  /** @internal */
  readonly trace = traceOfCaller();
  /** @internal */
  readonly loop: ClientLoop;
  /** @internal */
  readonly number: number;
  private readonly hasWork: boolean;
  private latest: Seat | undefined;
  private working: Seat | undefined; // with work that has not ended
  private answered = false; // the service has said whether this process leads, or could not
  private left: boolean; // it does not stand again
  private refusal: ServiceError | undefined;
  private trouble: ServiceError | undefined; // of the last attempt, unless it was answered
  private readonly waiters = new Set<Waiter>();
  private isOver = false; // it will never lead again
  private nowOver!: () => void;
  private nowGone!: () => void;
  /** @internal Fulfilled when it will never lead again, and no work runs. */
  readonly over: Promise<void>;
  /** @internal Fulfilled when nothing is left to do for it. */
  readonly gone: Promise<void>;

  /** @internal */
  constructor(
    private readonly client: Client,
    private readonly elector: Teller<ElectorEvents>,
    options: SeatOptions,
    private readonly work?: Work,
  ) {
    this.election = options.election;
    this.hasWork = options.hasWork ?? false;
    this.left = options.oneTerm ?? false;
    this.over = new Promise((resolve) => (this.nowOver = resolve));
    this.gone = new Promise((resolve) => (this.nowGone = resolve));
    this.loop = client.claim(this);
    this.number = this.loop.add(options, this);
  }

  /** The seat of the term in which this process leads now; undefined if it does not lead. */
  get seat(): Seat | undefined {
    return this.latest?.isLeader ? this.latest : undefined;
  }

  /** Whether this process may act as the leader now. Looks at the clock. */
  get isLeader(): boolean {
    return this.seat !== undefined;
  }

  /** The term in which this process leads now; 0 if it does not lead. */
  get term(): number {
    return this.seat?.term ?? 0;
  }

  /**
   * For how long this process may still act if no further renewal is answered; 0 if it does not
   * lead.
   */
  get remainingMs(): number {
    return this.seat?.remainingMs ?? 0;
  }

  /**
   * Waits until this process leads. Rejects with NotElected after `waitMs`, with the signal's
   * reason, and with a ServiceError if the service refuses this candidacy for good.
   */
  async wait({ waitMs, signal }: WaitOptions = {}): Promise<Seat> {
    if (waitMs !== undefined) checkNotNegative(waitMs, "waitMs");
    signal?.throwIfAborted();
    if (this.seat) return this.seat;
    if (this.refusal) throw this.refusal;
    if (this.isOver) throw this.notStanding();
    if (waitMs === 0 && this.answered) throw this.notElected(0);
    let aborted = () => {};
    let cancelTimer = () => {};
    try {
      return await new Promise<Seat>((resolve, reject) => {
        const waiter: Waiter = {
          untilAnswered: waitMs === 0,
          resolve,
          reject: (error) => {
            this.waiters.delete(waiter); // at once: the seat may come before the promise runs
            reject(error);
          },
        };
        this.waiters.add(waiter);
        aborted = () => waiter.reject(signal?.reason);
        signal?.addEventListener("abort", aborted);
        if (waitMs) {
          cancelTimer = this.loop.after(waitMs, () => waiter.reject(this.notElected(waitMs)));
        }
      });
    } finally {
      cancelTimer();
      signal?.removeEventListener("abort", aborted);
    }
  }

  /** Publishes another value, now or as soon as this process leads. At most 4096 bytes. */
  proclaim(value: string | Uint8Array): void {
    const encoded = checkValue(value);
    this.loop.tell((session, now) => session.proclaim(this.number, encoded, now));
  }

  /** Steps down, and does not stand again. Returns at once; `lost` reports the end. */
  resign(): void {
    this.left = true;
    this.loop.tell((session, now) => session.leave(this.number, now));
    this.endUnlessWorking();
  }

  /**
   * Like `resign`, but waits until the work has ended, and then for the service's answer, for at
   * most a second; the attempt continues.
   */
  async close(): Promise<void> {
    this.resign();
    await this.ended();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @internal Fulfilled when it has ended, in the sense of `close`. */
  async ended(): Promise<void> {
    await this.over;
    await within(RELEASE_PATIENCE_MS, this.gone);
  }

  /** @internal Why it has ended, if the service has refused it. */
  get refused(): ServiceError | undefined {
    return this.refusal;
  }

  /** @internal */
  async onReleased(seat: Seat): Promise<void> {
    const held = this.working === seat;
    const leads = this.latest === seat && this.loop.remaining(this.number, seat.term) > 0;
    // Without work there is nothing to report about an ended term.
    if (held || (!this.hasWork && leads)) {
      this.working = undefined;
      this.loop.tell((session, now) => session.workEnded(this.number, now));
    }
    this.endUnlessWorking();
    if (this.left) await this.gone;
  }

  /** @internal */
  onEvent(event: SeatEvent): void {
    const seat = this.latest!; // of all events but the first and the last three
    switch (event.event) {
      case "elected":
        this.trouble = undefined;
        this.loop.log.info(
          `${this.loop.candidate} leads ${this.election} in term ${event.leadership.term}`,
        );
        return this.onElected(new Seat(this, event.leadership));
      case "suspended":
      case "resumed":
        return this.elector.tell(event.event, seat);
      case "handoverAsked":
        return this.elector.tell("stepDown", seat, event.successor);
      case "stopWork":
        return seat.askToStop("the seat must be given up", this.loop.log.lastError);
      case "overrun":
        return this.elector.tell("overrun", seat);
      case "lost": {
        const cause = nameOf(event.cause);
        const why = cause === "UNSPECIFIED" ? "for an unknown cause" : `(${cause})`;
        this.loop.log.info(
          `${this.loop.candidate} no longer leads ${this.election}: term ${seat.term} ended ${why}`,
        );
        seat.end(`the seat is lost: ${cause}`, this.loop.log.lastError);
        return this.elector.tell("lost", seat, cause);
      }
      case "standing":
        this.trouble = undefined;
        this.elector.tell("standing", this, event.place);
        return this.onNoSeat();
      case "troubled":
        this.trouble = event.error;
        // Errors of an endpoint have been logged already.
        if (!isOfTheEndpoint(event.error)) this.warn(event.error, "still trying");
        this.elector.tell("trouble", this, event.error);
        return this.onNoSeat();
      case "refused":
        this.refusal = event.error;
        this.warn(event.error, "not trying again");
        this.elector.tell("refused", this, event.error);
        return this.rejectWaiters(event.error);
    }
  }

  /** @internal */
  onGone(): void {
    this.latest?.askToStop("the client is closed");
    this.end();
    this.nowGone();
  }

  private endUnlessWorking(): void {
    if (this.left && !this.working) this.end();
  }

  /** Lets another elector stand: the session makes it wait until this one has left. */
  private end(): void {
    this.isOver = true;
    this.nowOver();
    this.client.release(this);
    this.rejectWaiters(this.notStanding());
  }

  private onElected(seat: Seat): void {
    this.latest = seat;
    if (this.hasWork) this.working = seat;
    if (this.work) void this.runWork(this.work, seat);
    this.elector.tell("elected", seat);
    if (this.hasWork && !this.work && this.waiters.size === 0) {
      void seat.release(); // nobody waits for it any more
    }
    for (const { resolve } of this.waiters) resolve(seat);
    this.waiters.clear();
  }

  private async runWork(work: Work, seat: Seat): Promise<void> {
    try {
      await undefined; // pending news comes first, but nothing that waits for it
      if (!seat.signal.aborted) await runUntilEnd(work, seat);
    } catch (error) {
      this.elector.tell("error", error);
    } finally {
      void seat.release();
    }
  }

  private onNoSeat(): void {
    this.answered = true;
    for (const { untilAnswered, reject } of this.waiters) {
      if (untilAnswered) reject(this.notElected(0));
    }
  }

  private rejectWaiters(error: unknown): void {
    for (const { reject } of this.waiters) reject(error);
  }

  private warn(error: ServiceError, next: string): void {
    const why = explain(error, false).text;
    this.loop.log.warn(`cannot stand for ${this.election}: ${why}; ${next}`);
  }

  private notElected(waitMs: number): NotElected {
    const what = `not elected in ${JSON.stringify(this.election)} within ${waitMs} ms`;
    const cause = this.trouble ?? this.loop.log.lastError;
    return cause ? new NotElected(`${what}: ${cause.details}`, { cause }) : new NotElected(what);
  }

  private notStanding(): NotElected {
    return new NotElected(`the stand in ${JSON.stringify(this.election)} has ended`);
  }
}

/** Rejects if the work does, unless it failed only because it was asked to end. */
export async function runUntilEnd(work: Work, seat: Seat): Promise<void> {
  try {
    await work(seat);
  } catch (error) {
    const aborted = seat.signal.aborted && error instanceof Error && error.name === "AbortError";
    if (!aborted && !(error instanceof SeatLost)) throw error;
  }
}
