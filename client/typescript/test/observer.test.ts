// Observers and caches against a real service.

import assert from "node:assert/strict";
import { once } from "node:events";
import { type TestContext, test } from "node:test";

import { status as Status } from "@grpc/grpc-js";

import {
  type Change,
  Event_Type,
  LeaderCache,
  Observer,
  type ObserverOptions,
  Progress,
  TermRefused,
} from "../src/index.js";
import { electorOf } from "./support/clients.js";
import { observedService } from "./support/observed.js";
import { freeAddress, Service } from "./support/service.js";
import { uncaught } from "./support/uncaught.js";

const PROGRESS = {
  message: { $case: "progress" as const, value: Progress.create() },
  serviceId: "",
};

function cacheOf(context: TestContext, options: ObserverOptions): LeaderCache {
  const leaders = new LeaderCache(options);
  context.after(() => leaders.close());
  return leaders;
}

/** Takes changes until a wanted one; returns the texts of all changes up to it. */
async function until(changes: AsyncIterator<Change>, wanted: (text: string) => boolean) {
  const texts: string[] = [];
  for (;;) {
    const { value: change, done } = await changes.next();
    assert.ok(!done, `ended after ${texts.join()}`);
    const text = textOf(change);
    if (text === "progress") continue;
    texts.push(text);
    if (wanted(text)) return texts;
  }
}

function textOf(change: Change): string {
  switch (change.kind) {
    case "snapshot":
      return `${change.snapshot.election} at ${change.snapshot.revision}`;
    case "event": {
      const { election, revision, type } = change.event;
      return `${election} ${revision} ${type.replace("TYPE_", "")}`;
    }
    case "progress":
      return "progress";
  }
}

test("every change is reported once, in order, despite failures", async (context) => {
  const service = await Service.start(context);
  const other = await Service.start(context, { store: service.store });
  const endpoints = `${service.endpoint},${other.endpoint}`;
  const observer = new Observer({ endpoints, names: ["orders"] });
  const changes = observer[Symbol.asyncIterator]();
  assert.deepEqual(await until(changes, () => true), ["orders at 0"]);
  const expected: string[] = [];
  const told: string[] = [];

  for (let round = 1; round <= 4; round++) {
    const broken = round % 2 === 0 ? service : other;
    const working = round % 2 === 0 ? other : service;
    const seat = await electorOf(context, working, `${round}`).lead("orders");
    await seat.release();
    expected.push(`orders ${2 * round - 1} ELECTED`, `orders ${2 * round} VACATED`);
    await broken.stop();
    told.push(...(await until(changes, (text) => text === `orders ${2 * round} VACATED`)));
    await broken.start();
  }

  assert.deepEqual(told, expected);
  await changes.return?.();
});

test("a second iteration continues where the first one ended", async (context) => {
  const service = await Service.start(context);
  const observer = new Observer({ endpoints: service.endpoint, names: ["ord"], prefix: true });
  const elector = electorOf(context, service, "a");
  await (await elector.lead("orders")).release();
  const told: string[] = [];

  for await (const change of observer) {
    if (textOf(change) === "progress") continue;
    told.push(textOf(change));
    break;
  }
  await (await elector.lead("orders")).release();
  for await (const change of observer) {
    if (textOf(change) !== "progress") told.push(textOf(change));
    if (textOf(change) === "orders 4 VACATED") break;
  }

  assert.deepEqual(told, ["orders at 2", "orders 3 ELECTED", "orders 4 VACATED"]);
});

test("an observer may begin with the first event", async (context) => {
  const service = await Service.start(context);
  await (await electorOf(context, service, "a").lead("orders")).release();
  const { endpoint: endpoints } = service;
  const observer = new Observer({ endpoints, names: ["orders"], fromRevision: 1 });
  const types: string[] = [];

  for await (const change of observer) {
    if (change.kind !== "event") continue;
    types.push(change.event.type);
    if (types.length === 2) break;
  }

  assert.deepEqual(types, [Event_Type.ELECTED, Event_Type.VACATED]);
});

