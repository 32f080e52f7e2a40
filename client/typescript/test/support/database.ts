import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";

import { freeAddress, temporaryFolder } from "./service.js";

/** Starts a MariaDB of its own; answers with its port on 127.0.0.1. */
export async function database(context: TestContext): Promise<number> {
  return (await startDatabase(context)).port;
}

export interface Database {
  port: number;
  stop(): Promise<void>;
}

export async function startDatabase(context: TestContext): Promise<Database> {
  const folder = temporaryFolder(context);
  const data = path.join(folder, "data");
  const login = "--auth-root-authentication-method=normal";
  const quiet = { stdio: "ignore" } as const;
  const user = process.getuid?.() === 0 ? ["--user=root"] : [];
  const options = ["--no-defaults", login, "--skip-test-db", `--datadir=${data}`, ...user];
  execFileSync("mariadb-install-db", options, quiet);
  const host = "127.0.0.1";
  const port = (await freeAddress()).split(":")[1]!;
  const server: ChildProcess = spawn(
    "mariadbd",
    [
      "--no-defaults",
      `--datadir=${data}`,
      `--port=${port}`,
      `--socket=${path.join(folder, "socket")}`,
      `--bind-address=${host}`,
      ...user,
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const stop = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill("SIGKILL");
    await once(server, "exit");
  };
  context.after(stop);
  for await (const line of createInterface(server.stderr!)) {
    if (line.includes("ready for connections")) break;
  }
  server.stderr!.resume();
  return { port: Number(port), stop };
}
