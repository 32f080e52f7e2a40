// One session and its electors' seats: which calls to make, when to renew, what answers mean.
//
// The session is opened by the first campaign, and renewed on one KeepAlive stream however many
// elections there are. A place in a queue needs no open call: the stream reports a grant. So a
// broken connection loses nothing while the lease lasts.
//
// Usage: report what happened, then decide, and carry out the effects.

import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";

import { status as Status } from "@grpc/grpc-js";

import { longestPause, REFUSED_FOR_NOW_MAX, REFUSED_FOR_NOW_MIN } from "./backoff.js";
import type { AnsweredRenewal, Effect } from "./effects.js";
import { ServiceError } from "./errors.js";
import { fromDuration, Lease, MILLISECOND, NEVER, SECOND, toDuration } from "./lease.js";
import type { SeatEvent, SeatMachine, SeatOptions } from "./seat.js";
import { type Entry, Seats } from "./seats.js";
import {
  CampaignRequest,
  type CampaignResponse,
  Cause,
  type KeepAliveResponse,
  Leadership,
  type Renewal,
  type SeatNotice,
} from "./stubs/tenure/v1/election.js";

const CALLS_MAX = 64; // under way at a time
const END_TRIES_MAX = 3;
// How late a lost place in a queue may be noticed, if an operator removed it.
const CHECK_MIN = 20 * SECOND;
const CHECK_MAX = 40 * SECOND;
// How long a replica may take to answer before another one is asked.
const ANSWER_PATIENCE_MIN = 100 * MILLISECOND;
const ANSWER_PATIENCE_MAX = 3 * SECOND;

const THE_SESSION = 0; // in place of a seat: the call is about the whole session

interface Call {
  seat: number;
  sessionId: string;
  term: number; // of the resignation
  replica: number;
  sentAt: number;
}

export interface SessionOptions {
  candidate: string;
  /** Absent: the default of the election or the service. */
  leaseTtl?: number | undefined;
  supersede?: boolean | undefined;
}

export class Session {
  /** Nothing is left to do after `end`. */
  ended = false;
  /** Undefined if the service has ended the session, or there is none; else its last answer. */
  endError: ServiceError | undefined;

  private sessionId = ""; // empty: none is open
  private requestId = randomBytes(16);
  private previousSessionId = "";
  private lease = new Lease();
  private readonly seats = new Seats();
  private readonly calls = new Map<number, Call>();
  private lastNumber = 0; // of calls and streams
  private nextStray = -1; // seats below 0 are the session's own; nobody else knows them

  private replica = 0; // rises with each change of replica
  private moveOn: Effect | undefined;
  private failures = 0; // of replicas, in a row

  private stream = 0; // 0: none is open
  private streamReplica = 0;
  private droppedStream = 0; // to be closed
  private openAt = 0;
  private nextRenewal = NEVER;
  private sequence = 0; // of the last renewal
  private renewalSent: number | undefined; // when the renewal that awaits an answer was sent
  private renewals: AnsweredRenewal[] = [];
  private list: Leadership[] | undefined; // of the parts that have arrived; undefined: complete

  private ending = false;
  private insistUntil: number | undefined;
  private resignUntil = 0;
  private endAt = 0; // the next try
  private endTries = 0;

  /** `random` is at least 0, and below 1. */
  constructor(
    private readonly options: SessionOptions,
    private readonly random: () => number = Math.random,
  ) {}

  // What this process wants and does. Seats that are gone, or were never added, are ignored.

  /**
   * Numbers start at 1, and are never reused. If an earlier seat has not yet left the election,
   * this one starts when that is gone.
   */
  add(number: number, options: SeatOptions): void {
    this.seats.add(number, options);
  }

  proclaim(number: number, value: Buffer, now: number): void {
    this.seats.find(number)?.seat.proclaim(value, now);
  }

  leave(number: number, now: number): void {
    this.pass(now);
    this.seats.find(number)?.seat.leave(now);
  }

  abandon(number: number, now: number): void {
    this.seats.find(number)?.seat.abandon(now);
  }

  /** A reader has acted on the end of a belief that this session has not noticed yet. */
  beliefEnded(number: number, now: number): void {
    this.seats.find(number)?.seat.beliefEnded(now);
  }

  workEnded(number: number, now: number): void {
    this.pass(now);
    this.seats.find(number)?.seat.workEnded(now);
  }

