// The term as metadata of real gRPC calls, and the guard on the other side.

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";

import {
  type CallOptions,
  ChannelCredentials,
  Client,
  type handleUnaryCall,
  Metadata,
  Server,
  ServerCredentials,
  type ServerOptions,
  type ServiceError as RpcError,
  status as Status,
} from "@grpc/grpc-js";

import { attach, fenceCalls, fenceOf, ServiceError, TermGuard, TermRefused } from "../src/index.js";

const METHOD = {
  path: "/test.Store/Append",
  requestStream: false as const,
  responseStream: false as const,
  requestSerialize: (text: string) => Buffer.from(text),
  requestDeserialize: String,
  responseSerialize: (text: string) => Buffer.from(text),
  responseDeserialize: String,
};

type Handler = handleUnaryCall<string, string>;
type Append = (metadata?: Metadata, options?: CallOptions) => Promise<string>;

/** Starts an application's server with one method; returns a function that calls it. */
async function store(context: TestContext, append: Handler, options?: ServerOptions) {
  const server = new Server(options);
  server.addService({ append: METHOD }, { append });
  const insecure = ServerCredentials.createInsecure();
  const port = await promisify(server.bindAsync.bind(server))("127.0.0.1:0", insecure);
  const client = new Client(`127.0.0.1:${port}`, ChannelCredentials.createInsecure());
  context.after(() => {
    client.close();
    server.forceShutdown();
  });
  const call: Append = (metadata = new Metadata(), callOptions = {}) =>
    new Promise((resolve, reject) => {
      const { path, requestSerialize, responseDeserialize } = METHOD;
      const done = (error: RpcError | null, answer?: string) => {
        if (error) reject(ServiceError.fromRpc(error));
        else resolve(answer!);
      };
      client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        "text",
        metadata,
        callOptions,
        done,
      );
    });
  return call;
}

async function reasonOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ServiceError || error instanceof TermRefused) return error.reason;
    return String(error);
  }
  return "";
}

test("a call carries its fence, whatever the election is called", async (context) => {
  const append = await store(context, (call, done) => {
    const { election, term } = fenceOf(call.metadata);
    done(null, `${election} ${term}`);
  });
  const election = "Bestellungen/Köln 🏛";

  assert.equal(await append(attach({ election, term: 7 })), `${election} 7`);
});

test("an interceptor attaches the current term, and sends nothing without one", async (context) => {
  let calls = 0;
  const append = await store(context, (call, done) => {
    calls++;
    done(null, String(fenceOf(call.metadata).term));
  });
  let term = 7;
  const options = { interceptors: [fenceCalls("orders", () => term)] };

  assert.equal(await append(new Metadata(), options), "7");
  assert.equal(await append(attach({ election: "orders", term: 3 }), options), "3");
  term = 0;
  await assert.rejects(append(new Metadata(), options), (error: unknown) => {
    assert.ok(error instanceof ServiceError, "reported like any failed call");
    assert.equal(error.code, Status.FAILED_PRECONDITION);
    assert.equal(error.reason, "NOT_LEADER");
    return true;
  });

  assert.equal(calls, 2);
});

test("calls that share their metadata are fenced one by one", async (context) => {
  const append = await store(context, ({ metadata }, done) => {
    done(null, `${fenceOf(metadata).term} by ${metadata.get("authorization")}`);
  });
  let term = 7;
  const options = { interceptors: [fenceCalls("orders", () => term)] };
  const shared = new Metadata();
  shared.set("authorization", "me");

  assert.equal(await append(shared, options), "7 by me");
  term = 8;
  assert.equal(await append(shared, options), "8 by me");
  term = 0;
  assert.equal(await reasonOf(append(shared, options)), "NOT_LEADER");

  assert.deepEqual(Object.keys(shared.getMap()), ["authorization"]);
});

test("a fence that is malformed is refused", () => {
  const fence = { election: "orders", term: 7 };
  const twice = attach(fence);
  twice.add("tenure-term", "8");
  for (const term of ["", "0", "-1", "1.5", "x", "7 ", "99999999999999999999"]) {
    const metadata = attach(fence);
    metadata.set("tenure-term", term);
    assert.throws(() => fenceOf(metadata), { reason: "INVALID_TERM" }, term);
  }
  assert.throws(() => fenceOf(twice), { reason: "INVALID_TERM" });
  for (const election of [[], [0xff], [0x0a]]) {
    const metadata = attach(fence);
    metadata.set("tenure-election-bin", Buffer.from(election));
    assert.throws(() => fenceOf(metadata), { reason: "INVALID_ELECTION_NAME" });
  }
  assert.throws(() => fenceOf(new Metadata()), { reason: "INVALID_ELECTION_NAME" });
});

