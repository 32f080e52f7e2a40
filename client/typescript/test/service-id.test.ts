// Some endpoints belong to another service: they work on another database.

import assert from "node:assert/strict";
import { once } from "node:events";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";

import { type sendUnaryData, Server, ServerCredentials } from "@grpc/grpc-js";

import { Client, Elector, LeaderCache, NotElected, Observer, ServiceError } from "../src/index.js";
import { ElectionServiceService } from "../src/stubs/tenure/v1/election.js";
import { clientOf, electorOf, Renewals } from "./support/clients.js";
import { Lines } from "./support/lines.js";
import { freeAddress, Service, temporaryFolder } from "./support/service.js";

function storeIn(folder: string, name: string): string {
  return `sqlite:${path.join(folder, name)}`;
}

/** Replicas on the databases of these names. */
async function replicasOn(context: TestContext, ...names: string[]): Promise<Service[]> {
  const folder = temporaryFolder(context);
  const services: Service[] = [];
  for (const name of names) {
    services.push(await Service.start(context, { store: storeIn(folder, name) }));
  }
  return services;
}

const endpointsOf = (services: Service[]) => services.map(({ endpoint }) => endpoint).join();

async function idOf(context: TestContext, service: Service): Promise<string> {
  const client = clientOf(context, { endpoints: service.endpoint, logger: null });
  const seat = await new Elector(client).lead("id");
  const id = client["loop"]!["connection"].service;
  await seat.release();
  await client.close();
  return id;
}

test("one endpoint of another service elects no second leader, and is named once", async (context) => {
  const services = await replicasOn(context, "a", "a", "b");
  const endpoints = endpointsOf(services);
  const [ours, other] = [await idOf(context, services[0]!), await idOf(context, services[2]!)];
  const leaders: number[] = [];
  const lines: Lines[] = [];
  for (let i = 0; i < 6; i++) {
    const logger = new Lines();
    lines.push(logger);
    const client = clientOf(context, { endpoints, candidate: `${i}`, logger });
    const elector = new Elector(client);
    await elector.lead("orders", { waitMs: 0 }).then(
      () => leaders.push(i),
      (error) => assert.ok(error instanceof NotElected),
    );
  }

  assert.deepEqual(leaders, [0]);
  const { endpoint } = services[2]!;
  const warning = `warn: ${endpoint} belongs to service ${other}, not to ${ours}: its replica works on another database; it is not used`;
  for (const logger of lines) {
    await logger.until(/^warn/);
    const warnings = logger.all.filter((line) => line.startsWith("warn"));
    assert.deepEqual(warnings, [warning]);
  }
});

test("an endpoint of another service is named even if it answers late", async (context) => {
  const services = await replicasOn(context, "a", "a");
  let answer = () => {};
  const server = new Server();
  server.addService(
    ElectionServiceService as never,
    {
      identify: (_: never, done: sendUnaryData<unknown>) => {
        const response = { serviceId: "f".repeat(32), version: "late" };
        answer = () => done(null, response);
        asked.abort();
      },
    } as never,
  );
  const asked = new AbortController();
  const credentials = ServerCredentials.createInsecure();
  const port = await promisify(server.bindAsync.bind(server))("127.0.0.1:0", credentials);
  context.after(() => server.forceShutdown());
  const late = `127.0.0.1:${port}`;
  const logger = new Lines();
  // Long enough for a busy machine: an endpoint may take a part of the lease to answer.
  const endpoints = `${endpointsOf(services)},${late}`;
  const client = clientOf(context, { endpoints, leaseTtlMs: 60_000, logger });

  const seat = await new Elector(client).lead("orders");
  if (!asked.signal.aborted) await once(asked.signal, "abort");
  answer();

  await logger.until(new RegExp(`^warn: ${late} belongs to service f{32}`));
  assert.ok(seat.isLeader);
  await seat.release();
});

test("without a majority nobody is elected, until the service is named", async (context) => {
  const services = await replicasOn(context, "a", "b");
  const endpoints = endpointsOf(services);
  const logger = new Lines();
  const elector = new Elector(clientOf(context, { endpoints, logger }));

  await assert.rejects(elector.lead("orders", { waitMs: 0 }), ({ cause }: NotElected) => {
    assert.ok(cause instanceof ServiceError);
    assert.equal(cause.reason, "WRONG_SERVICE");
    return true;
  });

  const different =
    /^warn: the endpoints belong to different services: .*; set service_id to the right one; still trying$/;
  logger.assertAre(different);
  const serviceId = await idOf(context, services[1]!);
  const named = new Elector(clientOf(context, { endpoints, serviceId, logger: null }));
  const seat = await named.lead("orders");
  assert.equal(services[1]!.tool("--json", "leader", "orders").includes('"term"'), true);
  await seat.release();
});

test("a service that is named and that no endpoint belongs to is not replaced", async (context) => {
  const [service] = await replicasOn(context, "a");
  const logger = new Lines();
  const serviceId = "0".repeat(32);
  const options = { endpoints: service!.endpoint, serviceId, logger };
  const elector = new Elector(clientOf(context, options));

  await assert.rejects(elector.lead("orders", { waitMs: 0 }), NotElected);

  logger.assertAre(
    /^warn: no endpoint belongs to service 0{32}: .*; correct the endpoints or service_id; still trying$/,
  );
});

