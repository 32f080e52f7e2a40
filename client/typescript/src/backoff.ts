import { MILLISECOND } from "./lease.js";

const BACKOFF_MIN = 20 * MILLISECOND;
const BACKOFF_MAX = 500 * MILLISECOND;

/** The longest pause before another try: it doubles with each failure in a row. */
export function longestPause(doublings: number): number {
  return Math.min(BACKOFF_MAX, BACKOFF_MIN * 2 ** doublings);
}
