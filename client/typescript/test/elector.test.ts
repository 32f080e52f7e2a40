// Electors against a real service.

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { HolderClock } from "../src/clock.js";
import {
  Client,
  Elector,
  Event_Type,
  NotElected,
  Observer,
  type Seat,
  SeatLost,
  ServiceError,
} from "../src/index.js";
import { THIS_MACHINE } from "../src/surroundings.js";
import { aborted, clientOf, electorOf, Renewals } from "./support/clients.js";
import { freeAddress, Service } from "./support/service.js";
import { uncaught } from "./support/uncaught.js";

test("a block leads, and gives up the seat at its end", async (context) => {
  const service = await Service.start(context);
  const elector = electorOf(context, service, "a");
  let left: Seat;
  {
    await using seat = await elector.lead("orders");
    left = seat;
    assert.equal(seat.term, 1);
    assert.ok(seat.isLeader);
    assert.ok(seat.remainingMs > 0 && seat.remainingMs <= 1_800);
    assert.equal(seat.leadership.candidate, "a");
    seat.check();
  }

  assert.ok(!left.isLeader);
  assert.equal(left.remainingMs, 0);
  assert.throws(() => left.check(), SeatLost);
  const other = electorOf(context, service, "b");
  const seat = await other.lead("orders");
  assert.equal(seat.term, 2);
  await seat.release();
});

test("a waiting candidate leads when the leader has released the seat", async (context) => {
  const service = await Service.start(context);
  const seat = await electorOf(context, service, "a").lead("orders");
  const other = electorOf(context, service, "b");
  const standing = once(other, "standing");
  const next = other.lead("orders");
  const [, place] = await standing;
  assert.equal(place.position, 1);
  assert.equal(place.leader.candidate, "a");

  await seat.release();

  assert.equal((await next).term, 2);
});

test("an infinite wait is possible", async (context) => {
  const service = await Service.start(context);
  const seat = await electorOf(context, service, "a").lead("orders");
  const other = electorOf(context, service, "b");
  const standing = once(other, "standing");
  const next = other.lead("orders", { waitMs: Infinity });
  await Promise.race([standing, next]);

  await seat.release();

  assert.equal((await next).term, 2);
});

test("an elector that has given up a seat may stand again at once", async (context) => {
  const service = await Service.start(context);
  const elector = electorOf(context, service, "a");
  const seat = await elector.lead("orders");
  assert.throws(() => elector.stand("orders"), /already stands/);

  void seat.release();
  const next = await elector.lead("orders");
  assert.equal(next.term, 2);
  void next.release();
  const candidacy = elector.stand("orders");
  assert.equal((await candidacy.wait()).term, 3);
  candidacy.resign();

  const last = await elector.lead("orders");
  assert.equal(last.term, 4);
});

test("with a wait of 0, a candidate is not elected while another leads", async (context) => {
  const service = await Service.start(context);
  const seat = await electorOf(context, service, "a").lead("orders");
  const other = electorOf(context, service, "b");

  await assert.rejects(other.lead("orders", { waitMs: 0 }), NotElected);
  await assert.rejects(other.lead("orders", { waitMs: 0 }), NotElected);
  const controller = new AbortController();
  const waiting = other.lead("mail", { signal: controller.signal });
  assert.equal((await waiting).term, 1); // a signal that is not aborted changes nothing
  const stops = other.lead("books", { signal: AbortSignal.abort(new Error("enough")) });
  await assert.rejects(stops, /enough/);
  assert.ok(seat.isLeader);
});

test("a candidate that stops waiting leaves the queue", async (context) => {
  const service = await Service.start(context);
  const seat = await electorOf(context, service, "a").lead("orders");
  const other = electorOf(context, service, "b");
  const controller = new AbortController();
  const standing = once(other, "standing");
  const waiting = other.lead("orders", { signal: controller.signal });
  const [candidacy] = await standing;

  controller.abort(new Error("enough"));

  await assert.rejects(waiting, /enough/);
  await candidacy.gone;
  await seat.release();
  const third = await electorOf(context, service, "c").lead("orders");
  assert.equal(third.term, 2);
});

