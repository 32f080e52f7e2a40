// Reports every change of elections: who leads, with which value, and why a term ended.

import {
  type ChannelCredentials,
  type ServiceError as RpcError,
  status as Status,
} from "@grpc/grpc-js";

import { Connection } from "./connection.js";
import type { Tls } from "./credentials.js";
import { ServiceError } from "./errors.js";
import { MILLISECOND, NEVER } from "./lease.js";
import type { LoggerOption } from "./logger.js";
import { Observation } from "./observation.js";
import { wrongService } from "./service-choice.js";
import type { Event, ObserveResponse, Progress, Snapshot } from "./stubs/tenure/v1/election.js";
import { type ObserveStream, THIS_MACHINE } from "./surroundings.js";
import { Teller } from "./teller.js";
import { addTrace, traceOfCaller } from "./trace.js";
import { explain, isOfTheEndpoint } from "./trouble.js";
import { SURVEY_MS } from "./survey.js";
import { checkEndpoints, checkName, checkServiceId } from "./validation.js";

const OBSERVED_MAX = 10_000;
const PREFIXES_MAX = 64;
const SILENCE_MAX_MS = 30_000;

export interface ObserverOptions extends LoggerOption {
  /** Replicas: "host:port[,host:port...]". A host name may resolve to several addresses. */
  endpoints?: string;
  /** A Tls, or any ChannelCredentials of grpc-js. Absent: a connection without TLS. */
  credentials?: Tls | ChannelCredentials;
  /** As in ClientOptions. */
  serviceId?: string;
  /**
   * Elections, whether or not they exist yet; at most 10,000. With `prefix`: name prefixes, at most
   * 64; an empty one selects all elections.
   */
  names: readonly string[];
  prefix?: boolean;
  /**
   * The revision to start with in each election, instead of a snapshot. 1: all events that there
   * still are.
   */
  fromRevision?: number;
  /**
   * The same for single elections, by their names: those after the last revisions that a program
   * has stored. Elections that are not here begin with `fromRevision`, or a snapshot. With
   * `prefix`, each must have one of the prefixes.
   */
  fromRevisions?: Readonly<Record<string, number>> | ReadonlyMap<string, number>;
  /**
   * A stream that is silent for this long is given up. The service sends something at least every
   * ten seconds; a shorter limit gives up healthy streams too.
   */
  silenceMaxMs?: number;
  /** Ends the observation. */
  signal?: AbortSignal;
}

/** Everything that the replica knew at the time of a "progress" has been reported. */
export type Change =
  | { kind: "snapshot"; snapshot: Snapshot }
  | { kind: "event"; event: Event }
  | { kind: "progress"; progress: Progress };

/**
 * `broken`: the stream broke, could not be opened, or was refused for now. The observer tries again,
 * on the next replica.
 */
export interface ObserverEvents {
  broken: [error: ServiceError];
  /**
   * Most endpoints belong to another service now. Everything that was reported is void, and each
   * election begins again with a snapshot. Never, with `serviceId`.
   */
  replaced: [];
}

/**
 *     for await (const change of new Observer({ endpoints: "tenure:7070", names: ["orders"] })) {
 *       if (change.kind === "event") show(change.event.type, change.event.leadership?.candidate);
 *     }
 *
 * What it promises
 * - Each election starts with a snapshot: its state at one revision. Then follows every event once,
 *   in the order of revisions, without gaps. There is no order between two elections.
 * - When a stream breaks, or is silent for too long, the observer continues by itself on another
 *   replica, from where it was. Elections created meanwhile start with their first event.
 * - It never skips changes silently. If events are no longer available, because the service keeps
 *   its history for a limited time only, a snapshot with the reason RESYNC replaces them.
 *   Everything before it is void, and events continue with its revision + 1. Its revision may be
 *   lower than earlier ones, after the service's database was restored from a backup.
 * - At least every ten seconds the service confirms that all has been reported (progress).
 *
 * The iteration rejects with a ServiceError when the service refuses the observer for good, and
 * ends when it is closed. A caller that breaks out of it, and iterates again, continues after the
 * last change that came.
 *
 * What it does not promise. What it reports is already past, if only by milliseconds: to act as a
 * leader use an Elector, and fence your actions. One observer can watch at most 10,000 elections.
 */
