// Closing a client while replicas hang.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Elector, LeaderCache, NotElected, Observer } from "../src/index.js";
import { clientOf, electorOf } from "./support/clients.js";
import { Service } from "./support/service.js";

const LEASE_MS = 30_000; // no test waits for it to expire

test("a client that is closed while its replica hangs frees the seat through another one", async (context) => {
  const first = await Service.start(context);
  const { store } = first;
  const replicas = [first, await Service.start(context, { store })];
  replicas.push(await Service.start(context, { store }));
  const endpoints = replicas.map(({ endpoint }) => endpoint).join();
  const client = clientOf(context, { endpoints, leaseTtlMs: LEASE_MS });
  await new Elector(client).stand("orders").wait();

  // The replica in use, and the next one.
  const inUse = replicas.findIndex(
    ({ endpoint }) => endpoint === client["loop"]!["connection"].replica.endpoint,
  );
  replicas[inUse]!.pause();
  replicas[(inUse + 1) % 3]!.pause();
  await client.close();

  const other = electorOf(context, replicas[(inUse + 2) % 3]!, "b");
  const seat = await other.lead("orders");
  assert.equal(seat.term, 2);
  await seat.release();
});

test("a client that waits for replicas that hang is closed without a session", async (context) => {
  const first = await Service.start(context);
  const replicas = [first, await Service.start(context, { store: first.store })];
  const endpoints = replicas.map(({ endpoint }) => endpoint).join();
  const client = clientOf(context, { endpoints, leaseTtlMs: LEASE_MS });
  const [observer, cache] = [Observer, LeaderCache].map(
    (Kind) => new Kind({ endpoints, names: ["orders"] }),
  ) as [Observer, LeaderCache];
  for (const replica of replicas) replica.pause();
  const waiting = new Elector(client).lead("orders");
  const observing = observer[Symbol.asyncIterator]().next();
  const ready = cache.ready();

  await Promise.all([
    client.close(),
    observer.close(),
    cache.close(),
    assert.rejects(waiting, NotElected),
    assert.rejects(ready, /closed/),
  ]);

  assert.ok((await observing).done);
});