  /**
   * Abandons all seats and ends the session. With `insistUntil`, half of the time is for the
   * resignations, and the rest for ending the session, which also frees the seats. Without it, both
   * are tried a few times, at once.
   */
  end(now: number, insistUntil?: number): void {
    this.ending = true;
    this.insistUntil = insistUntil;
    this.resignUntil = now + Math.floor(((insistUntil ?? now) - now) / 2);
    this.endTries = 0;
    for (const { seat } of this.seats.entries.values()) seat.abandon(now);
  }

  // What the service answers.

  onCampaignDone(number: number, now: number, answer: CampaignResponse | ServiceError): void {
    this.pass(now);
    const call = this.takeCall(number);
    if (call?.sessionId !== this.sessionId) return; // from a session that has ended
    if (answer instanceof ServiceError) {
      if (this.isOverElsewhere(answer, now)) return this.sessionOver(Cause.EXPIRED, now);
      this.onCampaignFailed(call, answer, now);
    } else {
      this.onCampaignAnswered(call, answer, now);
    }
  }

  private onCampaignAnswered(
    call: Call,
    { session, outcome }: CampaignResponse,
    now: number,
  ): void {
    this.failures = 0;
    if (!this.sessionId) this.onOpened(session?.sessionId ?? "");
    // Counted from before the call, not from the answer: the service began to count in between.
    this.lease.renewed(call.sentAt, fromDuration(session?.leaseTtl));
    const entry = this.seats.find(call.seat);
    if (!entry) return;
    if (outcome?.$case === "elected") {
      this.seatElected(outcome.value, now);
      entry.seat.onCampaignElected(outcome.value.term, now);
    } else if (outcome?.$case === "standing") {
      entry.seat.onStanding(outcome.value, now, this.within(CHECK_MIN, CHECK_MAX, now));
    }
  }

  private onCampaignFailed(call: Call, error: ServiceError, now: number): void {
    const seat = this.seats.find(call.seat)?.seat;
    if (!seat) return;
    if (error.isSessionGone) {
      if (this.sessionId) return this.sessionOver(causeOf(error), now);
      this.requestId = randomBytes(16); // it had opened a session whose lease has already expired
      seat.unanswered(error, this.backoff(now));
    } else if (error.isTransient) {
      this.replicaFailed(call.replica, error.isSilence);
      const wished = now + Math.floor(error.retryDelayMs * MILLISECOND);
      seat.unanswered(error, Math.max(this.backoff(now), wished));
    } else if (error.isRefusedForNow) {
      seat.unanswered(error, this.within(REFUSED_FOR_NOW_MIN, REFUSED_FOR_NOW_MAX, now));
    } else {
      seat.onRefused(error, now);
    }
  }

  onResignDone(number: number, now: number, error?: ServiceError): void {
    this.pass(now);
    const call = this.takeCall(number);
    if (call?.sessionId !== this.sessionId) return;
    const refused = error !== undefined && !error.isSessionGone && error.isRefusedForNow;
    const unanswered = refused || error?.isTransient ? error : undefined;
    if (unanswered) this.replicaFailed(call.replica, unanswered.isSilence);
    if (call.seat === THE_SESSION) return this.onEndAnswered(error, refused, now);
    const seat = this.seats.find(call.seat)?.seat;
    if (!seat) return;
    if (unanswered) {
      const retryAt = refused
        ? this.within(REFUSED_FOR_NOW_MIN, REFUSED_FOR_NOW_MAX, now)
        : this.backoff(now);
      return seat.unanswered(unanswered, retryAt);
    }
    this.onResigned(call, seat, error, now);
  }

  private onEndAnswered(error: ServiceError | undefined, refused: boolean, now: number): void {
    this.endError = error?.isSessionGone ? undefined : error;
    const answered = !error || !(refused || error.isTransient);
    if (this.insistUntil === undefined) {
      this.ended = answered || this.endTries >= END_TRIES_MAX;
    } else {
      this.ended = answered || refused || now >= this.insistUntil;
      this.endAt = this.backoff(now);
    }
  }

  private onResigned(
    call: Call,
    seat: SeatMachine,
    error: ServiceError | undefined,
    now: number,
  ): void {
    const stale = error?.reason === "STALE_TERM";
    if (stale && call.term === 0) {
      // The place in the queue has become the seat.
      const term = Number(error.metadata["current_term"] ?? 0);
      if (!(term > 0)) return seat.unanswered(error, this.backoff(now));
      const leadership = Leadership.create({ election: seat.election, term });
      return seat.onElected(leadership, now, this.lease);
    }
    // If the term is stale, the session may still stand, but not as we assumed.
    const othersFirst = seat.outlivedLease ? 0 : this.lease.renewalInterval;
    seat.onResigned(call.term, stale, now + othersFirst);
  }