test("a program that has stored the revisions of its elections resumes each where it was", async (context) => {
  const service = await Service.start(context);
  const elector = electorOf(context, service, "a");
  for (const [election, terms] of Object.entries({ "jobs/1": 1, "jobs/2": 3, "jobs/3": 1 })) {
    for (let term = 0; term < terms; term++) await (await elector.lead(election)).release();
  }
  const { endpoint: endpoints } = service;
  const stored = { "jobs/1": 2, "jobs/2": 4 };
  const wishes = [
    { names: ["jobs/1", "jobs/2", "jobs/3"], fromRevisions: stored },
    { names: ["jobs/"], prefix: true, fromRevisions: new Map(Object.entries(stored)) },
  ];

  for (const wish of wishes) {
    const seen: string[] = [];
    for await (const change of new Observer({ endpoints, ...wish })) {
      if (change.kind === "progress") break;
      if (change.kind === "event") seen.push(`${change.event.election} ${change.event.revision}`);
      else seen.push(`${change.snapshot.election} at ${change.snapshot.revision}`);
    }

    assert.deepEqual(seen.sort(), ["jobs/1 2", "jobs/2 4", "jobs/2 5", "jobs/2 6", "jobs/3 at 2"]);
  }
});

test("an observer that is closed ends", async (context) => {
  const service = await Service.start(context);
  const controller = new AbortController();
  const { signal } = controller;
  const observer = new Observer({ endpoints: service.endpoint, names: ["orders"], signal });

  for await (const change of observer) if (change.kind === "progress") controller.abort();

  for await (const change of observer) assert.fail(textOf(change));
});

test("an observer that reaches no replica reports it, keeps trying, and can be closed", async () => {
  const observer = new Observer({ endpoints: await freeAddress(), names: ["orders"] });
  let tries = 0;
  observer.on("broken", (error) => {
    assert.ok(error.isTransient);
    if (++tries === 3) observer.close();
  });

  for await (const change of observer) assert.fail(textOf(change));

  assert.equal(tries, 3);
});

test("a listener that fails does not end an observer", async (context) => {
  const endpoints = await observedService(context, (call) => {
    if (broken) call.write(PROGRESS);
    else call.emit("error", { code: Status.UNAVAILABLE, details: "draining" });
  });
  const observer = new Observer({ endpoints, names: ["orders"] });
  const thrown = uncaught(context);
  let broken = false;
  observer.on("broken", () => {
    broken = true;
    throw new Error("a listener");
  });

  for await (const change of observer) {
    assert.equal(change.kind, "progress");
    break;
  }

  assert.match(String(await thrown), /a listener/);
});

test("an error that may pass does not end an observer", async (context) => {
  const { UNAUTHENTICATED, UNKNOWN, INTERNAL, RESOURCE_EXHAUSTED } = Status;
  const observe = async (code: Status, reason: string): Promise<void> => {
    let broken: Error | undefined;
    const endpoints = await observedService(context, (call) => {
      if (broken) call.write(PROGRESS);
      else call.emit("error", new TermRefused(code, "for now", reason));
    });
    const observer = new Observer({ endpoints, names: ["orders"] });
    observer.on("broken", (error) => (broken = error));
    for await (const change of observer) {
      assert.equal(change.kind, "progress");
      break;
    }
  };

  const codes = [UNAUTHENTICATED, UNKNOWN, INTERNAL];
  await Promise.all([
    ...codes.map((code) => observe(code, "")),
    observe(RESOURCE_EXHAUSTED, "LIMIT_REACHED"),
  ]);
});

test("a final error ends an observer", async (context) => {
  const { PERMISSION_DENIED, INVALID_ARGUMENT, RESOURCE_EXHAUSTED } = Status;
  for (const [code, reason] of [
    [PERMISSION_DENIED, "PERMISSION_DENIED"],
    [INVALID_ARGUMENT, "INVALID_SELECTOR"],
    [RESOURCE_EXHAUSTED, "OBSERVE_TOO_WIDE"],
  ] as const) {
    const endpoints = await observedService(context, (call) =>
      call.emit("error", new TermRefused(code, "for good", reason)),
    );
    const observer = new Observer({ endpoints, names: ["orders"] });

    await assert.rejects(observer[Symbol.asyncIterator]().next(), { code, reason });
  }
});

