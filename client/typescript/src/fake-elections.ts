// The elections of a service, in memory: for tests. Pure: `now` is an argument.
//
// It keeps the promises of election.proto that a client can see: terms rise, the queue is served by
// priority and then in order, a session that is not renewed ends with its lease.

import { Buffer } from "node:buffer";

import { SECOND, toDuration } from "./lease.js";
import {
  type CampaignRequest,
  Cause,
  Event,
  Event_Type,
  Leadership,
} from "./stubs/tenure/v1/election.js";

const LEASE_TTL_DEFAULT = 10 * SECOND;

export interface FakeSession {
  readonly id: string;
  readonly candidate: string;
  readonly leaseTtl: number;
  expiresAt: number;
}

interface Place {
  readonly session: FakeSession;
  readonly ticket: number;
  priority: number;
  value: Buffer;
}

export interface FakeElection {
  readonly name: string;
  term: number;
  leader: { place: Place; leadership: Leadership } | undefined;
  /** The waiting candidates, the next leader first. */
  queue: Place[];
  readonly events: Event[]; // revision 1 first
}

/** Notifies the owners of sessions, and observers. */
export interface FakeListener {
  onEvent(event: Event): void;
  onElected(session: FakeSession, leadership: Leadership): void;
  onLost(session: FakeSession, election: string, term: number, cause: Cause): void;
  onStepDown(session: FakeSession, election: string, term: number, successor: string): void;
  onEnded(session: FakeSession, cause: Cause): void;
}

function sort(queue: Place[]): void {
  queue.sort((a, b) => b.priority - a.priority || a.ticket - b.ticket);
}

export class FakeElections {
  readonly elections = new Map<string, FakeElection>();
  private readonly sessions = new Map<string, FakeSession>();
  private readonly endedBy = new Map<string, Cause>();
  private tickets = 0;

  constructor(private readonly listener: FakeListener) {}

  open(candidate: string, leaseTtl: number, now: number): FakeSession {
    const id = `fake-session-${this.sessions.size + this.endedBy.size + 1}`;
    const ttl = leaseTtl || LEASE_TTL_DEFAULT;
    const session = { id, candidate, leaseTtl: ttl, expiresAt: now + ttl };
    this.sessions.set(id, session);
    return session;
  }

  /** Undefined: the session has ended, or never existed. */
  find(id: string): FakeSession | undefined {
    return this.sessions.get(id);
  }

  /** Why a session has ended; undefined if there was none. */
  causeOf(id: string): Cause | undefined {
    return this.endedBy.get(id);
  }

  renew(session: FakeSession, now: number): void {
    session.expiresAt = now + session.leaseTtl;
  }

  electionOf(name: string): FakeElection {
    let election = this.elections.get(name);
    if (!election) {
      election = { name, term: 0, leader: undefined, queue: [], events: [] };
      this.elections.set(name, election);
    }
    return election;
  }

  /** The seats that a session holds. */
  seatsOf(session: FakeSession): Leadership[] {
    const held = [...this.elections.values()].filter(
      (one) => one.leader?.place.session === session,
    );
    return held.map(({ leader }) => leader!.leadership);
  }

  campaign(session: FakeSession, request: CampaignRequest, now: number): void {
    const { value, priority, supersede } = request;
    const election = this.electionOf(request.election);
    if (supersede) this.supersede(election, session, now);
    if (election.leader?.place.session === session) {
      if (request.afterTerm === election.term) return this.leadOn(election, request, now);
      election.leader.place.priority = priority;
      return this.proclaim(election, value, now);
    }
    const place = election.queue.find((one) => one.session === session);
    if (place) Object.assign(place, { value, priority });
    else election.queue.push({ session, value, priority, ticket: ++this.tickets });
    sort(election.queue);
    this.fill(election, now);
  }

  /** Leaves the seat or the queue; returns the term given up, or 0. */
  leave(election: FakeElection, session: FakeSession, now: number): number {
    election.queue = election.queue.filter((place) => place.session !== session);
    const { leader } = election;
    if (leader?.place.session !== session) return 0;
    const { term, successor } = leader.leadership;
    this.vacate(election, successor ? Cause.APPOINTED_AWAY : Cause.RESIGNED, now, successor);
    return term;
  }

  depose(election: FakeElection, now: number): void {
    const { leader } = election;
    if (!leader) return;
    const { leadership, place } = leader;
    this.vacate(election, Cause.DEPOSED, now);
    this.listener.onLost(place.session, election.name, leadership.term, Cause.DEPOSED);
  }

