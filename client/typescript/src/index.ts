/** Leader election as a service: the client library of Tenure. */

export { Candidacy, type ElectorEvents, type WaitOptions, type Work } from "./candidacy.js";
export { Client, type ClientOptions } from "./client.js";
export { Tls, type TlsOptions } from "./credentials.js";
export { Elector, type ElectorOptions } from "./elector.js";
export { type ErrorDetails, NotElected, SeatLost, ServiceError, TenureError } from "./errors.js";
export {
  attach,
  ELECTION_METADATA,
  type Fence,
  fenceCalls,
  fenceOf,
  TERM_METADATA,
  TermRefused,
} from "./fence.js";
export { type CachedSeat, LeaderCache, type LeaderCacheEvents } from "./leader-cache.js";
export { Seat } from "./led-seat.js";
export type { Logger } from "./logger.js";
export type { ClientMetrics } from "./metrics.js";
export { type Change, Observer, type ObserverEvents, type ObserverOptions } from "./observer.js";
export type { CauseName } from "./seat.js";
export {
  fenceStatement,
  guarded,
  type GuardedOptions,
  meaningOf,
  type SqlConnection,
  type SqlErrorMeaning,
  TermOver,
} from "./sql-fence.js";
export { Entry, TermGuard, type TermGuardOptions } from "./term-guard.js";
export {
  Cause,
  Event,
  Event_Type,
  Leadership,
  Progress,
  Snapshot,
  Snapshot_Reason,
  Standing,
} from "./stubs/tenure/v1/election.js";