test("a service that is replaced under a leader ends its term long before its lease", async (context) => {
  const folder = temporaryFolder(context);
  const first = await Service.start(context, { store: storeIn(folder, "a") });
  const { endpoint } = first;
  const logger = new Lines();
  const client = clientOf(context, { endpoints: endpoint, leaseTtlMs: 3_600_000, logger });
  const elector = new Elector(client);
  const seats: number[] = [];
  elector.on("elected", (seat) => seats.push(seat.term));
  const candidacy = elector.stand("orders");
  const seat = await candidacy.wait();
  const lost = once(elector, "lost");

  await first.stop();
  await Service.start(context, { store: storeIn(folder, "b"), endpoint });

  const [, cause] = await lost;
  assert.equal(cause, "EXPIRED");
  assert.ok(!seat.isLeader);
  while (seats.length < 2) await once(elector, "elected");
  assert.deepEqual(seats, [1, 1]);
  assert.ok(!seat.isLeader, "the seat belongs to the old service");
  await logger.until(
    /^warn: 127\S+ belongs to service \S+, not to \S+: its replica works on another database/,
  );
  await logger.until(
    /^warn: most endpoints belong to service \S+ now, not to \S+: the service was/,
  );
});

test("a client that could only reach a wrong endpoint moves to the service of the others", async (context) => {
  const folder = temporaryFolder(context);
  const wrong = await Service.start(context, { store: storeIn(folder, "b") });
  const right = [await freeAddress(), await freeAddress()];
  const endpoints = [wrong.endpoint, ...right].join();
  const logger = new Lines();
  const elector = new Elector(clientOf(context, { endpoints, leaseTtlMs: 3_600_000, logger }));
  const seat = await elector.stand("orders").wait();
  await electorOf(context, wrong, "other").lead("mail");
  const cache = new LeaderCache({ endpoints, names: ["orders", "mail"], logger: null });
  context.after(() => cache.close());
  await cache.ready();
  assert.equal(cache.get("mail")?.leader?.candidate, "other");
  const lost = once(elector, "lost");
  const elected = once(elector, "elected");

  const store = storeIn(folder, "a");
  const services: Service[] = [];
  for (const endpoint of right) {
    services.push(await Service.start(context, { store, endpoint }));
  }

  assert.equal((await lost)[0], seat);
  assert.ok(!seat.isLeader);
  await elected;
  assert.match(services[0]!.tool("--json", "leader", "orders"), /"term"/);
  await logger.until(new RegExp(`^warn: ${wrong.endpoint} belongs to service `));
  while (cache.get("mail")?.leader?.candidate !== undefined || !cache.get("orders")?.leader) {
    await once(cache, "change");
  }
});

test("a wrong endpoint that a leader meets between its renewals costs no seat", async (context) => {
  const folder = temporaryFolder(context);
  const store = storeIn(folder, "a");
  const services = [
    await Service.start(context, { store }),
    await Service.start(context, { store }),
  ];
  const wrong = await freeAddress();
  const logger = new Lines();
  const metrics = new Renewals();
  const endpoints = `${endpointsOf(services)},${wrong}`;
  const client = clientOf(context, { endpoints, leaseTtlMs: 3_600_000, logger, metrics });
  const seat = await new Elector(client).lead("orders");

  await Service.start(context, { store: storeIn(folder, "b"), endpoint: wrong });
  for (const service of services) await service.stop();
  await logger.until(new RegExp(`^warn: ${wrong} belongs to service `));
  await Promise.all([metrics.next(), services[0]!.start()]);

  assert.ok(seat.isLeader);
  await seat.release();
});

test("an observer and a cache do not mix two services", async (context) => {
  const folder = temporaryFolder(context);
  const first = await Service.start(context, { store: storeIn(folder, "a") });
  const { endpoint } = first;
  const seat = await electorOf(context, first, "a").lead("orders/1");
  assert.equal(seat.term, 1);
  const logger = new Lines();
  const cache = new LeaderCache({ endpoints: endpoint, names: ["orders/"], prefix: true, logger });
  context.after(() => cache.close());
  await cache.ready();
  assert.equal(cache.get("orders/1")?.leader?.candidate, "a");

  await first.stop();
  const second = await Service.start(context, { store: storeIn(folder, "b"), endpoint });
  await logger.until(/^warn: most endpoints belong to service .* now/);
  await electorOf(context, second, "b").lead("orders/2");

  for (;;) {
    if (cache.get("orders/2")?.leader) break;
    await once(cache, "change");
  }
  assert.equal(cache.get("orders/1")?.leader, undefined);
  assert.equal(cache.get("orders/2")?.leader?.candidate, "b");
});

test("an observer leaves out endpoints of another service", async (context) => {
  const services = await replicasOn(context, "a", "b", "a");
  await electorOf(context, services[1]!, "other").lead("orders");
  await electorOf(context, services[0]!, "ours").lead("orders");

  for (let i = 0; i < 4; i++) {
    const endpoints = endpointsOf(services);
    for await (const change of new Observer({ endpoints, names: ["orders"], logger: null })) {
      assert.equal(change.kind, "snapshot");
      if (change.kind === "snapshot") assert.equal(change.snapshot.leader?.candidate, "ours");
      break;
    }
  }
});

test("a malformed service id is refused at once", () => {
  for (const serviceId of ["", "x", "A".repeat(32), "0".repeat(31), "0".repeat(33)]) {
    assert.throws(() => new Client({ serviceId }), { name: "RangeError", message: /serviceId/ });
    const observer = () => new Observer({ names: ["orders"], serviceId });
    assert.throws(observer, RangeError);
  }
});
