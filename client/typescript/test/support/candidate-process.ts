// Runs candidate.ts in its own process.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";

import { temporaryFolder } from "./service.js";

// Two readings of one deadline may differ by this much; a renewal adds a third of the lease.
const TICK_NS = 100_000_000;
const SCRIPT = path.resolve("build/test/support/candidate.js");

/** The addresses of names for one process, which sees this file as its /etc/hosts. */
export class Hosts {
  readonly file: string;

  constructor(context: TestContext) {
    this.file = path.join(temporaryFolder(context), "hosts");
    this.point("localhost", "127.0.0.1");
  }

  /** In place, because the file itself is mounted. */
  point(name: string, ...addresses: string[]): void {
    writeFileSync(this.file, addresses.map((address) => `${address} ${name}\n`).join(""));
  }

  /** The command that wraps another one. */
  around(command: readonly string[]): string[] {
    const asRoot = process.getuid?.() === 0 ? [] : ["--map-root-user"];
    const mount = 'mount --bind "$0" /etc/hosts && exec "$@"';
    return ["unshare", ...asRoot, "--mount", "sh", "-c", mount, this.file, ...command];
  }
}

export interface Said {
  event: string;
  at_ns: number;
  term: number;
  deadline_ns?: number;
}

export class CandidateProcess {
  readonly process: ChildProcess;
  private readonly lines: AsyncIterator<string>;

  constructor(context: TestContext, hosts?: Hosts) {
    const plain = [process.execPath, SCRIPT];
    const [command, ...options] = hosts ? hosts.around(plain) : plain;
    this.process = spawn(command!, options, { stdio: ["pipe", "pipe", "inherit"] });
    context.after(() => this.process.kill("SIGKILL"));
    this.lines = createInterface(this.process.stdout!)[Symbol.asyncIterator]();
  }

  stand(endpoints: string, leaseMs: number): void {
    const stand = { endpoints, election: "orders", candidate: "a", lease_ms: leaseMs };
    this.tell({ do: "stand", ...stand, supersede: false });
  }

  tell(what: object): void {
    this.process.stdin!.write(`${JSON.stringify(what)}\n`);
  }

  /** The next line of the candidate. */
  async next(): Promise<Said> {
    const { value: line, done } = await this.lines.next();
    assert.ok(!done, "the candidate has ended");
    return JSON.parse(line);
  }

  /** Waits until it leads in this term. */
  async leads(term: number): Promise<void> {
    for (;;) {
      const said = await this.next();
      if (said.event === "leading" && said.term === term) return;
    }
  }

  /** Waits until renewals sent from now on have been answered; the term must continue. */
  async keepsSeat(term: number): Promise<void> {
    const now = Number(process.hrtime.bigint());
    let before = Infinity;
    for (let renewals = 0; renewals < 2;) {
      const said = await this.next();
      assert.notEqual(said.event, "over", `term ${said.term} is over`);
      const { deadline_ns: deadline } = said;
      if (said.event !== "belief" || said.term !== term || !deadline || said.at_ns < now) continue;
      if (deadline > before + TICK_NS) renewals++;
      before = deadline;
    }
  }
}
