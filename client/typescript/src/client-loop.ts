// The I/O of a client: carries out what its session decides, on the event loop.
//
//   calls' answers, stream's messages, electors' wishes --> [Session] --> calls, news

import { type ServiceError as RpcError, status as Status } from "@grpc/grpc-js";

import { aside } from "./aside.js";
import { Connection, type ConnectionOptions } from "./connection.js";
import type { Effect } from "./effects.js";
import { ServiceError } from "./errors.js";
import type { ClientLog } from "./logger.js";
import { MILLISECOND, NEVER, SECOND } from "./lease.js";
import type { ClientMetrics } from "./metrics.js";
import type { SeatEvent, SeatOptions } from "./seat.js";
import { wrongService } from "./service-choice.js";
import { Session, type SessionOptions } from "./session.js";
import { SURVEY_MS } from "./survey.js";
import { addTrace } from "./trace.js";
import type { Call, RenewalStream, Surroundings } from "./surroundings.js";

// While the client is being closed, a replica may take at most this part of the time to answer.
const CLOSE_TRIES = 5;
// The timers' clock stops while the machine sleeps; the holder's does not.
const WAIT_MAX = 1 * SECOND;

/** One elector, as the loop sees it. */
export interface SeatListener {
  readonly election: string;
  /** Headers of the trace in which the elector began to stand. */
  readonly trace: Readonly<Record<string, string>>;
  onEvent(event: SeatEvent): void;
  /** Nothing is left to do for the elector. */
  onGone(): void;
}

export interface LoopOptions extends SessionOptions, ConnectionOptions {
  metrics?: ClientMetrics | undefined;
}

type Input = (session: Session, now: number) => void;

interface Survey extends Call {
  /** Resolves to an error if no service could be chosen. */
  chosen: Promise<ServiceError | undefined>;
}

export class ClientLoop {
  readonly candidate: string;
  private readonly session: Session;
  private readonly connection: Connection;
  private readonly metrics: ClientMetrics | undefined;
  private readonly listeners = new Map<number, SeatListener>();
  private readonly traces = new Map<string, SeatListener["trace"]>(); // by election, the latest
  private readonly inputs: Input[] = [];
  private stepping = false;
  private lastSeat = 0;
  private cancelTimer = () => {};
  private wakeAt = NEVER;
  private stream: RenewalStream | undefined;
  private readonly calls = new Map<number, Call>(); // under way
  private survey: Survey | undefined; // under way
  private patienceMax = NEVER; // maximum for a call
  private giveUpAt = NEVER;
  private over = false;
  private endings: ((error: ServiceError | undefined) => void)[] = [];

  constructor(
    options: LoopOptions,
    private readonly surroundings: Surroundings,
  ) {
    this.session = new Session(options);
    this.candidate = options.candidate;
    this.connection = new Connection({ ...options, surroundings });
    this.metrics = options.metrics;
  }

  get log(): ClientLog {
    return this.connection.log;
  }

  /** Returns the number of the seat. */
  add(options: SeatOptions, listener: SeatListener): number {
    const number = ++this.lastSeat;
    this.listeners.set(number, listener);
    this.traces.set(options.election, listener.trace);
    aside(() => this.metrics?.begin(options.election));
    this.tell((session) => session.add(number, options));
    return number;
  }

  /** Handles the input at once, or after those that are being handled. */
  tell(input: Input): void {
    if (this.over) return;
    this.inputs.push(input);
    if (this.stepping) return;
    this.stepping = true;
    try {
      for (let next = this.inputs.shift(); next; next = this.inputs.shift()) this.take(next);
    } finally {
      this.stepping = false;
    }
    this.setTimer();
  }

  /** Does what is due, even if the event loop was blocked for long. */
  catchUp(): void {
    if (this.surroundings.clock.now() >= this.wakeAt) this.tell(() => {});
  }

