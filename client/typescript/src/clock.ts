// The clock by which a holder counts its lease, in microseconds.
//
// Node.js has no CLOCK_BOOTTIME: performance.now stands still while the machine sleeps. So the time
// of day is looked at as well. When it has gone ahead of the other clock, the machine has slept, or
// a virtual machine was paused; or somebody has set the time, which cannot be told apart, and costs
// the seat at worst. When it has gone back, which may hide a sleep, the operating system's uptime
// is asked.

import { uptime } from "node:os";

/**
 * What the two may differ by before it counts. A belief ends a tenth of the lease early, so at
 * least 100 ms: the shortest lease of a service is a second.
 */
const TOLERANCE = 50_000;

export interface TimeSources {
  /** Only ever rises. */
  monotonic(): number;
  wall(): number;
  /** Runs on while the machine sleeps, where it can. */
  uptime(): number;
}

const OF_THIS_MACHINE: TimeSources = {
  monotonic: () => Math.floor(performance.now() * 1_000),
  wall: () => Date.now() * 1_000,
  uptime: () => Math.round(uptime() * 1_000_000),
};

export class HolderClock {
  private slept = 0;
  private wallAhead: number;
  private uptimeAhead: number;

  constructor(private readonly sources: TimeSources = OF_THIS_MACHINE) {
    const monotonic = sources.monotonic();
    this.wallAhead = sources.wall() - monotonic;
    this.uptimeAhead = sources.uptime() - monotonic;
  }

  /** Rises always, and also while the machine sleeps. */
  now(): number {
    const monotonic = this.sources.monotonic();
    const wallAhead = this.sources.wall() - monotonic;
    if (Math.abs(wallAhead - this.wallAhead) > TOLERANCE) this.addSleep(monotonic, wallAhead);
    this.wallAhead = Math.min(this.wallAhead, wallAhead); // a slow clock hides no sleep
    return monotonic + this.slept;
  }

  private addSleep(monotonic: number, wallAhead: number): void {
    const uptimeAhead = this.sources.uptime() - monotonic;
    const slept = Math.max(0, wallAhead - this.wallAhead, uptimeAhead - this.uptimeAhead);
    this.slept += slept;
    this.wallAhead = wallAhead;
    this.uptimeAhead = uptimeAhead;
  }
}

/** That of this process. */
export const holderClock = new HolderClock();
