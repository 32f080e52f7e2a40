// What a client costs, however many electors it has.

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";

import { Registry } from "prom-client";

import { Elector } from "../src/index.js";
import { PromClientMetrics } from "../src/prom-client.js";
import { ElectionServiceClient } from "../src/stubs/tenure/v1/election.js";
import { clientOf, Renewals } from "./support/clients.js";
import { Service } from "./support/service.js";

test("1,000 electors use one session, one stream, one heartbeat a third of the lease", async (context) => {
  const service = await Service.start(context);
  let streams = 0;
  let renewals = 0;
  const { keepAlive } = ElectionServiceClient.prototype;
  context.mock.method(
    ElectionServiceClient.prototype,
    "keepAlive",
    function (this: ElectionServiceClient) {
      streams++;
      const stream = keepAlive.call(this);
      const { write } = stream;
      context.mock.method(stream, "write", (request: never) => {
        renewals++;
        return write.call(stream, request);
      });
      return stream;
    },
  );
  const metrics = new Renewals();
  const leaseTtlMs = 30_000;
  const client = clientOf(context, { endpoints: service.endpoint, leaseTtlMs, metrics });
  const electors = [new Elector(client), new Elector(client)];
  const begin = performance.now();

  const candidacies = Array.from({ length: 1_000 }, (_, i) =>
    electors[i % 2]!.stand(`orders ${i}`),
  );
  await Promise.all(candidacies.map((candidacy) => candidacy.wait()));
  await metrics.next();

  assert.ok(candidacies.every((candidacy) => candidacy.isLeader));
  assert.equal(service.tool("--json", "sessions").trim().split("\n").length, 1);
  assert.equal(streams, 1);
  const thirds = (performance.now() - begin) / (leaseTtlMs / 3);
  assert.ok(renewals <= thirds + 1, `${renewals} renewals in ${thirds} thirds of a lease`);
});

test("metrics have the names of the C++ library", async (context) => {
  const service = await Service.start(context);
  const registry = new Registry();
  const metrics = new PromClientMetrics(registry);
  const client = clientOf(context, { endpoints: service.endpoint, metrics });
  const elector = new Elector(client);
  const value = async (name: string) => {
    const found = await registry.getSingleMetric(name)!.get();
    return found.values.map(({ labels, value }) => ({ ...labels, value }));
  };

  const seat = await elector.lead("orders");
  const name = "orders";
  assert.deepEqual(await value("leader_election_master_status"), [{ name, value: 1 }]);
  const lost = once(elector, "lost");
  await seat.release();
  await lost;

  assert.deepEqual(await value("leader_election_master_status"), [{ name, value: 0 }]);
  assert.deepEqual(await value("leader_election_slowpath_total"), [{ name, value: 0 }]);
  assert.deepEqual(await value("tenure_client_elected_total"), [{ name, value: 1 }]);
  assert.deepEqual(await value("tenure_client_overruns_total"), [{ name, value: 0 }]);
  const cause = "RESIGNED";
  assert.deepEqual(await value("tenure_client_lost_total"), [{ name, cause, value: 1 }]);
  assert.deepEqual(await value("tenure_client_replica_changes_total"), [{ value: 0 }]);
  const text = await registry.metrics();
  assert.match(text, /^tenure_client_renewal_seconds_count/m);
  assert.match(text, /^tenure_client_renewal_margin_seconds_bucket\{le="7.5"\}/m);
});
