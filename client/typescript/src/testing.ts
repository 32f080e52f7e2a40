// A service in memory, with a clock that the test moves: for the tests of applications.

import { setImmediate } from "node:timers";

import { Client, type ClientOptions } from "./client.js";
import { FakeStub } from "./fake-stub.js";
import { LeaderCache } from "./leader-cache.js";
import { MILLISECOND, NEVER, SECOND } from "./lease.js";
import { Observer, type ObserverOptions } from "./observer.js";
import { CampaignRequest, Cause, type Leadership } from "./stubs/tenure/v1/election.js";
import type { Surroundings } from "./surroundings.js";

const START = 1_000_000_000 * SECOND;
const TURNS = 3; // turns of the event loop in which due work is done

export interface Rival {
  readonly leads: boolean;
  resign(): void;
}

interface Timer {
  at: number;
  call: () => void;
}

/**
 *     const tenure = new FakeTenure();
 *     const elector = new Elector(tenure.client());
 *     const candidacy = elector.stand("orders", work);
 *     await tenure.settle(); // it leads
 *     tenure.stop();
 *     await tenure.advance(10_000); // its lease has expired, and its work was asked to stop
 *
 * Clients, observers and caches of a fake are the library's own: they renew, wait and lose their
 * seats by the fake's clock, which only `advance` and `jump` move. No port is opened, and only
 * `close` and `release` wait in real time, for at most as long as they always do. Any number of
 * clients, each another candidate, can share one fake.
 *
 * What it does not promise. It is no replica: there are no limits, settings or permissions, and
 * events are never forgotten.
 */
export class FakeTenure {
  private time = START;
  private readonly timers = new Set<Timer>();
  private readonly stub = new FakeStub(() => this.time);
  private readonly surroundings: Surroundings = {
    clock: { now: () => this.time },
    after: (milliseconds, call) => {
      const timer = { at: this.time + Math.max(0, milliseconds) * MILLISECOND, call };
      this.timers.add(timer);
      return () => this.timers.delete(timer);
    },
    stub: this.stub,
  };
  private clients = 0;

  /** `candidate` is "candidate-1", "candidate-2", ... unless it is given. `logger`: none. */
  client(options: Omit<ClientOptions, "endpoints" | "credentials" | "serviceId"> = {}): Client {
    const candidate = `candidate-${++this.clients}`;
    return new Client({ candidate, logger: null, ...options }, this.surroundings);
  }

  observer(options: Omit<ObserverOptions, "endpoints" | "credentials" | "serviceId">): Observer {
    return new Observer({ logger: null, ...options }, this.surroundings);
  }

  leaderCache(
    options: Omit<ObserverOptions, "endpoints" | "credentials" | "serviceId">,
  ): LeaderCache {
    return new LeaderCache({ logger: null, ...options }, this.surroundings);
  }

  /** The time on the clock. */
  get now(): Date {
    return new Date(this.time / MILLISECOND);
  }

  /** The leader; undefined: nobody leads. */
  leader(election: string): Readonly<Leadership> | undefined {
    return this.stub.elections.elections.get(election)?.leader?.leadership;
  }

  /** Does everything that is due now. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn++) {
      this.runDue();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Moves the clock, and does everything that becomes due meanwhile, in order. */
  async advance(milliseconds: number): Promise<void> {
    const until = this.time + check(milliseconds) * MILLISECOND;
    await this.settle();
    for (let next = this.nextWake; next <= until; next = this.nextWake) {
      this.time = Math.max(this.time, next);
      await this.settle();
    }
    this.time = until;
    await this.settle();
  }

  /**
   * Moves the clock at once, while nothing of this process runs: as if it was paused. The service
   * ends expired leases, and elects others. Call `settle` to let the process continue.
   */
  jump(milliseconds: number): void {
    this.time += check(milliseconds) * MILLISECOND;
    this.stub.wake();
  }

  /**
   * A candidate of another process, which always renews: it leads if nobody else does, or waits,
   * until it resigns.
   */
  rival(election: string, candidate = "rival"): Rival {
    const { elections } = this.stub;
    const session = elections.open(candidate, 0, NEVER);
    elections.campaign(session, CampaignRequest.create({ election }), this.time);
    return {
      get leads() {
        return elections.electionOf(election).leader?.place.session === session;
      },
      resign: () => elections.end(session, Cause.SESSION_CLOSED, this.time),
    };
  }

  /** Cuts the service off from now on. Leases still expire meanwhile. */
  stop(): void {
    this.stub.stop();
  }

  /** Makes the service reachable again. */
  start(): void {
    this.stub.start();
  }

  /** An operator ends the leader's term. */
  depose(election: string): void {
    const { elections } = this.stub;
    elections.depose(elections.electionOf(election), this.time);
  }

  /**
   * An operator asks the leader to make way for a candidate that waits. Throws a RangeError if it
   * does not.
   */
  appoint(election: string, candidate: string): void {
    const { elections } = this.stub;
    elections.appoint(elections.electionOf(election), candidate, this.time);
  }

  private get nextWake(): number {
    let next = this.stub.nextWake;
    for (const { at } of this.timers) next = Math.min(next, at);
    return next;
  }

  private runDue(): void {
    if (this.stub.nextWake <= this.time) this.stub.wake();
    const due = [...this.timers].filter(({ at }) => at <= this.time);
    for (const timer of due.sort((a, b) => a.at - b.at)) {
      if (this.timers.delete(timer)) timer.call();
    }
  }
}

function check(milliseconds: number): number {
  if (milliseconds >= 0 && milliseconds < NEVER) return milliseconds;
  throw new RangeError(`the clock cannot be moved by ${milliseconds} ms; it must be 0 or more`);
}
