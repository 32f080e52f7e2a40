import type { TestContext } from "node:test";

/** What has not been caught anywhere, once. */
export function uncaught(context: TestContext): Promise<unknown> {
  const others = process.listeners("uncaughtException"); // of the runner
  process.removeAllListeners("uncaughtException");
  context.after(() => {
    for (const other of others) process.on("uncaughtException", other);
  });
  return new Promise((resolve) => process.once("uncaughtException", resolve));
}