export class Observer extends Teller<ObserverEvents> implements AsyncIterable<Change>, Disposable {
  private readonly options: ObserverOptions;
  private observation: Observation;
  private knownService = ""; // empty: unknown
  private readonly closing = new AbortController();
  private readonly trace = traceOfCaller();
  private iterating = false;
  private warned = ""; // logged since the last message

  /** Throws a RangeError if an option is malformed. */
  constructor(
    options: ObserverOptions,
    /** @internal */ private readonly surroundings = THIS_MACHINE,
  ) {
    super();
    check(options);
    this.options = options;
    this.observation = new Observation({ ...options, fromRevisions: mapOf(options) });
    const { signal } = options;
    const close = () => this.close();
    if (signal?.aborted) close();
    signal?.addEventListener("abort", close, { once: true });
  }

  /** Ends the iteration. */
  close(): void {
    this.closing.abort();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** For one iteration at a time. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Change, void, undefined> {
    if (this.iterating) throw new Error("the observer is being iterated already");
    const { endpoints = "127.0.0.1:7070" } = this.options;
    const { surroundings } = this;
    const options = { ...this.options, endpoints, surroundings };
    const connection = new Connection(options, this.knownService);
    this.iterating = true;
    try {
      while (!this.closing.signal.aborted) {
        const failure: { error?: ServiceError } = {};
        const { signal } = this.closing;
        const error = await connection.choose(SURVEY_MS, signal, this.replaced);
        if (error) failure.error = error;
        else yield* this.followOneStream(connection, failure);
        if (this.closing.signal.aborted) return;
        if (failure.error) await this.recover(connection, failure.error);
      }
    } finally {
      this.knownService = connection.service;
      connection.close();
      this.iterating = false;
    }
  }

  /** Follows a stream until it fails, with the reason in `failure`, or its service is replaced. */
  private async *followOneStream(
    connection: Connection,
    failure: { error?: ServiceError },
  ): AsyncGenerator<Change, void, undefined> {
    const { replica } = connection;
    const metadata = addTrace(connection.metadata, this.trace);
    const stream = replica.stub.observe(this.observation.request(), metadata);
    const cancel = () => stream.cancel();
    this.closing.signal.addEventListener("abort", cancel);
    let isReplaced = false;
    const endSurveys = this.surveyAgain(connection, () => {
      isReplaced = true;
      cancel();
    });
    const messages = stream[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { value: message, done } = await this.next(messages, stream);
        if (isReplaced) return;
        if (done) throw unavailable("the server ended the stream");
        connection.succeeded(replica);
        this.warned = "";
        if (!connection.belongs(replica, message.serviceId)) throw wrongService(message.serviceId);
        const verdict = this.observation.note(message);
        if (verdict === "gap") throw unavailable("the stream skipped changes");
        const change = verdict === "news" ? changeOf(message) : undefined;
        if (change) yield change;
      }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (this.closing.signal.aborted || isReplaced) return;
      failure.error = connection.failed(replica, error);
      if (error.isSilence) connection.moveOn(true);
    } finally {
      this.closing.signal.removeEventListener("abort", cancel);
      endSurveys();
      cancel();
      // A cancelled stream rejects once more; ignore that.
      messages.next().catch(() => {});
      if (isReplaced) this.replaced();
    }
  }

  /** Surveys while a stream is open. Returns a function that stops this. */
  private surveyAgain(connection: Connection, replaced: () => void): () => void {
    const stop = new AbortController();
    let cancelTimer = () => {};
    const wait = () => {
      const { chooseAt } = connection;
      if (chooseAt === NEVER || stop.signal.aborted) return;
      const milliseconds = Math.max(chooseAt - this.surroundings.clock.now(), 0) / MILLISECOND;
      cancelTimer = this.surroundings.after(milliseconds, () => {
        void connection.choose(SURVEY_MS, stop.signal, replaced, { open: true }).then(wait);
      });
    };
    wait();
    return () => {
      stop.abort();
      cancelTimer();
    };
  }

  private async next(
    messages: AsyncIterator<ObserveResponse>,
    stream: ObserveStream,
  ): Promise<IteratorResult<ObserveResponse>> {
    const { silenceMaxMs = SILENCE_MAX_MS } = this.options;
    let silent = false;
    const cancelTimer = this.surroundings.after(silenceMaxMs, () => {
      silent = true;
      stream.cancel();
    });
    try {
      return await messages.next();
    } catch (error) {
      if (!silent) throw ServiceError.fromRpc(error as RpcError);
      const details = `the stream was silent for ${silenceMaxMs} ms`;
      throw new ServiceError(Status.DEADLINE_EXCEEDED, details);
    } finally {
      cancelTimer();
    }
  }

