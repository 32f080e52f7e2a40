import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";

import { freeAddress, temporaryFolder } from "./service.js";

export interface Database {
  host: string;
  port: number;
  stop(): Promise<void>;
}

/**
 * Starts a separate MariaDB, on its own address: on 127.0.0.1, another process might take the port
 * meanwhile.
 */
export async function startDatabase(context: TestContext): Promise<Database> {
  const folder = temporaryFolder(context);
  const data = path.join(folder, "data");
  const login = "--auth-root-authentication-method=normal";
  const quiet = { stdio: "ignore" } as const;
  const user = process.getuid?.() === 0 ? ["--user=root"] : [];
  const options = ["--no-defaults", login, "--skip-test-db", `--datadir=${data}`, ...user];
  execFileSync("mariadb-install-db", options, quiet);
  const [host, port] = (await freeAddress()).split(":") as [string, string];
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
  return { host, port: Number(port), stop };
}
