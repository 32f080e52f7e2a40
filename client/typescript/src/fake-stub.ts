// The calls of a service in memory, in place of gRPC.

import type { Metadata, ServiceError as RpcError } from "@grpc/grpc-js";
import { status as Status } from "@grpc/grpc-js";

import { errorMetadata } from "./errors.js";
import { FakeElections, type FakeListener, type FakeSession } from "./fake-elections.js";
import { fromDuration, NEVER, SECOND, toDuration } from "./lease.js";
import {
  type CampaignRequest,
  CampaignResponse,
  Cause,
  type Event,
  type KeepAliveRequest,
  KeepAliveResponse,
  type Leadership,
  type ObserveRequest,
  ObserveResponse,
  type ResignRequest,
  ResignResponse,
  ResignResponse_Outcome,
  type Selector,
  SessionRenewal,
  Snapshot,
  Snapshot_Reason,
} from "./stubs/tenure/v1/election.js";
import type { Call, ObserveStream, RenewalStream, Stub } from "./surroundings.js";

const SERVICE_ID = "fa4e".repeat(8);
const PROGRESS_EVERY = 10 * SECOND;

/** Delivers an answer later, but before anything else that is due. */
const soon = (call: () => void) => void Promise.resolve().then(call);

function rpcError(code: Status, details: string, reason = "", more = {}): RpcError {
  const metadata = reason ? { metadata: errorMetadata(code, details, reason, more) } : {};
  return Object.assign(new Error(details), { code, details, ...metadata }) as RpcError;
}

const unreachable = () => rpcError(Status.UNAVAILABLE, "ECONNREFUSED: the fake service is stopped");

type Done<Response> = (error: RpcError | null, response: Response) => void;

export class FakeStub implements Stub, FakeListener {
  readonly elections = new FakeElections(this);
  private running = true;
  private readonly renewals = new Set<FakeRenewalStream>();
  private readonly observations = new Set<FakeObserveStream>();
  private progressAt = NEVER;

  constructor(private readonly now: () => number) {}

  /** Stops answering, and breaks streams. Leases continue, and expire. */
  stop(): void {
    this.running = false;
    for (const stream of [...this.renewals, ...this.observations]) stream.fail(unreachable());
    this.renewals.clear();
    this.observations.clear();
  }

  start(): void {
    this.running = true;
  }

  /** When the service next has something to do by itself. */
  get nextWake(): number {
    const progress = this.observations.size > 0 ? this.progressAt : NEVER;
    return Math.min(this.elections.nextExpiry, progress);
  }

  wake(): void {
    const now = this.now();
    this.elections.expire(now);
    if (now < this.progressAt) return;
    this.progressAt = now + PROGRESS_EVERY;
    for (const stream of this.observations) stream.progress(now);
  }

  // Calls.

  identify(_: object, __: Metadata, ___: object, done: Done<never>): Call {
    const answer = { serviceId: SERVICE_ID, version: "fake" } as never;
    return this.answer(done, () => answer);
  }

  campaign(request: CampaignRequest, _: Metadata, __: object, done: Done<CampaignResponse>): Call {
    return this.answer(done, () => {
      const { elections } = this;
      const now = this.now();
      const { sessionId, candidate, leaseTtl } = request;
      const session = sessionId
        ? this.sessionOf(sessionId)
        : elections.open(candidate, fromDuration(leaseTtl), now);
      elections.renew(session, now);
      elections.campaign(session, request, now);
      const { leader, queue } = elections.electionOf(request.election);
      const response = CampaignResponse.fromPartial({
        session: { sessionId: session.id, leaseTtl: toDuration(session.leaseTtl) },
      });
      response.session!.serviceId = SERVICE_ID;
      response.outcome =
        leader?.place.session === session
          ? { $case: "elected", value: leader.leadership }
          : {
              $case: "standing",
              value: {
                position: queue.findIndex((place) => place.session === session) + 1,
                leader: leader?.leadership,
              },
            };
      return response;
    });
  }

