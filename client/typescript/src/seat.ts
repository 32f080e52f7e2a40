// One elector's seat: what to ask of the service, what to believe, what to report.
//
//   outside --campaign--> standing --elected--> leading --asked to stop--> stopping
//      ^                                           |                          | the work has ended
//      |                                           | lost                     v
//      +---------- the work has ended ----------- ending                   resigning --> outside
//
// A holder that stops because its lease ran out, but wants to keep leading, does not resign: as
// long as its lease is believed in, so the session is alive, it asks for the next term of its own
// seat.
//
//   stopping --the work has ended--> retaking --elected in the next term--> leading
//
// Invariants:
// - It believes in a term only while the session's lease is believed in, and never again after it
//   stopped.
// - It gives up a seat only when the work that needs it has ended.
// - A resignation that may be on its way ends the belief for good.
// - It reports the beginning and the end of each term once, in this order.

import { Buffer } from "node:buffer";

import type { ServiceError } from "./errors.js";
import { type Lease, NEVER } from "./lease.js";
import { Cause, Leadership, type Standing } from "./stubs/tenure/v1/election.js";

const GRACE_DIVISOR = 4;

/** Why a term ended: "RESIGNED", "EXPIRED", ... */
export type CauseName = Exclude<keyof typeof Cause, "UNRECOGNIZED">;

export function nameOf(cause: Cause): CauseName {
  return cause.replace("CAUSE_", "") as CauseName;
}

/** The events of a seat. */
export type SeatEvent =
  | { event: "standing"; place: Standing }
  | { event: "elected"; leadership: Leadership }
  /** Renewals are late. The seat is still held. */
  | { event: "suspended" }
  | { event: "resumed" }
  /** An operator wants another leader. The work is asked to end, then the seat is given up. */
  | { event: "handoverAsked"; successor: string }
  /** The work must end. Only if there is work. */
  | { event: "stopWork" }
  /** The work has not ended in time, and another candidate may soon hold the seat. */
  | { event: "overrun" }
  | { event: "lost"; cause: Cause }
  /** A campaign was not answered, or was refused for now; it is repeated. */
  | { event: "troubled"; error: ServiceError }
  /** The service refuses this campaign for good; the elector no longer stands. */
  | { event: "refused"; error: ServiceError };

export interface SeatOptions {
  election: string;
  value?: Buffer | undefined;
  priority?: number | undefined;
  /**
   * There is work, which must be asked to end, and reports when it has. Without it, anything begun
   * while leading ends within the grace.
   */
  hasWork?: boolean | undefined;
  /** How long the work may take to end, at most half of the lease. Absent: a quarter of it. */
  stopGrace?: number | undefined;
  /** It leads for one term, and then no longer stands. */
  oneTerm?: boolean | undefined;
}

type Phase = "outside" | "standing" | "leading" | "stopping" | "ending" | "retaking" | "resigning";

/** The next request to the service. */
export type Need = "nothing" | "campaign" | "resign";

export class SeatMachine {
  needAt = 0; // the earliest time for the need
  /** The last belief ended with the lease, or nearly: nobody wanted to let others go first. */
  outlivedLease = false;
  readonly election: string;
  readonly priority: number;
  value: Buffer;
  private readonly hasWork: boolean;
  private readonly stopGrace: number | undefined;
  private readonly oneTerm: boolean;
  private wanted = true;
  private phase: Phase = "outside";
  private leadership = Leadership.create(); // of the term that this session holds or may hold
  private askedInTerm = 0; // the term that was held when the last campaign was sent
  private askedAfterTerm = 0; // the term that it was meant to follow
  private maybePlaced = false; // a campaign of this session is under way or may have been received
  private proclaiming = false; // the service may not know the value yet
  private believes = false;
  private working = false;
  private suspended = false;
  private overran = false;
  private trouble: "" | "unanswered" | "refused" = "";
  private leaseTtl = 0; // when the term began
  private stopAskedAt = 0;
  private events: SeatEvent[] = [];

