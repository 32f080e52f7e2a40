// Why an endpoint cannot be used, in plain words. Pure.

import { status as Status } from "@grpc/grpc-js";

import { ServiceError } from "./errors.js";

/** Two troubles of one kind look the same to a user. */
export interface Trouble {
  kind: string;
  text: string; // without the endpoint
}

const REPEAT_AFTER_MS = 60_000; // if its kind has changed by then

// Another endpoint, or the same one later, may do better. Other reasons concern the request.
const OF_THE_ENDPOINT = ["", "STORE_UNAVAILABLE", "DRAINING", "OVERLOADED", "WRONG_SERVICE"];

export function isOfTheEndpoint({ reason }: ServiceError): boolean {
  return OF_THE_ENDPOINT.includes(reason);
}

const NOT_GRPC = "it does not speak gRPC; is it an HTTP port, or a database?";

// grpc-js's messages about failed connections, and about answers that are not gRPC. The first match
// counts.
const PHRASES: readonly (readonly [pattern: RegExp, kind: string, text: string])[] = [
  [/ECONNREFUSED/, "refused", "connection refused"],
  [/Name resolution failed|ENOTFOUND|EAI_AGAIN/, "no such host", "no such host"],
  [/ETIMEDOUT/, "no answer", "no answer"],
  [/EHOSTUNREACH|ENETUNREACH/, "unreachable", "no route to host"],
  [/certificate has expired/, "certificate", "its certificate has expired"],
  [/certificate is not yet valid/, "certificate", "its certificate is not valid yet"],
  [/altnames/, "certificate", "its certificate is for another host name"],
  [
    /self.signed certificate|unable to (verify|get) /,
    "certificate",
    "its certificate is not signed by a trusted CA",
  ],
  [/wrong version number|packet length too long/, "no TLS", "it does not speak TLS"],
  [
    /SSL alert|tls\w* alert/,
    "refuses TLS",
    "it refuses the TLS handshake; does it ask for a client certificate, or not accept ours?",
  ],
  [/Protocol error|HTTP status code|ended without gRPC status/, "not gRPC", NOT_GRPC],
];

/** How the text begins, by reason. */
const REASONS: Readonly<Record<string, string>> = {
  STORE_UNAVAILABLE: "the service runs, but cannot reach its database: ",
  DRAINING: "the replica is shutting down: ",
  OVERLOADED: "the replica is overloaded: ",
  PERMISSION_DENIED: "permission denied: ",
  WRONG_SERVICE: "",
};

/** `tls`: whether the connection uses TLS. */
export function explain({ code, reason, details }: ServiceError, tls: boolean): Trouble {
  if (reason) {
    const begin = REASONS[reason];
    const text = begin === undefined ? `${details} (${reason})` : begin + details;
    return { kind: reason, text };
  }
  for (const [pattern, kind, text] of PHRASES) {
    if (pattern.test(details)) return { kind, text };
  }
  const [, tokenError] =
    /Getting metadata from plugin failed with error: (.*)/s.exec(details) ?? [];
  if (tokenError) return { kind: "token", text: `no token to send: ${tokenError}` };
  if (/No connection established|Failed to connect/.test(details)) {
    const text = tls
      ? "it closed the connection during the TLS handshake; does it ask for a client certificate?"
      : "it closed the connection at once; does it want TLS?";
    return { kind: "closed", text };
  }
  switch (code) {
    case Status.DEADLINE_EXCEEDED:
      return { kind: "no answer", text: /silent/.test(details) ? details : "no answer" };
    case Status.UNIMPLEMENTED:
      return {
        kind: "not Tenure",
        text: "it speaks gRPC, but does not know this call; is it Tenure, and new enough?",
      };
    case Status.UNAUTHENTICATED:
    case Status.PERMISSION_DENIED:
      return { kind: "denied", text: `permission denied: ${details}` };
    case Status.UNAVAILABLE:
      return { kind: "broken", text: `the connection broke: ${details}` };
    default:
      return { kind: "other", text: details };
  }
}

/**
 * The same error, with the endpoint and an explanation of gRPC's text. The service's own text is
 * kept. A server that is not Tenure counts as unavailable: another endpoint may be Tenure.
 */
export function explained(error: ServiceError, endpoint: string, tls: boolean): ServiceError {
  const { reason, metadata, retryDelayMs } = error;
  if (reason && reason !== "STORE_UNAVAILABLE") return error;
  const { kind, text } = explain(error, tls);
  const code = kind.startsWith("not ") ? Status.UNAVAILABLE : error.code;
  return new ServiceError(code, `${endpoint}: ${text}`, { reason, metadata, retryDelayMs });
}

/** Decides which troubles to log: each one once, and its end once. At most one per endpoint. */
export class TroubleLog {
  private readonly failing = new Map<string, { since: number; kind: string; saidAt: number }>();

  /** Whether to log it. */
  failed(endpoint: string, kind: string, nowMs: number): boolean {
    const state = this.failing.get(endpoint);
    if (!state) {
      this.failing.set(endpoint, { since: nowMs, kind, saidAt: nowMs });
      return true;
    }
    if (kind === state.kind || nowMs < state.saidAt + REPEAT_AFTER_MS) return false;
    state.kind = kind;
    state.saidAt = nowMs;
    return true;
  }

  /** How long it had failed; undefined if it had not. */
  answered(endpoint: string, nowMs: number): number | undefined {
    const state = this.failing.get(endpoint);
    this.failing.delete(endpoint);
    return state && nowMs - state.since;
  }
}
