// The fake service for tests of applications: like the real one, with a clock that the test moves.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { type Client, Elector, NotElected, Observer, type Seat, SeatLost } from "../src/index.js";
import { FakeTenure } from "../src/testing.js";
import { clientOf, Renewals } from "./support/clients.js";
import { Service } from "./support/service.js";

/** The events of electors, in a word and a term each. */
function eventsOf(elector: Elector, name: string, into: string[]): void {
  for (const event of ["elected", "suspended", "resumed", "stepDown", "overrun"] as const) {
    elector.on(event, (seat: Seat) => into.push(`${name} ${event} ${seat.term}`));
  }
  elector.on("lost", (seat, cause) => into.push(`${name} lost ${seat.term} ${cause}`));
  elector.on("standing", (_, place) => into.push(`${name} standing ${place.position}`));
  elector.on("refused", () => into.push(`${name} refused`));
}

test("one candidate leads, and the next one when it has released the seat", async () => {
  const tenure = new FakeTenure();
  const first = new Elector(tenure.client({ candidate: "a" }));
  const second = new Elector(tenure.client({ candidate: "b" }));

  const seat = await first.lead("orders");
  const next = second.lead("orders");
  await tenure.settle();
  assert.equal(tenure.leader("orders")?.candidate, "a");
  await seat.release();

  assert.equal((await next).term, 2);
  assert.equal(tenure.leader("orders")?.candidate, "b");
});

test("nothing happens until the test moves the clock", async () => {
  const tenure = new FakeTenure();
  const elector = new Elector(tenure.client({ leaseTtlMs: 10 }));
  const seat = await elector.lead("orders");
  await sleep(50);

  assert.ok(seat.isLeader);
  assert.equal(seat.remainingMs, 9);
});

test("a lease is renewed while the clock moves", async () => {
  const tenure = new FakeTenure();
  const elector = new Elector(tenure.client());
  const seat = await elector.lead("orders");

  await tenure.advance(3_600_000);

  assert.ok(seat.isLeader);
  assert.equal(seat.term, 1);
});

test("an outage asks the work to stop, and then ends the term", async () => {
  const tenure = new FakeTenure();
  const elector = new Elector(tenure.client({ leaseTtlMs: 10_000 }));
  const told: string[] = [];
  eventsOf(elector, "a", told);
  const work: { seat?: Seat } = {};
  elector.stand("orders", async (seat) => {
    work.seat = seat;
    await new Promise((resolve) => seat.signal.addEventListener("abort", resolve));
  });
  await tenure.settle();
  const { seat } = work;
  assert.ok(seat?.isLeader);

  tenure.stop();
  await tenure.advance(6_000);
  assert.ok(seat.isLeader && !seat.signal.aborted);
  await tenure.advance(500); // 0.9 of the lease, less the grace of a quarter
  assert.ok(seat.signal.reason instanceof SeatLost);
  await tenure.advance(2_500);
  assert.ok(!seat.isLeader);
  await tenure.advance(5_000);
  assert.equal(tenure.leader("orders"), undefined);

  tenure.start();
  await tenure.advance(1_000);
  assert.equal(tenure.leader("orders")?.term, 2);
  assert.deepEqual(told.slice(0, 3), ["a elected 1", "a suspended 1", "a lost 1 RESIGNED"]);
});

test("a holder that is back before its lease ends leads in the next term", async () => {
  const tenure = new FakeTenure();
  const elector = new Elector(tenure.client({ candidate: "a", leaseTtlMs: 10_000 }));
  const told: string[] = [];
  eventsOf(elector, "a", told);
  elector.stand("orders");
  await tenure.settle();
  new Elector(tenure.client({ candidate: "b", leaseTtlMs: 60_000 })).stand("orders");
  await tenure.settle();

  tenure.stop();
  await tenure.advance(9_200);
  tenure.start();
  await tenure.advance(600);

  assert.deepEqual(told, ["a elected 1", "a suspended 1", "a lost 1 EXPIRED", "a elected 2"]);
  assert.equal(tenure.leader("orders")?.candidate, "a");
});