test("a stream that is silent is given up", async (context) => {
  const first = await Service.start(context);
  const second = await Service.start(context, { store: first.store });
  const endpoints = `${first.endpoint},${second.endpoint}`;
  const observer = new Observer({ endpoints, names: ["orders"], silenceMaxMs: 1_000 });
  const told: string[] = [];
  const watching = (async () => {
    for await (const change of observer) {
      if (change.kind === "event") told.push(textOf(change));
      if (told.length === 2) return;
      if (change.kind === "snapshot") for (const service of [first, second]) service.pause();
    }
  })();
  assert.match(String((await once(observer, "broken"))[0]), /silent/);

  for (const service of [first, second]) service.resume();
  await (await electorOf(context, first, "a").lead("orders")).release();

  await watching;
  assert.deepEqual(told, ["orders 1 ELECTED", "orders 2 VACATED"]);
});

test("an observer may wait without a limit", async (context) => {
  const service = await Service.start(context);
  const { endpoint: endpoints } = service;
  const observer = new Observer({ endpoints, names: ["orders"], silenceMaxMs: Infinity });
  observer.on("broken", () => observer.close());

  const { value } = await observer[Symbol.asyncIterator]().next();

  assert.equal(value?.kind, "snapshot");
  observer.close();
});

test("malformed options are refused at once", () => {
  assert.throws(() => new Observer({ names: [] }), RangeError);
  assert.throws(() => new Observer({ names: [""] }), RangeError);
  assert.throws(() => new Observer({ names: ["a"], fromRevision: 0 }), RangeError);
  assert.throws(() => new Observer({ names: ["a"], fromRevision: 1.5 }), RangeError);
  for (const fromRevisions of [{ a: 0 }, { a: Number.NaN }, { b: 1 }, { "": 1 }]) {
    assert.throws(() => new Observer({ names: ["a"], fromRevisions }), RangeError);
  }
  const fromRevisions = { "b/1": 1 };
  assert.throws(() => new Observer({ names: ["a/"], prefix: true, fromRevisions }), RangeError);
  assert.throws(() => new Observer({ names: ["a"], silenceMaxMs: 0 }), RangeError);
});

test("a cache knows who leads", async (context) => {
  const service = await Service.start(context);
  const { endpoint: endpoints } = service;
  using leaders = new LeaderCache({ endpoints, names: ["shards/"], prefix: true });
  assert.equal(leaders.get("shards/7"), undefined);
  assert.ok(await leaders.ready());
  assert.deepEqual(leaders.get("shards/7"), { leader: undefined, term: 0, revision: 0 });
  assert.equal(leaders.get("orders"), undefined);
  const elected = once(leaders, "change");

  const seat = await electorOf(context, service, "a").lead("shards/7");

  assert.equal((await elected)[0], "shards/7");
  assert.equal(leaders.get("shards/7")?.leader?.candidate, "a");
  assert.ok(leaders.ageMs < 60_000);
  const vacated = once(leaders, "change");
  await seat.release();
  await vacated;
  assert.deepEqual(leaders.get("shards/7"), { leader: undefined, term: 1, revision: 2 });
});

test("a cache that was closed is never ready", async () => {
  const leaders = new LeaderCache({ endpoints: await freeAddress(), names: ["orders"] });
  assert.equal(await leaders.ready(1), false);

  leaders.close();

  await assert.rejects(leaders.ready(), /closed/);
});

test("a cache continues when its listener fails", async (context) => {
  const service = await Service.start(context);
  const leaders = cacheOf(context, { endpoints: service.endpoint, names: ["orders"] });
  const thrown = uncaught(context);
  leaders.once("change", () => {
    throw new Error("a listener");
  });

  assert.ok(await leaders.ready());

  assert.match(String(await thrown), /a listener/);
  const elected = once(leaders, "change");
  await electorOf(context, service, "a").lead("orders");
  assert.equal((await elected)[1].leader.candidate, "a");
});

test("a cache that was ready reports a refusal by the service", async (context) => {
  let refuse = () => {};
  const endpoints = await observedService(context, (call) => {
    call.write(PROGRESS);
    refuse = () => call.emit("error", { code: Status.PERMISSION_DENIED, details: "a new policy" });
  });
  const leaders = cacheOf(context, { endpoints, names: ["orders"] });
  assert.ok(await leaders.ready());
  const failed = once(leaders, "failed");

  refuse();

  assert.match(String((await failed)[0]), /a new policy/);
});
