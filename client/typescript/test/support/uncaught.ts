import type { TestContext } from "node:test";

/** Resolves to the next uncaught error. */
export function uncaught(context: TestContext): Promise<unknown> {
  const others = process.listeners("uncaughtException"); // those of the test runner
  process.removeAllListeners("uncaughtException");
  context.after(() => {
    for (const other of others) process.on("uncaughtException", other);
  });
  return new Promise((resolve) => process.once("uncaughtException", resolve));
}
