// A candidate's connection to a service: its endpoints, its session, one KeepAlive stream.

import { hostname } from "node:os";

import type { ChannelCredentials } from "@grpc/grpc-js";

import { ClientLoop, type LoopOptions } from "./client-loop.js";
import type { Tls } from "./credentials.js";
import { TenureError } from "./errors.js";
import type { LoggerOption } from "./logger.js";
import { MILLISECOND } from "./lease.js";
import type { ClientMetrics } from "./metrics.js";
import { THIS_MACHINE } from "./surroundings.js";
import { within } from "./within.js";
import { checkEndpoints, checkName, checkNotNegative, checkServiceId } from "./validation.js";

const CLOSE_PATIENCE_MS = 5_000;

export interface ClientOptions extends LoggerOption {
  /** Replicas: "host:port[,host:port...]". A host name may resolve to several addresses. */
  endpoints?: string;
  /** The candidate's name, for people; 1 to 255 bytes. Absent: "hostname:process". */
  candidate?: string;
  /**
   * How long the seats are kept after the last renewal. Renewals are sent every third of it.
   * Absent: the default of the election or the service.
   */
  leaseTtlMs?: number;
  /**
   * Ends older sessions of the same candidate in the elections of this client, and takes over their
   * seats and places, so that a restarted process need not wait for its own old lease. Only if no
   * two processes share a candidate name.
   */
  supersede?: boolean;
  /**
   * The id of the service, as `tenure status` shows it: endpoints of other services are never used.
   * Absent: the service of most endpoints.
   */
  serviceId?: string;
  /** A Tls, or any ChannelCredentials of grpc-js. Absent: a connection without TLS. */
  credentials?: Tls | ChannelCredentials;
  /** Such as those of tenure/prom-client. */
  metrics?: ClientMetrics;
}

/** What a client needs of a candidacy. */
interface Stand {
  readonly election: string;
  readonly over: Promise<void>;
  resign(): void;
}

/**
 * A client is one candidate. All its electors, for however many elections, share one session and
 * one heartbeat. Several endpoints are replicas of one service: the client uses one at a time, and
 * another as soon as that one fails or does not answer within half a heartbeat.
 *
 * It connects when the first elector stands. While it is open, it keeps the process alive. Throws a
 * RangeError if an option is malformed.
 */
export class Client implements AsyncDisposable {
  private readonly options: LoopOptions;
  private readonly candidacies = new Map<string, Stand>();
  private loop: ClientLoop | undefined;
  private closed = false;

  constructor(
    {
      endpoints = "127.0.0.1:7070",
      candidate = `${hostname()}:${process.pid}`,
      leaseTtlMs = 0,
      supersede,
      serviceId,
      credentials,
      metrics,
      logger,
    }: ClientOptions = {},
    /** @internal */ private readonly surroundings = THIS_MACHINE,
  ) {
    checkEndpoints(endpoints);
    checkName(candidate, "candidate");
    checkNotNegative(leaseTtlMs, "leaseTtlMs");
    if (serviceId !== undefined) checkServiceId(serviceId);
    const leaseTtl = leaseTtlMs === 0 ? undefined : Math.round(leaseTtlMs * MILLISECOND);
    this.options = {
      endpoints,
      candidate,
      leaseTtl,
      supersede,
      serviceId,
      credentials,
      metrics,
      logger,
    };
  }

  /**
   * Gives up every seat and place, and ends the session. Work is asked to end, and waited for; then
   * the service's answer; for at most `patienceMs` in all. Rejects with a TenureError if that was
   * not enough. If work still runs then, its seat is kept for as long as the process lives, or until
   * the client is closed again; if the service has not answered, until the lease has ended.
   */
  async close(patienceMs = CLOSE_PATIENCE_MS): Promise<void> {
    this.closed = true;
    if (!this.loop) return;
    const deadline = performance.now() + patienceMs;
    const candidacies = [...this.candidacies.values()];
    for (const candidacy of candidacies) candidacy.resign();
    const ended = Promise.all(candidacies.map(({ over }) => over));
    if (!(await within(patienceMs, ended))) {
      throw new TenureError("work is still running, so its seat is kept; close the client again");
    }
    const left = Math.max(deadline - performance.now(), 0);
    const error = await this.loop.close(Math.round(left * MILLISECOND));
    if (error) throw error;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** @internal Throws a RangeError if this client stands in its election already. */
  claim(candidacy: Stand): ClientLoop {
    if (this.closed) throw new TenureError("the client is closed");
    const { election } = candidacy;
    if (this.candidacies.has(election)) {
      throw new RangeError(`this client already stands in election ${JSON.stringify(election)}`);
    }
    this.loop ??= new ClientLoop(this.options, this.surroundings);
    this.candidacies.set(election, candidacy);
    return this.loop;
  }

  /** @internal Frees the election for another elector. */
  release(candidacy: Stand): void {
    if (this.candidacies.get(candidacy.election) === candidacy) {
      this.candidacies.delete(candidacy.election);
    }
  }
}
