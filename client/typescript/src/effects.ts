// The decisions of a session, to be carried out in order. Numbers of calls and streams are never
// reused. Durations are in microseconds.

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

/** An answered renewal. */
export interface AnsweredRenewal {
  roundTrip: number;
  /** Time that was left until the deadline when the answer came. */
  margin: number;
}
