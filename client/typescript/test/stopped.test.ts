// A process that is stopped past its lease.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";

import { electorOf } from "./support/clients.js";
import { Service } from "./support/service.js";

test("a process that was stopped past its lease does not lead when it goes on", async (context) => {
  const service = await Service.start(context);
  const script = path.resolve("build/test/support/candidate.js");
  const stdio = ["pipe", "pipe", "inherit"] as const;
  const candidate = spawn(process.execPath, [script, service.endpoint], { stdio: [...stdio] });
  context.after(() => candidate.kill("SIGKILL"));
  const lines = createInterface(candidate.stdout!)[Symbol.asyncIterator]();
  const said: string[] = [];
  const until = async (wanted: string) => {
    for (;;) {
      const { value: line, done } = await lines.next();
      assert.ok(!done, said.join());
      said.push(line);
      if (line === wanted) return;
    }
  };
  await until("elected 1");
  candidate.stdin!.write("ask\n");
  await until("leads true");

  candidate.kill("SIGSTOP");
  const seat = await electorOf(context, service, "b").lead("orders");
  assert.equal(seat.term, 2);
  candidate.stdin!.write("ask\n");
  candidate.kill("SIGCONT");

  await until("leads false");
  if (!said.includes("lost 1")) await until("lost 1");
  const told = said.filter((line) => !line.startsWith("leads"));
  assert.deepEqual(told, ["elected 1", "stop 1", "overrun 1", "lost 1"]);
});
