import type { AnsweredRenewal } from "./effects.js";
import type { SeatEvent } from "./seat.js";

/** What counts for a client: see tenure/prom-client. */
export interface ClientMetrics {
  /** An elector stands in this election from now on. */
  begin(election: string): void;
  countEvent(election: string, event: SeatEvent): void;
  countRenewal(renewal: AnsweredRenewal): void;
  countReplicaChange(): void;
}
