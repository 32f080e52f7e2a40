// Plays tests/polyglot/vectors to the pure machines, as the C++ library's tests do.

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { status as Status } from "@grpc/grpc-js";

import type { Effect } from "../src/effects.js";
import { ServiceError } from "../src/errors.js";
import { MILLISECOND, NEVER, SECOND } from "../src/lease.js";
import { Observation, type Wish } from "../src/observation.js";
import type { SeatEvent } from "../src/seat.js";
import { chooseService } from "../src/service-choice.js";
import { Session } from "../src/session.js";
import {
  CampaignRequest,
  CampaignResponse,
  KeepAliveRequest,
  KeepAliveResponse,
  ObserveResponse,
  ResignRequest,
  Selector,
} from "../src/stubs/tenure/v1/election.js";
import { root } from "./support/repository.js";

type Json = any;

const VECTORS = process.env["TENURE_VECTORS"] ?? path.join(root, "tests/polyglot/vectors");
const START = 3600 * SECOND; // of a scenario; 0 is never

function* scenarios(machine: string): Generator<Json> {
  for (const name of readdirSync(VECTORS).filter((file) => file.endsWith(".json"))) {
    const file = JSON.parse(readFileSync(path.join(VECTORS, name), "utf8"));
    if (file.machine !== machine) continue;
    for (const scenario of file.scenarios) {
      const opening = scenario.opening ? file.openings[scenario.opening] : [];
      const steps = [...opening, ...(scenario.steps ?? [])];
      yield { options: file.options, ...scenario, steps };
    }
  }
}

const DURATIONS = ["leaseTtl", "wait", "heartbeatInterval"];

/** The generated code cannot read durations in protobuf's JSON form. */
function withDurations(json: Json): Json {
  if (Array.isArray(json)) return json.map(withDurations);
  if (typeof json !== "object" || json === null) return json;
  const entries = Object.entries(json).map(([key, value]) => {
    if (!DURATIONS.includes(key)) return [key, withDurations(value)];
    const [seconds, fraction = ""] = String(value).slice(0, -1).split(".");
    return [key, { seconds: Number(seconds), nanos: Number(fraction.padEnd(9, "0")) }];
  });
  return Object.fromEntries(entries);
}

interface Codec<Message> {
  fromJSON(json: unknown): Message;
  encode(message: Message): { finish(): Uint8Array };
  decode(bytes: Uint8Array): Message;
}

function toMessage<Message>(codec: Codec<Message>, json: Json): Message {
  return codec.fromJSON(withDurations(json));
}

/** As received from the wire, where fields may be absent. */
function canonical<Message>(codec: Codec<Message>, message: Message): Message {
  return codec.decode(codec.encode(message).finish());
}

function expectedMessage<Message>(codec: Codec<Message>, json: Json): Message {
  return canonical(codec, toMessage(codec, json));
}

/** A known sequence for each seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function errorOf({ error }: Json): ServiceError | undefined {
  if (!error) return undefined;
  const { code, reason, metadata, retry_delay_ms: retryDelayMs } = error;
  return new ServiceError(Status[code as keyof typeof Status], "", {
    reason,
    metadata,
    retryDelayMs,
  });
}

function microseconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : milliseconds * MILLISECOND;
}

class Player {
  private readonly session: Session;
  private readonly seats: number[] = [];
  private readonly requestIds: string[] = [];

  constructor(options: Json, seed: number) {
    const { candidate, supersede, lease_ttl_ms: leaseTtlMs } = options;
    const leaseTtl = microseconds(leaseTtlMs);
    this.session = new Session({ candidate, leaseTtl, supersede }, randomOf(seed));
  }

  /** The step's outcome, in the words of the vectors. */
  play(step: Json): Json {
    const now = START + step.at_ms * MILLISECOND;
    for (const [name, told] of Object.entries<Json>(step.input ?? {})) this.tell(name, told, now);
    const effects = this.session.decide(now).map((effect) => this.toldEffect(effect));
    const news = this.session.takeNews().map(([seat, event]) => ({ seat, ...toldEvent(event) }));
    const gone = this.session.takeGone();
    const wake = this.session.nextWake;
    const { endError, ended } = this.session;
    return {
      effects,
      news,
      gone,
      believed_until_ms: this.beliefs(),
      wake_ms: wake === NEVER ? undefined : milliseconds(Math.max(wake, now)),
      ended: ended ? Status[endError?.code ?? Status.OK] : undefined,
    };
  }

  private tell(name: string, told: Json, now: number): void {
    switch (name) {
      case "add":
        this.seats.push(told.seat);
        return this.session.add(told.seat, {
          election: told.election,
          value: Buffer.from(told.value ?? ""),
          priority: told.priority,
          hasWork: told.has_work,
          stopGrace: microseconds(told.stop_grace_ms),
          oneTerm: told.one_term,
        });
      case "proclaim":
        return this.session.proclaim(told.seat, Buffer.from(told.value), now);
      case "leave":
        return this.session.leave(told.seat, now);
      case "abandon":
        return this.session.abandon(told.seat, now);
      case "work_ended":
        return this.session.workEnded(told.seat, now);
      case "belief_ended":
        return this.session.beliefEnded(told.seat, now);
      case "end": {
        const until = microseconds(told.insist_until_ms);
        return this.session.end(now, until === undefined ? undefined : START + until);
      }
      case "campaign_done": {
        const answer = errorOf(told) ?? toMessage(CampaignResponse, told.response ?? {});
        return this.session.onCampaignDone(told.call, now, answer);
      }
      case "resign_done":
        return this.session.onResignDone(told.call, now, errorOf(told));
      case "stream_message": {
        const message = toMessage(KeepAliveResponse, told.message);
        return this.session.onStreamMessage(told.stream, message, now);
      }
      case "stream_closed":
        return this.session.onStreamClosed(told.stream, now);
      case "service_replaced":
        return this.session.onServiceReplaced(now);
      default:
        assert.fail(`an unknown input: ${name}`);
    }
  }

  private beliefs(): Json {
    const untils = this.seats.map((seat) => [seat, this.session.believedUntil(seat)] as const);
    return Object.fromEntries(
      untils.filter(([, until]) => until !== 0).map(([seat, until]) => [seat, milliseconds(until)]),
    );
  }

  private toldEffect(effect: Effect): Json {
    switch (effect.do) {
      case "campaign": {
        const request = CampaignRequest.fromPartial(effect.request);
        const id = request.requestId.toString("hex");
        if (id && !this.requestIds.includes(id)) this.requestIds.push(id);
        request.requestId = Buffer.alloc(0);
        const campaign: Json = {
          call: effect.call,
          request: canonical(CampaignRequest, request),
          patience_ms: effect.patience / MILLISECOND,
        };
        if (id) campaign.request_id = this.requestIds.indexOf(id) + 1;
        return { campaign };
      }
      case "resign": {
        const request = canonical(ResignRequest, effect.request);
        const patience_ms = effect.patience / MILLISECOND;
        return { resign: { call: effect.call, request, patience_ms } };
      }
      case "renew": {
        const request = canonical(KeepAliveRequest, effect.request);
        return { renew: { stream: effect.stream, request } };
      }
      case "open":
      case "close":
        return { [effect.do]: { stream: effect.stream } };
      case "anotherReplica":
        return { another_replica: { silent: effect.silent } };
    }
  }
}

