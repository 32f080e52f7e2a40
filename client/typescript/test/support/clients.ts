import { EventEmitter, once } from "node:events";
import type { TestContext } from "node:test";

import { Client, type ClientMetrics, type ClientOptions, Elector } from "../../src/index.js";
import type { Surroundings } from "../../src/surroundings.js";
import type { Service } from "./service.js";

/** The client ends with the test, even if work still runs. */
export function clientOf(
  context: TestContext,
  options: ClientOptions,
  surroundings?: Surroundings,
): Client {
  const client = new Client({ leaseTtlMs: 2_000, ...options }, surroundings);
  context.after(() => client["loop"]?.close(0));
  return client;
}

export function electorOf(context: TestContext, service: Service, candidate: string): Elector {
  const { endpoint: endpoints } = service;
  return new Elector(clientOf(context, { endpoints, candidate }));
}

/** Resolves when the signal is aborted. */
export async function aborted(signal: AbortSignal): Promise<unknown> {
  if (!signal.aborted) await once(signal, "abort");
  return signal.reason;
}

/** Reports answered renewals. */
export class Renewals extends EventEmitter implements ClientMetrics {
  async next(): Promise<void> {
    await once(this, "renewal");
  }

  begin(): void {}
  countEvent(): void {}
  countReplicaChange(): void {}
  countRenewal(): void {
    this.emit("renewal");
  }
}
