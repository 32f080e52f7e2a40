import type { AnsweredRenewal } from "./effects.js";
import type { SeatEvent } from "./seat.js";

/** Counts what happens to a client: see tenure/prom-client. */
export interface ClientMetrics {
  /** An elector begins to stand in this election. */
  begin(election: string): void;
  countEvent(election: string, event: SeatEvent): void;
  countRenewal(renewal: AnsweredRenewal): void;
  countReplicaChange(): void;
}
