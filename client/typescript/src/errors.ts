// What can go wrong. Losing an election is an answer, and not among these.

import { Buffer } from "node:buffer";

import { Metadata, status as Status } from "@grpc/grpc-js";

import { ErrorInfo, RetryInfo, Status as RichStatus } from "./stubs/tenure/rich_error.js";
import { fromDuration, MILLISECOND } from "./lease.js";

const TRANSIENT = [Status.UNAVAILABLE, Status.DEADLINE_EXCEEDED, Status.CANCELLED];
const FOR_NOW = [
  Status.RESOURCE_EXHAUSTED,
  Status.PERMISSION_DENIED,
  Status.UNAUTHENTICATED,
  Status.UNKNOWN,
  Status.INTERNAL,
];
const DETAILS = "grpc-status-details-bin";
const ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo";
const RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo";

/** The base of all errors of this package. */
export class TenureError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/**
 * The seat was not won within the time to wait, or the stand has ended. Its `cause` is the
 * ServiceError of the last try, if the service did not answer it.
 */
export class NotElected extends TenureError {}

/**
 * The term has ended, or the work had to end before it. The message says why. Its `cause` is the
 * ServiceError that kept the lease from being renewed, if there is one.
 */
export class SeatLost extends TenureError {}

export interface ErrorDetails {
  reason?: string;
  metadata?: Record<string, string>;
  retryDelayMs?: number;
}

/**
 * A call failed. `code` is gRPC's. `reason` and `metadata` are those of the service's ErrorInfo,
 * empty if there is none; election.proto says what each reason means. `retryDelayMs` is how long
 * the service wants its caller to wait.
 */
export class ServiceError extends TenureError {
  readonly reason: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly retryDelayMs: number;

  constructor(
    readonly code: Status,
    readonly details = "",
    { reason = "", metadata = {}, retryDelayMs = 0 }: ErrorDetails = {},
    options?: ErrorOptions,
  ) {
    super(`${Status[code]}: ${details}${reason && ` (${reason})`}`, options);
    this.reason = reason;
    this.metadata = metadata;
    this.retryDelayMs = retryDelayMs;
  }

  /** Converts the error of a failed grpc-js call. */
  static fromRpc(error: { code: Status; details: string; metadata?: Metadata }): ServiceError {
    const packed = error.metadata?.get(DETAILS)[0];
    const details = Buffer.isBuffer(packed) ? unpack(packed) : {};
    return new ServiceError(error.code, error.details, details);
  }

  /** The same request may succeed later or on another replica. */
  get isTransient(): boolean {
    if (this.reason === "WRONG_SERVICE") return true;
    if (this.code === Status.RESOURCE_EXHAUSTED) return ["", "OVERLOADED"].includes(this.reason);
    return TRANSIENT.includes(this.code);
  }

  /** No answer came at all. */
  get isSilence(): boolean {
    return this.code === Status.DEADLINE_EXCEEDED;
  }

  /** The session in use has ended or is unknown. */
  get isSessionGone(): boolean {
    return this.reason === "SESSION_ENDED" || this.reason === "SESSION_NOT_FOUND";
  }

  /** Only an operator, or other candidates, can lift the refusal. */
  get isRefusedForNow(): boolean {
    return FOR_NOW.includes(this.code) || this.reason === "CANDIDACY_WITHDRAWN";
  }
}

/** The metadata of a server's detailed error: an ErrorInfo, like the service's. */
export function errorMetadata(
  code: Status,
  message: string,
  reason: string,
  metadata: Record<string, string>,
): Metadata {
  const info = ErrorInfo.encode({ reason, domain: "tenure.v1", metadata });
  const value = Buffer.from(info.finish());
  const details = [{ typeUrl: ERROR_INFO, value }];
  const carrier = new Metadata();
  carrier.set(DETAILS, Buffer.from(RichStatus.encode({ code, message, details }).finish()));
  return carrier;
}

function unpack(packed: Buffer): ErrorDetails {
  const found: ErrorDetails = {};
  try {
    for (const { typeUrl, value } of RichStatus.decode(packed).details) {
      if (typeUrl === ERROR_INFO) {
        const { reason, metadata } = ErrorInfo.decode(value);
        found.reason = reason;
        found.metadata = metadata;
      } else if (typeUrl === RETRY_INFO) {
        const delay = fromDuration(RetryInfo.decode(value).retryDelay);
        found.retryDelayMs = delay / MILLISECOND;
      }
    }
  } catch {
    // Not a detail of this service: code and text remain.
  }
  return found;
}
