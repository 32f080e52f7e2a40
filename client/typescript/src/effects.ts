// What a session has decided, to be done in its order. Calls and streams have numbers that are
// never used again. Durations are in microseconds.

import type {
  CampaignRequest,
  KeepAliveRequest,
  ResignRequest,
} from "./stubs/tenure/v1/election.js";

export type Effect =
  /** `patience` is the deadline of the call. */
  | { do: "campaign"; call: number; request: CampaignRequest; patience: number }
  | { do: "resign"; call: number; request: ResignRequest; patience: number }
  | { do: "open"; stream: number }
  | { do: "renew"; stream: number; request: KeepAliveRequest }
  | { do: "close"; stream: number }
  /**
   * The replica in use did not answer as it should: use another one from now on. If it is `silent`,
   * it did not answer at all.
   */
  | { do: "anotherReplica"; silent: boolean };

/** A renewal that was answered. */
export interface AnsweredRenewal {
  roundTrip: number;
  /** What was left until the deadline, had it not been answered. */
  margin: number;
}