  /** Reports about terms up to `closedTerm` no longer count. */
  constructor(
    options: SeatOptions,
    public closedTerm = 0,
  ) {
    this.election = options.election;
    this.value = options.value ?? Buffer.alloc(0);
    this.priority = options.priority ?? 0;
    this.hasWork = options.hasWork ?? false;
    this.stopGrace = options.stopGrace;
    this.oneTerm = options.oneTerm ?? false;
  }

  // What this process wants and does.

  proclaim(value: Buffer, now: number): void {
    this.value = value;
    this.proclaiming = true;
    if (this.phase === "standing" || this.phase === "leading") this.needAt = now;
  }

  /** No longer stands: the work is asked to end, then the seat is given up. */
  leave(now: number): void {
    this.wanted = false;
    if (this.phase === "leading") {
      this.askToStop(now);
    } else if (
      this.isIn("standing", "retaking") ||
      (this.phase === "outside" && this.maybePlaced)
    ) {
      this.giveUp(now);
    }
  }

  /** Like leave, after the elector is gone: the work has ended and nobody is notified. */
  abandon(now: number): void {
    this.wanted = this.working = false;
    if (this.phase === "ending") this.phase = "outside";
    if (this.phase !== "outside" || this.maybePlaced) this.giveUp(now);
  }

  workEnded(now: number): void {
    this.working = false;
    if (this.phase === "stopping") {
      this.stopped(now);
    } else if (this.phase === "leading") {
      this.giveUp(now);
    } else if (this.phase === "ending") {
      this.phase = "outside";
      this.needAt = now;
      if (!this.wanted && this.maybePlaced) this.giveUp(now);
    }
  }

  /** A reader has seen the deadline pass, even if `now` is earlier. */
  beliefEnded(now: number): void {
    if (!this.believes) return;
    if (this.working && this.phase === "leading") this.events.push({ event: "stopWork" });
    if (this.working) this.overrun();
    this.stopBelieving(Cause.EXPIRED);
    this.outlivedLease = true;
    if (this.working) {
      this.phase = "stopping";
    } else {
      this.stopped(now);
    }
  }

  // Progress of the need.

  /** A campaign was sent. One at a time, and never beside a resignation. */
  asked(): void {
    this.askedInTerm = this.term;
    this.askedAfterTerm = this.afterTerm;
    this.maybePlaced = true;
    this.proclaiming = false;
  }

  /** The request failed, or was refused for now. It is repeated at `retryAt`. */
  unanswered(error: ServiceError, retryAt: number): void {
    const trouble = error.isTransient ? "unanswered" : "refused";
    if (trouble !== this.trouble) this.events.push({ event: "troubled", error });
    this.trouble = trouble;
    this.proclaiming = true;
    this.needAt = retryAt;
  }

  // What the service says.

  /**
   * The last campaign was answered: this session is in the queue. It is repeated at `checkAt`,
   * because nobody reports the loss of a place.
   */
  onStanding(place: Standing, now: number, checkAt: number): void {
    this.trouble = "";
    const held = this.isIn("leading", "stopping", "retaking");
    if (held && this.askedInTerm === this.term) {
      this.over(Cause.UNSPECIFIED, now); // the answer is not older than the grant
    }
    if (!this.isIn("outside", "standing")) return;
    const stood = this.isIn("standing");
    this.phase = "standing";
    if (!this.wanted) return this.giveUp(now);
    if (!stood) this.events.push({ event: "standing", place });
    this.needAt = this.proclaiming ? now : checkAt;
  }

  onElected(leadership: Leadership, now: number, lease: Lease): void {
    if (leadership.term <= this.term) return;
    if (leadership.term <= this.closedTerm) {
      // Either stale, or the service still thinks we lead a term that we have given up.
      if (this.term === 0 && this.phase !== "ending") {
        this.leadership = leadership;
        this.giveUp(now);
      }
      return;
    }
    if (this.term !== 0) this.over(Cause.UNSPECIFIED, now);
    this.leadership = leadership;
    this.trouble = "";
    this.outlivedLease = false;
    if (this.working) {
      this.phase = "stopping"; // still working for an earlier term: give this one up afterwards
    } else if (!this.wanted || !lease.believedAt(now)) {
      this.giveUp(now);
    } else {
      this.begin(now, lease);
    }
  }