function milliseconds(time: number): number {
  assert.ok(Number.isInteger(time), `${time} is not a whole number`);
  return (time - START) / MILLISECOND;
}

const EVENTS: Json = { handoverAsked: "handover_asked", stopWork: "stop_work" };

function toldEvent(event: SeatEvent): Json {
  const told: Json = { event: EVENTS[event.event] ?? event.event };
  if (event.event === "standing") told.position = event.place.position;
  if (event.event === "elected") told.term = event.leadership.term;
  if (event.event === "handoverAsked") told.successor = event.successor;
  if (event.event === "lost") told.cause = event.cause;
  if (event.event === "troubled" || event.event === "refused") told.code = Status[event.error.code];
  return told;
}

/** What a step expects, including everything that it leaves out. */
function expectedOf(step: Json): Json {
  const effects = (step.effects ?? []).map((effect: Json) => {
    const [[name, told]] = Object.entries<Json>(effect) as [[string, Json]];
    const codecs: Json = {
      campaign: CampaignRequest,
      resign: ResignRequest,
      renew: KeepAliveRequest,
    };
    if (!codecs[name]) return effect;
    return { [name]: { ...told, request: expectedMessage(codecs[name], told.request) } };
  });
  const { news = [], gone = [], believed_until_ms = {}, wake_ms, ended } = step;
  return { effects, news, gone, believed_until_ms, wake_ms, ended };
}

/** Any time within a range matches it. */
function matchRange(expected: Json, said: Json): void {
  const range = expected.wake_ms;
  if (!Array.isArray(range) || said.wake_ms === undefined) return;
  if (range[0] <= said.wake_ms && said.wake_ms <= range[1]) said.wake_ms = range;
}

for (const scenario of scenarios("session")) {
  for (const seed of [1, 2, 3]) {
    test(`session: ${scenario.name} (seed ${seed})`, () => {
      const player = new Player(scenario.options, seed);
      for (const step of scenario.steps) {
        const expected = expectedOf(step);
        const said = player.play(step);
        matchRange(expected, said);

        assert.deepEqual(said, expected, `in the step ${JSON.stringify(step)}`);
      }
    });
  }
}

for (const scenario of scenarios("observation")) {
  test(`observation: ${scenario.name}`, () => {
    const { names, prefix, from_revision: fromRevision } = scenario.wish;
    const observation = new Observation({ names, prefix, fromRevision } as Wish);
    for (const step of scenario.steps) {
      const text = JSON.stringify(step);
      if (step.message) {
        const message = toMessage(ObserveResponse, step.message);
        assert.equal(observation.note(message), step.verdict, text);
      }
      if (!step.selectors) continue;
      const asked = observation.request().selectors.map((one) => canonical(Selector, one));
      const expected = step.selectors.map((one: Json) => expectedMessage(Selector, one));
      const sorted = (list: Selector[]) => list.map((one) => JSON.stringify(one)).sort();
      assert.deepEqual(sorted(asked), sorted(expected), text);
    }
  });
}

for (const { name, known = "", pinned = false, answers, ...expected } of scenarios("service")) {
  test(`service: ${name}`, () => {
    const asked = answers.map(({ endpoint, service_id: serviceId }: Json) => ({
      endpoint,
      serviceId,
    }));

    const chosen = chooseService({ id: known, pinned }, asked);

    if (typeof chosen === "string") {
      const others = asked.filter(({ serviceId }: Json) => serviceId && serviceId !== chosen);
      const notUsed = others.map(({ endpoint }: Json) => endpoint);
      assert.equal(chosen, expected.chosen);
      assert.deepEqual(notUsed, expected.not_used ?? []);
    } else {
      const { code, reason = "", message = chosen.details } = expected.error;
      assert.deepEqual(
        [Status[chosen.code], chosen.reason, chosen.details],
        [code, reason, message],
      );
    }
  });
}