test("a candidate that stops waiting at the moment of its election does not keep the seat", async (context) => {
  const service = await Service.start(context);
  const client = clientOf(context, { endpoints: service.endpoint });
  const elector = new Elector(client);
  const controller = new AbortController();
  elector.once("elected", () => controller.abort(new Error("enough")));

  await assert.rejects(elector.lead("orders", { signal: controller.signal }), /enough/);

  const other = electorOf(context, service, "b");
  assert.equal((await other.lead("orders", { waitMs: 10_000 })).term, 2);
  await client.close();
});

test("work runs in each term, and events come in order", async (context) => {
  const service = await Service.start(context);
  const elector = electorOf(context, service, "a");
  const told: string[] = [];
  for (const name of ["elected", "stepDown", "lost", "overrun", "trouble"] as const) {
    elector.on(name, (...what: unknown[]) => {
      const [seat, ...more] = what as [Seat, ...unknown[]];
      told.push([name, seat.term, ...more].join(" "));
    });
  }
  const worked: number[] = [];
  const candidacy = elector.stand("orders", async (seat) => {
    worked.push(seat.term);
    if (seat.term < 3) return;
    const reason = await aborted(seat.signal);
    assert.ok(reason instanceof SeatLost);
    assert.ok(seat.isLeader, "it leads until its work has ended");
  });
  await candidacy.wait();
  while (candidacy.term < 3) await once(elector, "elected");

  await candidacy.close();

  assert.deepEqual(worked, [1, 2, 3]);
  const terms = [1, 2, 3].flatMap((term) => [`elected ${term}`, `lost ${term} RESIGNED`]);
  assert.deepEqual(told, terms);
});

test("an appointment ends the work, and then the term", async (context) => {
  const service = await Service.start(context);
  const elector = electorOf(context, service, "a");
  const seat = await elector.lead("orders");
  const other = electorOf(context, service, "b");
  const standing = once(other, "standing");
  const next = other.lead("orders");
  await standing;
  const asked = once(elector, "stepDown");

  service.tool("appoint", "orders", "b");

  const [asker, successor] = await asked;
  assert.equal(asker, seat);
  assert.equal(successor, "b");
  await aborted(seat.signal);
  assert.ok(seat.isLeader);
  await seat.release();
  assert.equal((await next).term, 2);
});

test("a seat that is taken away is lost at once", async (context) => {
  const service = await Service.start(context);
  const metrics = new Renewals();
  const elector = new Elector(clientOf(context, { endpoints: service.endpoint, metrics }));
  const renewed = metrics.next();
  const seat = await elector.lead("orders");
  const lost = once(elector, "lost");
  await renewed; // so the stream reports changes

  service.tool("depose", "orders");

  const [loser, cause] = await lost;
  assert.equal(loser, seat);
  assert.equal(cause, "DEPOSED");
  assert.ok(seat.signal.aborted);
  assert.ok(!seat.isLeader);
});

test("without answers the work is asked to stop, and then the belief ends", async (context) => {
  const service = await Service.start(context);
  const elector = electorOf(context, service, "a");
  const told: string[] = [];
  const seat = await elector.lead("orders");
  const lost = once(elector, "lost");
  for (const name of ["suspended", "overrun", "lost"] as const) {
    elector.on(name, () => told.push(name));
  }
  seat.signal.addEventListener("abort", () => told.push("stop"));

  service.pause();

  assert.equal((await lost)[1], "EXPIRED");
  assert.ok(!seat.isLeader);
  assert.deepEqual(told, ["suspended", "stop", "overrun", "lost"]);
  service.resume();
});

test("an outage that is shorter than the lease costs nothing", async (context) => {
  const service = await Service.start(context);
  const elector = new Elector(
    clientOf(context, { endpoints: service.endpoint, candidate: "a", leaseTtlMs: 10_000 }),
  );
  const seat = await elector.lead("orders");
  elector.on("lost", () => assert.fail("lost"));
  const suspended = once(elector, "suspended");
  const resumed = once(elector, "resumed");
  await service.stop();
  await suspended;
  assert.ok(seat.isLeader);

  await service.start();

  await resumed;
  assert.ok(seat.isLeader);
  elector.removeAllListeners("lost");
});