test("a process that was paused past its lease does not lead when it continues", async () => {
  const tenure = new FakeTenure();
  const seat = await new Elector(tenure.client({ leaseTtlMs: 10_000 })).lead("orders");
  const rival = tenure.rival("orders");

  tenure.jump(10_000);

  assert.ok(!seat.isLeader);
  assert.ok(rival.leads);
  const next = new Elector(tenure.client()).lead("orders");
  rival.resign();
  assert.equal((await next).term, 3);
});

test("waiting is limited by the clock of the fake", async () => {
  const tenure = new FakeTenure();
  await new Elector(tenure.client()).lead("orders");
  const failed: unknown[] = [];
  const waiting = new Elector(tenure.client()).lead("orders", { waitMs: 60_000 });
  waiting.catch((error) => failed.push(error));

  await tenure.advance(59_999);
  assert.equal(failed.length, 0);
  await tenure.advance(1);

  assert.ok(failed[0] instanceof NotElected);
});

test("an unreachable service is the cause of not being elected", async () => {
  const tenure = new FakeTenure();
  tenure.stop();
  const waiting = new Elector(tenure.client()).lead("orders", { waitMs: 0 });

  await assert.rejects(waiting, ({ cause }: NotElected) => /refused/.test(String(cause)));
});

test("a clock is not moved back", async () => {
  const tenure = new FakeTenure();
  for (const wrong of [-1, Number.NaN, Infinity]) {
    await assert.rejects(tenure.advance(wrong), RangeError);
    assert.throws(() => tenure.jump(wrong), RangeError);
  }
  assert.throws(() => tenure.appoint("orders", "nobody"), RangeError);
});

test("a cache grows older while the service is stopped, and recovers", async () => {
  const tenure = new FakeTenure();
  const cache = tenure.leaderCache({ names: ["orders/"], prefix: true });
  await cache.ready();
  const seat = await new Elector(tenure.client({ candidate: "a" })).lead("orders/1");
  await tenure.settle();
  assert.equal(cache.get("orders/1")?.leader?.candidate, "a");
  await tenure.advance(60_000);
  assert.ok(cache.ageMs <= 10_000);

  tenure.stop();
  await tenure.advance(60_000);
  assert.ok(cache.ageMs >= 60_000);
  tenure.start();
  await tenure.advance(5_000);

  assert.ok(!seat.isLeader);
  assert.ok(cache.ageMs <= 5_000);
  cache.close();
});

// The same scenes on a real service and on the fake.

interface Stage {
  client(candidate: string, options?: object): Client;
  observer(names: string[]): Observer;
  depose(election: string): void;
  appoint(election: string, candidate: string): void;
}

async function realStage(context: TestContext): Promise<Stage> {
  const service = await Service.start(context);
  const { endpoint: endpoints } = service;
  const client = (candidate: string, options = {}) =>
    clientOf(context, { endpoints, candidate, leaseTtlMs: 10_000, logger: null, ...options });
  const tool = (...words: string[]) => service.tool(...words);
  return {
    client,
    observer: (names) => new Observer({ endpoints, names, logger: null }),
    depose: (election) => tool("depose", election),
    appoint: (election, candidate) => tool("appoint", election, candidate),
  };
}

function fakeStage(): Stage {
  const tenure = new FakeTenure();
  return {
    client: (candidate, options = {}) =>
      tenure.client({ candidate, leaseTtlMs: 10_000, ...options }),
    observer: (names) => tenure.observer({ names }),
    depose: (election) => tenure.depose(election),
    appoint: (election, candidate) => tenure.appoint(election, candidate),
  };
}

