import { MILLISECOND, SECOND } from "./lease.js";

const BACKOFF_MIN = 20 * MILLISECOND;
const BACKOFF_MAX = 500 * MILLISECOND;

// Pause after a refusal that only an operator, or other clients, can lift.
export const REFUSED_FOR_NOW_MIN = 1 * SECOND;
export const REFUSED_FOR_NOW_MAX = 5 * SECOND;

/** The longest pause before another attempt: it doubles with each failure in a row. */
export function longestPause(doublings: number): number {
  return Math.min(BACKOFF_MAX, BACKOFF_MIN * 2 ** doublings);
}
