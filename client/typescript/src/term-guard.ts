// On the called side of fenced calls: knows the highest term of each election, and which calls are
// inside.
//
//     const guard = new TermGuard();
//     server.addService(StoreService, {
//       append: guard.unary("orders", async (call) => store.append(call.request)),
//     });
//
// What it promises. While an entry exists, no call of a higher term is let in. Once a higher term
// has been seen, no call of a lower one is let in. So all effects that a term makes under an entry
// come before those of the next term, however long a call was on its way or its process was paused.
//
// What it does not promise
// - It refuses an old term as of the first call of a newer one, not as of the newer term's grant.
//   To learn of terms sooner, call `raise` from a LeaderCache's `change`.
// - A guard is the memory of one process, unless `keep` stores the highest term with the data. If
//   several processes write to the same data at the same time, only a comparison within the data's
//   own transaction is enough: docs/fencing.md.
// - It trusts the caller's term. It guards against leaders that are late, not against liars.

import {
  type handleUnaryCall,
  Metadata,
  ServerInterceptingCall,
  type ServerInterceptor,
  type ServerUnaryCall,
  status as Status,
} from "@grpc/grpc-js";

import { type Fence, fenceOf, TermRefused } from "./fence.js";
import { after } from "./within.js";

const ELECTIONS_MAX = 10_000;
const WAIT_MAX_MS = 10_000;

export interface TermGuardOptions {
  /** Maximum number of elections; there must be one, because terms are never forgotten. */
  electionsMax?: number;
  /**
   * How long a call may wait for earlier calls of a lower term to leave, but never beyond its own
   * deadline; after that it fails with UNAVAILABLE.
   */
  waitMaxMs?: number;
  /**
   * Stores the highest term with the guarded data, so that it outlives the process. Called once
   * before the first call of each new highest term is let in, for one term of an election at a
   * time. It must store the term, unless a higher one is stored, and resolve to the term that is
   * then stored. If it rejects, or resolves to a lower term (INTERNAL), the call is refused and
   * nothing changes. Absent: after a restart, the first call is trusted.
   */
  keep?: (fence: Fence) => Promise<number>;
}

interface GuardedSeat {
  highest: number; // highest term seen
  kept: number; // highest term let in, which `keep` has stored
  keeping: boolean; // `keep` is under way
  inside: number; // calls of the highest term
  insideBefore: number; // calls of lower terms
  waiting: Set<() => void>;
}

/** A call that was let in. It leaves when the entry is disposed of, after the last effect. */
export class Entry implements Disposable {
  private left = false;

  /** @internal */
  constructor(
    readonly fence: Fence,
    private readonly onLeft: () => void,
  ) {}

  leave(): void {
    if (this.left) return;
    this.left = true;
    this.onLeft();
  }

  [Symbol.dispose](): void {
    this.leave();
  }
}

export class TermGuard {
  private readonly seats = new Map<string, GuardedSeat>();

  constructor(private readonly options: TermGuardOptions = {}) {}

  /**
   * Lets in a call that carries a fence for `election`, the election that guards what the handler
   * touches. Rejects with TermRefused: INVALID_ARGUMENT if it has no such fence,
   * FAILED_PRECONDITION with STALE_TERM if the caller no longer leads, UNAVAILABLE and
   * RESOURCE_EXHAUSTED: see the options.
   */
  async enter(
    metadata: Metadata,
    election: string,
    deadline: Date | number = Infinity,
  ): Promise<Entry> {
    const fence = fenceOf(metadata);
    if (fence.election !== election) {
      const details =
        `the call carries a term of election '${fence.election}', ` +
        `but election '${election}' guards this`;
      throw new TermRefused(Status.INVALID_ARGUMENT, details, "INVALID_ELECTION_NAME");
    }
    return this.enterWith(fence, deadline);
  }

  /** The same, with a fence from elsewhere. */
  async enterWith(fence: Fence, deadline: Date | number = Infinity): Promise<Entry> {
    const { waitMaxMs = WAIT_MAX_MS, keep } = this.options;
    const until = performance.now() + Math.min(Number(deadline) - Date.now(), waitMaxMs);
    const seat = this.seatOf(fence.election);
    for (;;) {
      while (mustWait(fence, seat)) await changed(seat, until, fence);
      if (fence.term < seat.highest) throw stale(fence, seat.highest);
      if (fence.term <= seat.kept) return this.inside(seat, fence);
      let kept = fence.term;
      if (keep) {
        seat.keeping = true;
        try {
          kept = await keep(fence);
        } finally {
          seat.keeping = false;
          notify(seat);
        }
        if (!(kept >= fence.term)) throw notStored(fence, kept);
      }
      seat.kept = Math.max(seat.kept, kept);
      setHighest(seat, kept);
    }
  }

