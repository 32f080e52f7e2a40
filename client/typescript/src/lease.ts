// A holder's own view of its lease, on its own clock.
//
// Pure, as are the seat and the session: `now` is an argument. In these modules every time and
// every duration is a whole number of microseconds on the holder's clock.
//
// The service counts a lease from when it received the renewal. The holder counts it from before it
// sent that renewal, and believes in it for a tenth less: so it stops before the service elects
// anyone else, as long as the two clocks drift apart by less than a tenth.

import type { Duration } from "./stubs/google/protobuf/duration.js";

export const MILLISECOND = 1_000;
export const SECOND = 1_000_000;
export const NEVER = Infinity;

/** A holder trusts all but 1/BELIEF_DIVISOR of its lease. */
const BELIEF_DIVISOR = 10;
const RENEWALS_PER_LEASE = 3;

export class Lease {
  ttl = 0;
  believedUntil = 0;
  private renewedAt = 0;

  /** A renewal sent at `sentAt` was answered. Answers may come in any order. */
  renewed(sentAt: number, ttl: number): void {
    this.ttl = ttl;
    this.renewedAt = Math.max(this.renewedAt, sentAt);
    const until = sentAt + ttl - Math.floor(ttl / BELIEF_DIVISOR);
    this.believedUntil = Math.max(this.believedUntil, until);
  }

  believedAt(now: number): boolean {
    return now < this.believedUntil;
  }

  /** When a renewal, and a second attempt, should have been answered. */
  get overdueAt(): number {
    return this.renewedAt + Math.floor(this.ttl / 2);
  }

  /** The end of the lease for the service, which is later than for the holder. */
  get endsAt(): number {
    return this.renewedAt + this.ttl;
  }

  get renewalInterval(): number {
    return Math.floor(this.ttl / RENEWALS_PER_LEASE);
  }
}

export function fromDuration(duration: Duration | undefined): number {
  if (!duration) return 0;
  return duration.seconds * SECOND + Math.floor(duration.nanos / 1_000);
}

export function toDuration(microseconds: number): Duration {
  const seconds = Math.floor(microseconds / SECOND);
  return { seconds, nanos: (microseconds - seconds * SECOND) * 1_000 };
}
