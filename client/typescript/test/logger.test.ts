// Problems are logged: which endpoint cannot be used and why, and who leads.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import { createServer, type Server, type Socket } from "node:net";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { createServer as createTlsServer } from "node:tls";
import { promisify } from "node:util";

import { Server as GrpcServer, ServerCredentials } from "@grpc/grpc-js";

import {
  Client,
  type ClientOptions,
  Elector,
  LeaderCache,
  NotElected,
  Observer,
  SeatLost,
  ServiceError,
  Tls,
} from "../src/index.js";
import { folderOf, makeAuthority, makeCertificate } from "./support/certificates.js";
import { clientOf } from "./support/clients.js";
import { startDatabase } from "./support/database.js";
import { Lines } from "./support/lines.js";
import { freeAddress, Service } from "./support/service.js";
import { uncaught } from "./support/uncaught.js";

const NOT_GRPC = "it does not speak gRPC; is it an HTTP port, or a database?";
const UNKNOWN_CA = "its certificate is not signed by a trusted CA";

/** Starts any kind of server; returns its endpoint. */
async function listening(context: TestContext, server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket.on("error", () => {})));
  server.on("secureConnection", (socket) => socket.on("error", () => {}));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  assert.ok(address && typeof address === "object");
  return `127.0.0.1:${address.port}`;
}

async function bound(server: GrpcServer): Promise<string> {
  const insecure = ServerCredentials.createInsecure();
  const port = await promisify(server.bindAsync.bind(server))("127.0.0.1:0", insecure);
  return `127.0.0.1:${port}`;
}

/** Checks what the first attempt logs, and how NotElected reports it. */
async function assertSays(
  context: TestContext,
  endpoints: string,
  reason: string | RegExp,
  options: ClientOptions = {},
): Promise<void> {
  const lines = new Lines();
  const client = clientOf(context, { endpoints, logger: lines, leaseTtlMs: 10_000, ...options });
  const text = typeof reason === "string" ? reason : reason.source;
  await assert.rejects(new Elector(client).lead("orders", { waitMs: 0 }), (error: unknown) => {
    assert.ok(error instanceof NotElected);
    assert.ok(error.cause instanceof ServiceError);
    assert.match(error.message, new RegExp(`not elected .*${endpoints}: `));
    if (typeof reason === "string") assert.equal(error.cause.details, `${endpoints}: ${text}`);
    return true;
  });
  if (typeof reason === "string") {
    lines.assertAre(`warn: cannot use ${endpoints}: ${text}; still trying`);
  } else {
    lines.assertAre(new RegExp(`^warn: cannot use ${endpoints}: ${text}; still trying$`));
  }
  await client.close();
}

test("nobody listens", async (context) => {
  await assertSays(context, await freeAddress(), "connection refused");
});

test("there is no such host", async (context) => {
  await assertSays(context, "replica.invalid:7070", "no such host");
});

test("nothing is answered", async (context) => {
  const options = { leaseTtlMs: 1_000 };
  const endpoint = await listening(context, createServer());
  await assertSays(context, endpoint, "no answer", options);
});

test("it is the service's port for metrics and health", async (context) => {
  const service = await Service.start(context);
  await assertSays(context, service.http, NOT_GRPC);
});

test("it is a web server", async (context) => {
  const http = createHttpServer((_, response) => response.end("hello"));
  await assertSays(context, await listening(context, http), NOT_GRPC);
  const http2 = createHttp2Server((_, response) => response.end("hello"));
  await assertSays(context, await listening(context, http2), NOT_GRPC);
  const proxy = createHttp2Server((_, response) => {
    response.writeHead(404);
    response.end();
  });
  await assertSays(context, await listening(context, proxy), NOT_GRPC);
});

test("it is a database", async (context) => {
  const { host, port } = await startDatabase(context);
  await assertSays(context, `${host}:${port}`, NOT_GRPC);
});