test("a blocked event loop does not believe for longer", async (context) => {
  const service = await Service.start(context);
  const elector = electorOf(context, service, "a");
  const seat = await elector.lead("orders");
  const candidacy = elector.stand("mail");
  await candidacy.wait();

  // Nothing else runs meanwhile: neither timers nor answers.
  while (!seat.signal.aborted) continue;
  assert.ok(seat.isLeader, "asked to stop before the deadline");
  while (seat.isLeader) continue;
  assert.ok(!candidacy.isLeader);
  assert.equal(candidacy.term, 0);
  assert.throws(() => seat.signal.throwIfAborted(), SeatLost);

  await candidacy.close();
});

test("a machine that has slept past the lease does not believe in it", async (context) => {
  const service = await Service.start(context);
  let slept = 0;
  const clock = new HolderClock({
    monotonic: () => Math.floor(performance.now() * 1_000),
    wall: () => Date.now() * 1_000 + slept,
    uptime: () => 0,
  });
  const client = clientOf(context, { endpoints: service.endpoint }, { ...THIS_MACHINE, clock });
  const elector = new Elector(client);
  const seat = await elector.lead("orders");
  let cause: string | undefined;
  elector.on("lost", (_, why) => (cause = why));

  slept = 1_900_000;

  assert.ok(!seat.isLeader);
  assert.ok(seat.signal.aborted);
  assert.equal(cause, "EXPIRED");
  await seat.release();
});

test("a failing listener affects nothing else", async (context) => {
  const service = await Service.start(context);
  const elector = electorOf(context, service, "a");
  const thrown = uncaught(context);
  elector.once("elected", () => {
    throw new Error("a listener");
  });
  const elected = once(elector, "elected"); // another one

  const seat = await elector.lead("orders");

  assert.ok(seat.isLeader);
  assert.match(String(await thrown), /a listener/);
  assert.equal((await elected)[0], seat);
});

test("failing metrics affect nothing else", async (context) => {
  const service = await Service.start(context);
  const metrics = new Renewals();
  const elector = new Elector(clientOf(context, { endpoints: service.endpoint, metrics }));
  const thrown = uncaught(context);
  context.mock.method(metrics, "countEvent").mock.mockImplementationOnce(() => {
    throw new Error("a metric");
  });

  const seat = await elector.lead("orders");

  assert.ok(seat.isLeader);
  assert.match(String(await thrown), /a metric/);
});

test("run stands again, until its signal", async (context) => {
  const service = await Service.start(context);
  const elector = electorOf(context, service, "a");
  const controller = new AbortController();
  const terms: number[] = [];
  const { signal } = controller;

  await elector.run(
    "orders",
    async (seat) => {
      terms.push(seat.term);
      if (seat.term === 1) seat.signal.throwIfAborted();
      if (seat.term < 2) return;
      controller.abort();
      await sleep(60_000, undefined, { signal: seat.signal }); // an AbortError is no failure
    },
    { signal },
  );

  assert.deepEqual(terms, [1, 2]);
});

test("run ends while the service cannot be reached", async (context) => {
  const service = await Service.start(context);
  const client = clientOf(context, { endpoints: service.endpoint });
  const controller = new AbortController();
  let ended = false;

  await new Elector(client).run(
    "orders",
    async (seat) => {
      await service.stop();
      controller.abort();
      await aborted(seat.signal);
      ended = true;
    },
    { signal: controller.signal },
  );

  assert.ok(ended, "not before its work");
});

test("an elector that shares its client is closed while the service cannot be reached", async (context) => {
  const service = await Service.start(context);
  const elector = electorOf(context, service, "a");
  const candidacy = elector.stand("orders");
  await candidacy.wait();
  await service.stop();

  await elector.close();

  assert.ok(!candidacy.isLeader);
});

test("run rejects when the work does, and gives up the seat", async (context) => {
  const service = await Service.start(context);
  const elector = electorOf(context, service, "a");

  const running = elector.run("orders", () => Promise.reject(new Error("broken")));

  await assert.rejects(running, /broken/);
  const seat = await electorOf(context, service, "b").lead("orders");
  assert.equal(seat.term, 2);
});