test("a guarded handler refuses older terms, and says which is the newest", async (context) => {
  const guard = new TermGuard();
  const append = await store(
    context,
    guard.unary("orders", async (_, { term }) => `in ${term}`),
  );

  assert.equal(await append(attach({ election: "orders", term: 7 })), "in 7");
  const stale = append(attach({ election: "orders", term: 6 }));
  await assert.rejects(stale, (error: ServiceError) => {
    assert.equal(error.code, Status.FAILED_PRECONDITION);
    assert.equal(error.reason, "STALE_TERM");
    assert.equal(error.metadata["current_term"], "7");
    return true;
  });
  assert.equal(await append(attach({ election: "orders", term: 7 })), "in 7");
  const others = append(attach({ election: "mail", term: 9 }));
  assert.equal(await reasonOf(others), "INVALID_ELECTION_NAME");
  assert.equal(await reasonOf(append()), "INVALID_ELECTION_NAME");
  assert.equal(guard.highest("orders"), 7);
});

test("a server's interceptor refuses older terms before the handler", async (context) => {
  const guard = new TermGuard();
  let calls = 0;
  const handler: Handler = (_, done) => {
    calls++;
    done(null, "done");
  };
  const guarded = (path: string) => (path === METHOD.path ? "orders" : undefined);
  const options = { interceptors: [guard.interceptor(guarded)] };
  const append = await store(context, handler, options);

  assert.equal(await append(attach({ election: "orders", term: 7 })), "done");
  const stale = append(attach({ election: "orders", term: 6 }));
  assert.equal(await reasonOf(stale), "STALE_TERM");

  assert.equal(calls, 1);
});

test("a server's interceptor refuses the call when its term cannot be kept", async (context) => {
  const guard = new TermGuard({ keep: () => Promise.reject(new Error("disk full")) });
  const options = { interceptors: [guard.interceptor(() => "orders")] };
  const append = await store(context, (_, done) => done(null, "done"), options);

  await assert.rejects(append(attach({ election: "orders", term: 7 })), {
    code: Status.UNKNOWN,
    details: "disk full",
  });
});

test("a call of a newer term waits until those of older ones have left", async () => {
  const guard = new TermGuard();
  const old = await guard.enterWith({ election: "orders", term: 1 });
  const beside = await guard.enterWith({ election: "orders", term: 1 });
  const order: string[] = [];
  const newer = guard.enterWith({ election: "orders", term: 2 }).then((entry) => {
    order.push("entered");
    return entry;
  });

  assert.equal(await reasonOf(guard.enterWith({ election: "orders", term: 1 })), "STALE_TERM");
  order.push("one left");
  old.leave();
  old.leave();
  await new Promise(setImmediate);
  order.push("the other left");
  beside.leave();

  (await newer).leave();
  assert.deepEqual(order, ["one left", "the other left", "entered"]);
  using again = await guard.enterWith({ election: "orders", term: 2 });
  assert.equal(again.fence.term, 2);
});

test("a call does not wait beyond its deadline", async () => {
  const guard = new TermGuard();
  await guard.enterWith({ election: "orders", term: 1 });

  const late = guard.enterWith({ election: "orders", term: 2 }, Date.now());

  await assert.rejects(late, { code: Status.UNAVAILABLE });
});

test(
  "setting the clock back does not make a call wait longer",
  { timeout: 20_000 },
  async (context) => {
    const guard = new TermGuard({ waitMaxMs: 50 });
    await guard.enterWith({ election: "orders", term: 1 });

    const late = guard.enterWith({ election: "orders", term: 2 });
    const anHourAgo = Date.now() - 3_600_000;
    context.mock.method(Date, "now", () => anHourAgo);

    await assert.rejects(late, { code: Status.UNAVAILABLE });
  },
);

test("a lower term than the call's is not stored", async () => {
  const kept = [NaN, 0];
  const guard = new TermGuard({
    keep: async ({ term }) => {
      kept.push(term);
      return kept.shift()!;
    },
  });
  const enter = () => guard.enterWith({ election: "orders", term: 7 });

  await assert.rejects(enter(), { code: Status.INTERNAL });
  await assert.rejects(enter(), /term 7 of election 'orders' is not stored: keep answered 0/);

  (await enter()).leave();
});

test("each newer term is kept once, before it is let in", async () => {
  const kept: number[] = [];
  let fails = true;
  const guard = new TermGuard({
    keep: async ({ term }) => {
      kept.push(term);
      await new Promise(setImmediate);
      if (fails) throw new Error("disk full");
      return Math.max(term, 5);
    },
  });
  const enter = (term: number) => guard.enterWith({ election: "orders", term });

  await assert.rejects(enter(3), /disk full/);
  fails = false;
  assert.equal(await reasonOf(enter(3)), "STALE_TERM"); // a higher one was kept
  const entries = await Promise.all([enter(6), enter(6)]);

  assert.deepEqual(kept, [3, 3, 6]);
  for (const entry of entries) entry.leave();
});

test("a term that is raised refuses older ones, and waits for nobody", async () => {
  const guard = new TermGuard({ electionsMax: 1 });
  await guard.enterWith({ election: "orders", term: 1 });

  guard.raise({ election: "orders", term: 4 });

  assert.equal(await reasonOf(guard.enterWith({ election: "orders", term: 3 })), "STALE_TERM");
  const other = guard.enterWith({ election: "mail", term: 1 });
  await assert.rejects(other, { code: Status.RESOURCE_EXHAUSTED });
});