test("it is another gRPC service", async (context) => {
  const server = new GrpcServer();
  const endpoint = await bound(server);
  context.after(() => server.forceShutdown());

  const reason = "it speaks gRPC, but does not know this call; is it Tenure, and new enough?";
  await assertSays(context, endpoint, reason);
});

test("endpoints that are not Tenure do not hide the one that is", async (context) => {
  const service = await Service.start(context);
  const http2 = createHttp2Server((_, response) => response.end("hello"));
  const grpc = new GrpcServer();
  context.after(() => grpc.forceShutdown());
  const others = [await listening(context, http2), await bound(grpc)];
  const endpoints = [...others, service.endpoint].join();

  for (let i = 0; i < 8; i++) {
    // Each client starts at a random one.
    const client = clientOf(context, { endpoints, candidate: `${i}`, logger: new Lines() });
    const seat = await new Elector(client).lead("orders");
    await seat.release();
  }
});

test("TLS is missing on one side", async (context) => {
  const file = folderOf(context);
  makeAuthority(file, "ca");
  makeCertificate(file, "server", "IP:127.0.0.1");
  const files = { key: readFileSync(file("server.key")), cert: readFileSync(file("server.crt")) };
  const secured = await listening(context, createTlsServer({ ...files, ALPNProtocols: ["h2"] }));
  await assertSays(context, secured, "it closed the connection at once; does it want TLS?");

  const { endpoint } = await Service.start(context);
  const credentials = new Tls({ ca: file("ca.crt") });
  await assertSays(context, endpoint, "it does not speak TLS", { credentials });
});

test("the certificate is not right", async (context) => {
  const file = folderOf(context);
  makeAuthority(file, "ca");
  makeAuthority(file, "another");
  makeCertificate(file, "expired", "IP:127.0.0.1", "-days", "-1");
  makeCertificate(file, "elsewhere", "DNS:elsewhere");
  const serverWith = (name: string, options: object = {}) => {
    const files = {
      key: readFileSync(file(`${name}.key`)),
      cert: readFileSync(file(`${name}.crt`)),
    };
    return listening(context, createTlsServer({ ...files, ...options, ALPNProtocols: ["h2"] }));
  };
  const credentials = new Tls({ ca: file("ca.crt") });
  const expired = await serverWith("expired");
  await assertSays(context, expired, "its certificate has expired", { credentials });
  const elsewhere = await serverWith("elsewhere");
  await assertSays(context, elsewhere, "its certificate is for another host name", { credentials });
  const stranger = { credentials: new Tls({ ca: file("another.crt") }) };
  await assertSays(context, elsewhere, UNKNOWN_CA, stranger);
  const asks = { requestCert: true, ca: readFileSync(file("ca.crt")) };
  makeCertificate(file, "server", "IP:127.0.0.1");
  await assertSays(
    context,
    await serverWith("server", asks),
    /it .*does it ask for a client certificate.*/,
    {
      credentials,
    },
  );
});

test("the service cannot reach its database", async (context) => {
  const database = await startDatabase(context);
  const store = `mysql://root@${database.host}:${database.port}/mysql`;
  const options = () => ["--share-database"]; // the server's own, for want of another
  const { endpoint } = await Service.start(context, { store, options });
  await database.stop();

  await assertSays(context, endpoint, /the service runs, but cannot reach its database: .*/);
});

test("a trouble and its end are logged once, and so are the beginning and the end of each term", async (context) => {
  const service = await Service.start(context);
  await service.stop();
  const logger = new Lines();
  const { endpoint } = service;
  const candidate = "a";
  const elector = new Elector(clientOf(context, { endpoints: endpoint, logger, candidate }));
  await assert.rejects(elector.lead("orders", { waitMs: 0 }), NotElected);
  await assert.rejects(elector.lead("mail", { waitMs: 0 }), NotElected);

  await service.start();
  const seat = await elector.lead("orders");
  await seat.release();

  logger.assertAre(
    `warn: cannot use ${endpoint}: connection refused; still trying`,
    /^info: 127\.[0-9.:]+ answers after [0-9]+ (ms|s)$/,
    "info: a leads orders in term 1",
    "info: a no longer leads orders: term 1 ended (RESIGNED)",
  );
});

