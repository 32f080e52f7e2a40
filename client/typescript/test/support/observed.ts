import { promisify } from "node:util";
import type { TestContext } from "node:test";

import { type handleServerStreamingCall, Server, ServerCredentials } from "@grpc/grpc-js";

import {
  ElectionServiceService,
  type ObserveRequest,
  type ObserveResponse,
} from "../../src/stubs/tenure/v1/election.js";

/** A service whose answers to Observe come from the test; returns its endpoint. */
export async function observedService(
  context: TestContext,
  observe: handleServerStreamingCall<ObserveRequest, ObserveResponse>,
): Promise<string> {
  const server = new Server();
  server.addService(ElectionServiceService, { observe });
  const insecure = ServerCredentials.createInsecure();
  const port = await promisify(server.bindAsync.bind(server))("127.0.0.1:0", insecure);
  context.after(() => server.forceShutdown());
  return `127.0.0.1:${port}`;
}