  /** Asks the leader to make way for a waiting candidate. */
  appoint(election: FakeElection, candidate: string, now: number): void {
    const appointed = election.queue.find(({ session }) => session.candidate === candidate);
    if (!appointed) throw new RangeError(`${candidate} does not wait in ${election.name}`);
    const { leader } = election;
    if (!leader) return this.grant(election, appointed, now);
    leader.leadership = { ...leader.leadership, successor: candidate };
    this.add(election, Event_Type.HANDOVER_ASKED, leader.leadership, Cause.UNSPECIFIED, now);
    const { session } = leader.place;
    this.listener.onStepDown(session, election.name, leader.leadership.term, candidate);
  }

  /** Ends the session. Its seats pass to waiting candidates. */
  end(session: FakeSession, cause: Cause, now: number): void {
    this.sessions.delete(session.id);
    this.endedBy.set(session.id, cause);
    for (const election of this.elections.values()) {
      election.queue = election.queue.filter((place) => place.session !== session);
      if (election.leader?.place.session === session) this.vacate(election, cause, now);
    }
    this.listener.onEnded(session, cause);
  }

  /** Ends the sessions whose leases have expired. */
  expire(now: number): void {
    for (const session of [...this.sessions.values()]) {
      if (session.expiresAt <= now) this.end(session, Cause.EXPIRED, now);
    }
  }

  /** When the next lease expires unless it is renewed. */
  get nextExpiry(): number {
    return Math.min(...[...this.sessions.values()].map(({ expiresAt }) => expiresAt));
  }

  /** The leader ends its term, and gets the next one unless a waiting candidate is appointed. */
  private leadOn(election: FakeElection, request: CampaignRequest, now: number): void {
    const { place, leadership } = election.leader!;
    const { value, priority } = request;
    const next = { session: place.session, value, priority, ticket: ++this.tickets };
    const { successor } = leadership;
    election.leader = undefined;
    this.add(election, Event_Type.VACATED, leadership, Cause.RESIGNED, now);
    if (!election.queue.some(({ session }) => session.candidate === successor)) {
      return this.grant(election, next, now);
    }
    election.queue.push(next);
    sort(election.queue);
    this.fill(election, now, successor);
  }

  private supersede(election: FakeElection, newer: FakeSession, now: number): void {
    const standing = [election.leader?.place, ...election.queue];
    for (const place of standing) {
      const { session } = place ?? {};
      if (!session || session === newer || session.candidate !== newer.candidate) continue;
      // The newer one takes the older one's place.
      election.queue.unshift({ ...place!, session: newer });
      this.end(session, Cause.SUPERSEDED, now);
    }
  }

  private proclaim(election: FakeElection, value: Buffer, now: number): void {
    const leader = election.leader!;
    if (value.equals(leader.leadership.value)) return;
    leader.leadership = { ...leader.leadership, value };
    this.add(election, Event_Type.PROCLAIMED, leader.leadership, Cause.UNSPECIFIED, now);
  }

  private vacate(election: FakeElection, cause: Cause, now: number, successor = ""): void {
    const { leadership } = election.leader!;
    election.leader = undefined;
    this.add(election, Event_Type.VACATED, leadership, cause, now);
    this.fill(election, now, successor);
  }

  private fill(election: FakeElection, now: number, successor = ""): void {
    if (election.leader) return;
    const queue = election.queue.filter(({ session }) => session.expiresAt > now);
    const appointed = queue.find(({ session }) => session.candidate === successor);
    const next = appointed ?? queue.find(({ priority }) => priority >= 0);
    if (next) this.grant(election, next, now);
  }

  private grant(election: FakeElection, place: Place, now: number): void {
    election.queue = election.queue.filter((one) => one !== place);
    const { candidate, leaseTtl } = place.session;
    const leadership = Leadership.create({ election: election.name, term: ++election.term });
    leadership.candidate = candidate;
    leadership.value = place.value;
    leadership.electedTime = new Date(now / 1_000);
    leadership.leaseTtl = toDuration(leaseTtl);
    election.leader = { place, leadership };
    this.add(election, Event_Type.ELECTED, leadership, Cause.UNSPECIFIED, now);
    this.listener.onElected(place.session, leadership);
  }

  private add(
    election: FakeElection,
    type: Event_Type,
    leadership: Leadership,
    cause: Cause,
    now: number,
  ): void {
    const revision = election.events.length + 1;
    const time = new Date(now / 1_000);
    const event = Event.create({ election: election.name, revision, type, cause });
    const told = { ...event, leadership, time };
    election.events.push(told);
    this.listener.onEvent(told);
  }
}
