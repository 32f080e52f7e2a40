// Calls carry the trace of their caller.

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { promisify } from "node:util";
import { before, type TestContext, test } from "node:test";

import { type Metadata, Server, ServerCredentials, status as Status } from "@grpc/grpc-js";
import {
  type Context,
  context as contexts,
  createContextKey,
  propagation,
  ROOT_CONTEXT,
} from "@opentelemetry/api";

import { Elector, Observer } from "../src/index.js";
import { ElectionServiceService } from "../src/stubs/tenure/v1/election.js";
import { clientOf } from "./support/clients.js";

const TRACE = createContextKey("trace");
const PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

before(() => {
  const storage = new AsyncLocalStorage<Context>();
  contexts.setGlobalContextManager({
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (context, call, self, ...args) => storage.run(context, () => call.apply(self, args)),
    bind: (_, target) => target,
    enable() {
      return this;
    },
    disable() {
      return this;
    },
  });
  propagation.setGlobalPropagator({
    fields: () => ["traceparent"],
    extract: (context) => context,
    inject: (context, carrier, setter) => {
      const trace = context.getValue(TRACE);
      if (trace) setter.set(carrier, "traceparent", String(trace));
    },
  });
});

const traced = <Result>(call: () => Result): Result =>
  contexts.with(ROOT_CONTEXT.setValue(TRACE, PARENT), call);

/** A service that refuses everything; returns its endpoint, and the calls received. */
async function recorder(context: TestContext) {
  const calls = new Map<string, Metadata>();
  let told = () => {};
  const first = new Promise<void>((resolve) => (told = resolve));
  const record = (name: string, metadata: Metadata) => {
    calls.set(name, metadata);
    told();
    return { code: Status.UNAVAILABLE, details: "a test" };
  };
  const server = new Server();
  server.addService(ElectionServiceService, {
    campaign: ({ metadata }: never, done: (error: object) => void) =>
      done(record("campaign", metadata)),
    observe: (call: { metadata: Metadata; destroy(error: object): void }) =>
      call.destroy(Object.assign(new Error("a test"), record("observe", call.metadata))),
  } as never);
  const insecure = ServerCredentials.createInsecure();
  const port = await promisify(server.bindAsync.bind(server))("127.0.0.1:0", insecure);
  context.after(() => server.forceShutdown());
  return { endpoints: `127.0.0.1:${port}`, calls, first };
}

test("a campaign belongs to the trace of its caller", async (context) => {
  const { endpoints, calls, first } = await recorder(context);
  const elector = new Elector(clientOf(context, { endpoints, logger: null }));

  traced(() => elector.stand("orders"));

  await first;
  assert.deepEqual(calls.get("campaign")?.get("traceparent"), [PARENT]);
});

test("an observation belongs to the trace of its caller", async (context) => {
  const { endpoints, calls, first } = await recorder(context);
  using observer = traced(() => new Observer({ endpoints, names: ["orders"], logger: null }));

  void observer[Symbol.asyncIterator]().next();

  await first;
  assert.deepEqual(calls.get("observe")?.get("traceparent"), [PARENT]);
});

test("without a trace none is sent", async (context) => {
  const { endpoints, calls, first } = await recorder(context);
  const elector = new Elector(clientOf(context, { endpoints, logger: null }));

  elector.stand("orders");

  await first;
  assert.deepEqual(calls.get("campaign")?.get("traceparent"), []);
});
