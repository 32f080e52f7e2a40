// The clock that a holder counts its lease with, in microseconds.
//
// Node.js has no CLOCK_BOOTTIME: performance.now stops while the machine sleeps. So the time of day
// is read as well. If it gets ahead of the other clock, the machine has slept, a virtual machine
// was paused, or somebody has set the time. These cannot be told apart; at worst, the seat is lost.
// If it goes back, which may hide a sleep, the operating system's uptime is read.

import { uptime } from "node:os";

/**
 * A difference between the two clocks that does not count. A belief ends a tenth of the lease
 * early, so at least 100 ms: the shortest lease is a second.
 */
const TOLERANCE = 50_000;

export interface TimeSources {
  /** Never goes back. */
  monotonic(): number;
  wall(): number;
  /** Runs while the machine sleeps, if possible. */
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

  /** Never goes back or stops, not even while the machine sleeps. */
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

/** The clock of this process. */
export const holderClock = new HolderClock();