test("a lost lease has the trouble as its cause", async (context) => {
  const service = await Service.start(context);
  const logger = new Lines();
  const elector = new Elector(clientOf(context, { endpoints: service.endpoint, logger }));
  const seat = await elector.lead("orders");

  await service.stop();

  if (!seat.signal.aborted) await once(seat.signal, "abort");
  assert.ok(seat.signal.reason instanceof SeatLost);
  assert.match(String(seat.signal.reason.cause), /connection refused/);
  await logger.until(/no longer leads orders: term 1 ended \(EXPIRED\)/);
});

test("the refusal of a candidate is logged", async (context) => {
  const service = await Service.start(context);
  const { endpoint: endpoints } = service;
  const logger = new Lines();
  const first = new Elector(clientOf(context, { endpoints, candidate: "a", logger }));
  await first.lead("orders");

  const newer = new Client({ endpoints, candidate: "a", supersede: true, logger: null });
  context.after(() => newer["loop"]?.close(0));
  new Elector(newer).stand("orders");

  await logger.until(/^warn: cannot stand for orders: superseded .*; not trying again$/);
});

test("an observer and a cache log troubles, too", async () => {
  const endpoints = await freeAddress();
  for (const Kind of [Observer, LeaderCache]) {
    const logger = new Lines();
    const observed = new Kind({ endpoints, names: ["orders"], logger });
    if (observed instanceof Observer) void observed[Symbol.asyncIterator]().next();

    await logger.until(/./);

    logger.assertAre(`warn: cannot use ${endpoints}: connection refused; still trying`);
    observed.close();
  }
});

test("a failing logger affects nothing else", async (context) => {
  const { endpoint: endpoints } = await Service.start(context);
  const thrown = uncaught(context);
  const logger = new Lines();
  context.mock.method(logger, "info").mock.mockImplementationOnce(() => {
    throw new Error("a logger");
  });
  const elector = new Elector(clientOf(context, { endpoints, logger }));

  const seat = await elector.lead("orders");

  assert.match(String(await thrown), /a logger/);
  await seat.release();
});

test("by default one line goes to standard error, whatever proxies the environment names", async () => {
  const endpoint = await freeAddress();
  const script = `
    const { Elector } = require(${JSON.stringify(path.resolve("build/src/index.js"))});
    const elector = new Elector(${JSON.stringify(endpoint)});
    elector.lead("orders", { waitMs: 500 }).catch(() => elector.close());`;
  const proxies = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "grpc_proxy"];
  for (const proxy of ["http://127.0.0.1:1", "socks5://127.0.0.1:1", "not a URL"]) {
    const env = { ...process.env, ...Object.fromEntries(proxies.map((name) => [name, proxy])) };
    const { stdout, stderr } = spawnSync(process.execPath, ["-e", script], {
      env,
      encoding: "utf8",
    });

    assert.equal(stdout, "");
    assert.equal(stderr, `tenure: cannot use ${endpoint}: connection refused; still trying\n`);
  }
});

test("a malformed endpoint is refused at once", () => {
  for (const [endpoints, what] of [
    ["http://a:7070", "is a URL"],
    ["a:7070/x", "is not an address"],
    ["a b:7070", "is not an address"],
    ["::1:7070", "is ambiguous"],
    [":7070", "has no host"],
    ["a", "has no port"],
    ["a:", "has no port"],
    ["a:0", "has no port from 1 to 65535"],
    ["a:65536", "has no port from 1 to 65535"],
    ["a:http", "has no port from 1 to 65535"],
    ["a:7070,b", "'b' has no port"],
    [" ,", "names no replica"],
  ]) {
    assert.throws(() => new Client({ endpoints: endpoints! }), {
      name: "RangeError",
      message: new RegExp(what!),
    });
  }
  new Client({ endpoints: "a:7070, [::1]:7070,127.0.0.1:7070," });
});