  onStreamMessage(stream: number, { message }: KeepAliveResponse, now: number): void {
    this.pass(now);
    if (stream !== this.stream) return;
    switch (message?.$case) {
      case "notice":
        return this.takeInNotice(message.value, now);
      case "sessionEnded":
        return this.sessionOver(message.value.cause, now);
      case "renewal":
        return this.takeInRenewal(message.value, now);
    }
  }

  onStreamClosed(stream: number, now: number, error?: ServiceError): void {
    this.pass(now);
    if (stream !== this.stream) return;
    if (error && this.isOverElsewhere(error, now)) this.sessionOver(Cause.EXPIRED, now);
    this.replicaFailed(this.streamReplica, false);
    this.stream = 0;
    this.renewalSent = undefined;
    this.openAt = this.backoff(now);
  }

  /**
   * Most endpoints belong to another service now. That ends the session; terms of the old service say
   * nothing about those of the new one.
   */
  onServiceReplaced(now: number): void {
    this.pass(now);
    this.sessionOver(Cause.EXPIRED, now);
    this.previousSessionId = "";
    this.seats.onServiceReplaced();
  }

  // Decisions.

  get isOpen(): boolean {
    return this.sessionId !== "";
  }

  decide(now: number): Effect[] {
    this.pass(now);
    const effects: Effect[] = [];
    if (this.moveOn) effects.push(this.moveOn);
    this.moveOn = undefined;
    this.closeDroppedStream(effects);
    if (this.ending) {
      this.decideEnd(now, effects);
    } else {
      this.decideStream(now, effects);
      this.decideSeats(now, effects);
    }
    return effects;
  }

  /** When to decide again if nothing happens before. */
  get nextWake(): number {
    if (this.ending && this.resignUntil === 0) {
      return this.calls.size === 0 && !this.ended ? this.endAt : NEVER;
    }
    let wake = this.ending ? this.resignUntil : NEVER;
    if (!this.ending && this.sessionId) wake = this.streamWake;
    for (const [number, entry] of this.seats.entries) {
      wake = Math.min(wake, entry.seat.nextWake(this.lease), this.callAt(number, entry));
    }
    return wake;
  }

  /** The news for each seat since the last call. */
  takeNews(): [number, SeatEvent][] {
    const news: [number, SeatEvent][] = [];
    for (const [number, { seat }] of this.seats.entries) {
      for (const event of seat.takeEvents()) {
        if (number > 0) news.push([number, event]);
      }
    }
    return news;
  }

  takeRenewals(): AnsweredRenewal[] {
    const renewals = this.renewals;
    this.renewals = [];
    return renewals;
  }

  /** Removes the seats that have nothing left to do, and returns their numbers. */
  takeGone(): number[] {
    return this.seats.takeGone().filter((number) => number > 0);
  }

  /** The time until which a seat's process may act as the leader; 0 if it does not lead. */
  believedUntil(number: number): number {
    return this.seats.find(number)?.seat.believedUntil(this.lease) ?? 0;
  }

  termOf(number: number): number {
    return this.seats.find(number)?.seat.term ?? 0;
  }

  // Time.

  private pass(now: number): void {
    for (const { seat } of this.seats.entries.values()) seat.pass(now, this.lease);
    if (this.renewalSent !== undefined && now >= this.renewalSent + this.answerPatience) {
      this.replicaFailed(this.streamReplica, true);
      this.dropStream();
      this.openAt = this.backoff(now);
    }
  }

  private get streamWake(): number {
    if (this.stream === 0) return this.openAt;
    if (this.renewalSent !== undefined) return this.renewalSent + this.answerPatience;
    return this.nextRenewal;
  }

  private decideStream(now: number, effects: Effect[]): void {
    if (!this.sessionId) return;
    if (this.stream !== 0 && this.renewalSent === undefined && now >= this.nextRenewal) {
      if (this.seats.anyInDoubt) {
        this.dropStream();
        this.closeDroppedStream(effects);
        this.openAt = now;
      } else {
        this.renew(now, effects);
      }
    }
    if (this.stream === 0 && now >= this.openAt) this.openStream(now, effects);
  }

