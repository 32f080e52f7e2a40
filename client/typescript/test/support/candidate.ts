// A candidate that lives through bad days: it speaks the protocol of tests/polyglot/bad_days.

import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

import { type Candidacy, Client, Elector, type Seat } from "../../src/index.js";

const BETWEEN_QUESTIONS_MS = 20;
const BETWEEN_LINES_NS = 50_000_000;

interface Stand {
  endpoints: string;
  election: string;
  candidate: string;
  lease_ms: number;
  supersede: boolean;
}

interface Belief {
  term: number;
  first_ns: number;
  last_ns: number;
  at_ns: number;
  deadline_ns?: number;
}

/** CLOCK_MONOTONIC, in nanoseconds. */
const nowNs = () => Number(process.hrtime.bigint());
const sayLine = (event: string, what: object) => console.log(JSON.stringify({ event, ...what }));
const say = (event: string, term: number, cause?: string) =>
  sayLine(event, { term, cause, at_ns: nowNs() });

class StandingCandidate {
  lingers = false;
  throws = false;
  private resign = () => {};
  private readonly client: Client;
  private readonly elector: Elector;
  private candidacy: Candidacy;

  constructor({ endpoints, election, candidate, lease_ms: leaseTtlMs, supersede }: Stand) {
    this.client = new Client({ endpoints, candidate, leaseTtlMs, supersede });
    this.elector = new Elector(this.client);
    this.elector.on("elected", (seat) => say("leading", seat.term));
    this.elector.on("lost", (seat, cause) => {
      say("over", seat.term, cause);
      if (!this.throws) return;
      this.throws = false;
      process.once("uncaughtException", () => {});
      throw new Error("of a listener");
    });
    this.elector.on("refused", () => say("refused", 0));
    this.candidacy = this.stand(election);
    void this.sayBeliefs();
  }

  /** The work ends by itself. */
  giveUp(): void {
    this.resign();
  }

  async standAgain(): Promise<void> {
    await this.candidacy.close();
    this.candidacy = this.stand(this.candidacy.election);
  }

  async close(): Promise<void> {
    await this.client.close();
  }

  private stand(election: string): Candidacy {
    return this.elector.stand(election, (seat) => this.lead(seat));
  }

  private async lead(seat: Seat): Promise<void> {
    say("working", seat.term);
    await new Promise<void>((resolve) => {
      this.resign = resolve;
      seat.signal.addEventListener("abort", () => resolve());
    });
    if (seat.signal.aborted) {
      say("stop", seat.term);
      while (this.lingers && seat.isLeader) await sleep(BETWEEN_QUESTIONS_MS);
    }
    say("stopped", seat.term);
  }

  /** One line for a run of equal answers, and a new one every now and then. */
  private async sayBeliefs(): Promise<void> {
    let belief: Belief | undefined;
    let said = 0;
    for (; ; await sleep(BETWEEN_QUESTIONS_MS)) {
      const before = nowNs();
      const { term, remainingMs } = this.candidacy;
      const after = nowNs();
      const same = belief?.term === term;
      if (belief && !same) sayLine("belief", belief);
      belief = { term, first_ns: same ? belief!.first_ns : after, last_ns: before, at_ns: after };
      if (term) belief.deadline_ns = before + Math.floor(remainingMs * 1e6);
      if (!same || (term && after - said >= BETWEEN_LINES_NS)) {
        sayLine("belief", belief);
        said = after;
      }
    }
  }
}

async function main(): Promise<void> {
  let candidate: StandingCandidate | undefined;
  for await (const line of createInterface(process.stdin)) {
    const { do: what, ...stand } = JSON.parse(line);
    if (what === "stand") candidate = new StandingCandidate(stand);
    if (what === "linger" || what === "heed") candidate!.lingers = what === "linger";
    if (what === "resign") candidate!.giveUp();
    if (what === "trouble") candidate!.throws = true;
    if (what === "stand again") await candidate!.standAgain();
    if (what === "quit") break;
  }
  await candidate?.close();
  process.exit();
}

void main();
