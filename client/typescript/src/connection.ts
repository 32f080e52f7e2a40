// Which replica to talk to.

import {
  ChannelCredentials,
  type ClientOptions as ChannelOptions,
  Metadata,
  status as Status,
} from "@grpc/grpc-js";

import { longestPause, REFUSED_FOR_NOW_MAX, REFUSED_FOR_NOW_MIN } from "./backoff.js";
import { Tls } from "./credentials.js";
import { ServiceError } from "./errors.js";
import { MILLISECOND, NEVER, SECOND } from "./lease.js";
import { ClientLog, type LoggerOption } from "./logger.js";
import type { Replica } from "./replica.js";
import { chooseService, isWrongService } from "./service-choice.js";
import { ElectionServiceClient } from "./stubs/tenure/v1/election.js";
import { type Surroundings, THIS_MACHINE } from "./surroundings.js";
import { survey } from "./survey.js";
import { checkEndpoints } from "./validation.js";

// If a name has several addresses, each call uses the next one that is connected.
const SERVICE_CONFIG = JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] });
const OPTIONS: ChannelOptions = {
  "grpc.service_config": SERVICE_CONFIG,
  "grpc.service_config_disable_resolution": 1,
  "grpc.keepalive_time_ms": 5_000,
  "grpc.keepalive_timeout_ms": 3_000,
  "grpc.initial_reconnect_backoff_ms": 200,
  "grpc.max_reconnect_backoff_ms": 200,
  // The address of a name changes when its replica moves.
  "grpc.dns_min_time_between_resolutions_ms": 1_000,
  // A full page of elections with long values is larger than gRPC's own limit.
  "grpc.max_receive_message_length": -1,
  // Each replica has a connection of its own: none waits for another's.
  "grpc.use_local_subchannel_pool": 1,
  // `http_proxy` is meant for the web.
  "grpc.enable_http_proxy": 0,
};

const IDLE_MS = 30_000; // after a survey, only the replica in use has a stream

const SERVICE_METADATA = "tenure-service-id";
const NO_ANSWER = new ServiceError(Status.DEADLINE_EXCEEDED, "no answer");
// While a session or a stream is open: from the start of one survey to the start of the next.
const SURVEY_AGAIN = 10 * SECOND;
const SURVEY_AGAIN_MIN = 1 * SECOND; // after WRONG_SERVICE

/** Absent: a connection without TLS. */
export type Credentials = Tls | ChannelCredentials | undefined;

export interface ConnectionOptions extends LoggerOption {
  endpoints: string;
  credentials?: Credentials;
  /** Absent: the service of most endpoints. */
  serviceId?: string | undefined;
  surroundings?: Surroundings;
}

/** The replicas of one service, one of them in use. Any will do. */
export class Connection {
  readonly log: ClientLog;
  private readonly replicas: Replica[];
  private channelCredentials: ChannelCredentials;
  private stamp = "";
  private inUse: number;
  private failures = 0;
  private serviceId: string; // empty: unknown
  private readonly pinned: boolean;
  private readonly credentials: Credentials;
  private readonly surroundings: Surroundings;
  private excluded = new Set<string>(); // endpoints, until the next survey
  private endSurvey = () => {};
  private surveyedAt = -Infinity; // when the last survey began
  private sure = true; // more than half of all endpoints belong to the service
  private refused = false; // WRONG_SERVICE was received since then

