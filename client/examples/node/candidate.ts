import { randomBytes } from "node:crypto";

import {
  type ClientDuplexStream,
  type ClientUnaryCall,
  Metadata,
  type ServiceError,
  status,
} from "@grpc/grpc-js";

import { complain, say, word } from "./lines.js";
import { Mailbox } from "./mailbox.js";
import { Replicas } from "./replicas.js";
import {
  CampaignRequest,
  type CampaignResponse,
  Cause,
  type ElectionServiceClient,
  type KeepAliveRequest,
  type KeepAliveResponse,
  type Renewal,
  ResignRequest,
  type ResignResponse,
  ResignResponse_Outcome,
} from "./tenure/v1/election.js";
import { now, sleep, toDuration, toMs } from "./time.js";

const TRUST = 0.9; // of a lease; the rest is for clocks that drift apart
const RENEWALS_PER_LEASE = 3;
const UNANSWERED_MAX = 2; // renewals, each for a sixth of the lease; then the replica hangs
const CHECK_PLACE_MS = 30_000; // how often to see that the place in the queue is still there

type Stream = ClientDuplexStream<KeepAliveRequest, KeepAliveResponse>;
interface Mail {
  stream?: Stream; // whose mail is not taken in when it was closed; none: only to wake up
  message?: KeepAliveResponse; // none: the stream has ended
}

/** run() makes all decisions, one after the other; a stream only puts into its mailbox. */
export class Candidate {
  private readonly mailbox = new Mailbox<Mail>();
  private stopping = false;
  private lease: number;

  private session = "";
  private previous = "";
  private requestId: Uint8Array = new Uint8Array();
  private campaignAt = 0;

  private granted = 0; // the term that the service says we hold
  private term = 0; // the one that we believe in, and that only before `until`
  private until = 0;
  private over = 0; // the last one in which our belief has ended: it never comes back
  private workAt = 0;

  private stream?: Stream;
  private streamClient: ElectionServiceClient;
  private openAt = 0;
  private renewAt = 0;
  private sequence = 0;
  private sentAt = new Map<number, number>(); // of the renewals that are not answered
  private believedAtOpen = 0;

  constructor(
    private readonly election: string,
    private readonly name: string,
    private readonly replicas: Replicas,
    private readonly ttl: number,
  ) {
    this.lease = ttl;
    this.streamClient = replicas.current();
    this.newSession("");
  }

  stop(): void {
    this.stopping = true;
    this.mailbox.put({});
  }

  private newSession(previous: string): void {
    this.closeStream();
    this.session = "";
    this.previous = previous;
    this.granted = 0;
    // The same in every retry: if an answer is lost, the retry finds the session that it opened.
    this.requestId = randomBytes(16);
    this.campaignAt = this.openAt = now();
  }

  async run(): Promise<void> {
    while (!this.stopping) {
      // Whatever the network says, or does not.
      if (this.term && now() >= this.until) this.stopWork("lost", { cause: "EXPIRED" });
      if (!this.term && now() >= this.campaignAt) await this.campaign();
      if (this.session && !this.stream && now() >= this.openAt) this.openStream();
      if (this.stream && now() >= this.renewAt) this.renew();
      if (this.term && now() >= this.workAt) this.work();

      const mail = await this.mailbox.take(this.due() - now());
      if (mail?.stream && mail.stream === this.stream) this.takeIn(mail.message);
    }
    await this.leave();
  }

  /** When the next thing is to be done by itself. */
  private due(): number {
    const due = this.term ? Math.min(this.until, this.workAt) : this.campaignAt;
    if (!this.session) return due;
    return Math.min(due, this.stream ? this.renewAt : this.openAt);
  }

  /** Longer work runs elsewhere, and asks the same before each step that matters. */
  private work(): void {
    this.workAt = now() + 1000;
    const left = Math.floor(this.until - now());
    // The term is the fencing token: pass it along with every write.
    if (left > 0) say("work", { term: this.term, left_ms: left });
  }

  /** Ends the belief for good. Work that runs elsewhere has to be waited for here. */
  private stopWork(event: string, why: Record<string, unknown>): void {
    if (this.term) say(event, { term: this.term, ...why });
    this.term = 0;
    this.over = Math.max(this.over, this.granted);
    this.campaignAt = now();
  }

  /** The service says that we hold the seat in this term. */
  private seat(term: number): void {
    if (this.term && term > this.term) this.stopWork("lost", { cause: "UNKNOWN" });
    this.granted = Math.max(this.granted, term);
    if (this.granted <= this.over) {
      this.campaignAt = now(); // which resigns it first
    } else if (!this.term && now() < this.until) {
      this.term = this.granted;
      this.workAt = now();
      say("elected", { election: this.election, term: this.term, candidate: this.name });
    }
  }

  /** Takes a place in the queue, or sees that it is still there. KeepAlive tells the rest. */
  private async campaign(): Promise<void> {
    const isOver = 0 < this.granted && this.granted <= this.over;
    if (isOver && !(await this.resign(this.election))) return;
    const request = CampaignRequest.fromPartial({
      election: this.election,
      candidate: this.name,
      sessionId: this.session,
      requestId: this.requestId,
      previousSessionId: this.previous,
      leaseTtl: toDuration(this.ttl),
      wait: toDuration(0),
    });
    const client = this.replicas.current();
    try {
      const answer = await answerOf<CampaignResponse>((done) =>
        client.campaign(request, new Metadata(), this.deadline(), done),
      );
      this.campaignAt = now() + CHECK_PLACE_MS;
      this.session = answer.session!.sessionId;
      this.previous = "";
      if (answer.outcome?.$case === "elected") this.seat(answer.outcome.value.term);
    } catch (caught) {
      const error = caught as ServiceError;
      complain(error);
      if (error.code === status.INVALID_ARGUMENT) process.exit(1);
      this.campaignAt = now() + this.replicas.failed(client);
      if (error.code === status.NOT_FOUND) {
        this.newSession("");
      } else if (error.code === status.FAILED_PRECONDITION) {
        this.renewAt = now(); // the session is over; the renewal tells why
      }
    }
  }