test("failed work is reported, and its elector stands again", async (context) => {
  const service = await Service.start(context);
  const elector = electorOf(context, service, "a");
  const failed = once(elector, "error").catch((error: unknown) => [error]);
  const candidacy = elector.stand("orders", (seat) => {
    if (seat.term === 1) throw new Error("broken");
  });

  assert.match(String((await failed)[0]), /broken/);

  while (candidacy.term < 2) await once(elector, "elected");
});

test("a job runs on the leader, and nowhere else", async (context) => {
  const service = await Service.start(context);
  const elector = electorOf(context, service, "a");
  const rival = electorOf(context, service, "b");
  const ran: string[] = [];
  const job = (who: Elector, name: string) => who.runIfLeader("nightly", () => void ran.push(name));

  for (let night = 1; night <= 2; night++) {
    assert.equal(await job(elector, "a"), true);
    assert.equal(await job(rival, "b"), false);
  }

  assert.deepEqual(ran, ["a", "a"]);
  const elected = once(rival, "elected");
  await elector.close();
  assert.equal(await job(elector, "a"), false);
  await elected;
  assert.equal(await job(rival, "b"), true);
  assert.deepEqual(ran, ["a", "a", "b"]);
});

test("a seat is not resigned while a job runs", async (context) => {
  const service = await Service.start(context);
  const client = clientOf(context, { endpoints: service.endpoint, leaseTtlMs: 10_000 });
  const elector = new Elector(client, { stopGraceMs: 100 });
  const seats: Seat[] = [];
  const short = elector.runIfLeader("nightly", async (seat) => {
    seats.push(seat);
    await sleep(60_000, undefined, { signal: seat.signal }); // an AbortError is no failure
  });
  let finish = () => {};
  let long!: Promise<boolean>;
  await new Promise<void>((begun) => {
    long = elector.runIfLeader("nightly", (seat) => {
      seats.push(seat);
      begun();
      return new Promise((resolve) => (finish = resolve));
    });
  });
  const rival = electorOf(context, service, "b");
  const standing = once(rival, "standing");
  const next = rival.lead("nightly");
  await standing;
  const overrun = once(elector, "overrun");

  service.tool("appoint", "nightly", "b");

  assert.equal(await short, true);
  await overrun; // the grace has passed
  assert.ok(seats.every((seat) => seat.isLeader && seat.signal.aborted));
  assert.equal(await elector.runIfLeader("nightly", () => assert.fail("it must end")), false);
  finish();
  assert.equal(await long, true);
  assert.equal((await next).term, 2);
});

test("a job that begins with its term holds the seat, too", async (context) => {
  const service = await Service.start(context);
  const elector = electorOf(context, service, "a");
  let finish = () => {};
  const told = new Promise((resolve) => {
    for (const name of ["overrun", "lost"] as const) elector.once(name, () => resolve(name));
  });
  const begun = new Promise<Promise<boolean>[]>((resolve) => {
    elector.once("elected", () => {
      const job = elector.runIfLeader("nightly", (seat) => {
        while (!seat.signal.aborted) continue; // the event loop is blocked
        return new Promise((resolve) => (finish = resolve));
      });
      resolve([job]);
    });
  });

  await elector.runIfLeader("nightly", () => {});

  assert.equal(await told, "overrun", "the seat is not given up");
  finish();
  assert.deepEqual(await Promise.all(await begun), [true]);
});

test("a newer session of the same candidate ends it for good", async (context) => {
  const service = await Service.start(context);
  const elector = electorOf(context, service, "a");
  const seat = await elector.lead("orders");
  const refused = once(elector, "refused");
  const { endpoint: endpoints } = service;
  const newer = new Elector(clientOf(context, { endpoints, candidate: "a", supersede: true }));

  const taken = await newer.lead("orders");

  assert.equal(taken.term, 2);
  assert.match(String((await refused)[1]), /superseded/);
  assert.ok(!seat.isLeader);
});

