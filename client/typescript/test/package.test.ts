// The packed library in an empty project, and the README's recipes in it.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { before, type TestContext, test } from "node:test";

import mysql from "mysql2/promise";

import { startDatabase } from "./support/database.js";
import { Project } from "./support/project.js";
import { Service } from "./support/service.js";

let project: Project;
const recipes = new Map(
  [...readFileSync("README.md", "utf8").matchAll(/<!-- test: (\S+) -->\n```ts\n(.*?)```\n/gs)].map(
    ([, name, code]) => [name!, code!],
  ),
);

before(() => {
  const packages = ["mysql2@3.15.3", "@types/node@18.19.130", "typescript@7.0.2"];
  project = new Project("project", { type: "module" }, ...packages);
});

/** The recipe with the reader's own parts, for this service. */
function write(name: string, service: string, ours: string, where = ""): string {
  const recipe = recipes.get(name)!;
  assert.ok(recipe, name);
  const code = recipe
    .replace(/"tenure-0:7070,tenure-1:7070"|"tenure:7070"/, JSON.stringify(service))
    .replace('host: "mysql", user: "shop"', where);
  const { base } = path.parse(name);
  project.write(base, code + ours);
  const strict = [
    "--ignoreConfig",
    "--strict",
    "--target",
    "es2022",
    "--module",
    "node18",
    "--types",
    "node",
  ];
  const library = ["--lib", "es2022,esnext.disposable"];
  project.runInstalled("tsc", ...strict, ...library, base);
  return base.replace(".ts", ".js");
}

test("a block leads", async (context) => {
  const { endpoint } = await Service.start(context);
  const script = write(
    "block.ts",
    endpoint,
    `async function reindex(term: number, signal: AbortSignal): Promise<void> {
       console.log("reindex", term, signal.aborted);
     }`,
  );

  assert.equal(project.run("node", script), "reindex 1 false\n");
});

test("a scheduled job runs if this process leads", async (context) => {
  const { endpoint } = await Service.start(context);
  const script = write(
    "job.ts",
    endpoint,
    `function schedule(_: string, job: () => Promise<unknown>): void {
       void job().then(() => elector.close());
     }
     async function backUp(signal: AbortSignal): Promise<void> {
       console.log("back up", signal.aborted);
     }`,
  );

  assert.equal(project.run("node", script), "back up false\n");
});

test("a test of an application uses the fake service", () => {
  project.write(
    "shipping.mjs",
    `export function shipOrders(elector) {
       const shipping = { isRunning: false };
       elector.stand("orders", async ({ signal }) => {
         shipping.isRunning = true;
         await new Promise((resolve) => signal.addEventListener("abort", resolve));
         shipping.isRunning = false;
       });
       return shipping;
     }`,
  );
  const script = project.write("shipping.test.mjs", recipes.get("shipping.test.mjs")!);

  project.run("node", script); // throws if it fails
});

test("a guarded write is made in its term", async (context) => {
  const { host, port } = await startDatabase(context);
  const connection = await mysql.createConnection({ host, port, user: "root" });
  context.after(() => connection.destroy());
  await connection.query("CREATE DATABASE tenure");
  await connection.query("CREATE DATABASE shop");
  await connection.query("CREATE TABLE shop.stock (item INT, pieces INT) ENGINE=InnoDB");
  await connection.query("INSERT INTO shop.stock VALUES (1, 10), (2, 10)");
  const store = `mysql://root@${host}:${port}/tenure`;
  const { endpoint } = await Service.start(context, { store });
  const script = write(
    "fence.ts",
    endpoint,
    `async function* orders(_: AbortSignal): AsyncGenerator<{ item: number }> {
       yield { item: 1 };
       yield { item: 2 };
       void elector.close();
     }
     connection.destroy();`,
    `host: "${host}", port: ${port}, user: "root"`,
  );

  project.run("node", script);

  const [rows] = await connection.query("SELECT pieces FROM shop.stock");
  assert.deepEqual(rows, [{ pieces: 9 }, { pieces: 9 }]);
});

test("of three processes one leads, and the next one when it is gone", async (context) => {
  const service = await Service.start(context, { options: () => ["--lease-ttl-default", "2s"] });
  const script = project.write("worker.mjs", recipes.get("worker.mjs")!);
  const terms = new Terms(context);
  for (let i = 0; i < 3; i++) terms.start(script, service.endpoint);
  const first = await terms.begun(1);
  await threeStand(service);

  let gone = performance.now();
  first.kill("SIGKILL");
  const second = await terms.begun(2);
  const afterKill = performance.now() - gone;

  gone = performance.now();
  second.kill("SIGINT");
  const third = await terms.begun(3);
  const afterInterrupt = performance.now() - gone;
  await once(second, "exit");

  assert.equal(second.exitCode, 0);
  assert.equal(new Set([first, second, third]).size, 3);
  context.diagnostic(`led ${Math.round(afterKill)} ms after kill -9, with a lease of 2 s`);
  context.diagnostic(`led ${Math.round(afterInterrupt)} ms after SIGINT`);
});

/** Waits until two candidates queue behind the leader. */
async function threeStand(service: Service): Promise<void> {
  for (;;) {
    const { queue } = JSON.parse(service.tool("--json", "describe", "orders"));
    if (queue.length === 2) return;
    await new Promise(setImmediate);
  }
}

/** Records which process has begun which term. */
class Terms {
  private readonly leaders = new Map<number, ChildProcess>();
  private readonly waiting = new Map<number, (process: ChildProcess) => void>();

  constructor(private readonly context: TestContext) {}

  start(script: string, endpoints: string): void {
    const env = { ...process.env, TENURE_ENDPOINTS: endpoints };
    const stdio = ["ignore", "pipe", "inherit"] as const;
    const child = spawn(process.execPath, [script], {
      cwd: project.folder,
      env,
      stdio: [...stdio],
    });
    this.context.after(() => child.kill("SIGKILL"));
    createInterface(child.stdout!).on("line", (line) => {
      const term = Number(/in term (\d+)$/.exec(line)![1]);
      if (this.leaders.has(term)) return assert.equal(this.leaders.get(term), child);
      this.leaders.set(term, child);
      this.waiting.get(term)?.(child);
    });
  }

  begun(term: number): Promise<ChildProcess> {
    return new Promise((resolve) => {
      const leader = this.leaders.get(term);
      if (leader) return resolve(leader);
      this.waiting.set(term, resolve);
    });
  }
}