  /** Throws the error if it is final. */
  private async recover(connection: Connection, error: ServiceError): Promise<void> {
    const final = isFinal(error);
    this.warn(connection, error, final ? "not trying again" : "still trying");
    if (final) throw error;
    this.tell("broken", error);
    if (!error.isSilence) connection.moveOn(false);
    const pause = error.isTransient ? connection.backoff() : connection.refusedPause();
    await this.pause(Math.max(pause, error.retryDelayMs));
  }

  private readonly replaced = () => {
    const { names, prefix } = this.options;
    this.observation = new Observation({ names, prefix }); // revisions are the other service's
    this.tell("replaced");
  };

  /** Errors of an endpoint have been logged already. */
  private warn({ log }: Connection, error: ServiceError, next: string): void {
    const why = explain(error, false).text;
    if (isOfTheEndpoint(error) || why === this.warned) return;
    this.warned = why;
    log.warn(`cannot observe ${this.text}: ${why}; ${next}`);
  }

  private get text(): string {
    const [first, ...others] = this.options.names;
    const name = first || "all elections";
    return others.length > 0 ? `${name} and ${others.length} more` : name;
  }

  /** Ends early if the observer is closed. */
  private async pause(milliseconds: number): Promise<void> {
    const { signal } = this.closing;
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        cancelTimer();
        signal.removeEventListener("abort", done);
        resolve();
      };
      const cancelTimer = this.surroundings.after(milliseconds, done);
      signal.addEventListener("abort", done);
    });
  }
}

/** Whether the request would be refused again, so that the caller must get the error. */
function isFinal({ code, reason, isTransient, isRefusedForNow }: ServiceError): boolean {
  if (code === Status.PERMISSION_DENIED || reason === "OBSERVE_TOO_WIDE") return true;
  return !isTransient && !isRefusedForNow;
}

function changeOf({ message }: ObserveResponse): Change | undefined {
  switch (message?.$case) {
    case "snapshot":
      return { kind: "snapshot", snapshot: message.value };
    case "event":
      return { kind: "event", event: message.value };
    case "progress":
      return { kind: "progress", progress: message.value };
    default:
      return undefined;
  }
}

function unavailable(details: string): ServiceError {
  return new ServiceError(Status.UNAVAILABLE, details);
}

function mapOf({ fromRevisions = {} }: ObserverOptions): ReadonlyMap<string, number> {
  return fromRevisions instanceof Map ? fromRevisions : new Map(Object.entries(fromRevisions));
}

function checkRevision(revision: number, what: string): void {
  if (Number.isSafeInteger(revision) && revision >= 1) return;
  throw new RangeError(`${what} is ${revision}; revisions are whole numbers from 1`);
}

function check(options: ObserverOptions): void {
  const { endpoints, serviceId, names, prefix, fromRevision, silenceMaxMs } = options;
  if (serviceId !== undefined) checkServiceId(serviceId);
  if (endpoints !== undefined) checkEndpoints(endpoints);
  const namesMax = prefix ? PREFIXES_MAX : OBSERVED_MAX;
  if (names.length < 1 || names.length > namesMax) {
    throw new RangeError(`names has ${names.length} entries; it must have 1 to ${namesMax}`);
  }
  for (const name of names) {
    if (!(prefix && name === "")) checkName(name, "name");
  }
  if (fromRevision !== undefined) checkRevision(fromRevision, "fromRevision");
  const fromRevisions = mapOf(options);
  if (fromRevisions.size > OBSERVED_MAX) {
    const { size } = fromRevisions;
    throw new RangeError(`fromRevisions has ${size} entries; the maximum is ${OBSERVED_MAX}`);
  }
  const wanted = new Set(names);
  for (const [election, revision] of fromRevisions) {
    const name = JSON.stringify(election);
    checkName(election, "a name in fromRevisions");
    checkRevision(revision, `fromRevisions of ${name}`);
    const known = prefix ? names.some((one) => election.startsWith(one)) : wanted.has(election);
    if (!known) throw new RangeError(`fromRevisions has ${name}, which is not among the names`);
  }
  if (silenceMaxMs !== undefined && !(silenceMaxMs > 0)) {
    throw new RangeError(`silenceMaxMs is ${silenceMaxMs}; it must be more than 0`);
  }
}
