// Which replica to talk to.

import {
  ChannelCredentials,
  type ClientOptions as ChannelOptions,
  status as Status,
} from "@grpc/grpc-js";

import { longestPause, REFUSED_FOR_NOW_MAX, REFUSED_FOR_NOW_MIN } from "./backoff.js";
import { Tls } from "./credentials.js";
import { ServiceError } from "./errors.js";
import { MILLISECOND } from "./lease.js";
import { ClientLog, type LoggerOption } from "./logger.js";
import { ElectionServiceClient } from "./stubs/tenure/v1/election.js";
import { checkEndpoints } from "./validation.js";

// Of several addresses behind one name, the next call uses the next one that is connected.
const SERVICE_CONFIG = JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] });
const OPTIONS: ChannelOptions = {
  "grpc.service_config": SERVICE_CONFIG,
  "grpc.service_config_disable_resolution": 1,
  "grpc.keepalive_time_ms": 5_000,
  "grpc.keepalive_timeout_ms": 3_000,
  "grpc.initial_reconnect_backoff_ms": 200,
  "grpc.max_reconnect_backoff_ms": 200,
  // A name may have another address when its replica has moved.
  "grpc.dns_min_time_between_resolutions_ms": 1_000,
  // A full page of elections with long values is larger than gRPC's own limit.
  "grpc.max_receive_message_length": -1,
  // Each replica has a connection of its own: none waits for another's.
  "grpc.use_local_subchannel_pool": 1,
  // `http_proxy` is meant for the web.
  "grpc.enable_http_proxy": 0,
};

const NO_ANSWER = new ServiceError(Status.DEADLINE_EXCEEDED, "no answer");

/** Absent: a connection without TLS. */
export type Credentials = Tls | ChannelCredentials | undefined;

export interface Replica {
  endpoint: string;
  stub: ElectionServiceClient;
  /** Anything came back on this connection. */
  answered: boolean;
}

/** The replicas of one service, one of them in use. Any will do. */
export class Connection {
  readonly log: ClientLog;
  private readonly replicas: Replica[];
  private channelCredentials: ChannelCredentials;
  private stamp = "";
  private inUse: number;
  private failures = 0;

  constructor(
    endpoints: string,
    private readonly credentials: Credentials,
    logger: LoggerOption["logger"],
  ) {
    this.log = new ClientLog(logger, usesTls(credentials));
    if (credentials instanceof Tls) {
      this.stamp = credentials.stamp();
      this.channelCredentials = credentials.channelCredentials();
    } else {
      this.channelCredentials = credentials ?? ChannelCredentials.createInsecure();
    }
    this.replicas = checkEndpoints(endpoints).map((endpoint) => this.open(endpoint));
    this.inUse = Math.floor(Math.random() * this.replicas.length);
  }

  /** The one in use. */
  get replica(): Replica {
    return this.replicas[this.inUse]!;
  }

  /**
   * Uses the next replica from now on. If the one in use was silent although its connection stood,
   * that is made anew. One that is only being made is waited for, however long that takes.
   */
  moveOn(silent: boolean): void {
    if (silent) this.log.failed(this.replica.endpoint, NO_ANSWER);
    const changed = this.filesHaveChanged();
    for (const [index, replica] of this.replicas.entries()) {
      if (changed || (silent && index === this.inUse && replica.answered)) {
        replica.stub.close();
        this.replicas[index] = this.open(replica.endpoint);
      }
    }
    this.inUse = (this.inUse + 1) % this.replicas.length;
  }

  /** How long to wait before the next try, in milliseconds: longer with each one in a row. */
  backoff(): number {
    const longest = longestPause(this.failures++) / MILLISECOND;
    return (longest / 2) * (1 + Math.random());
  }

  /** Milliseconds instead, if only an operator, or other clients, can change what refuses it. */
  refusedPause(): number {
    const [least, most] = [REFUSED_FOR_NOW_MIN, REFUSED_FOR_NOW_MAX];
    return (least + (most - least) * Math.random()) / MILLISECOND;
  }

  /** It has said something, so its connection stands. */
  succeeded(replica: Replica): void {
    replica.answered = true;
    this.failures = 0;
    this.log.answered(replica.endpoint);
  }

  /** A call or stream has failed. Answers with the error, explained. */
  failed(replica: Replica, error: ServiceError): ServiceError {
    if (error.code === Status.CANCELLED) return error; // by this process
    return this.log.failed(replica.endpoint, error);
  }

  close(): void {
    for (const { stub } of this.replicas) stub.close();
  }

  private open(endpoint: string): Replica {
    const stub = new ElectionServiceClient(endpoint, this.channelCredentials, OPTIONS);
    return { endpoint, stub, answered: false };
  }

  private filesHaveChanged(): boolean {
    if (!(this.credentials instanceof Tls)) return false;
    try {
      const stamp = this.credentials.stamp();
      if (stamp === this.stamp) return false;
      this.channelCredentials = this.credentials.channelCredentials();
      this.stamp = stamp;
      return true;
    } catch {
      return false; // they are being replaced; the next failure looks again
    }
  }
}

function usesTls(credentials: Credentials): boolean {
  return credentials instanceof Tls || (credentials?._isSecure() ?? false);
}