  resign(request: ResignRequest, _: Metadata, __: object, done: Done<ResignResponse>): Call {
    return this.answer(done, () => {
      const session = this.sessionOf(request.sessionId);
      const now = this.now();
      if (!request.election) {
        this.elections.end(session, Cause.SESSION_CLOSED, now);
        return ResignResponse.create({ outcome: ResignResponse_Outcome.SESSION_ENDED });
      }
      const election = this.elections.electionOf(request.election);
      const leads = election.leader?.place.session === session;
      const term = leads ? election.term : 0;
      if (request.term !== undefined && request.term !== term) {
        const details = `the session does not lead in term ${request.term}`;
        const more = { current_term: String(term) };
        throw rpcError(Status.FAILED_PRECONDITION, details, "STALE_TERM", more);
      }
      const outcome = leads ? ResignResponse_Outcome.RESIGNED : ResignResponse_Outcome.WITHDRAWN;
      return ResignResponse.create({
        outcome,
        term: this.elections.leave(election, session, now),
      });
    });
  }

  keepAlive(): RenewalStream {
    const stream = new FakeRenewalStream((request) => this.renew(stream, request));
    if (this.running) this.renewals.add(stream);
    else stream.fail(unreachable());
    return stream;
  }

  observe({ selectors }: ObserveRequest): ObserveStream {
    const stream = new FakeObserveStream(selectors);
    if (!this.running) {
      stream.fail(unreachable());
      return stream;
    }
    this.observations.add(stream);
    this.progressAt = Math.min(this.progressAt, this.now() + PROGRESS_EVERY);
    stream.open(this.elections, this.now());
    return stream;
  }

  close(): void {}

  // Streams.

  onEvent(event: Event): void {
    for (const stream of this.observations) stream.take(event);
  }

  onElected(session: FakeSession, leadership: Leadership): void {
    this.notice(session, leadership.election, { $case: "elected", value: leadership });
  }

  onLost(session: FakeSession, election: string, term: number, cause: Cause): void {
    this.notice(session, election, { $case: "lost", value: { term, cause } });
  }

  onStepDown(session: FakeSession, election: string, term: number, successor: string): void {
    this.notice(session, election, { $case: "stepDown", value: { term, successor } });
  }

  onEnded({ id: sessionId }: FakeSession, cause: Cause): void {
    this.push(sessionId, { $case: "sessionEnded", value: { sessionId, cause } });
  }

  private notice(
    { id: sessionId }: FakeSession,
    election: string,
    change: (KeepAliveResponse["message"] & { $case: "notice" })["value"]["change"],
  ): void {
    this.push(sessionId, { $case: "notice", value: { sessionId, election, change } });
  }

  private push(sessionId: string, message: NonNullable<KeepAliveResponse["message"]>): void {
    for (const stream of this.renewals) {
      if (stream.sessionIds.has(sessionId)) stream.say(message);
    }
  }

  private renew(stream: FakeRenewalStream, { sequence, sessionIds }: KeepAliveRequest): void {
    if (!this.running) return;
    const sessions = sessionIds.map((sessionId) => {
      const renewal = SessionRenewal.create({ sessionId });
      const session = this.elections.find(sessionId);
      const cause = this.elections.causeOf(sessionId);
      if (session) {
        this.elections.renew(session, this.now());
        renewal.result = { $case: "leaseTtl", value: toDuration(session.leaseTtl) };
        if (!stream.sessionIds.has(sessionId)) renewal.seats = this.elections.seatsOf(session);
        stream.sessionIds.add(sessionId);
      } else {
        renewal.result = cause
          ? { $case: "ended", value: cause }
          : { $case: "notFound", value: true };
      }
      return renewal;
    });
    stream.say({ $case: "renewal", value: { sequence, sessions, more: false } });
  }

  private sessionOf(id: string): FakeSession {
    const session = this.elections.find(id);
    if (session) return session;
    const cause = this.elections.causeOf(id);
    if (!cause) throw rpcError(Status.NOT_FOUND, "no such session", "SESSION_NOT_FOUND");
    const more = { cause: cause.replace("CAUSE_", "") };
    throw rpcError(Status.FAILED_PRECONDITION, "the session has ended", "SESSION_ENDED", more);
  }

