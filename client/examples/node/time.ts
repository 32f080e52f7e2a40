import { uptime } from "node:os";

import type { Duration } from "./google/protobuf/duration.js";

/**
 * The time that leases are counted by, in milliseconds, to a hundredth of a second. A lease goes on
 * while the machine is suspended, and so does this clock; performance.now() does not.
 */
export function now(): number {
  return uptime() * 1000;
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export function toDuration(ms: number): Duration {
  return { seconds: Math.floor(ms / 1000), nanos: Math.floor(ms % 1000) * 1e6 };
}

export function toMs(duration: Duration): number {
  return duration.seconds * 1000 + duration.nanos / 1e6;
}