  private openStream(now: number, effects: Effect[]): void {
    this.stream = ++this.lastNumber;
    this.streamReplica = this.replica;
    this.list = [];
    this.seats.listAsked();
    effects.push({ do: "open", stream: this.stream });
    this.renew(now, effects);
  }

  private renew(now: number, effects: Effect[]): void {
    this.renewalSent = now;
    const request = { sequence: ++this.sequence, sessionIds: [this.sessionId] };
    effects.push({ do: "renew", stream: this.stream, request });
  }

  private decideSeats(now: number, effects: Effect[]): void {
    for (const [number, entry] of this.seats.entries) {
      if (now >= this.callAt(number, entry)) this.callFor(number, entry, now, effects);
    }
  }

  /**
   * While no session is open, one call at a time, which opens the session for all of them. While it
   * is being ended, nobody campaigns.
   */
  private callAt(number: number, entry: Entry): number {
    if (this.ending && entry.seat.need === "campaign") return NEVER;
    const mayCall = this.calls.size < (this.sessionId ? CALLS_MAX : 1);
    return mayCall ? this.seats.callAt(number, entry) : NEVER;
  }

  private callFor(number: number, entry: Entry, now: number, effects: Effect[]): void {
    const { seat } = entry;
    const { term, need } = seat;
    if (!this.sessionId && need === "resign") {
      // A grant, if there was one, belongs to a session that nobody will ever know of or renew.
      this.requestId = randomBytes(16);
      return seat.onResigned(term, false, now);
    }
    const call = this.startCall(number, term, now);
    entry.called = true;
    const patience = this.answerPatience;
    if (need === "campaign") {
      seat.asked();
      effects.push({ do: "campaign", call, request: this.campaignRequest(seat), patience });
    } else {
      // Term 0: from the queue.
      const request = { sessionId: this.sessionId, election: seat.election, term };
      effects.push({ do: "resign", call, request, patience });
    }
  }

  private decideEnd(now: number, effects: Effect[]): void {
    if (now < this.resignUntil) {
      this.decideSeats(now, effects);
      for (const { seat } of this.seats.entries.values()) {
        if (seat.need === "resign") return;
      }
    }
    this.resignUntil = 0;
    if (this.calls.size > 0 || now < this.endAt) return;
    if (!this.sessionId) this.ended = true;
    if (this.ended) return;
    this.endTries++;
    const call = this.startCall(THE_SESSION, 0, now);
    const request = { sessionId: this.sessionId, election: "" };
    effects.push({ do: "resign", call, request, patience: this.answerPatience });
  }

  /** The stream is no longer useful. */
  private dropStream(): void {
    if (this.stream !== 0) this.droppedStream = this.stream;
    this.stream = 0;
    this.renewalSent = undefined;
  }

  private closeDroppedStream(effects: Effect[]): void {
    if (this.droppedStream !== 0) effects.push({ do: "close", stream: this.droppedStream });
    this.droppedStream = 0;
  }

  /** A call or stream on this replica failed, but should succeed on another. */
  private replicaFailed(replica: number, silent: boolean): void {
    if (replica !== this.replica) return; // no longer in use
    this.replica++;
    this.failures++;
    this.moveOn = { do: "anotherReplica", silent };
  }

  // What the service says.

  private onOpened(sessionId: string): void {
    this.sessionId = sessionId;
    this.requestId = randomBytes(16); // for the next one
    this.previousSessionId = "";
  }

  private sessionOver(cause: Cause, now: number): void {
    if (!this.sessionId) return;
    this.previousSessionId = cause === Cause.EXPIRED ? this.sessionId : "";
    this.sessionId = "";
    this.seats.forgetTerms();
    this.lease = new Lease();
    this.dropStream();
    for (const { seat } of this.seats.entries.values()) {
      seat.onSessionOver(cause, now);
      // Another session would supersede the process that took over.
      if (cause === Cause.SUPERSEDED) seat.onRefused(this.superseded(), now);
    }
  }

  /**
   * The replica belongs to another service, and the lease has expired: nothing is left of this
   * session, so a new one may be opened in whichever service the endpoints belong to.
   */
  private isOverElsewhere({ reason }: ServiceError, now: number): boolean {
    return reason === "WRONG_SERVICE" && this.sessionId !== "" && now >= this.lease.endsAt;
  }

  private superseded(): ServiceError {
    const details = `superseded by a newer session of ${this.options.candidate}`;
    return new ServiceError(Status.ABORTED, details);
  }

