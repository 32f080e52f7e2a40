// Stands for elections, and reports whether this process leads.

import { once } from "node:events";

import {
  Candidacy,
  type ElectorEvents,
  runUntilEnd,
  type WaitOptions,
  type Work,
} from "./candidacy.js";
import { Client, type ClientOptions } from "./client.js";
import { NotElected } from "./errors.js";
import type { Seat } from "./led-seat.js";
import { MILLISECOND } from "./lease.js";
import type { SeatOptions } from "./seat.js";
import { Teller } from "./teller.js";
import { checkName, checkNotNegative, checkValue } from "./validation.js";

export interface ElectorOptions {
  /** What to publish while leading; at most 4096 bytes. */
  value?: string | Uint8Array;
  /** Higher ones are elected first. Negative: only if an operator appoints it. */
  priority?: number;
  /**
   * How long the work may take to end, at most half the lease. It is asked to end that long before
   * this process's deadline. Absent: a quarter of the lease.
   */
  stopGraceMs?: number;
}

/** The jobs that `runIfLeader` runs in one election. */
interface Jobs {
  candidacy: Candidacy;
  running: Set<Promise<void>>;
}

/**
 * How this process stands: in any number of elections, on one session of a client.
 *
 *     await using elector = new Elector("tenure-0:7070,tenure-1:7070");
 *     await using seat = await elector.lead("orders");
 *     while (!seat.signal.aborted) await shipTheNextOrder(seat.term, seat.signal);
 *
 * What it promises
 * - It stands until it is closed: it campaigns, waits, and campaigns again after each term and
 *   after every failure.
 * - `isLeader` is true only until this process's own deadline. The deadline is counted from before
 *   the last answered renewal was sent, minus a tenth of the lease for clock drift. The service
 *   elects nobody else before then, unless an operator intervenes. Once it was false in a term, it
 *   is never true in that term again.
 * - A seat is resigned when the work has ended, never before.
 * - A slow renewal is not a loss: the seat is lost only with the lease.
 *
 * What it does not promise. A process that is paused between asking `isLeader` and acting acts too
 * late. Whatever must never be done by two leaders must carry the term, and the resource must
 * refuse any term lower than the highest it has seen: docs/fencing.md, TermGuard and `guarded`.
 */
export class Elector extends Teller<ElectorEvents> implements AsyncDisposable {
  private readonly client: Client;
  private readonly ownsClient: boolean;
  private readonly options: Omit<SeatOptions, "election">;
  private readonly candidacies = new Set<Candidacy>();
  private readonly jobs = new Map<string, Jobs>();

  /**
   * `client` may also be the options or the endpoints of one, which is then closed with the
   * elector. Throws a RangeError if an option is malformed.
   */
  constructor(client: Client | ClientOptions | string, options: ElectorOptions = {}) {
    super();
    this.ownsClient = !(client instanceof Client);
    if (typeof client === "string") client = { endpoints: client };
    this.client = client instanceof Client ? client : new Client(client);
    const { value = "", priority, stopGraceMs } = options;
    if (stopGraceMs !== undefined) checkNotNegative(stopGraceMs, "stopGraceMs");
    const stopGrace = stopGraceMs === undefined ? undefined : Math.round(stopGraceMs * MILLISECOND);
    this.options = { value: checkValue(value), priority, stopGrace };
  }

  /**
   * Stands in an election until the candidacy is closed. The `work` runs in each term; when it has
   * settled, the seat is resigned, and a heartbeat later this process stands again.
   *
   * Without `work`, ask `candidacy.isLeader`. The library then cannot know when your work has
   * ended: the seat's signal is aborted at the deadline at the earliest, and if an operator wants
   * the seat, it is resigned after the grace. For jobs, use `runIfLeader`.
   *
   * Throws a RangeError if the client stands in this election already.
   */
  stand(election: string, work?: Work): Candidacy {
    return this.standIn(election, { hasWork: work !== undefined }, work);
  }

  /**
   * Waits for the seat. It is given up when it is released, or disposed of at the end of its block;
   * it is for one term.
   *
   * Rejects with NotElected after `waitMs`, with the signal's reason, and with a ServiceError if
   * the service refuses it for good.
   */
  async lead(election: string, options: WaitOptions = {}): Promise<Seat> {
    const candidacy = this.standIn(election, { hasWork: true, oneTerm: true });
    try {
      return await candidacy.wait(options);
    } catch (error) {
      candidacy.resign();
      throw error;
    }
  }

  /**
   * Stands, runs `work` in each term, and stands again; until the signal is aborted, or the elector
   * or the client is closed. Then it waits as Candidacy.close does. Rejects if `work` does, with
   * anything but the end of its seat, and with a ServiceError if the service refuses it for good.
   */
  async run(
    election: string,
    work: Work,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<void> {
    if (signal?.aborted) return;
    let failure: { error: unknown } | undefined;
    const candidacy = this.standIn(election, { hasWork: true }, async (seat) => {
      try {
        await runUntilEnd(work, seat);
      } catch (error) {
        failure = { error };
        candidacy.resign();
      }
    });
    const leave = () => candidacy.resign();
    signal?.addEventListener("abort", leave);
    await candidacy.ended();
    signal?.removeEventListener("abort", leave);
    if (failure) throw failure.error;
    if (candidacy.refused) throw candidacy.refused;
  }

  /**
   * Runs a job if this process leads, and otherwise does nothing: for jobs that a scheduler starts
   * in every process. The process stands from the first call on, and keeps the seat until the
   * elector or the client is closed. The seat is never resigned while a job runs.
   *
   * Resolves to whether the job was run, when it has settled. Rejects if the job does, except with
   * the end of its seat; with a ServiceError if the service refuses this process for good, and with
   * a RangeError if the client stands in this election already.
   */
  async runIfLeader(election: string, job: Work): Promise<boolean> {
    const { candidacy, running } = this.jobsIn(election);
    let seat: Seat;
    try {
      seat = await candidacy.wait({ waitMs: 0 });
    } catch (error) {
      if (error instanceof NotElected) return false;
      throw error;
    }
    if (seat.signal.aborted) return false;
    const run = runUntilEnd(job, seat);
    running.add(run);
    try {
      await run;
    } finally {
      running.delete(run);
    }
    return true;
  }

  /**
   * Stops all stands of this elector, and waits as Candidacy.close does. Closes the client if the
   * elector made it.
   */
  async close(): Promise<void> {
    if (this.ownsClient) return this.client.close();
    await Promise.all([...this.candidacies].map((candidacy) => candidacy.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  private jobsIn(election: string): Jobs {
    let jobs = this.jobs.get(election);
    if (jobs) return jobs;
    const running = new Set<Promise<void>>();
    const candidacy = this.stand(election, async ({ signal }) => {
      if (!signal.aborted) await once(signal, "abort");
      await Promise.allSettled(running); // no job begins from here on
    });
    jobs = { candidacy, running };
    this.jobs.set(election, jobs);
    return jobs;
  }

  private standIn(election: string, options: Partial<SeatOptions>, work?: Work): Candidacy {
    checkName(election, "election");
    const seat = { ...this.options, ...options, election };
    const candidacy = new Candidacy(this.client, this, seat, work);
    this.candidacies.add(candidacy);
    void candidacy.gone.then(() => this.candidacies.delete(candidacy));
    return candidacy;
  }
}
