// Fencing of gRPC calls: a leader sends its term with each call, and the called server refuses any
// term lower than the highest it has seen: TermGuard.

import { Buffer } from "node:buffer";

import { InterceptingCall, type Interceptor, Metadata, status as Status } from "@grpc/grpc-js";

import { errorMetadata, TenureError } from "./errors.js";
import { checkName } from "./validation.js";

/** The metadata keys of a call: the election's name in bytes, and the term in decimal digits. */
export const ELECTION_METADATA = "tenure-election-bin";
export const TERM_METADATA = "tenure-term";

export interface Fence {
  readonly election: string;
  readonly term: number;
}

/**
 * A call that a guard does not let in, or that is not sent. A handler can pass it to its callback.
 */
export class TermRefused extends TenureError {
  readonly metadata: Metadata;

  constructor(
    readonly code: Status,
    readonly details: string,
    readonly reason = "",
    metadata: Record<string, string> = {},
  ) {
    super(`${Status[code]}: ${details}`);
    this.metadata = reason ? errorMetadata(code, details, reason, metadata) : new Metadata();
  }
}

// The caller.

/** Makes the call with this metadata carry the fence. */
export function attach({ election, term }: Fence, metadata = new Metadata()): Metadata {
  metadata.set(ELECTION_METADATA, Buffer.from(election));
  metadata.set(TERM_METADATA, String(term));
  return metadata;
}

/**
 * An interceptor that attaches a fence to each call of a client, with the term that `term` returns
 * when the call begins. For calls without a fence. If the term is 0, the call is not sent, and
 * fails at once with FAILED_PRECONDITION and NOT_LEADER.
 *
 * The content of a call is decided before the call is sent. In between, a leader may lose the seat
 * and win it back. So use the seat of the decision: `fenceCalls("orders", () => (seat.isLeader ?
 * seat.term : 0))`.
 */
export function fenceCalls(election: string, term: () => number): Interceptor {
  checkName(election, "election");
  return (options, nextCall) =>
    new InterceptingCall(nextCall(options), {
      start(metadata, listener, next) {
        if (metadata.get(TERM_METADATA).length > 0) return next(metadata, listener);
        const now = term();
        // The caller may reuse its metadata in another term.
        if (now > 0) return next(attach({ election, term: now }, metadata.clone()), listener);
        process.nextTick(() => listener.onReceiveStatus(notLeader(election)));
      },
    });
}

function notLeader(election: string): TermRefused {
  const details = `this process does not lead election '${election}'`;
  return new TermRefused(Status.FAILED_PRECONDITION, details, "NOT_LEADER");
}

// The called server.

/**
 * The fence that a call carries. Throws TermRefused with INVALID_ARGUMENT, and
 * INVALID_ELECTION_NAME or INVALID_TERM, unless it carries exactly one election and one term that
 * is not zero.
 */
export function fenceOf(metadata: Metadata): Fence {
  const election = electionOf(metadata);
  if (election === undefined) {
    const details = `the call must name one election in the metadata ${ELECTION_METADATA}`;
    throw new TermRefused(Status.INVALID_ARGUMENT, details, "INVALID_ELECTION_NAME");
  }
  const terms = metadata.get(TERM_METADATA);
  const term = terms.length === 1 && /^[0-9]+$/.test(String(terms[0])) ? Number(terms[0]) : 0;
  if (term === 0 || !Number.isSafeInteger(term)) {
    const details = `the call must name one term in the metadata ${TERM_METADATA}`;
    throw new TermRefused(Status.INVALID_ARGUMENT, details, "INVALID_TERM");
  }
  return { election, term };
}

function electionOf(metadata: Metadata): string | undefined {
  const [bytes, ...others] = metadata.get(ELECTION_METADATA);
  if (!Buffer.isBuffer(bytes) || others.length > 0) return undefined;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return checkName(text, "election");
  } catch {
    return undefined;
  }
}