  /**
   * For how long this process may still act as the leader in this term; not positive if it may not.
   */
  remaining(number: number, term: number): number {
    if (this.over || this.session.termOf(number) !== term) return 0;
    return this.session.believedUntil(number) - this.surroundings.clock.now();
  }

  /** Ends the session; resolves to the error if that failed within `patience`. */
  close(patience: number): Promise<ServiceError | undefined> {
    return new Promise((resolve) => {
      if (this.over) return resolve(this.session.endError);
      this.endings.push(resolve);
      this.tell((session, now) => {
        this.giveUpAt = now + patience;
        session.end(now, this.giveUpAt);
      });
      this.hurry(Math.floor(patience / CLOSE_TRIES));
    });
  }

  /** A hanging replica must not use up the time in which another one can end the session. */
  private hurry(patience: number): void {
    this.patienceMax = patience;
    const slow = [...this.calls.values()];
    const cancelSlow = () => slow.forEach((call) => call.cancel());
    this.endings.push(this.surroundings.after(patience / MILLISECOND, cancelSlow));
  }

  private take(input: Input): void {
    if (this.over) return;
    const now = this.surroundings.clock.now();
    input(this.session, now);
    const effects = this.session.decide(now);
    // Effects come before news, so that a slow listener delays no renewal. Beliefs are read from
    // the session, so a belief ends before anything is sent that gives up its seat.
    for (const effect of effects) this.carryOut(effect);
    for (const renewal of this.session.takeRenewals()) {
      aside(() => this.metrics?.countRenewal(renewal));
    }
    for (const [number, event] of this.session.takeNews()) this.tellNews(number, event);
    for (const number of this.session.takeGone()) this.forget(number);
    if (now >= this.surveyAt) void this.surveyAgain();
    if (this.session.ended || now >= this.giveUpAt) this.end();
  }

  private tellNews(number: number, event: SeatEvent): void {
    const listener = this.listeners.get(number)!;
    aside(() => this.metrics?.countEvent(listener.election, event));
    listener.onEvent(event);
  }

  private forget(number: number): void {
    const listener = this.listeners.get(number)!;
    this.listeners.delete(number);
    const { election, trace } = listener;
    if (this.traces.get(election) === trace) this.traces.delete(election);
    listener.onGone();
  }

  private end(): void {
    this.over = true;
    this.stream?.cancel();
    for (const call of this.calls.values()) call.cancel();
    this.survey?.cancel();
    this.connection.close();
    for (const number of this.listeners.keys()) this.forget(number);
    let error = this.session.endError;
    if (!this.session.ended && !error) {
      const details = "the session's end was not answered in time";
      const { lastError: cause } = this.log;
      error = new ServiceError(Status.DEADLINE_EXCEEDED, details, {}, { cause });
    }
    for (const resolve of this.endings) resolve(error);
  }

  private setTimer(): void {
    this.cancelTimer();
    this.wakeAt = this.over ? NEVER : Math.min(this.session.nextWake, this.giveUpAt, this.surveyAt);
    if (this.wakeAt === NEVER) return;
    const wait = Math.min(Math.max(this.wakeAt - this.surroundings.clock.now(), 0), WAIT_MAX);
    this.cancelTimer = this.surroundings.after(Math.ceil(wait / MILLISECOND), () => {
      if (this.surroundings.clock.now() >= this.wakeAt) return this.tell(() => {});
      this.setTimer();
    });
  }

  /** Sets a timer on the client's clock; returns a function that cancels it. */
  after(milliseconds: number, call: () => void): () => void {
    return this.surroundings.after(milliseconds, call);
  }

  // Effects.