test("a final refusal of the service is an error", async (context) => {
  const service = await Service.start(context);
  const { endpoint: endpoints } = service;
  const elector = new Elector(clientOf(context, { endpoints, leaseTtlMs: 1 }));

  await assert.rejects(elector.lead("orders"), (error: unknown) => {
    assert.ok(error instanceof ServiceError);
    assert.equal(error.reason, "INVALID_LEASE_TTL");
    return true;
  });
});

test("another replica is used when one cannot be reached", async (context) => {
  const service = await Service.start(context);
  const endpoints = `${await freeAddress()},${service.endpoint},${await freeAddress()}`;
  const elector = new Elector(clientOf(context, { endpoints }));

  const seat = await elector.lead("orders");

  assert.ok(seat.isLeader);
});

test("when a replica hangs, another one keeps the seat", async (context) => {
  const first = await Service.start(context);
  const second = await Service.start(context, { store: first.store });
  const endpoints = `${first.endpoint},${second.endpoint}`;
  for (const hanging of [first, second]) {
    const metrics = new Renewals();
    const elector = new Elector(clientOf(context, { endpoints, leaseTtlMs: 6_000, metrics }));
    const seat = await elector.lead(`orders of ${hanging.endpoint}`);
    await metrics.next();
    hanging.pause();
    await metrics.next();
    await metrics.next();
    hanging.resume();
    assert.ok(seat.isLeader);
  }
});

test("a value is published, and changed", async (context) => {
  const service = await Service.start(context);
  const { endpoint: endpoints } = service;
  const elector = new Elector(clientOf(context, { endpoints }), { value: "one" });
  const candidacy = elector.stand("orders");
  const seat = await candidacy.wait();
  assert.equal(seat.leadership.value.toString(), "one");

  const observer = new Observer({ endpoints, names: ["orders"] });

  for await (const change of observer) {
    if (change.kind === "snapshot") candidacy.proclaim("two");
    if (change.kind !== "event") continue;
    assert.equal(change.event.type, Event_Type.PROCLAIMED);
    assert.equal(change.event.leadership?.value.toString(), "two");
    break;
  }
  assert.ok(seat.isLeader);
});

test("a closed client has no seats, and its electors are notified", async (context) => {
  const service = await Service.start(context);
  const client = clientOf(context, { endpoints: service.endpoint });
  const elector = new Elector(client);
  const seat = await elector.lead("orders");
  const plain = elector.stand("mail");
  await plain.wait();
  void aborted(seat.signal).then(() => seat.release());

  await client.close();

  assert.ok(!seat.isLeader);
  assert.ok(!plain.isLeader);
  await assert.rejects(plain.wait(), NotElected);
  assert.throws(() => elector.stand("orders"), /closed/);
  const other = electorOf(context, service, "b");
  assert.equal((await other.lead("orders", { waitMs: 0 })).term, 2);
});

test("a client is not closed while work runs", async (context) => {
  const service = await Service.start(context);
  const client = clientOf(context, { endpoints: service.endpoint });
  const elector = new Elector(client);
  const seat = await elector.lead("orders");

  await assert.rejects(client.close(1), /still running/);

  assert.ok(seat.isLeader, "the seat is kept");
  await seat.release();
  await client.close();
});

test("closing a client ends a wait at once, even if no replica can be reached", async () => {
  const elector = new Elector(await freeAddress());
  const waiting = elector.lead("orders");
  const stopped = assert.rejects(waiting, NotElected);

  await elector.close();

  await stopped;
});

test("malformed options are refused at once", () => {
  assert.throws(() => new Client({ endpoints: " ," }), RangeError);
  assert.throws(() => new Client({ candidate: "" }), RangeError);
  assert.throws(() => new Client({ candidate: "a\n" }), RangeError);
  assert.throws(() => new Client({ leaseTtlMs: -1 }), RangeError);
  const client = new Client();
  assert.throws(() => new Elector(client, { value: "x".repeat(4097) }), RangeError);
  assert.throws(() => new Elector(client, { stopGraceMs: Number.NaN }), RangeError);
  assert.throws(() => new Elector(client).stand("ü".repeat(128)), RangeError);
});
