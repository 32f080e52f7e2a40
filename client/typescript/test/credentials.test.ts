// TLS, client certificates and tokens, against a real service with a policy.

import assert from "node:assert/strict";
import { copyFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { type TestContext, test } from "node:test";

import { Elector, NotElected, Observer, ServiceError, Tls, type TlsOptions } from "../src/index.js";
import { folderOf, makeAuthority, makeCertificate } from "./support/certificates.js";
import { clientOf } from "./support/clients.js";
import { Lines } from "./support/lines.js";
import { Service } from "./support/service.js";

const POLICY = `
identities:
  - name: by certificate
    subjects: ["CN=orders"]
    rules: [{verbs: [campaign], prefixes: [""]}]
  - name: by token
    token_files: [token]
    rules: [{verbs: [campaign, observe], prefixes: [""]}]
`;

async function secured(context: TestContext) {
  const file = folderOf(context);
  makeAuthority(file, "ca");
  makeAuthority(file, "another");
  makeCertificate(file, "orders", "DNS:orders");
  writeFileSync(file("token"), "0123456789abcdef\n");
  writeFileSync(file("policy"), POLICY.replace("[token]", `[${file("token")}]`));
  const options = (endpoint: string) => {
    makeCertificate(file, "server", `IP:${endpoint.split(":")[0]}`);
    return [
      ...["--tls-cert", file("server.crt"), "--tls-key", file("server.key")],
      ...["--tls-client-ca", file("ca.crt"), "--tls-client-certs", "optional"],
      ...["--policy", file("policy")],
    ];
  };
  return { file, service: await Service.start(context, { options }) };
}

function electorWith(context: TestContext, { endpoint: endpoints }: Service, tls: TlsOptions) {
  return new Elector(clientOf(context, { endpoints, credentials: new Tls(tls) }));
}

test("a client is known by its certificate, or by its token", async (context) => {
  const { file, service } = await secured(context);
  const ca = file("ca.crt");
  const certificate = { certificate: file("orders.crt"), key: file("orders.key") };

  const seat = await electorWith(context, service, { ca, ...certificate }).lead("orders");
  assert.equal(seat.term, 1);
  const mail = await electorWith(context, service, { ca, token: file("token") }).lead("mail");
  assert.equal(mail.term, 1);
});

test("a client that may neither stand nor observe logs that once", async (context) => {
  const { file, service } = await secured(context);
  const { endpoint: endpoints } = service;
  const credentials = new Tls({ ca: file("ca.crt") });
  const logger = new Lines();
  const elector = new Elector(clientOf(context, { endpoints, credentials, logger }));

  await assert.rejects(elector.lead("orders", { waitMs: 0 }), NotElected);
  const observer = new Observer({ endpoints, credentials, logger, names: ["orders"] });
  await assert.rejects(observer[Symbol.asyncIterator]().next(), ServiceError);

  logger.assertAre(
    /^warn: cannot stand for orders: permission denied: .*; still trying$/,
    /^warn: cannot observe orders: permission denied: .*; not trying again$/,
  );
});

test("only a client with the right to observe gets changes", async (context) => {
  const { file, service } = await secured(context);
  const ca = file("ca.crt");
  const { endpoint: endpoints } = service;
  const observerWith = (tls: TlsOptions) =>
    new Observer({ endpoints, credentials: new Tls(tls), names: ["orders"] });
  const strangers = observerWith({ ca })[Symbol.asyncIterator]();

  await assert.rejects(strangers.next(), (error: unknown) => {
    assert.ok(error instanceof ServiceError);
    assert.equal(error.reason, "PERMISSION_DENIED");
    return true;
  });
  for await (const change of observerWith({ ca, token: file("token") })) {
    assert.equal(change.kind, "snapshot");
    break;
  }
});

test("a service with another authority is not used until the file is replaced", async (context) => {
  const { file, service } = await secured(context);
  copyFileSync(file("another.crt"), file("trusted.crt"));
  const tls = { ca: file("trusted.crt"), token: file("token") };
  const elector = electorWith(context, service, tls);
  const candidacy = elector.stand("orders");
  const elected = candidacy.wait();
  await assert.rejects(candidacy.wait({ waitMs: 0 }), /not elected/);

  copyFileSync(file("ca.crt"), file("trusted.crt"));
  utimesSync(file("trusted.crt"), new Date(), new Date(Date.now() + 1_000));

  assert.equal((await elected).term, 1);
});

test("a token that is being replaced is waited for", async (context) => {
  const { file, service } = await secured(context);
  const { endpoint: endpoints } = service;
  const token = file("mine");
  const breaking = [
    () => writeFileSync(token, ""),
    () => writeFileSync(token, "\0".repeat(16)),
    () => rmSync(token),
  ];
  for (const replace of breaking) {
    copyFileSync(file("token"), token);
    const credentials = new Tls({ ca: file("ca.crt"), token });
    replace();
    const observer = new Observer({ endpoints, credentials, names: ["orders"] });
    observer.on("broken", () => copyFileSync(file("token"), token));

    for await (const change of observer) {
      assert.equal(change.kind, "snapshot");
      break;
    }
  }
});

test("files that cannot be read are refused at once", (context) => {
  const file = folderOf(context);
  assert.throws(() => new Tls({ ca: file("none") }), /cannot read/);
  assert.throws(() => new Tls({ token: file("none") }), /cannot read/);
  assert.throws(() => new Tls({ key: file("none") }), /need each other/);
});