  private answer<Response>(done: Done<Response>, decide: () => Response): Call {
    let cancelled = false;
    soon(() => {
      const none = undefined as Response;
      if (cancelled) return done(rpcError(Status.CANCELLED, "cancelled"), none);
      if (!this.running) return done(unreachable(), none);
      let response: Response;
      try {
        response = decide();
      } catch (error) {
        return done(error as RpcError, none);
      }
      done(null, response);
    });
    return { cancel: () => (cancelled = true) };
  }
}

class FakeRenewalStream implements RenewalStream {
  /** The election that a request has named. */
  readonly sessionIds = new Set<string>();
  private readonly takers: Record<string, (what: never) => void> = {};
  private over = false;

  constructor(private readonly renew: (request: KeepAliveRequest) => void) {}

  on(event: string, take: (what: never) => void): void {
    this.takers[event] = take;
  }

  write(request: KeepAliveRequest): void {
    if (!this.over) this.renew(request);
  }

  say(message: NonNullable<KeepAliveResponse["message"]>): void {
    const response = KeepAliveResponse.create({ serviceId: SERVICE_ID });
    response.message = message;
    soon(() => {
      if (!this.over) this.takers["data"]?.(response as never);
    });
  }

  fail(error: RpcError): void {
    soon(() => {
      if (!this.over) this.takers["error"]?.(error as never);
      this.over = true;
    });
  }

  cancel(): void {
    this.over = true;
  }
}

class FakeObserveStream implements ObserveStream {
  private readonly said: ObserveResponse[] = [];
  private error: RpcError | undefined;
  private awake = () => {};

  constructor(private readonly selectors: readonly Selector[]) {}

  open({ elections }: FakeElections, now: number): void {
    const named = this.selectors.filter(({ by }) => by?.$case === "election");
    const names = new Set(named.map(({ by }) => by!.value));
    for (const name of elections.keys()) if (this.fromOf(name) !== "unselected") names.add(name);
    for (const name of names) {
      const from = this.fromOf(name);
      const { events = [], term = 0, leader } = elections.get(name) ?? {};
      if (typeof from === "number") {
        for (const event of events.slice(from - 1)) this.say({ $case: "event", value: event });
        continue;
      }
      const snapshot = Snapshot.create({ election: name, revision: events.length, term });
      snapshot.leader = leader?.leadership;
      snapshot.reason = Snapshot_Reason.INITIAL;
      this.say({ $case: "snapshot", value: snapshot });
    }
    this.progress(now);
  }

  take(event: Event): void {
    if (this.fromOf(event.election) !== "unselected") this.say({ $case: "event", value: event });
  }

  progress(now: number): void {
    this.say({ $case: "progress", value: { time: new Date(now / 1_000) } });
  }

  fail(error: RpcError): void {
    this.error = error;
    this.awake();
  }

  cancel(): void {
    this.fail(rpcError(Status.CANCELLED, "cancelled"));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ObserveResponse> {
    for (;;) {
      const next = this.said.shift();
      if (next) yield next;
      else if (this.error) throw this.error;
      else await new Promise<void>((resolve) => (this.awake = resolve));
    }
  }

  private say(message: NonNullable<ObserveResponse["message"]>): void {
    const response = ObserveResponse.create({ serviceId: SERVICE_ID });
    response.message = message;
    this.said.push(response);
    this.awake();
  }

  /** The revision to start with; undefined: a snapshot. */
  private fromOf(election: string): number | undefined | "unselected" {
    const matching = this.selectors.filter(({ by }) =>
      by?.$case === "prefix" ? election.startsWith(by.value) : by?.value === election,
    );
    const [selector] = matching.sort((a) => (a.by?.$case === "election" ? -1 : 1));
    return selector ? selector.fromRevision : "unselected";
  }
}