  private seatElected(leadership: Leadership, now: number): void {
    const { election, term, successor } = leadership;
    const { seat } = this.seats.actingIn(election) ?? this.addStray(election, now);
    seat.onElected(leadership, now, this.lease);
    if (successor) seat.onStepDownAsked(term, successor, now);
  }

  /** A seat in an election where this process does not stand. It will be given up. */
  private addStray(election: string, now: number): Entry {
    const entry = this.seats.add(this.nextStray--, { election });
    entry.seat.abandon(now);
    return entry;
  }

  private takeInNotice({ election, change }: SeatNotice, now: number): void {
    if (change?.$case === "elected") this.seatElected(change.value, now);
    const entry = this.seats.actingIn(election);
    if (!entry) return;
    switch (change?.$case) {
      case "elected":
        entry.noticedOn = this.stream;
        entry.inDoubt = false;
        break;
      case "lost":
        entry.seat.onLost(change.value.term, change.value.cause, now);
        break;
      case "stepDown":
        entry.seat.onStepDownAsked(change.value.term, change.value.successor, now);
    }
  }

  private takeInRenewal({ sequence, sessions, more }: Renewal, now: number): void {
    const session = sessions[0];
    if (!session || sessions.length !== 1) return;
    const { result, seats } = session;
    if (result?.$case === "ended") return this.sessionOver(result.value, now);
    if (result?.$case === "notFound") return this.sessionOver(Cause.EXPIRED, now);
    if (this.renewalSent !== undefined && sequence === this.sequence) {
      this.renewed(fromDuration(result?.value), this.renewalSent, now);
      this.renewalSent = undefined;
    }
    if (!this.list) return;
    this.list.push(...seats);
    if (!more) this.takeInList(this.list, now);
  }

  /** The seats count as listed once the last part of the list is here. */
  private takeInList(held: Leadership[], now: number): void {
    this.list = undefined;
    for (const leadership of held) this.seatElected(leadership, now);
    this.seats.listed(held, this.stream, now);
  }

  private renewed(leaseTtl: number, sentAt: number, now: number): void {
    this.failures = 0;
    this.renewals.push({ roundTrip: now - sentAt, margin: this.lease.believedUntil - now });
    this.lease.renewed(sentAt, leaseTtl);
    this.nextRenewal = sentAt + this.lease.renewalInterval;
  }

  // Internals.

  private startCall(seat: number, term: number, sentAt: number): number {
    const { sessionId, replica } = this;
    this.calls.set(++this.lastNumber, { seat, sessionId, term, replica, sentAt });
    return this.lastNumber;
  }

  private takeCall(number: number): Call | undefined {
    const call = this.calls.get(number);
    this.calls.delete(number);
    const entry = call && this.seats.find(call.seat);
    if (entry) entry.called = false;
    return call;
  }

  private campaignRequest(seat: SeatMachine): CampaignRequest {
    const { election, value, priority, afterTerm } = seat;
    const { candidate, leaseTtl, supersede } = this.options;
    const request = CampaignRequest.create({ election, candidate, value, priority });
    request.supersede = supersede ?? false;
    request.wait = toDuration(0); // the stream reports the election
    if (this.sessionId) {
      request.sessionId = this.sessionId;
      if (afterTerm) request.afterTerm = afterTerm;
      return request;
    }
    request.requestId = this.requestId;
    request.previousSessionId = this.previousSessionId;
    if (leaseTtl !== undefined) request.leaseTtl = toDuration(leaseTtl);
    return request;
  }

  /** Half of a heartbeat, so that a hanging replica costs less than one. */
  private get answerPatience(): number {
    const leaseTtl = this.lease.ttl || this.options.leaseTtl;
    if (leaseTtl === undefined) return ANSWER_PATIENCE_MAX;
    const half = Math.floor(leaseTtl / 6);
    return Math.min(Math.max(half, ANSWER_PATIENCE_MIN), ANSWER_PATIENCE_MAX);
  }

  private within(least: number, most: number, now: number): number {
    return now + least + Math.floor(this.random() * (most - least + 1));
  }

  private backoff(now: number): number {
    const longest = longestPause(Math.max(this.failures - 1, 0));
    return this.within(this.failures <= 1 ? 0 : longest / 2, longest, now);
  }
}

function causeOf(error: ServiceError): Cause {
  const name = error.metadata["cause"] ?? "";
  // An unknown session has expired and was deleted since.
  return Object.hasOwn(Cause, name) ? Cause[name as keyof typeof Cause] : Cause.EXPIRED;
}