  private carryOut(effect: Effect): void {
    switch (effect.do) {
      case "campaign":
        if (effect.request.sessionId) return this.campaign(effect);
        return void this.open(effect);
      case "resign": {
        const { stub, metadata, options, ended } = this.startCall(effect, effect.request.election);
        const call = stub.resign(effect.request, metadata, options, (error) => {
          const failure = ended(error);
          this.tell((session, now) => session.onResignDone(effect.call, now, failure));
        });
        this.calls.set(effect.call, call);
        break;
      }
      case "open":
        this.stream = this.openStream(effect.stream);
        break;
      case "renew":
        this.stream!.write(effect.request);
        break;
      case "close":
        this.stream?.cancel();
        this.stream = undefined;
        break;
      case "anotherReplica":
        this.connection.moveOn(effect.silent);
        aside(() => this.metrics?.countReplicaChange());
    }
  }

  /** Sends the campaign that opens the session, after the service has been chosen. */
  private async open(effect: Effect & { do: "campaign" }): Promise<void> {
    const survey = (this.survey ??= this.startSurvey(effect.patience / MILLISECOND));
    this.calls.set(effect.call, survey);
    const error = await survey.chosen;
    this.calls.delete(effect.call);
    if (this.over) return;
    if (!error) return this.campaign(effect);
    this.tell((session, now) => session.onCampaignDone(effect.call, now, error));
  }

  private startSurvey(patienceMs: number, open = false): Survey {
    const stop = new AbortController();
    const replaced = () => this.tell((session, now) => session.onServiceReplaced(now));
    const chosen = this.connection.choose(patienceMs, stop.signal, replaced, { open });
    return {
      chosen: chosen.finally(() => (this.survey = undefined)),
      cancel: () => stop.abort(),
    };
  }

  private get surveyAt(): number {
    return this.session.isOpen && !this.survey ? this.connection.chooseAt : NEVER;
  }

  /** Surveys again; the session stays open unless its service is replaced. */
  private async surveyAgain(): Promise<void> {
    this.survey = this.startSurvey(SURVEY_MS, true);
    await this.survey.chosen;
    this.tell(() => {}); // to decide on the next survey
  }

  private campaign(effect: Effect & { do: "campaign" }): void {
    const { stub, metadata, options, ended } = this.startCall(effect, effect.request.election);
    const call = stub.campaign(effect.request, metadata, options, (error, response) => {
      const answer = ended(error, response?.session?.serviceId) ?? response;
      this.tell((session, now) => session.onCampaignDone(effect.call, now, answer));
    });
    this.calls.set(effect.call, call);
  }

  private startCall(
    { call, patience }: { call: number; patience: number },
    election: string, // empty: none
  ) {
    const { replica } = this.connection;
    const metadata = addTrace(this.connection.metadata, this.traces.get(election) ?? {});
    const options = { deadline: Date.now() + Math.min(patience, this.patienceMax) / MILLISECOND };
    /** Returns the error, if there is one. */
    const ended = (error: RpcError | null, serviceId = ""): ServiceError | undefined => {
      this.calls.delete(call);
      if (error?.code === Status.CANCELLED) {
        return new ServiceError(Status.DEADLINE_EXCEEDED, "no answer");
      }
      if (error) return this.connection.failed(replica, ServiceError.fromRpc(error));
      this.connection.succeeded(replica);
      return this.connection.belongs(replica, serviceId) ? undefined : wrongService(serviceId);
    };
    return { stub: replica.stub, metadata, options, ended };
  }

  private openStream(number: number): RenewalStream {
    const { replica, metadata } = this.connection;
    const stream = replica.stub.keepAlive(metadata);
    const closed = (error?: ServiceError) =>
      this.tell((session, now) => session.onStreamClosed(number, now, error));
    stream.on("data", (response) => {
      this.connection.succeeded(replica);
      if (!this.connection.belongs(replica, response.serviceId)) {
        stream.cancel();
        return closed(wrongService(response.serviceId));
      }
      this.tell((session, now) => session.onStreamMessage(number, response, now));
    });
    stream.on("error", (error: RpcError) =>
      closed(this.connection.failed(replica, ServiceError.fromRpc(error))),
    );
    stream.on("end", () => closed());
    return stream;
  }
}
