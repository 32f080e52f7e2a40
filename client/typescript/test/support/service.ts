// A real service for the tests: `tenured` of build/bin, on its embedded store.

import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";

import { root } from "./repository.js";

const bin = process.env["TENURE_BIN"] ?? path.join(root, "build/bin");

/** On its own loopback address, so that nobody else takes the port meanwhile. */
export async function freeAddress(): Promise<string> {
  const byte = () => 1 + Math.floor(Math.random() * 254);
  const host = `127.${byte()}.${byte()}.${byte()}`;
  const server = createServer().listen(0, host);
  await once(server, "listening");
  const address = server.address();
  assert.ok(address && typeof address === "object");
  server.close();
  await once(server, "close");
  return `${host}:${address.port}`;
}

export function temporaryFolder(test: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), "tenure-typescript-"));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export class Service {
  private process: ChildProcess | undefined;

  private constructor(
    readonly endpoint: string,
    readonly http: string,
    readonly store: string,
    private readonly options: readonly string[],
  ) {}

  static async start(
    test: TestContext,
    { store, endpoint, options = () => [] }: ServiceOptions = {},
  ): Promise<Service> {
    store ??= `sqlite:${path.join(temporaryFolder(test), "tenure.db")}`;
    endpoint ??= await freeAddress();
    const service = new Service(endpoint, await freeAddress(), store, options(endpoint));
    test.after(() => service.stop());
    await service.start();
    return service;
  }

  async start(): Promise<void> {
    const options = ["--store", this.store, "--listen", this.endpoint, "--http-listen", this.http];
    this.process = spawn(path.join(bin, "tenured"), [...options, ...this.options], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    const lines: string[] = [];
    const { stderr } = this.process;
    for await (const line of createInterface(stderr!)) {
      lines.push(line);
      if (line.endsWith(" info ready")) {
        stderr!.resume();
        return;
      }
    }
    assert.fail(lines.join("\n"));
  }

  pause(): void {
    this.process!.kill("SIGSTOP");
  }

  resume(): void {
    this.process!.kill("SIGCONT");
  }

  async stop(): Promise<void> {
    const { process: running } = this;
    this.process = undefined;
    if (!running) return;
    running.kill("SIGKILL");
    await once(running, "exit");
  }

  tool(...options: string[]): string {
    const command = path.join(bin, "tenure");
    return execFileSync(command, ["--endpoint", this.endpoint, ...options], { encoding: "utf8" });
  }
}

interface ServiceOptions {
  store?: string;
  /** Absent: any free port. */
  endpoint?: string;
  options?: (endpoint: string) => readonly string[];
}
