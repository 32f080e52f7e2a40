// The caller's trace, if the application uses OpenTelemetry.

import type { Metadata } from "@grpc/grpc-js";

type Api = Pick<typeof import("@opentelemetry/api"), "context" | "propagation">;

/** Undefined: it is not installed. */
let api: Api | undefined;
try {
  // Of the application: an optional peer.
  api = require("@opentelemetry/api") as Api;
} catch {
  api = undefined;
}

/** What the application's propagator sends of its active context: `traceparent`, and others. */
export function traceOfCaller(): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  try {
    api?.propagation.inject(api.context.active(), headers);
  } catch {
    return {}; // a trace must not keep anybody from leading
  }
  return headers;
}

export function addTrace(metadata: Metadata, trace: Readonly<Record<string, string>>): Metadata {
  for (const [key, value] of Object.entries(trace)) {
    try {
      metadata.set(key, value);
    } catch {
      // Not fit for gRPC.
    }
  }
  return metadata;
}
