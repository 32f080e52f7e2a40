// The caller's trace, if the application uses OpenTelemetry.

import type { Metadata } from "@grpc/grpc-js";

type Api = Pick<typeof import("@opentelemetry/api"), "context" | "propagation">;

/** Undefined: OpenTelemetry is not installed. */
let api: Api | undefined;
try {
  // The application's own: an optional peer.
  api = require("@opentelemetry/api") as Api;
} catch {
  api = undefined;
}

/**
 * The headers that the application's propagator adds for its active context, such as `traceparent`.
 */
export function traceOfCaller(): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  try {
    api?.propagation.inject(api.context.active(), headers);
  } catch {
    return {}; // a failing trace must not keep anybody from leading
  }
  return headers;
}

export function addTrace(metadata: Metadata, trace: Readonly<Record<string, string>>): Metadata {
  for (const [key, value] of Object.entries(trace)) {
    try {
      metadata.set(key, value);
    } catch {
      // Not valid in gRPC metadata.
    }
  }
  return metadata;
}