  /** `known`: the service used before, if no option sets one. */
  constructor(options: ConnectionOptions, known = "") {
    const { endpoints, credentials, logger, serviceId = "" } = options;
    this.surroundings = options.surroundings ?? THIS_MACHINE;
    this.credentials = credentials;
    this.serviceId = serviceId || known;
    this.pinned = serviceId !== "";
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

  /** The replica in use. */
  get replica(): Replica {
    return this.replicas[this.inUse]!;
  }

  /**
   * Switches to the next replica. If the current one was silent although it was connected, it
   * connects again. One that is still connecting may take as long as it needs.
   */
  moveOn(silent: boolean): void {
    if (silent) this.log.failed(this.replica.endpoint, NO_ANSWER);
    const changed = this.filesHaveChanged();
    for (const [index, replica] of this.replicas.entries()) {
      if (changed || (silent && index === this.inUse && replica.answered)) {
        replica.stub.close();
        this.replicas[index] = {
          ...this.open(replica.endpoint),
          otherService: replica.otherService,
        };
      }
    }
    this.useNext(() => true);
  }

  /** The id of the service; empty: unknown. */
  get service(): string {
    return this.serviceId;
  }

  /** Metadata for each call. */
  get metadata(): Metadata {
    const metadata = new Metadata();
    if (this.serviceId) metadata.set(SERVICE_METADATA, this.serviceId);
    return metadata;
  }

  /** When to choose a service again, while a session or a stream is open. */
  get chooseAt(): number {
    if (this.sure || this.pinned || !this.serviceId) return NEVER;
    return this.surveyedAt + (this.refused ? SURVEY_AGAIN_MIN : SURVEY_AGAIN);
  }

  /**
   * Asks all endpoints which service they belong to, and uses one that belongs to the right one.
   * Calls `replaced` if the service has changed. Resolves to an error if no service can be chosen.
   * `open`: a session or a stream is open on the replica in use.
   */
  async choose(
    patienceMs: number,
    signal: AbortSignal,
    replaced: () => void,
    { open = false } = {},
  ): Promise<ServiceError | undefined> {
    const { replicas, serviceId: known, pinned } = this;
    if (replicas.length === 1 && !known) return undefined; // its answers name the service
    this.endSurvey();
    this.surveyedAt = this.surroundings.clock.now();
    this.refused = false;
    const late = (index: number, id: string) => this.hearLate(index, id);
    const mustBe = pinned ? known : "";
    const surveyed = await survey(this, [...replicas], mustBe, patienceMs, signal, late);
    const { answers, error, tooOld } = surveyed;
    this.endSurvey = surveyed.cancel;
    if (signal.aborted) return NO_ANSWER;
    const chosen = chooseService({ id: known, pinned }, answers);
    if (chosen instanceof ServiceError) {
      if (!isWrongService(chosen)) return tooOld ? undefined : (error ?? chosen);
      this.log.disagree(chosen);
      const { code, details, reason } = chosen;
      return new ServiceError(code, details, { reason, retryDelayMs: this.refusedPause() });
    }
    this.log.agree();
    const isReplaced = known !== "" && chosen !== known;
    if (isReplaced) {
      const text = `most endpoints belong to service ${chosen} now, not to ${known}`;
      this.log.warn(`${text}: the service was replaced`);
    }
    this.serviceId = chosen;
    this.excluded = new Set();
    const right = new Set<string>();
    for (const [index, { endpoint, serviceId }] of answers.entries()) {
      if (serviceId) this.isOurs(this.replicas[index]!, serviceId);
      if (serviceId && serviceId !== chosen) this.excluded.add(endpoint);
      if (serviceId === chosen) right.add(endpoint);
    }
    this.sure = right.size > replicas.length / 2;
    const mayStay = right.size === 0 || (open && !isReplaced);
    if (this.isExcluded || !(mayStay || right.has(this.replica.endpoint))) {
      this.useNext(({ endpoint }) => right.size === 0 || right.has(endpoint));
    }
    if (isReplaced) replaced();
    return undefined;
  }

  /** An endpoint has answered after the end of the survey. */
  private hearLate(index: number, serviceId: string): void {
    const replica = this.replicas[index]!;
    if (!this.serviceId) return; // no service is chosen yet
    if (!this.isOurs(replica, serviceId)) this.excluded.add(replica.endpoint);
  }

  /** Whether a message with this service id, which may be empty, comes from the service in use. */
  belongs(replica: Replica, serviceId: string): boolean {
    if (!serviceId) return true;
    this.serviceId ||= serviceId;
    if (this.isOurs(replica, serviceId)) return true;
    this.doubt();
    return false;
  }

  private doubt(): void {
    this.sure = false;
    this.refused = true;
  }

  private isOurs(replica: Replica, serviceId: string): boolean {
    const ours = serviceId === this.serviceId;
    if (!ours && replica.otherService !== serviceId) {
      const text = `belongs to service ${serviceId}, not to ${this.serviceId}`;
      const why = "its replica works on another database; it is not used";
      this.log.warn(`${replica.endpoint} ${text}: ${why}`);
    }
    replica.otherService = ours ? "" : serviceId;
    return ours;
  }

  /**
   * How long to wait before the next attempt, in milliseconds: longer after each failure in a row.
   */
  backoff(): number {
    const longest = longestPause(this.failures++) / MILLISECOND;
    return (longest / 2) * (1 + Math.random());
  }

  /** The same after a refusal that only an operator, or other clients, can lift. */
  refusedPause(): number {
    const [least, most] = [REFUSED_FOR_NOW_MIN, REFUSED_FOR_NOW_MAX];
    return (least + (most - least) * Math.random()) / MILLISECOND;
  }

  /** The replica has answered, so its connection works. */
  succeeded(replica: Replica): void {
    replica.answered = true;
    this.failures = 0;
    this.log.answered(replica.endpoint);
  }

  /** A call or stream has failed. Returns the error, explained. */
  failed(replica: Replica, error: ServiceError): ServiceError {
    if (error.code === Status.CANCELLED) return error; // by this process
    if (isWrongService(error)) {
      this.doubt();
      const serviceId = error.metadata["service_id"];
      if (serviceId) this.isOurs(replica, serviceId);
      return error;
    }
    return this.log.failed(replica.endpoint, error);
  }

  close(): void {
    this.endSurvey();
    for (const { stub } of this.replicas) stub.close();
  }

  private open(endpoint: string): Replica {
    const { stub: fake, idleMs = IDLE_MS } = this.surroundings;
    const options = { ...OPTIONS, "grpc.client_idle_timeout_ms": idleMs };
    const stub = fake ?? new ElectionServiceClient(endpoint, this.channelCredentials, options);
    return { endpoint, stub, answered: false, otherService: "" };
  }

  private get isExcluded(): boolean {
    return this.excluded.has(this.replica.endpoint);
  }

  /** Switches to the next wanted replica that is not excluded; if there is none, to any. */
  private useNext(wanted: (replica: Replica) => boolean): void {
    const { length } = this.replicas;
    for (let step = 1; step <= length; step++) {
      const index = (this.inUse + step) % length;
      const replica = this.replicas[index]!;
      if (this.excluded.has(replica.endpoint) || !wanted(replica)) continue;
      this.inUse = index;
      return;
    }
    this.inUse = (this.inUse + 1) % length;
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
      return false; // they are being replaced; the next failure tries again
    }
  }
}

function usesTls(credentials: Credentials): boolean {
  return credentials instanceof Tls || (credentials?._isSecure() ?? false);
}
