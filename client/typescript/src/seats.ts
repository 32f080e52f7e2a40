// The seats of one session, by number and by election. For the session, and as pure.

import { NEVER } from "./lease.js";
import { SeatMachine, type SeatOptions } from "./seat.js";
import { Cause, type Leadership } from "./stubs/tenure/v1/election.js";

const CLOSED_TERMS_MAX = 10_000;

export interface Entry {
  readonly seat: SeatMachine;
  /** The term held when the stream requested the list of seats. */
  termAsked: number;
  /** The last stream that reported a grant. */
  noticedOn: number;
  /** Not listed, and granted before or after the list was read. */
  inDoubt: boolean;
  /** A call for it is under way. */
  called: boolean;
}

export class Seats {
  readonly entries = new Map<number, Entry>();
  private readonly byElection = new Map<string, number[]>(); // the first one acts
  /** Of seats that are gone, in this session. */
  private readonly closedTerms = new Map<string, number>();

  add(number: number, options: SeatOptions): Entry {
    const seat = new SeatMachine(options, this.closedTerms.get(options.election));
    const entry = { seat, termAsked: 0, noticedOn: 0, inDoubt: false, called: false };
    this.entries.set(number, entry);
    const numbers = this.byElection.get(options.election);
    if (numbers) {
      numbers.push(number);
    } else {
      this.byElection.set(options.election, [number]);
    }
    return entry;
  }

  find(number: number): Entry | undefined {
    return this.entries.get(number);
  }

  /** The seat that acts in this election; others start when it is gone. */
  actingIn(election: string): Entry | undefined {
    const number = this.byElection.get(election)?.[0];
    return number === undefined ? undefined : this.entries.get(number);
  }

  /** Removes the seats that have nothing left to do, and returns their numbers. */
  takeGone(): number[] {
    const gone: number[] = [];
    for (const [number, { seat, called }] of this.entries) {
      if (seat.gone && !called) gone.push(number);
    }
    for (const number of gone) this.forgetSeat(number);
    return gone;
  }

  private forgetSeat(number: number): void {
    const { election, closedTerm: ownClosedTerm } = this.entries.get(number)!.seat;
    const closedTerm = Math.max(this.closedTerms.get(election) ?? 0, ownClosedTerm);
    this.entries.delete(number);
    this.remember(election, closedTerm);
    const others = this.byElection.get(election)!.filter((other) => other !== number);
    if (others.length > 0) {
      this.byElection.set(election, others);
      const { seat } = this.entries.get(others[0]!)!;
      seat.closedTerm = Math.max(seat.closedTerm, closedTerm);
    } else {
      this.byElection.delete(election);
    }
  }

  /** Keeps the latest ones: news of a term is late by seconds, not by thousands of elections. */
  private remember(election: string, closedTerm: number): void {
    if (closedTerm === 0) return;
    this.closedTerms.delete(election); // now the latest one
    this.closedTerms.set(election, closedTerm);
    if (this.closedTerms.size <= CLOSED_TERMS_MAX) return;
    const [oldest] = this.closedTerms.keys();
    this.closedTerms.delete(oldest!);
  }

  /** When the seat's next call is due; never, if none is. */
  callAt(number: number, entry: Entry): number {
    if (entry.called || entry.seat.need === "nothing") return NEVER;
    const acts = this.byElection.get(entry.seat.election)?.[0] === number;
    return acts ? entry.seat.needAt : NEVER;
  }

  /** The session has ended: nothing received in it counts any more. */
  forgetTerms(): void {
    this.closedTerms.clear();
  }

  /** Terms start from the beginning. REQUIRES: no session is open. */
  onServiceReplaced(): void {
    this.forgetTerms();
    for (const { seat } of this.entries.values()) seat.closedTerm = 0;
  }

  // A new stream's first answer lists the held seats. The stream reports all changes from before
  // the list was read. So a seat that is not listed is lost, if it was held when the list was
  // requested. A seat granted since then was either granted after the list was read, and the stream
  // reports that too, or it was granted and lost before.

  listAsked(): void {
    for (const entry of this.entries.values()) entry.termAsked = entry.seat.term;
  }

  /** The stream has delivered the list, and each seat in it has been notified. */
  listed(held: readonly Leadership[], stream: number, now: number): void {
    const terms = new Map(held.map(({ election, term }) => [election, term]));
    for (const entry of this.entries.values()) {
      const { seat } = entry;
      const listed = (terms.get(seat.election) ?? -1) >= seat.term;
      const missing = seat.term !== 0 && !listed && entry.noticedOn !== stream;
      entry.inDoubt = missing && entry.termAsked !== seat.term;
      if (missing && !entry.inDoubt) seat.onLost(seat.term, Cause.UNSPECIFIED, now);
    }
  }

  /** Whether the list must be requested again. */
  get anyInDoubt(): boolean {
    for (const { inDoubt, seat } of this.entries.values()) {
      if (inDoubt && seat.term !== 0) return true;
    }
    return false;
  }
}