  /**
   * Enters and leaves at once, for handlers that compare the term again within a transaction. By
   * itself, this does not keep the effects of two terms apart.
   */
  async check(metadata: Metadata, election: string, deadline?: Date | number): Promise<void> {
    (await this.enter(metadata, election, deadline)).leave();
  }

  /** A unary handler that runs inside the guard, until its promise has settled. */
  unary<Request, Response>(
    election: string,
    handler: (call: ServerUnaryCall<Request, Response>, fence: Fence) => Promise<Response>,
  ): handleUnaryCall<Request, Response> {
    return (call, done) => {
      const handle = async (): Promise<Response> => {
        const entry = await this.enter(call.metadata, election, call.getDeadline());
        try {
          return await handler(call, entry.fence);
        } finally {
          entry.leave();
        }
      };
      handle().then((response) => done(null, response), done);
    };
  }

  /**
   * A server's interceptor that checks the term of every call for which `electionOf` names the
   * election that guards it, by the method's path. As with `check`, the effects of two terms are
   * not kept apart: an interceptor cannot know when a handler whose call was cancelled has ended.
   */
  interceptor(electionOf: (path: string) => string | undefined): ServerInterceptor {
    return (method, call) =>
      new ServerInterceptingCall(call, {
        start: (next) =>
          next({
            onReceiveMetadata: (metadata, forward) => {
              const election = electionOf(method.path);
              if (election === undefined) return forward(metadata);
              this.check(metadata, election, call.getDeadline()).then(
                () => forward(metadata),
                (error: Error) => call.sendStatus(statusOf(error)),
              );
            },
          }),
      });
  }

  /**
   * A term has been granted: lower ones are refused from now on. Does not wait, and does not call
   * `keep`.
   */
  raise({ election, term }: Fence): void {
    setHighest(this.seatOf(election), term);
  }

  /** The highest term seen so far; 0 if none. */
  highest(election: string): number {
    return this.seats.get(election)?.highest ?? 0;
  }

  private seatOf(election: string): GuardedSeat {
    let seat = this.seats.get(election);
    if (seat) return seat;
    const { electionsMax = ELECTIONS_MAX } = this.options;
    if (this.seats.size >= electionsMax) {
      const details = `the guard already tracks ${electionsMax} elections, which is its electionsMax`;
      throw new TermRefused(Status.RESOURCE_EXHAUSTED, details);
    }
    seat = { highest: 0, kept: 0, keeping: false, inside: 0, insideBefore: 0, waiting: new Set() };
    this.seats.set(election, seat);
    return seat;
  }

  private inside(seat: GuardedSeat, fence: Fence): Entry {
    const term = seat.highest;
    seat.inside++;
    return new Entry(fence, () => {
      if (term === seat.highest) {
        seat.inside--;
      } else {
        seat.insideBefore--;
      }
      notify(seat);
    });
  }
}

/** Whether calls of lower terms are inside, or `keep` has yet to return for this term. */
function mustWait({ term }: Fence, seat: GuardedSeat): boolean {
  if (term < seat.highest) return false; // refused at once
  return term > seat.kept ? seat.keeping : seat.insideBefore > 0;
}

async function changed(seat: GuardedSeat, until: number, fence: Fence): Promise<void> {
  const left = until - performance.now();
  if (left <= 0) {
    const details = `calls from a lower term of election '${fence.election}' are still running`;
    throw new TermRefused(Status.UNAVAILABLE, details);
  }
  await new Promise<void>((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      seat.waiting.delete(wake);
      resolve();
    };
    const timer = after(left, wake);
    seat.waiting.add(wake);
  });
}

function notify(seat: GuardedSeat): void {
  for (const wake of seat.waiting) wake();
}

function setHighest(seat: GuardedSeat, term: number): void {
  if (term <= seat.highest) return;
  seat.highest = term;
  seat.insideBefore += seat.inside;
  seat.inside = 0;
  notify(seat);
}

/** `keep` may reject with anything. */
function statusOf(error: Error): Pick<TermRefused, "code" | "details" | "metadata"> {
  if (error instanceof TermRefused) return error;
  return { code: Status.UNKNOWN, details: error.message, metadata: new Metadata() };
}

function notStored({ election, term }: Fence, kept: number): TermRefused {
  const details = `term ${term} of election '${election}' is not stored: keep answered ${kept}`;
  return new TermRefused(Status.INTERNAL, details);
}

function stale({ election, term }: Fence, highest: number): TermRefused {
  const details = `term ${term} of election '${election}' is out of date: term ${highest} has been seen`;
  return new TermRefused(Status.FAILED_PRECONDITION, details, "STALE_TERM", {
    current_term: String(highest),
  });
}