/** Returns what an observer sees until this term has ended. */
async function changesUntil(stage: Stage, election: string, lastTerm: number): Promise<string[]> {
  const seen: string[] = [];
  for await (const change of stage.observer([election])) {
    if (change.kind === "snapshot") {
      seen.push(`snapshot ${change.snapshot.revision} ${change.snapshot.leader?.candidate}`);
    } else if (change.kind === "event") {
      const { revision, type, cause, leadership } = change.event;
      seen.push([revision, type, leadership?.candidate, leadership?.term, cause].join(" "));
      if (type === "TYPE_VACATED" && leadership?.term === lastTerm) break;
    }
  }
  return seen;
}

type Scene = (stage: Stage) => Promise<string[]>;

const SCENES: Record<string, Scene> = {
  "a queue is served in its order, and priorities first": async (stage) => {
    const told: string[] = [];
    const seats: Promise<Seat>[] = [];
    const observed = changesUntil(stage, "orders", 3);
    const priorities: [string, number][] = [
      ["a", 0],
      ["b", 0],
      ["c", 5],
    ];
    for (const [candidate, priority] of priorities) {
      const elector = new Elector(stage.client(candidate), { priority, value: `at ${candidate}` });
      eventsOf(elector, candidate, told);
      const answered = new Promise((resolve) => {
        elector.once("standing", resolve);
        elector.once("elected", resolve);
      });
      seats.push(elector.lead("orders"));
      await answered;
    }
    for (const index of [0, 2, 1]) {
      const seat = await seats[index]!;
      told.push(`${seat.leadership.candidate} has ${seat.leadership.value}`);
      await seat.release();
    }
    return [...told, ...(await observed)];
  },

  "a deposed leader is notified, and stands again": async (stage) => {
    const told: string[] = [];
    const metrics = new Renewals();
    const client = stage.client("a", { metrics });
    const elector = new Elector(client);
    eventsOf(elector, "a", told);
    const renewed = metrics.next();
    const candidacy = elector.stand("orders", async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    });
    await candidacy.wait();
    await renewed; // so the stream reports changes
    const again = new Promise((resolve) => elector.once("lost", resolve));
    stage.depose("orders");
    await again;
    told.push(`leads ${(await candidacy.wait()).term}`);
    await client.close();
    return told;
  },

  "an appointment moves the seat": async (stage) => {
    const told: string[] = [];
    const first = new Elector(stage.client("a"));
    eventsOf(first, "a", told);
    const seat = await first.lead("orders");
    const second = new Elector(stage.client("b"));
    const standing = new Promise((resolve) => second.once("standing", resolve));
    const next = second.lead("orders");
    await standing;
    const asked = new Promise((resolve) => first.once("stepDown", resolve));
    stage.appoint("orders", "b");
    await asked;
    told.push(`aborted ${seat.signal.aborted}, leads ${seat.isLeader}`);
    await seat.release();
    told.push(`b leads ${(await next).term}`);
    return told;
  },

  "a newer process of the same name takes over": async (stage) => {
    const told: string[] = [];
    const older = new Elector(stage.client("a"));
    eventsOf(older, "older", told);
    await older.lead("orders");
    const refused = new Promise((resolve) => older.once("refused", resolve));
    const newer = new Elector(stage.client("a", { supersede: true }));
    const seat = await newer.lead("orders");
    await refused;
    return [...told, `newer leads ${seat.term}`];
  },

  "a candidate that leaves the queue is not elected": async (stage) => {
    const first = new Elector(stage.client("a"));
    const seat = await first.lead("orders");
    const second = new Elector(stage.client("b"));
    const stop = new AbortController();
    const standing = new Promise((resolve) => second.once("standing", resolve));
    const waiting = second.lead("orders", { signal: stop.signal }).catch(String);
    await standing;
    stop.abort(new Error("enough"));
    await waiting;
    await second.close();
    await seat.release();
    const third = await new Elector(stage.client("c")).lead("orders");
    return [`${third.leadership.candidate} ${third.term}`];
  },
};

for (const [name, scene] of Object.entries(SCENES)) {
  test(`on the fake as on the service: ${name}`, async (context) => {
    const onTheService = await scene(await realStage(context));

    assert.deepEqual(await scene(fakeStage()), onTheService);
    assert.ok(onTheService.length > 0);
  });
}
