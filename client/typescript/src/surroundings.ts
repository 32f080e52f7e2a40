// The outside world of a client: the time, timers, and calls to the service.

import type { Metadata, ServiceError as RpcError } from "@grpc/grpc-js";

import { holderClock } from "./clock.js";
import type {
  CampaignRequest,
  CampaignResponse,
  IdentifyRequest,
  IdentifyResponse,
  KeepAliveRequest,
  KeepAliveResponse,
  ObserveRequest,
  ObserveResponse,
  ResignRequest,
  ResignResponse,
} from "./stubs/tenure/v1/election.js";
import { after } from "./within.js";

export interface Call {
  cancel(): void;
}

type Done<Response> = (error: RpcError | null, response: Response) => void;
type Unary<Request, Response> = (
  request: Request,
  metadata: Metadata,
  options: { deadline: number },
  done: Done<Response>,
) => Call;

export interface RenewalStream extends Call {
  on(event: "data", take: (response: KeepAliveResponse) => void): unknown;
  on(event: "error", take: (error: RpcError) => void): unknown;
  on(event: "end", take: () => void): unknown;
  write(request: KeepAliveRequest): unknown;
}

export type ObserveStream = AsyncIterable<ObserveResponse> & Call;

/** The calls of one replica, like those of the generated ElectionServiceClient. */
export interface Stub {
  campaign: Unary<CampaignRequest, CampaignResponse>;
  resign: Unary<ResignRequest, ResignResponse>;
  identify: Unary<IdentifyRequest, IdentifyResponse>;
  keepAlive(metadata: Metadata): RenewalStream;
  observe(request: ObserveRequest, metadata: Metadata): ObserveStream;
  close(): void;
}

export interface Surroundings {
  /** Microseconds; never goes back. */
  readonly clock: { now(): number };
  /** Returns a function that cancels the timer. */
  after(milliseconds: number, call: () => void): () => void;
  /** Absent: gRPC. */
  readonly stub?: Stub;
  /** How long a connection without calls stays open; at least 1 s. */
  readonly idleMs?: number;
}

export const THIS_MACHINE: Surroundings = {
  clock: holderClock,
  after(milliseconds, call) {
    const timer = after(milliseconds, call);
    return () => clearTimeout(timer);
  },
};