  /** The last campaign was answered: this session leads in `term`. */
  onCampaignElected(term: number, now: number): void {
    // The service does not know `after_term`.
    if (this.phase === "retaking" && term === this.term && term === this.askedAfterTerm) {
      this.giveUp(now);
    }
  }

  onLost(term: number, cause: Cause, now: number): void {
    if (term <= this.closedTerm || term < this.term) return;
    this.closedTerm = term;
    if (this.phase === "resigning" && term === this.term) return; // the answer ends it
    if (this.term !== 0) {
      this.over(cause, now);
    } else if (this.phase === "standing") {
      // Elected and lost before this process knew.
      this.phase = "outside";
      this.needAt = now;
    }
  }

  onStepDownAsked(term: number, successor: string, now: number): void {
    if (term !== this.term) return;
    this.leadership = { ...this.leadership, successor };
    if (this.phase === "leading") {
      this.askToHandOver(now);
    } else if (this.phase === "retaking") {
      this.giveUp(now);
    }
  }

  /** The session has ended, and with it all that it held. */
  onSessionOver(cause: Cause, now: number): void {
    this.maybePlaced = false;
    this.over(cause, now);
  }

  /** The last campaign will never be granted. */
  onRefused(error: ServiceError, now: number): void {
    this.events.push({ event: "refused", error });
    // While it leads, only the value is refused.
    if (this.phase !== "leading" && this.phase !== "stopping") this.leave(now);
  }

  /**
   * A resignation was answered, from `term` or, with 0, from the queue. If it `waits`, the session
   * may still be in the queue. The elector stands again at `againAt` at the earliest.
   */
  onResigned(term: number, waits: boolean, againAt: number): void {
    if (this.phase !== "resigning" || term !== this.term) return;
    this.closedTerm = Math.max(this.closedTerm, term);
    this.leadership = Leadership.create();
    this.maybePlaced = waits;
    this.phase = "outside";
    this.needAt = againAt;
    if (!this.wanted && this.maybePlaced) this.giveUp(againAt);
  }

  // Time.

  /** Call it before any other input, and at nextWake. */
  pass(now: number, lease: Lease): void {
    if (this.believes && !lease.believedAt(now)) this.beliefEnded(now);
    if (this.believes) {
      if (this.suspended !== now >= lease.overdueAt) {
        this.suspended = !this.suspended;
        this.events.push({ event: this.suspended ? "suspended" : "resumed" });
      }
      if (this.stopsEarly && now >= this.stopAt(lease)) {
        this.outlivedLease = true;
        this.askToStop(now);
      }
    }
    if (this.phase === "retaking") {
      if (!lease.believedAt(now)) {
        this.needAt = NEVER; // until a renewal confirms that the session is alive
      } else if (this.needAt === NEVER) {
        this.needAt = now;
      }
    }
    if (this.isIn("stopping", "ending") && now >= this.overrunAt(lease)) {
      if (this.working) {
        this.overrun();
      } else {
        this.giveUp(now);
      }
    }
  }

  nextWake(lease: Lease): number {
    let wake = NEVER;
    if (this.believes) {
      wake = lease.believedUntil;
      if (!this.suspended) wake = Math.min(wake, lease.overdueAt);
      if (this.stopsEarly) wake = Math.min(wake, this.stopAt(lease));
    }
    if (this.isIn("stopping", "ending") && !this.overran) {
      wake = Math.min(wake, this.overrunAt(lease));
    }
    return wake;
  }

  // Results.

  get need(): Need {
    if (this.phase === "resigning") return "resign";
    const campaigns =
      this.isIn("standing", "retaking") ||
      (this.phase === "outside" && this.wanted) ||
      (this.phase === "leading" && this.proclaiming);
    return campaigns ? "campaign" : "nothing";
  }

