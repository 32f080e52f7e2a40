// A process that is stopped past its lease.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";

import { electorOf } from "./support/clients.js";
import { Service } from "./support/service.js";

const isBelief = (line: string) => line.startsWith("belief");

test("a process that was stopped past its lease does not lead when it continues", async (context) => {
  const service = await Service.start(context);
  const script = path.resolve("build/test/support/candidate.js");
  const stdio = ["pipe", "pipe", "inherit"] as const;
  const candidate = spawn(process.execPath, [script], { stdio: [...stdio] });
  context.after(() => candidate.kill("SIGKILL"));
  const lines = createInterface(candidate.stdout!)[Symbol.asyncIterator]();
  const said: string[] = []; // repeated lines only once
  const until = async (...wanted: string[]) => {
    while (!wanted.every((line) => said.includes(line))) {
      const { value: text, done } = await lines.next();
      assert.ok(!done, said.join());
      const { event, term } = JSON.parse(text);
      const line = `${event} ${term}`;
      if (event !== "belief" || said.filter(isBelief).at(-1) !== line) {
        said.push(line);
      }
    }
  };
  const { endpoint: endpoints } = service;
  const stand = { endpoints, election: "orders", candidate: "a", lease_ms: 2_000 };
  candidate.stdin!.write(`${JSON.stringify({ do: "stand", ...stand, supersede: false })}\n`);
  await until("leading 1", "belief 1");

  candidate.kill("SIGSTOP");
  const seat = await electorOf(context, service, "b").lead("orders");
  assert.equal(seat.term, 2);
  said.length = 0;
  candidate.kill("SIGCONT");

  await until("over 1", "stop 1", "stopped 1", "belief 0");
  const believed = said.filter(isBelief);
  assert.equal(believed.at(-1), "belief 0");
  assert.ok(believed.length <= 2, said.join()); // printed before it was stopped
});