  /**
   * Leaves the election, or all and the session if it is "". False if that has to be repeated.
   *
   * Only when the work has stopped: once this call is on its way, another one may lead.
   */
  private async resign(election: string): Promise<boolean> {
    const request = ResignRequest.fromPartial({
      sessionId: this.session,
      election,
      term: election ? this.granted : undefined,
    });
    const client = this.replicas.current();
    try {
      const answer = await answerOf<ResignResponse>((done) =>
        client.resign(request, new Metadata(), this.deadline(), done),
      );
      if (election && answer.outcome !== ResignResponse_Outcome.SESSION_ENDED) {
        say("resigned", { term: this.granted });
      }
    } catch (caught) {
      const error = caught as ServiceError;
      complain(error);
      const gone = error.code === status.NOT_FOUND || error.code === status.FAILED_PRECONDITION;
      if (!gone) {
        this.campaignAt = now() + this.replicas.failed(client);
        return false;
      }
    }
    this.granted = 0;
    return true;
  }

  private async leave(): Promise<void> {
    this.over = this.granted; // nothing works any more
    const giveUpAt = now() + this.lease; // by then the service has taken the seat back
    while (this.session && now() < giveUpAt) {
      if ((!this.granted || (await this.resign(this.election))) && (await this.resign(""))) return;
      await sleep(this.campaignAt - now());
    }
  }

  private deadline(): { deadline: number } {
    return { deadline: Date.now() + this.lease / RENEWALS_PER_LEASE };
  }

  private openStream(): void {
    this.streamClient = this.replicas.current();
    const stream = this.streamClient.keepAlive();
    stream.on("data", (message: KeepAliveResponse) => this.mailbox.put({ stream, message }));
    stream.on("end", () => this.mailbox.put({ stream }));
    stream.on("error", (error: ServiceError) => {
      if (error.code !== status.CANCELLED) complain(error);
      this.mailbox.put({ stream });
    });
    this.stream = stream;
    this.believedAtOpen = this.term;
    this.sequence = 0;
    this.sentAt.clear();
    this.renewAt = now();
  }

  private closeStream(): void {
    if (!this.stream) return;
    this.stream.cancel();
    this.stream = undefined;
    this.openAt = now() + this.replicas.failed(this.streamClient);
  }

  private renew(): void {
    if (this.sentAt.size === UNANSWERED_MAX) return this.closeStream();
    this.sequence++;
    // The lease counts from before the request is sent: the service begins to count it later, so
    // our belief ends before its lease does, however long request and answer are on their way.
    this.sentAt.set(this.sequence, now());
    this.renewAt = now() + this.lease / RENEWALS_PER_LEASE / 2; // unless this one is answered
    this.stream!.write({ sequence: this.sequence, sessionIds: [this.session] });
  }

  private takeIn(answer: KeepAliveResponse | undefined): void {
    const message = answer?.message;
    if (!answer) {
      this.closeStream();
    } else if (message?.$case === "renewal") {
      this.takeInRenewal(message.value);
    } else if (message?.$case === "sessionEnded") {
      this.sessionEnded(message.value.cause);
    } else if (message?.value.election === this.election) {
      const { change } = message.value;
      if (change?.$case === "elected") {
        this.seat(change.value.term);
      } else if (change?.$case === "lost" && change.value.term === this.granted) {
        this.stopWork("lost", { cause: word(change.value.cause) });
        this.granted = 0;
      } else if (change?.$case === "stepDown" && change.value.term === this.granted) {
        this.stopWork("step_down", { successor: change.value.successor });
      }
    }
  }

  private takeInRenewal(renewal: Renewal): void {
    const { result, seats } = renewal.sessions[0];
    if (result?.$case !== "leaseTtl") {
      return this.sessionEnded(result?.$case === "ended" ? result.value : Cause.UNSPECIFIED);
    }
    this.replicas.failures = 0;
    this.lease = toMs(result.value);
    const sentAt = this.sentAt.get(renewal.sequence)!;
    this.until = Math.max(this.until, sentAt + TRUST * this.lease);
    this.renewAt = sentAt + this.lease / RENEWALS_PER_LEASE;
    for (const sequence of this.sentAt.keys()) {
      if (sequence <= renewal.sequence) this.sentAt.delete(sequence);
    }
    if (renewal.sequence === 1) {
      // The first of a stream lists what the session holds.
      const held = seats.find((seat) => seat.election === this.election);
      if (this.term && this.term === this.believedAtOpen && this.term !== held?.term) {
        this.stopWork("lost", { cause: "UNKNOWN" });
        this.granted = 0;
      }
      if (held) this.seat(held.term);
      if (held?.successor && held.term === this.granted) {
        this.stopWork("step_down", { successor: held.successor });
      }
    }
    if (this.granted) this.seat(this.granted);
  }

  private sessionEnded(cause: Cause): void {
    this.stopWork("lost", { cause: word(cause) });
    // To name a session that expired although this process lives gives the next a longer lease.
    this.newSession(cause === Cause.EXPIRED ? this.session : "");
  }
}

type Callback<Answer> = (error: ServiceError | null, answer: Answer) => void;

function answerOf<Answer>(call: (done: Callback<Answer>) => ClientUnaryCall): Promise<Answer> {
  return new Promise((resolve, reject) => {
    call((error, answer) => (error ? reject(error) : resolve(answer)));
  });
}