  /** The term that this session holds or may hold; 0 if none. */
  get term(): number {
    return this.leadership.term;
  }

  /** The term that the next campaign ends, so that this session leads in the next; 0 if none. */
  get afterTerm(): number {
    return this.phase === "retaking" ? this.term : 0;
  }

  /** Nothing is left to do for this elector, now or later. */
  get gone(): boolean {
    return !this.wanted && this.phase === "outside" && !this.working;
  }

  /** The time until which this process may act as the leader; 0 if it does not lead. */
  believedUntil(lease: Lease): number {
    return this.believes ? lease.believedUntil : 0;
  }

  /** What has happened since the last call. */
  takeEvents(): SeatEvent[] {
    if (this.events.length === 0) return this.events;
    const events = this.events;
    this.events = [];
    return events;
  }

  // Internals.

  private begin(now: number, lease: Lease): void {
    this.phase = "leading";
    this.believes = true;
    this.wanted = !this.oneTerm;
    this.leaseTtl = lease.ttl;
    this.working = this.hasWork;
    this.suspended = this.overran = false;
    this.proclaiming = !this.value.equals(this.leadership.value);
    this.needAt = now;
    this.events.push({ event: "elected", leadership: this.leadership });
    if (this.leadership.successor) this.askToHandOver(now);
  }

  private stopBelieving(cause: Cause): void {
    if (!this.believes) return;
    this.believes = this.suspended = false;
    this.events.push({ event: "lost", cause });
  }

  private askToStop(now: number): void {
    this.phase = "stopping";
    this.stopAskedAt = now;
    this.overran = false;
    if (this.hasWork) {
      this.events.push({ event: "stopWork" });
    } else {
      this.stopBelieving(Cause.RESIGNED);
    }
  }

  private askToHandOver(now: number): void {
    this.events.push({ event: "handoverAsked", successor: this.leadership.successor });
    this.askToStop(now);
  }

  private overrun(): void {
    if (this.overran) return;
    this.overran = true;
    this.events.push({ event: "overrun" });
  }

  /** Nothing needs the term any more; this process never believes in it again. */
  private stopped(now: number): void {
    if (!this.outlivedLease || !this.wanted || this.leadership.successor) return this.giveUp(now);
    this.stopBelieving(Cause.RESIGNED);
    this.phase = "retaking";
    this.needAt = NEVER;
  }

  /** Nothing needs the seat or the place any more, so it is given up. */
  private giveUp(now: number): void {
    this.stopBelieving(Cause.RESIGNED);
    this.phase = "resigning";
    this.needAt = now;
  }

  /** The service has ended the term: nothing is left to give up. */
  private over(cause: Cause, now: number): void {
    this.stopBelieving(cause);
    if (this.phase === "leading" && this.working) {
      this.stopAskedAt = now;
      this.events.push({ event: "stopWork" });
    }
    this.closedTerm = Math.max(this.closedTerm, this.term);
    this.leadership = Leadership.create();
    this.phase = this.working ? "ending" : "outside";
    this.needAt = now;
  }

  private isIn(...phases: Phase[]): boolean {
    return phases.includes(this.phase);
  }

  private get stopsEarly(): boolean {
    return this.phase === "leading" && this.hasWork;
  }

  private grace(lease: Lease): number {
    const ttl = lease.ttl || this.leaseTtl; // an ended session has no lease any more
    const wished = this.stopGrace ?? Math.floor(ttl / GRACE_DIVISOR);
    return Math.min(wished, Math.floor(ttl / 2));
  }

  private stopAt(lease: Lease): number {
    return lease.believedUntil - this.grace(lease);
  }

  private overrunAt(lease: Lease): number {
    const patienceEnds = this.stopAskedAt + this.grace(lease);
    return this.believes ? Math.min(patienceEnds, lease.believedUntil) : patienceEnds;
  }
}
